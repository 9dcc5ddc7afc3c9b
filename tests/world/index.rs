//! Checks a gem repository from outside: `/versions` and every `/info` must agree, down to the last byte of each gem.
//! Bundler abandons a source at the first disagreement, so there must be none at any moment.

use super::{Connection, Person, hex};
use md5::Md5;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The content of a repository, as Bundler reads it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Index {
    /// Installable versions: (name, version), and the SHA-256 in the info line.
    pub(crate) offered: BTreeMap<(String, String), String>,
    /// Names that have a line in `/versions`.
    pub(crate) names: BTreeSet<String>,
}

/// The state of one gem that the lines of `/versions` add up to.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Sum {
    pub(crate) tokens: Vec<String>,
    pub(crate) md5: String,
}

impl Index {
    /// Reads `/versions` and every `/info`, and fails if they disagree.
    #[track_caller]
    pub(crate) fn read(person: &Person, repository: &str) -> Self {
        let connection = &mut person.connect().unwrap();
        let versions = fetch(person, connection, repository, "versions");
        let live = sums(&versions, true);
        let mut index = Self { names: live.keys().cloned().collect(), ..Self::default() };
        for (name, Sum { tokens, md5 }) in &live {
            let info = fetch(person, connection, repository, &format!("info/{name}"));
            assert_eq!(hex(&Md5::digest(&info)), *md5, "/info/{name} is not what /versions says:\n{info}");
            let mut told = BTreeSet::new();
            for line in info.strip_prefix("---\n").unwrap().lines() {
                let (version, rest) = line.split_once(' ').unwrap();
                let (_, sum) = rest.split_once("checksum:").unwrap();
                told.insert(version);
                index.offered.insert((name.clone(), version.to_owned()), sum[..64].to_owned());
            }
            let held: BTreeSet<&str> = tokens.iter().map(String::as_str).collect();
            assert_eq!(told, held, "/info/{name} and /versions offer different versions");
        }
        let names = fetch(person, connection, repository, "names");
        let names: Vec<&str> = names.strip_prefix("---\n").unwrap().lines().filter(|name| !name.is_empty()).collect();
        let expected: Vec<&String> = live.iter().filter(|(_, sum)| !sum.tokens.is_empty()).map(|one| one.0).collect();
        assert_eq!(names, expected, "/names");
        index
    }

    /// The versions that the lines of `/versions` add up to, each `NAME VERSION`. Every `/info` has the same, but its MD5
    /// need not be known yet.
    #[track_caller]
    pub(crate) fn listed(person: &Person, repository: &str) -> Vec<String> {
        let connection = &mut person.connect().unwrap();
        let all = sums(&fetch(person, connection, repository, "versions"), false);
        let of = |(name, Sum { tokens, .. }): (String, Sum)| {
            let info = fetch(person, connection, repository, &format!("info/{name}"));
            let told: Vec<&str> = info.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
            assert_eq!(tokens, told, "{name}");
            tokens.into_iter().map(move |token| format!("{name} {token}")).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(of).collect()
    }

    /// Downloads every version, and fails if the bytes do not have their SHA-256.
    #[track_caller]
    pub(crate) fn download(&self, person: &Person, repository: &str) {
        let connection = &mut person.connect().unwrap();
        for ((name, version), sum) in &self.offered {
            let path = format!("/repository/{repository}/gems/{name}-{version}.gem");
            let gem = person.on(connection, "GET", &path, &[], b"").unwrap().expect(200);
            assert_eq!(&hex(&Sha256::digest(&gem.body)), sum, "{name} {version} is not the promised bytes");
        }
    }

    /// Every URL of the repository that has content.
    pub(crate) fn paths(&self, repository: &str) -> Vec<String> {
        let mut paths = vec!["versions".to_owned(), "names".to_owned()];
        paths.extend(self.names.iter().map(|name| format!("info/{name}")));
        paths.extend(self.offered.keys().map(|(name, version)| format!("gems/{name}-{version}.gem")));
        paths.iter().map(|path| format!("/repository/{repository}/{path}")).collect()
    }
}

/// Parses `/versions` as Bundler does. `strictly`: a line removes no version that is not listed.
#[track_caller]
pub(crate) fn sums(text: &str, strictly: bool) -> BTreeMap<String, Sum> {
    let (head, lines) = text.split_once("---\n").unwrap();
    assert!(head.starts_with("created_at: ") && text.ends_with('\n'), "{text}");
    let mut all: BTreeMap<String, Sum> = BTreeMap::new();
    for line in lines.lines() {
        let [name, changes, md5] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("a line of {line:?}") };
        assert!(!name.is_empty() && !changes.is_empty() && !md5.is_empty(), "a line of {line:?}");
        let Sum { tokens, md5: last } = all.entry(name.to_owned()).or_default();
        md5.clone_into(last);
        for change in changes.split(',') {
            let listed = tokens.iter().position(|token| token == change.trim_start_matches('-'));
            match (change.strip_prefix('-'), listed) {
                (Some(_), Some(at)) => drop(tokens.remove(at)),
                // The version `0` stands for a gem without versions.
                (Some(gone), None) => {
                    assert!(!strictly || gone == "0", "{line:?} removes a version that is not listed")
                }
                (None, at) => {
                    assert_eq!(at, None, "{line:?} adds a version that is already listed\n{text}");
                    tokens.push(change.to_owned());
                }
            }
        }
    }
    all
}

#[track_caller]
fn fetch(person: &Person, connection: &mut Connection, repository: &str, what: &str) -> String {
    let path = format!("/repository/{repository}/{what}");
    person.on(connection, "GET", &path, &[], b"").unwrap().expect(200).text().to_owned()
}
