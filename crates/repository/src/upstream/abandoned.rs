//! Downloads whose clients have all left. A small remainder is fetched, because other clients will want the file. A
//! large one is not: otherwise a client could make this server fetch everything from an upstream by requesting files
//! and leaving.

use crate::upstream::Remote;
use crate::upstream::flight::Stage;
use crate::upstream::trouble::Trouble;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Slot};
use tokio::sync::watch;

/// Maximum remainder of one file that is fetched without a client, in bytes.
const REST_MAX: u64 = 256 << 20;
/// Maximum of all such remainders, in bytes.
const RESTS_MAX: u64 = 1 << 30;

/// The bound of such remainders.
pub(crate) fn bound() -> Arc<Bound> {
    Bound::new(BoundName::AbandonedFetches, "", RESTS_MAX)
}

/// Watches whether any client still wants a file that is arriving.
pub(crate) struct Followers<'a> {
    remote: &'a Remote,
    path: &'a str,
    stages: &'a watch::Sender<Stage>,
    /// While no client wants it: the reserved part of the bound, and the offset that the file may reach.
    rest: Option<(Slot, u64)>,
}

impl<'a> Followers<'a> {
    pub(crate) fn new(remote: &'a Remote, path: &'a str, stages: &'a watch::Sender<Stage>) -> Self {
        Self { remote, path, stages, rest: None }
    }

    /// Fails, and so ends the fetch, if no request follows it, no client reads the file, and the remainder is too
    /// large. `came` bytes of `len` have arrived, and `readers` clients read them.
    pub(crate) fn look(&mut self, readers: usize, came: u64, len: Option<u64>) -> Result<(), Trouble> {
        if readers > 0 || self.stages.receiver_count() > 0 {
            self.rest = None;
            return Ok(());
        }
        let bound = &self.remote.remotes.abandoned;
        // For a file without an announced length: the maximum.
        let rest = len.map_or(REST_MAX, |len| len.saturating_sub(came));
        if self.rest.is_none() && rest <= REST_MAX && bound.used().saturating_add(rest) <= bound.capacity() {
            self.rest = bound.hold(rest).ok().map(|slot| (slot, came.saturating_add(rest)));
        }
        let fits = self.rest.as_ref().is_some_and(|(_, until)| came <= *until);
        // A request may have arrived before the table was locked.
        if fits || !self.remote.left(self.path, self.stages) {
            return Ok(());
        }
        bound.reject();
        Err(Trouble::Left)
    }
}
