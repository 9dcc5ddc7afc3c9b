//! One level of the content of a repository.

use crate::links::Links;
use crate::moment::Moment;
use crate::shell::Shell;
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of one level of the content of a repository.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Browse {
    /// The repository's name.
    pub repository: String,
    /// The moment of the view, as in the URL; null: now.
    pub as_of: Option<String>,
    /// The format of the repository.
    pub format: &'static str,
    /// `hosted`, `remote` or `group`.
    #[schemars(extend("enum" = ["hosted", "remote", "group"]))]
    pub kind: &'static str,
    /// The path of the level, or of the one file.
    pub path: String,
    /// In the byte order of their keys: the name, with a slash for a folder.
    pub items: Vec<BrowseItem>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    pub next: Option<String>,
}

/// A folder, a file, a gem or a version of a gem.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BrowseItem {
    /// Its name in the level.
    pub name: String,
    /// Whether it has a level of its own: a folder or a gem.
    pub folder: bool,
    /// Its path: below the level's URL for a folder, below the repository's URL for a file.
    pub path: String,
    /// The package that it is or belongs to: `GROUP:ARTIFACT` or the name of a gem.
    pub package: Option<String>,
    /// The version that it is or belongs to.
    pub version: Option<String>,
    /// Published here, kept in the cache, or only listed by the index of the upstream.
    #[schemars(extend("enum" = ["hosted", "cached", "known"]))]
    pub state: &'static str,
    /// The size in bytes, if it is a file whose bytes are here.
    pub size_bytes: Option<u64>,
    /// Its SHA-1, hexadecimal.
    pub sha1: Option<String>,
    /// Its SHA-256, hexadecimal.
    pub sha256: Option<String>,
    /// The media type of a file.
    pub media: Option<&'static str>,
    /// When it was published, fetched, or first listed by the upstream.
    pub at: Option<Moment>,
    /// Why clients cannot see it; null: they can.
    pub hidden: Option<HiddenReason>,
    /// Of a group: the members that have it, first the one that answers, without members that the caller may not read.
    pub members: Option<Vec<String>>,
}

/// Why clients cannot see something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HiddenReason {
    /// The rule, in words.
    pub reason: String,
    /// When it becomes visible by itself.
    pub until: Option<Moment>,
}

/// The page of a level.
#[derive(Debug, Template)]
#[template(path = "browse.html")]
pub struct BrowsePage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The level.
    pub level: &'a Browse,
    /// Whether it is the first part of the level.
    pub first: bool,
    /// Whether the top level lists the names of packages, and a level below it their versions.
    pub names: bool,
}

impl Browse {
    /// The name of the repository with the moment, as URLs have it.
    pub fn segment(&self) -> String {
        match &self.as_of {
            Some(moment) => format!("{}@{moment}", self.repository),
            None => self.repository.clone(),
        }
    }

    /// The folders above the level, the root first: the name of each, and its path.
    fn above(&self) -> Vec<(String, String)> {
        let mut above = vec![(self.segment(), String::new())];
        let names: Vec<&str> = self.path.split('/').filter(|name| !name.is_empty()).collect();
        above.extend((1..=names.len()).map(|count| (names[count - 1].to_owned(), names[..count].join("/"))));
        above
    }

    /// The items as people read them: folders first.
    fn folders_first(&self) -> Vec<&BrowseItem> {
        let (mut items, files): (Vec<_>, Vec<_>) = self.items.iter().partition(|item| item.folder);
        items.extend(files);
        items
    }
}

impl BrowsePage<'_> {
    fn links(&self) -> &Links {
        &self.shell.links
    }

    fn to(&self, path: &str) -> String {
        self.links().browse(&self.level.segment(), path)
    }

    fn after(&self, after: &str) -> String {
        self.links().browse_after(&self.level.segment(), &self.level.path, after)
    }

    /// The page of the package or version that an item is, if it is one.
    fn package(&self, item: &BrowseItem) -> Option<String> {
        let (segment, package) = (self.level.segment(), item.package.as_deref()?);
        match &item.version {
            Some(version) if item.folder || self.names => Some(self.links().version(&segment, package, version)),
            None if item.folder => Some(self.links().package(&segment, package)),
            _ => None,
        }
    }

    /// The first digits of a digest.
    fn brief<'d>(&self, digest: &'d str) -> &'d str {
        digest.get(..12).unwrap_or(digest)
    }

    /// The letters at which a long list of gems can be continued, each with the `after` that leads there.
    fn letters(&self) -> Vec<(char, String)> {
        let long = self.names && self.level.path.is_empty() && (!self.first || self.level.next.is_some());
        let before = |letter: u8| format!("{}~", char::from(letter - 1));
        let letters = (b'A'..=b'Z').chain([b'_']).chain(b'a'..=b'z').filter(|_| long);
        letters.map(|letter| (char::from(letter), before(letter))).collect()
    }

    fn url(&self, item: &BrowseItem) -> String {
        match item.folder {
            true => self.links().browse(&self.level.segment(), &item.path),
            false => self.links().file(&self.level.segment(), &item.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;

    #[test]
    fn folders_come_first_and_no_name_becomes_markup() {
        let odd = "<img src=x onerror=alert(1)>\"'&";
        let item = |name: &str, folder| BrowseItem {
            name: name.into(),
            folder,
            path: format!("org/{name}"),
            package: Some(odd.into()),
            version: Some(odd.into()),
            state: "hosted",
            size_bytes: Some(7),
            sha1: Some("a".repeat(40)),
            sha256: Some("b".repeat(64)),
            media: Some("text/plain"),
            at: Some(Moment("2026-01-01T00:00:00Z".into())),
            hidden: Some(HiddenReason { reason: odd.into(), until: Some(Moment(odd.into())) }),
            members: Some(vec![odd.into()]),
        };
        let level = Browse {
            repository: odd.into(),
            as_of: Some("seq-7".into()),
            format: "maven",
            kind: "group",
            path: "org".into(),
            items: vec![item(odd, false), item("zeta", true)],
            next: Some(odd.into()),
        };
        let shell = Shell::new("t", Links::new("http://here.test"));
        let html = html(&BrowsePage { shell: &shell, level: &level, first: true, names: false }).unwrap();
        assert!(!html.contains("<img") && !html.contains("\"'&"), "{html}");
        assert!(html.find("zeta/").unwrap() < html.find("onerror").unwrap() || html.find(">zeta").is_some());
        let order: Vec<&str> = level.folders_first().iter().map(|item| item.name.as_str()).collect();
        assert_eq!(order, ["zeta", odd]);
        assert_eq!(level.above().iter().map(|(_, path)| path.as_str()).collect::<Vec<_>>(), ["", "org"]);
    }

    #[test]
    fn a_letter_leads_to_the_names_that_begin_with_it() {
        let level = Browse {
            repository: "gems".into(),
            as_of: None,
            format: "gem",
            kind: "hosted",
            path: String::new(),
            items: Vec::new(),
            next: Some("x".into()),
        };
        let shell = Shell::new("t", Links::new("http://here.test"));
        let page = BrowsePage { shell: &shell, level: &level, first: true, names: true };
        let (_, after) = page.letters().into_iter().find(|(letter, _)| *letter == 'r').unwrap();
        assert!(after.as_str() < "r" && after.as_str() > "qzzz" && after.as_str() > "q-");
    }
}
