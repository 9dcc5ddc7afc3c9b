//! The difference of two versions of a package, and the README of one: the values of the API and of the pages.

use crate::amount::amount;
use crate::{Links, Shell};
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;

/// The difference of two versions of a package.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Difference {
    /// The repository as the URL names it, with the moment if it has one.
    pub repository: String,
    /// The name of the package.
    pub package: String,
    /// The version that is compared.
    pub from: String,
    /// The version with which it is compared.
    pub to: String,
    /// Null: those of a version are not known here, or clients do not get it.
    pub dependencies: Option<Vec<Changed>>,
    /// The files that differ, with their sizes in bytes. Null: those of a version are not known here, or clients do not get it.
    pub files: Option<Vec<Changed>>,
    /// How many files are the same in both.
    pub same_files: usize,
    /// Whether there are more files than were compared or listed.
    pub more_files: bool,
}

/// A dependency or a file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// The dependency with its scope, or the path of the file.
    pub name: String,
    /// Null: the first version does not have it.
    pub from: Option<String>,
    /// Null: the second version does not have it.
    pub to: Option<String>,
}

impl Changed {
    /// What happened to it.
    pub fn words(&self) -> &'static str {
        match (&self.from, &self.to) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    /// The differing entries of two lists without double names, by name. Each entry is a name, its words, and what tells whether it
    /// differs.
    pub fn of<T: PartialEq>(
        from: impl IntoIterator<Item = (String, String, T)>,
        to: impl IntoIterator<Item = (String, String, T)>,
    ) -> (Vec<Self>, usize) {
        use std::collections::BTreeMap;
        let table = |list: &mut dyn Iterator<Item = (String, String, T)>| -> BTreeMap<String, (String, T)> {
            list.map(|(name, words, what)| (name, (words, what))).collect()
        };
        let (from, mut to) = (table(&mut from.into_iter()), table(&mut to.into_iter()));
        let (mut changed, mut same) = (Vec::new(), 0);
        for (name, (words, what)) in from {
            match to.remove(&name) {
                Some((_, other)) if other == what => same += 1,
                other => changed.push(Self { name, from: Some(words), to: other.map(|(words, _)| words) }),
            }
        }
        changed.extend(to.into_iter().map(|(name, (words, _))| Self { name, from: None, to: Some(words) }));
        changed.sort_by(|one, other| one.name.cmp(&other.name));
        (changed, same)
    }
}

/// The page with the difference of two versions.
#[derive(Debug, Template)]
#[template(path = "difference.html")]
pub struct DifferencePage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The difference.
    pub difference: &'a Difference,
}

impl Difference {
    /// The URL of its package.
    pub fn package_url(&self, links: &Links) -> String {
        links.package(&self.repository, &self.package)
    }

    /// The URL of a version.
    pub fn version_url(&self, links: &Links, version: &str) -> String {
        links.version(&self.repository, &self.package, version)
    }
}

/// The size of a file in words, or the text if it is no number.
fn size(text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), amount)
}

/// The README of a version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Readme {
    /// The repository as the URL names it, with the moment if it has one.
    pub repository: String,
    /// The name of the package.
    pub package: String,
    /// The version.
    pub version: String,
    /// Null: it has no README, or its package is not in the cache.
    pub name: Option<String>,
    /// Its text.
    pub text: Option<String>,
    /// Whether the text is only the beginning.
    pub cut: bool,
}

/// The page with the README of a version.
#[derive(Debug, Template)]
#[template(path = "readme.html")]
pub struct ReadmePage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The README.
    pub readme: &'a Readme,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;

    #[test]
    fn only_what_differs_is_told_and_nothing_becomes_markup() {
        let one = |name: &str, words: &str, what| (name.to_owned(), words.to_owned(), what);
        let (from, to) = ([one("a", "1", 1), one("b", "2", 2), one("c", "3", 3)], [one("b", "2", 2), one("c", "9", 9)]);
        let (changed, same) = Changed::of(from, to.into_iter().chain([one("<d>", "4", 4)]));
        let told: Vec<_> = changed.iter().map(|one| (one.name.as_str(), one.words())).collect();
        assert_eq!((told.as_slice(), same), ([("<d>", "added"), ("a", "removed"), ("c", "changed")].as_slice(), 1));
        let odd = "<b>\"'&";
        let shell = Shell::new("t", Links::new("http://here.test"));
        let difference = Difference {
            repository: odd.into(),
            package: odd.into(),
            from: odd.into(),
            to: odd.into(),
            dependencies: Some(changed.clone()),
            files: Some(changed),
            same_files: 1,
            more_files: true,
        };
        let page = html(&DifferencePage { shell: &shell, difference: &difference }).unwrap();
        assert!(!page.contains("<b>") && !page.contains("<d>"), "{page}");
        let readme = Readme {
            repository: odd.into(),
            package: odd.into(),
            version: odd.into(),
            name: Some(odd.into()),
            text: Some("</pre><script>1</script>".into()),
            cut: true,
        };
        let page = html(&ReadmePage { shell: &shell, readme: &readme }).unwrap();
        assert!(!page.contains("<b>") && !page.contains("<script>1"), "{page}");
    }
}
