//! Answers from rows to those who do not see all there is (by policy, or as of a moment), kept: each is made once, however many
//! ask for it at once, and found by whoever asks for the same later.
//!
//! As of a moment it is found by the last change of the repository by then, so that all moments between two changes share one.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::program::Describe;
use crate::index::document::Index;
use crate::index::stamped_cache::{Stamped, StampedCache};
use format::gem::dependencies::{Form, Piece};
use format::gem::specs;
use std::sync::Arc;
use store::{RepositoryId, Seq, Stamp, Unit};
use telemetry::{Bound, BoundName, Event, Millis, Op, Slot, Tick};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Whole indexes as of earlier moments that are waited for; strangers can name as many moments as there were changes.
const WAITING: u64 = 16;

/// What was made for views, in memory, bounded in bytes.
#[derive(Debug)]
pub(crate) struct Views {
    cache: ViewCache,
    /// Held by who makes a whole index as of an earlier moment: one at a time, whoever wants them.
    turn: Semaphore,
    making: Arc<Bound>,
}

/// What is made from rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ViewPart {
    Versions,
    Names,
    Specs(specs::File),
    Info(String),
    Needs(Form, String),
    Told(Describe),
}

/// What came of it. Clones share the bytes.
#[derive(Debug, Clone)]
pub(crate) enum ViewAnswer {
    Found(Arc<Found>),
    Needs(Arc<Piece>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    repository: RepositoryId,
    past: Option<Moment>,
    part: ViewPart,
}

/// All moments at which the same is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Moment {
    /// The last change of the repository by then.
    through: Seq,
    /// As of when ages count, where they do.
    until: Option<Millis>,
}

/// Answers with stamps of what they were made from: the settings, among them the policy, and of now also the repository.
type ViewCache = StampedCache<Key, ViewAnswer>;

fn weigh(key: &Key, view: &Stamped<ViewAnswer>) -> u64 {
    let of = |index: &Index| {
        let bytes: usize = index.pieces.iter().map(bytes::Bytes::len).sum();
        bytes + size_of_val(&*index.states)
    };
    let answer = match &view.value {
        ViewAnswer::Needs(piece) => piece.size(),
        ViewAnswer::Found(found) => match &**found {
            Found::Index(index) | Found::Document(index, _) => of(index),
            Found::Packed(file) => file.pieces.iter().map(bytes::Bytes::len).sum(),
            _ => 0,
        },
    };
    (ViewCache::ENTRY + key.part.weight() + answer) as u64
}

impl ViewPart {
    /// The gem that it is about alone.
    fn gem(&self) -> Option<&str> {
        match self {
            ViewPart::Info(name) | ViewPart::Needs(_, name) => Some(name),
            ViewPart::Told(ask) => ask.what.gem(),
            ViewPart::Versions | ViewPart::Names | ViewPart::Specs(_) => None,
        }
    }

    /// Bytes of what it names.
    fn weight(&self) -> usize {
        let base = if let ViewPart::Told(ask) = self { ask.base.len() + ask.what.weight() } else { 0 };
        self.gem().map_or(0, str::len) + base
    }
}

impl Views {
    /// For the size of the table: what is said of one gem.
    const TYPICAL: u64 = 4 << 10;

    /// Holds none yet, and never more than `bytes` of them.
    pub(crate) fn new(bytes: u64) -> Self {
        let items = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        // One large index may take the whole bound.
        let cache = ViewCache::in_one_shard(Bound::new(BoundName::Views, "", bytes), items, weigh);
        Self { cache, turn: Semaphore::new(1), making: Bound::new(BoundName::ViewsMade, "", WAITING) }
    }

    /// How full it is, and how many whole indexes of the past are wanted.
    pub(crate) fn bounds(&self) -> [&Arc<Bound>; 2] {
        [self.cache.bound(), &self.making]
    }

    /// The turn to make a whole index as of an earlier moment. Refused at once where too many wait for theirs.
    async fn turn(&self, event: &mut Event) -> Result<(SemaphorePermit<'_>, Slot), Error> {
        let place = self.making.enter().map_err(store::Error::from)?;
        let (began, waiting) = (Tick::now(), self.making.wait());
        let turn = self.turn.acquire().await.map_err(|_| Error::GivenUp)?;
        drop(waiting);
        event.add(Op::ViewWait, Tick::now().since(began));
        Ok((turn, place))
    }
}

impl Hosted<'_> {
    /// What `make` makes of a part of this view, and from when on policy shows something else: kept, being made for another, or
    /// made now. When whoever makes it leaves, the next who waits for it does.
    pub(crate) async fn once(
        self,
        part: ViewPart,
        now: Millis,
        event: &mut Event,
        make: impl AsyncFnOnce(&mut Event) -> Result<(ViewAnswer, Option<Millis>), Error>,
    ) -> Result<ViewAnswer, Error> {
        // What settings would come to is nobody else's to see.
        if !self.repository.asks {
            return make(event).await.map(|(made, _)| made);
        }
        let views = self.views;
        let key = Key { repository: self.repository.id, past: self.moment(now, event).await?, part };
        let began = Tick::now();
        let place = match views.cache.find_or_turn(&key, |stamp| self.store.revisions().holds(stamp, now)).await {
            Err(place) => place,
            Ok(kept) => {
                event.add(Op::ViewWait, Tick::now().since(began));
                return Ok(kept.value.clone());
            }
        };
        let whole = key.past.is_some() && key.part.gem().is_none();
        let _turn = if whole { Some(views.turn(event).await?) } else { None };
        let stamp = self.seen_from(&key, now)?; // before the work
        let (made, until) = make(event).await?;
        let stamp = until.map_or(stamp, |until| stamp.until(until));
        place.insert(Arc::new(Stamped { stamp, value: made.clone() }));
        Ok(made)
    }

    /// The moment as of which it is looked at, as all who see the same have it.
    async fn moment(self, now: Millis, event: &mut Event) -> Result<Option<Moment>, Error> {
        let Some(past) = self.repository.as_of else { return Ok(None) };
        let through = self.store.last_line(self.repository.id, past.through, event).await?;
        // As of a change ages count as of now, which the stamp knows.
        let until = (past.until <= now && self.repository.rules.count_ages()).then_some(past.until);
        Ok(Some(Moment { through, until }))
    }

    fn seen_from(self, key: &Key, now: Millis) -> Result<Stamp, Error> {
        let ends = self.repository.ends(now).unwrap_or(Millis(i64::MAX));
        let settings = self.settings.until(ends);
        if key.past.is_some() {
            return Ok(settings);
        }
        let unit = key.part.gem().map_or(Unit::All(key.repository), |gem| Unit::Of(key.repository, gem));
        let stamp = self.store.revisions().stamp(&[unit], ends);
        stamp.and_then(|stamp| stamp.join(&settings)).ok_or(Error::GivenUp)
    }
}

impl From<Found> for ViewAnswer {
    fn from(found: Found) -> Self {
        Self::Found(Arc::new(found))
    }
}

impl ViewAnswer {
    /// An answer.
    pub(crate) fn found(self) -> Result<Found, Error> {
        match self {
            ViewAnswer::Found(found) => Ok(Found::clone(&found)),
            ViewAnswer::Needs(_) => Err(Error::GivenUp),
        }
    }

    /// What one gem needs.
    pub(crate) fn needs(self) -> Result<Arc<Piece>, Error> {
        match self {
            ViewAnswer::Needs(piece) => Ok(piece),
            ViewAnswer::Found(_) => Err(Error::GivenUp),
        }
    }
}
