//! How the index of an upstream of gems stands, for operators.

use crate::format::Format;
use crate::repository::Repository;
use store::RepositoryKind;
use telemetry::{Millis, Reason};

/// How the index of an upstream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowedState {
    /// The names that it ever listed.
    pub names: usize,
    /// When it was last looked at.
    pub looked: Millis,
    /// When the upstream last proved it.
    pub proven: Millis,
    /// Why it could not be proven again since.
    pub failure: Option<Reason>,
    /// How many names a newer one lacks that is not believed yet, and since when.
    pub held_back: Option<(usize, Millis)>,
}

impl Repository {
    /// How the index of its upstream stands. `None`: it follows none, or nobody asked since the start.
    pub fn followed(&self) -> Option<FollowedState> {
        if self.format != Format::Gem || self.record.kind != RepositoryKind::Remote {
            return None;
        }
        self.shared.followed.read(self.origin, |known| FollowedState {
            names: known.listing.log().names(),
            looked: known.tried,
            proven: known.checked,
            failure: known.failed,
            held_back: known.held_back.map(|held| (held.names, held.since)),
        })
    }
}
