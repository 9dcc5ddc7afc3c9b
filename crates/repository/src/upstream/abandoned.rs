//! Files that still arrive though everybody who asked has left. A small rest is fetched, as others will come; a large one is not,
//! or anybody could have this server fetch all an upstream has by asking and leaving.

use crate::upstream::Remote;
use crate::upstream::flight::Stage;
use crate::upstream::trouble::Trouble;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Slot};
use tokio::sync::watch;

/// The largest rest of one file that is fetched for nobody, in bytes.
const REST_MAX: u64 = 256 << 20;
/// All such rests together.
const RESTS_MAX: u64 = 1 << 30;

/// Room for what is fetched for nobody.
pub(crate) fn bound() -> Arc<Bound> {
    Bound::new(BoundName::AbandonedFetches, "", RESTS_MAX)
}

/// Looks whether anybody still wants a file that arrives.
pub(crate) struct Followers<'a> {
    remote: &'a Remote,
    path: &'a str,
    stages: &'a watch::Sender<Stage>,
    /// While nobody does: room for the rest, and how far the file may come in it.
    rest: Option<(Slot, u64)>,
}

impl<'a> Followers<'a> {
    pub(crate) fn new(remote: &'a Remote, path: &'a str, stages: &'a watch::Sender<Stage>) -> Self {
        Self { remote, path, stages, rest: None }
    }

    /// Ends the fetch where nobody follows it, nobody reads the file, and too much of it is left. So many bytes of `len` have come,
    /// and so many `readers` have them.
    pub(crate) fn look(&mut self, readers: usize, came: u64, len: Option<u64>) -> Result<(), Trouble> {
        if readers > 0 || self.stages.receiver_count() > 0 {
            self.rest = None;
            return Ok(());
        }
        let bound = &self.remote.remotes.abandoned;
        // Of one that does not say how long it is, as much as may be.
        let rest = len.map_or(REST_MAX, |len| len.saturating_sub(came));
        if self.rest.is_none() && rest <= REST_MAX && bound.used().saturating_add(rest) <= bound.capacity() {
            self.rest = bound.hold(rest).ok().map(|slot| (slot, came.saturating_add(rest)));
        }
        let fits = self.rest.as_ref().is_some_and(|(_, until)| came <= *until);
        // Another may have come before the table was locked.
        if fits || !self.remote.left(self.path, self.stages) {
            return Ok(());
        }
        bound.reject();
        Err(Trouble::Left)
    }
}
