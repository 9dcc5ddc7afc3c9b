//! The dependency API of a hosted repository: lists put together from a piece for each gem.
//!
//! Lists are hardly ever asked for twice, gems all the time. So pieces are what is kept in memory, and those that are not
//! there are read and made in one turn of one reader thread, however many are missing.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::from_rows;
use crate::gem::hosted::Hosted;
use crate::repository::Repository;
use crate::visible;
use bytes::Bytes;
use format::gem::dependencies::{self, Form, Piece};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, Weighter};
use std::borrow::Cow;
use std::sync::Arc;
use store::{Facts, Outline, RepositoryId, Stamp, Unit};
use telemetry::{Bound, BoundName, Event, Millis, Op};

/// What is said of gems, in memory, bounded in bytes.
#[derive(Debug)]
pub(crate) struct Pieces {
    cache: Cache<Key, Arc<CachedPiece>, Weight>,
    bound: Arc<Bound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    repository: RepositoryId,
    form: Form,
    name: Box<str>,
}

/// A [`Key`] that is not kept. Fields and their order are the same, so that it hashes alike.
#[derive(Debug, Hash)]
struct KeyRef<'a> {
    repository: RepositoryId,
    form: Form,
    name: &'a str,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.repository == key.repository && self.form == key.form && self.name == &*key.name
    }
}

/// A piece, and what it was made from.
#[derive(Debug)]
struct CachedPiece {
    stamp: Stamp,
    piece: Piece,
}

#[derive(Debug, Clone)]
struct Weight;

impl Weighter<Key, Arc<CachedPiece>> for Weight {
    fn weight(&self, key: &Key, kept: &Arc<CachedPiece>) -> u64 {
        (size_of::<Key>() + size_of::<CachedPiece>() + 64 + key.name.len() + kept.piece.size()) as u64
    }
}

impl Pieces {
    /// For the size of the table: what is said of a gem with eight versions.
    const TYPICAL: u64 = 1 << 10;

    /// Holds none yet, and never more than `bytes` of them.
    pub(crate) fn new(bytes: u64) -> Self {
        let items = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        let cache = Cache::with(items, bytes, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self { cache, bound: Bound::new(BoundName::Dependencies, "", bytes) }
    }

    /// How full it is.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    fn put(&self, key: Key, kept: Arc<CachedPiece>) {
        self.cache.insert(key, kept);
        self.bound.observe(self.cache.weight());
    }
}

/// What the visible versions of the gems `names` need. A gem that is not there has none. Where no gems are named the
/// answer is empty: RubyGems before 3.2.3 asks so whether there is one.
pub(crate) async fn dependencies(
    hosted: Hosted<'_>,
    pieces: &Pieces,
    (names, form): (Option<&[String]>, Form),
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let Some(names) = names else { return Ok(Found::Dependencies([Bytes::new()].into(), form)) };
    if hosted.by_rows() {
        return from_rows::dependencies(hosted, (names, form), now, event).await;
    }
    let (id, revisions) = (hosted.repository.id, hosted.store.revisions());
    let kept = |name| pieces.cache.get(&KeyRef { repository: id, form, name });
    let mut found: Vec<Option<Arc<CachedPiece>>> =
        names.iter().map(|name| kept(name).filter(|kept| revisions.holds(&kept.stamp, now))).collect();
    let missing: Vec<usize> = (0..names.len()).filter(|at| found[*at].is_none()).collect();
    if !missing.is_empty() {
        let wanted: Vec<String> = missing.iter().map(|at| names[*at].clone()).collect();
        // Before the work: what changes meanwhile is read again by the next.
        let stamps: Vec<_> =
            wanted.iter().map(|name| revisions.stamp(&[Unit::Of(id, name)], Millis(i64::MAX))).collect();
        let repository = hosted.repository.clone();
        let read = move |name: &str, rows: Vec<Outline>| piece(&repository, name, &rows, form, now);
        let made = hosted.store.outlines(id, wanted, read, event).await?;
        for ((at, stamp), piece) in missing.into_iter().zip(stamps).zip(made) {
            let kept = Arc::new(CachedPiece { stamp: stamp.ok_or(Error::GivenUp)?, piece: piece? });
            pieces.put(Key { repository: id, form, name: names[at].as_str().into() }, kept.clone());
            found[at] = Some(kept);
        }
    }
    let join = || dependencies::list(form, found.iter().flatten().map(|kept| &kept.piece));
    // Only small pieces are copied, and of the names in one request that is a few megabytes at most: short enough for
    // the event loop.
    Ok(Found::Dependencies(event.time(Op::IndexRender, join).into(), form))
}

fn piece(repository: &Repository, name: &str, rows: &[Outline], form: Form, now: Millis) -> Result<Piece, Error> {
    let seen = visible(rows, repository.view(now)).map(|seen| brief(name, &seen.entry().facts));
    let briefs = seen.collect::<Result<Vec<_>, Error>>()?;
    Ok(Piece::new(form, name, briefs.iter().map(|brief| &**brief)))
}

/// A version in short. One that was pushed by a version that kept nothing of the kind is read whole.
fn brief<'a>(name: &str, facts: &'a Facts) -> Result<Cow<'a, str>, Error> {
    match facts {
        Facts::Brief(brief) => Ok(Cow::Borrowed(brief)),
        Facts::Whole(facts) => {
            let unreadable = |source| Error::Unreadable { key: name.to_owned(), source };
            let package = serde_json::from_str(facts.get()).map_err(unreadable)?;
            Ok(Cow::Owned(dependencies::brief(&package)))
        }
    }
}
