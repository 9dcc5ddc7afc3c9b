//! What may happen, and to what.

use proptest::prelude::*;

pub(super) const ARTIFACTS: [&str; 2] = ["lamp", "oil"];
/// In Maven's order.
pub(super) const VERSIONS: [&str; 3] = ["1.9", "1.10", "2.0"];
pub(super) const FILES: [&str; 2] = [".pom", ".jar"];
pub(super) const HOSTED: [&str; 2] = ["ours", "theirs"];
pub(super) const REMOTE: [&str; 2] = ["near", "far"];

/// The groups, the inner one first, and what each may hold.
pub(super) const GROUPS: [(&str, &[&[&str]]); 2] = [
    ("inner", &[&["near", "theirs"], &["theirs"], &["far", "near"], &["near"]]),
    (
        "all",
        &[
            &["ours", "inner", "far"],
            &["far", "inner"],
            &["inner", "ours"],
            &["near", "far"],
            &["theirs", "far", "near"],
        ],
    ),
];

/// A file: which artifact, version and file of those above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) artifact: usize,
    pub(super) version: usize,
    pub(super) file: usize,
}

impl Place {
    pub(super) fn folder(self) -> String {
        format!("org/example/{}/{}", ARTIFACTS[self.artifact], VERSIONS[self.version])
    }

    pub(super) fn path(self) -> String {
        let (artifact, version) = (ARTIFACTS[self.artifact], VERSIONS[self.version]);
        format!("{}/{artifact}-{version}{}", self.folder(), FILES[self.file])
    }

    /// The bytes that a repository has there, in its so-and-so-many-th edition.
    pub(super) fn content(self, repository: &str, edition: u32) -> String {
        format!("{repository} {edition} {}", self.path())
    }
}

/// What becomes of an upstream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Appears(Place),
    Goes(Place),
    /// Everything is refused, so that nobody knows what is there.
    Fails,
    Recovers,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Deploy(usize, Place),
    Delete(usize, usize, usize),
    Upstream(usize, Change),
    Layout(usize, usize),
    Wait(u64),
    Read(Place),
    Versions(usize),
}

fn place() -> impl Strategy<Value = Place> {
    (0..ARTIFACTS.len(), 0..VERSIONS.len(), 0..FILES.len()).prop_map(|(artifact, version, file)| Place {
        artifact,
        version,
        file,
    })
}

/// Which ages are in force, and what happens.
pub(super) fn all() -> impl Strategy<Value = (usize, Vec<Step>)> {
    let upstream = 0..REMOTE.len();
    let change = prop_oneof![
        6 => place().prop_map(Change::Appears),
        2 => place().prop_map(Change::Goes),
        1 => Just(Change::Fails),
        2 => Just(Change::Recovers),
    ];
    let step = prop_oneof![
        1 => (0..HOSTED.len(), place()).prop_map(|(at, place)| Step::Deploy(at, place)),
        1 => (0..HOSTED.len(), 0..ARTIFACTS.len(), 0..VERSIONS.len()).prop_map(|(at, artifact, version)| Step::Delete(at, artifact, version)),
        6 => (upstream, change).prop_map(|(at, change)| Step::Upstream(at, change)),
        2 => (0..GROUPS.len(), 0..5usize).prop_map(|(at, layout)| Step::Layout(at, layout)),
        2 => prop_oneof![Just(1), Just(100), Just(301), Just(901)].prop_map(Step::Wait),
        8 => place().prop_map(Step::Read),
        4 => (0..ARTIFACTS.len()).prop_map(Step::Versions),
    ];
    (0..2usize, prop::collection::vec(step, 1..40))
}
