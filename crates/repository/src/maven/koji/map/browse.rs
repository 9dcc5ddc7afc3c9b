//! Lists of a map: folders, files, and artifacts with their versions.

use crate::maven::koji::map::folders::Posting;
use crate::maven::koji::map::{KojiMap, KojiView, packed};
use std::collections::BTreeSet;

impl KojiMap {
    /// The names of the folders directly below a folder, sorted. `""` is the root.
    pub(crate) fn children(&self, folder: &str, view: KojiView) -> Vec<String> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let (mut names, mut at) = (BTreeSet::new(), self.folders.seek(&prefix));
        while let Some(here) = at.filter(|here| here.name.starts_with(&prefix)) {
            let below = here.name.get(prefix.len()..).unwrap_or_default();
            let (name, deeper) = below.split_once('/').map_or((below, false), |(name, _)| (name, true));
            if !names.contains(name) && self.is_of_a_build(here.postings(), view) {
                names.insert(name.to_owned());
            }
            let name = names.get(name).filter(|_| deeper).cloned();
            // The rest of that folder is skipped. `0` comes after `/`.
            at = match name {
                Some(name) => here.skip_to(&format!("{prefix}{name}0")),
                None => here.next(),
            };
        }
        names.into_iter().collect()
    }

    /// The names and sizes of the files in a folder, sorted by name.
    pub(crate) fn files(&self, folder: &str, view: KojiView) -> Vec<(String, u64)> {
        let candidates = self.candidates(self.folders.find(folder).into_iter(), view);
        let mut files = Vec::new();
        if let Some(owner) = self.owner(&candidates, view) {
            packed::read(&owner.set.packed, owner.offset, folder, |file| {
                files.push((file.name, file.size_bytes));
                true
            });
        }
        files
    }

    /// Whether any folder is a folder, or has one below it.
    pub(crate) fn has_below(&self, folder: &str, view: KojiView) -> bool {
        let mut found = self.is_of_a_build(self.folders.find(folder).into_iter(), view);
        if !found {
            self.each_below(folder, |_, postings| {
                found = self.is_of_a_build(postings, view);
                !found
            });
        }
        found
    }

    /// Whether a build has or had a folder below this one, in any view.
    pub(crate) fn ever_had_below(&self, folder: &str) -> bool {
        let mut found = false;
        self.each_below(folder, |_, _| {
            found = true;
            false
        });
        found
    }

    /// Calls `each` with every artifact after `after`, such as `org/example/lamp`, and its versions, until it returns
    /// `false`. Artifacts come in the order of their folders.
    pub(crate) fn artifacts(&self, view: KojiView, after: &str, each: &mut dyn FnMut(&str, &[String]) -> bool) {
        let mut at = if after.is_empty() { self.folders.first() } else { self.folders.seek(&format!("{after}0")) };
        while let Some(here) = at {
            let Some((artifact, _)) = here.name.rsplit_once('/') else {
                at = here.next();
                continue;
            };
            let artifact = artifact.to_owned();
            let (mut versions, mut deeper) = (Vec::new(), false);
            self.each_below(&artifact, |folder, postings| {
                let version = folder.get(artifact.len() + 1..).unwrap_or_default();
                if version.contains('/') {
                    deeper = true;
                } else if self.is_of_a_build(postings, view) {
                    versions.push(version.to_owned());
                }
                true
            });
            // A folder with versions and deeper folders comes only where its first version does.
            let is_first = !deeper || self.first_version_of(&artifact).as_deref() == Some(here.name.as_str());
            if is_first && !versions.is_empty() && !each(&artifact, &versions) {
                return;
            }
            at = if deeper { here.next() } else { here.skip_to(&format!("{artifact}0")) };
        }
    }

    fn first_version_of(&self, artifact: &str) -> Option<String> {
        let mut first = None;
        self.each_below(artifact, |folder, _| {
            let is_version = folder.get(artifact.len() + 1..).is_some_and(|version| !version.contains('/'));
            first = is_version.then(|| folder.to_owned());
            first.is_none()
        });
        first
    }

    fn is_of_a_build(&self, postings: impl Iterator<Item = Posting>, view: KojiView) -> bool {
        !self.candidates(postings, view).is_empty()
    }
}
