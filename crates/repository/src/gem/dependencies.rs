//! The dependency API of a hosted repository: answers joined from one piece for each gem.
//!
//! Hardly any list of gems is requested twice, but single gems are requested all the time. So the cache holds pieces of
//! single gems. All missing pieces of a request are read and rendered in one step of one reader thread.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::from_rows;
use crate::gem::hosted::Hosted;
use crate::gem::piece_cache::Pieces;
use crate::index::name_key::{NameKey, NameKeyRef};
use crate::index::stamped_cache::Stamped;
use crate::repository::Repository;
use crate::visible;
use bytes::Bytes;
use format::gem::dependencies::{self, Form, Piece};
use std::borrow::Cow;
use std::sync::Arc;
use store::{Facts, Outline, Stamp, Unit};
use telemetry::{Event, Millis, Op};

/// The dependencies of the visible versions of the gems `names`. A missing gem has none. Without names the answer is
/// empty: RubyGems before 3.2.3 asks that way whether the API exists.
pub(crate) async fn dependencies(
    hosted: Hosted<'_>,
    pieces: &Pieces,
    names: Option<&[String]>,
    form: Form,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let Some(names) = names else { return Ok(Found::Dependencies([Bytes::new()].into(), form)) };
    let pieces = pieces_of(hosted, pieces, names, form, now, event).await?;
    let join = || dependencies::list(form, pieces.iter().map(|piece| &**piece));
    // Only small pieces are copied. One request comes to a few megabytes at most, which is short enough for the event
    // loop. Pieces that were rendered from rows were timed then.
    let list = if hosted.by_rows() { join() } else { event.time(Op::IndexRender, join) };
    Ok(Found::Dependencies(list.into(), form))
}

/// The pieces of these gems, in order.
pub(crate) async fn pieces_of(
    hosted: Hosted<'_>,
    pieces: &Pieces,
    names: &[String],
    form: Form,
    now: Millis,
    event: &mut Event,
) -> Result<Vec<Arc<Piece>>, Error> {
    if hosted.by_rows() {
        return from_rows::pieces(hosted, names, form, now, event).await;
    }
    let (id, revisions) = (hosted.repository.id, hosted.store.revisions());
    let holds = |stamp: &Stamp| revisions.holds(stamp, now);
    let kept = |name: &String| pieces.0.find(&NameKeyRef { within: (id, form), name }, holds);
    let mut found: Vec<Option<Arc<Stamped<Arc<Piece>>>>> = names.iter().map(kept).collect();
    let missing: Vec<usize> = (0..names.len()).filter(|at| found[*at].is_none()).collect();
    if !missing.is_empty() {
        let wanted: Vec<String> = missing.iter().map(|at| names[*at].clone()).collect();
        // Taken before the work, so that the next request notices every later change.
        let stamps: Vec<_> =
            wanted.iter().map(|name| revisions.stamp(&[Unit::Of(id, name)], Millis(i64::MAX))).collect();
        let repository = hosted.repository.clone();
        let read = move |name: &str, rows: Vec<Outline>| piece(&repository, name, &rows, form, now);
        let made = hosted.store.outlines(id, wanted, read, event).await?;
        for ((at, stamp), piece) in missing.into_iter().zip(stamps).zip(made) {
            let key = NameKey::new((id, form), &names[at]);
            found[at] = Some(pieces.0.keep(key, Arc::new(piece?), stamp.ok_or(Error::GivenUp)?));
        }
    }
    Ok(found.into_iter().flatten().map(|kept| kept.value.clone()).collect())
}

fn piece(repository: &Repository, name: &str, rows: &[Outline], form: Form, now: Millis) -> Result<Piece, Error> {
    let seen = visible(rows, repository.view(now)).map(|seen| brief(name, &seen.entry().facts));
    let briefs = seen.collect::<Result<Vec<_>, Error>>()?;
    Ok(Piece::new(form, name, briefs.iter().map(|brief| &**brief)))
}

/// The facts about a version that the API needs. For a version that an earlier program pushed they are computed from
/// all its facts.
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
