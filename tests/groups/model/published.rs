//! The publications and deletions in a hosted repository.

use super::steps::{Place, VERSIONS};
use std::collections::BTreeMap;

/// A hosted repository: for each file, the moments at which it appeared and disappeared.
#[derive(Default)]
pub(super) struct Hosted(BTreeMap<Place, Vec<(u64, bool)>>);

impl Hosted {
    pub(super) fn deploys(&mut self, place: Place, now: u64) {
        self.0.entry(place).or_default().push((now, true));
    }

    /// Deletes a version.
    pub(super) fn deletes(&mut self, what: (usize, usize), now: u64) {
        for (_, fate) in self.0.iter_mut().filter(|(place, _)| place.what() == what) {
            fate.push((now, false));
        }
    }

    /// Since when a file exists that existed at this moment.
    pub(super) fn since(&self, place: Place, at: u64) -> Option<u64> {
        let fate = self.0.get(&place)?;
        let last = fate.iter().rfind(|(when, _)| *when <= at)?;
        // The same bytes have the same date as before their deletion.
        last.1.then(|| fate[0].0)
    }

    /// The versions of an artifact with a POM, and the date of each.
    pub(super) fn listed(&self, artifact: usize, at: u64) -> impl Iterator<Item = (usize, u64)> {
        let pom = move |version| Place { artifact, version, file: 0 };
        (0..VERSIONS.len()).filter_map(move |version| Some((version, self.since(pom(version), at)?)))
    }

    /// Whether the artifact ever had a file.
    pub(super) fn claims(&self, artifact: usize) -> bool {
        self.0.keys().any(|place| place.artifact == artifact)
    }
}
