//! What was published to a hosted repository, and taken away, and when.

use super::steps::{Place, VERSIONS};
use std::collections::BTreeMap;

/// A hosted repository: for each file whether it was there, from which moment on.
#[derive(Default)]
pub(super) struct Hosted(BTreeMap<Place, Vec<(u64, bool)>>);

impl Hosted {
    pub(super) fn deploys(&mut self, place: Place, now: u64) {
        self.0.entry(place).or_default().push((now, true));
    }

    /// A version is taken away.
    pub(super) fn deletes(&mut self, what: (usize, usize), now: u64) {
        for (_, fate) in self.0.iter_mut().filter(|(place, _)| place.what() == what) {
            fate.push((now, false));
        }
    }

    /// Since when a file is there that was there at a moment.
    pub(super) fn since(&self, place: Place, at: u64) -> Option<u64> {
        let fate = self.0.get(&place)?;
        let last = fate.iter().rfind(|(when, _)| *when <= at)?;
        // The same bytes are as old as they were before they were taken away.
        last.1.then(|| fate[0].0)
    }

    /// The versions of an artifact that have a POM, and since when.
    pub(super) fn listed(&self, artifact: usize, at: u64) -> impl Iterator<Item = (usize, u64)> {
        let pom = move |version| Place { artifact, version, file: 0 };
        (0..VERSIONS.len()).filter_map(move |version| Some((version, self.since(pom(version), at)?)))
    }

    /// Whether anything of an artifact was ever there.
    pub(super) fn claims(&self, artifact: usize) -> bool {
        self.0.keys().any(|place| place.artifact == artifact)
    }
}
