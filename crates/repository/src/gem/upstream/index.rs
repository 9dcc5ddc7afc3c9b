//! What is known of an upstream's `/versions`: our log of its lines, and what they come to.

use crate::error::Error;
use crate::gem::upstream::listing::{Listed, Listing};
use crate::index::document::Index;
use crate::index::rope::log::Log;
use std::sync::{PoisonError, RwLock};
use store::{Origin, Seq};
use telemetry::{Millis, Reason};
use tokio::sync::Mutex;

/// The index of one remote repository. It is the same while the repository lives.
#[derive(Debug, Default)]
pub(crate) struct FollowedIndex {
    /// Held by the task that asks the upstream.
    pub(crate) looking: Mutex<()>,
    known: RwLock<Option<Known>>,
}

/// What is known.
#[derive(Debug)]
pub(crate) struct Known {
    /// The upstream that it is of. Another URL is another upstream.
    pub(crate) origin: Origin,
    pub(crate) listing: Listing,
    log: Log,
    /// The log as it is answered with.
    pub(crate) index: Index,
    /// The last row of the journal that is in it.
    pub(crate) last: Seq,
    /// Its validator, as the upstream said it last.
    pub(crate) etag: Option<String>,
    /// When the upstream last proved it.
    pub(crate) checked: Millis,
    /// Why it could not be proven again since.
    pub(crate) failed: Option<Reason>,
}

impl Known {
    /// Nothing but the rows of the journal, which are added next.
    pub(crate) fn new(origin: Origin) -> Result<Self, Error> {
        let mut log = Log::default();
        let index = log.index()?;
        let (listing, never) = (Listing::default(), Millis(i64::MIN));
        Ok(Self { origin, listing, log, index, last: Seq(0), etag: None, checked: never, failed: None })
    }

    /// Adds lines that were first seen at `at`. `settle` must follow.
    pub(crate) fn add(&mut self, lines: &str, at: Millis) -> Result<(), Error> {
        self.log.add(lines.as_bytes())?;
        self.listing.add(lines, at);
        Ok(())
    }

    /// Makes the index of what was added, up to this row.
    pub(crate) fn settle(&mut self, last: Seq) -> Result<(), Error> {
        (self.index, self.last) = (self.log.index()?, last);
        Ok(())
    }
}

impl FollowedIndex {
    /// What `read` finds in what is known of this upstream; `None`: nothing is known of it yet.
    pub(crate) fn read<T>(&self, origin: Origin, read: impl FnOnce(&Known) -> T) -> Option<T> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|known| known.origin == origin).map(read)
    }

    /// What is listed of a gem; `None`: its name was never listed.
    pub(crate) fn gem(&self, origin: Origin, name: &str) -> Option<Listed> {
        self.read(origin, |known| known.listing.gem(name)).flatten()
    }

    /// Changes what is known of this upstream.
    pub(crate) fn change<T>(&self, origin: Origin, change: impl FnOnce(&mut Known) -> T) -> Option<T> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.as_mut().filter(|known| known.origin == origin).map(change)
    }

    /// Puts this in place of what was known.
    pub(crate) fn replace(&self, new: Known) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(new);
    }
}
