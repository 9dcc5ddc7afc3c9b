//! The cache of answers from rows, for views that differ from the full content: through a policy, or as of a moment.
//!
//! An as-of answer has the last change of the repository by that moment as its key, so that all moments between two
//! changes share one answer.

use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::indexes::specs::Packed;
use crate::gem::program::Describe;
use crate::index::document::Index;
use crate::index::stamped_cache::{Stamped, StampedCache};
use format::gem::dependencies::{Form, Piece};
use format::gem::specs;
use std::sync::Arc;
use store::{RepositoryId, Seq};
use telemetry::{Bound, BoundName, Event, Millis, Op, Slot};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Maximum number of tasks that wait to render a whole index of an earlier moment. A client can name as many moments as
/// there were changes.
const WAITING: u64 = 16;

/// The cache, limited in bytes.
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) cache: ViewCache,
    /// Held by the task that renders a whole index of an earlier moment: one at a time.
    one: Semaphore,
    /// The tasks that wait for it.
    making: Arc<Bound>,
}

/// A part of a repository that is rendered from rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ViewPart {
    Whole(WholeIndex),
    Info(String),
    Needs(Form, String),
    Told(Describe),
}

/// An index of all gems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WholeIndex {
    Versions,
    Names,
    Specs(specs::File),
}

/// An answer from rows. Clones share the bytes.
#[derive(Debug, Clone)]
pub(crate) enum ViewAnswer {
    Found(Arc<Found>),
    /// Dependencies, and when the policy shows other versions.
    Needs(Arc<Piece>, Option<Millis>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ViewKey {
    pub(crate) repository: RepositoryId,
    /// The group through which it is seen.
    pub(crate) through: Option<RepositoryId>,
    /// `None`: now.
    pub(crate) past: Option<ViewMoment>,
    pub(crate) part: ViewPart,
}

/// All moments with the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ViewMoment {
    /// The number of the last change of the repository by then.
    pub(crate) through: Seq,
    /// The moment as of which ages count, if the policy has a cooldown.
    pub(crate) until: Option<Millis>,
}

/// Answers with stamps. A stamp covers the settings, including the policy; for a view of now it covers the repository
/// too.
type ViewCache = StampedCache<ViewKey, ViewAnswer>;

fn weigh(key: &ViewKey, view: &Stamped<ViewAnswer>) -> u64 {
    let of = |index: &Index| {
        let bytes: usize = index.pieces.iter().map(bytes::Bytes::len).sum();
        bytes + size_of_val(&*index.states)
    };
    let answer = match &view.value {
        ViewAnswer::Needs(piece, _) => piece.size(),
        ViewAnswer::Found(found) => match &**found {
            Found::Index(index) | Found::Document(index, _) => of(index),
            Found::Packed(file) => file.pieces.iter().map(bytes::Bytes::len).sum(),
            _ => 0,
        },
    };
    (ViewCache::ENTRY + key.part.weight() + answer) as u64
}

impl ViewPart {
    /// The only gem that it is about.
    pub(crate) fn gem(&self) -> Option<&str> {
        match self {
            ViewPart::Info(name) | ViewPart::Needs(_, name) => Some(name),
            ViewPart::Told(ask) => ask.what.gem(),
            ViewPart::Whole(_) => None,
        }
    }

    /// The size of its names, in bytes.
    fn weight(&self) -> usize {
        let base = if let ViewPart::Told(ask) = self { ask.base.len() + ask.what.weight() } else { 0 };
        self.gem().map_or(0, str::len) + base
    }
}

impl Views {
    /// An estimate for the size of the table: an answer about one gem, in bytes.
    const TYPICAL: u64 = 4 << 10;

    /// An empty cache of at most this number of bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let items = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        // One large index may take the whole bound.
        let cache = ViewCache::in_one_shard(Bound::new(BoundName::Views, "", bytes), items, weigh);
        Self { cache, one: Semaphore::new(1), making: Bound::new(BoundName::ViewsMade, "", WAITING) }
    }

    /// The bounds of the cache, and of the tasks that wait to render an index of the past.
    pub(crate) fn bounds(&self) -> [&Arc<Bound>; 2] {
        [self.cache.bound(), &self.making]
    }

    /// The turn to render a whole index of an earlier moment. This fails at once if too many tasks wait.
    pub(crate) async fn only_one(&self, event: &mut Event) -> Result<(SemaphorePermit<'_>, Slot)> {
        let place = self.making.enter().map_err(store::Error::from)?;
        let waiting = self.making.wait();
        let turn = event.waited(Op::ViewWait, self.one.acquire()).await.map_err(|_| Error::GivenUp)?;
        drop(waiting);
        Ok((turn, place))
    }
}

impl From<Found> for ViewAnswer {
    fn from(found: Found) -> Self {
        Self::Found(Arc::new(found))
    }
}

impl ViewAnswer {
    /// When the policy may show other content.
    pub(crate) fn fresh_until(&self) -> Option<Millis> {
        match self {
            ViewAnswer::Found(found) => found.fresh_until(),
            ViewAnswer::Needs(_, until) => *until,
        }
    }

    /// An answer.
    pub(crate) fn found(self) -> Result<Found> {
        match self {
            ViewAnswer::Found(found) => Ok(Found::clone(&found)),
            ViewAnswer::Needs(..) => Err(Error::Mismatched),
        }
    }

    /// The same for a request that came at `now`, before the answer was made or looked up. A date after `now` is not sent.
    pub(crate) fn found_at(self, now: Millis) -> Result<Found> {
        Ok(match self.found()? {
            Found::Packed(file) => {
                let modified = file.modified.filter(|modified| *modified <= now);
                Found::Packed(Packed { modified, ..file })
            }
            other => other,
        })
    }

    /// The dependencies of one gem.
    pub(crate) fn needs(self) -> Result<Arc<Piece>> {
        match self {
            ViewAnswer::Needs(piece, _) => Ok(piece),
            ViewAnswer::Found(_) => Err(Error::Mismatched),
        }
    }
}
