//! Files of hidden versions, and the versions among them.

use crate::cli::explained::Rule;
use std::collections::BTreeMap;

/// A file of a version that is hidden now.
pub(super) struct HiddenFile {
    pub(super) rule: Rule,
    /// How often it was refused, if that is known.
    pub(super) requests: Option<u64>,
    /// The repository and the path.
    pub(super) file: (String, String),
}

/// One file of each version, by policy and name.
pub(super) fn by_version(files: Vec<HiddenFile>) -> Vec<HiddenFile> {
    let mut versions: BTreeMap<(String, String), HiddenFile> = BTreeMap::new();
    for file in files {
        let key = (file.rule.repository.clone(), file.rule.package.clone());
        match versions.get_mut(&key) {
            Some(version) => version.requests = version.requests.zip(file.requests).map(|(one, more)| one + more),
            None => drop(versions.insert(key, file)),
        }
    }
    versions.into_values().collect()
}

/// Such as `2 versions`.
pub(super) fn count(versions: usize) -> String {
    if versions == 1 { "1 version".to_owned() } else { format!("{versions} versions") }
}
