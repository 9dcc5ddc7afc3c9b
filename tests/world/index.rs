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

impl Index {
    /// Reads `/versions` and every `/info`, and fails if they disagree.
    #[track_caller]
    pub(crate) fn read(person: &Person, repository: &str) -> Self {
        let connection = &mut person.connect().unwrap();
        let versions = fetch(person, connection, repository, "versions");
        let (head, lines) = versions.split_once("---\n").unwrap();
        assert!(head.starts_with("created_at: "), "the header of /versions is {head:?}");
        assert!(versions.ends_with('\n'), "/versions ends in the middle of a line");

        let mut live: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut sums = BTreeMap::new();
        for line in lines.lines() {
            let [name, changes, sum] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("a line of {line:?}") };
            let held = live.entry(name.to_owned()).or_default();
            for change in changes.split(',') {
                match change.strip_prefix('-') {
                    // The version `0` stands for a gem without versions.
                    Some(gone) => {
                        assert!(held.remove(gone) || gone == "0", "{line:?} removes a version that is not listed")
                    }
                    None => assert!(held.insert(change.to_owned()), "{line:?} adds a version that is already listed"),
                }
            }
            sums.insert(name.to_owned(), sum.to_owned());
        }

        let mut index = Self { names: live.keys().cloned().collect(), ..Self::default() };
        for (name, held) in &live {
            let info = fetch(person, connection, repository, &format!("info/{name}"));
            assert_eq!(hex(&Md5::digest(&info)), sums[name], "/info/{name} is not what /versions says:\n{info}");
            let mut told = BTreeSet::new();
            for line in info.strip_prefix("---\n").unwrap().lines() {
                let (version, rest) = line.split_once(' ').unwrap();
                let (_, sum) = rest.split_once("checksum:").unwrap();
                told.insert(version.to_owned());
                index.offered.insert((name.clone(), version.to_owned()), sum[..64].to_owned());
            }
            assert_eq!(&told, held, "/info/{name} and /versions offer different versions");
        }
        let names = fetch(person, connection, repository, "names");
        let names: Vec<&str> = names.strip_prefix("---\n").unwrap().lines().filter(|name| !name.is_empty()).collect();
        let expected: Vec<&String> = live.iter().filter(|(_, held)| !held.is_empty()).map(|(name, _)| name).collect();
        assert_eq!(names, expected, "/names");
        index
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

#[track_caller]
fn fetch(person: &Person, connection: &mut Connection, repository: &str, what: &str) -> String {
    let path = format!("/repository/{repository}/{what}");
    person.on(connection, "GET", &path, &[], b"").unwrap().expect(200).text().to_owned()
}
