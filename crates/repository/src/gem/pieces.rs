//! The pieces that answers of the dependency API are joined from, one for each gem of a hosted repository.
//!
//! Hardly any list of gems is requested twice, but single gems are requested all the time. So the cache holds pieces of
//! single gems. All missing pieces of a request are read and rendered in one step of one reader thread.

use crate::error::{Error, Result};
use crate::gem::hosted::Hosted;
use crate::gem::piece_cache::Pieces;
use crate::gem::rows::{GemRows, briefs};
use crate::gem::views::{ViewAnswer, ViewPart};
use crate::index::name_key::{NameKey, NameKeyRef};
use crate::index::stamped_cache::Stamped;
use crate::repository::Repository;
use crate::visible;
use format::gem::dependencies::{self, Form, Piece};
use std::borrow::Cow;
use std::sync::Arc;
use store::{Facts, Outline, Stamp, Unit};
use telemetry::{Event, Millis, Op};

/// The pieces of these gems, in order.
pub(crate) async fn pieces_of(
    hosted: Hosted<'_>,
    pieces: &Pieces,
    names: &[String],
    form: Form,
    now: Millis,
    event: &mut Event,
) -> Result<Vec<Arc<Piece>>> {
    if hosted.by_rows() {
        let mut pieces = Vec::with_capacity(names.len());
        for name in names {
            let part = ViewPart::Needs(form, name.clone());
            let make = async |event: &mut Event| seen_piece(hosted, name, form, now, event).await;
            pieces.push(hosted.once(part, now, event, make).await?.needs()?);
        }
        return Ok(pieces);
    }
    let (id, revisions) = (hosted.repository.id, hosted.store.revisions());
    let holds = |stamp: &Stamp| revisions.holds(stamp, now);
    let kept = |name: &String| pieces.0.find(&NameKeyRef { within: (id, form), name }, holds);
    let mut found: Vec<Option<Arc<Stamped<Arc<Piece>>>>> = names.iter().map(kept).collect();
    let missing: Vec<usize> = (0..names.len()).filter(|at| found[*at].is_none()).collect();
    if !missing.is_empty() {
        let wanted: Vec<String> = missing.iter().map(|at| names[*at].clone()).collect();
        // Taken before the work, so that the next request notices every later change.
        let stamp = |name: &String| revisions.stamp([Unit::Of(id, name)], Millis(i64::MAX));
        let stamps: Vec<_> = wanted.iter().map(stamp).collect();
        let repository = hosted.repository.clone();
        let read = move |name: &str, rows: Vec<Outline>| piece(&repository, name, &rows, form, now);
        let made = hosted.store.outlines(id, wanted, read, event).await?;
        for ((at, stamp), piece) in missing.into_iter().zip(stamps).zip(made) {
            let key = NameKey::new((id, form), &names[at]);
            found[at] = Some(pieces.0.keep(key, Arc::new(piece?), stamp));
        }
    }
    Ok(found.into_iter().flatten().map(|kept| kept.value.clone()).collect())
}

/// The piece of one gem in a view, and when the view shows other versions.
async fn seen_piece(hosted: Hosted<'_>, name: &str, form: Form, now: Millis, event: &mut Event) -> Result<ViewAnswer> {
    let rows = hosted.repository.unit(hosted.store, name, event).await?;
    let rows = [GemRows::published(rows, hosted.repository, now)];
    let briefs = briefs(&rows)?;
    let piece = event.time(Op::IndexRender, || Piece::new(form, name, briefs.iter().map(String::as_str)));
    Ok(ViewAnswer::Needs(Arc::new(piece), rows[0].until()))
}

fn piece(repository: &Repository, name: &str, rows: &[Outline], form: Form, now: Millis) -> Result<Piece> {
    let seen = visible(rows, repository.view(now)).map(|seen| brief(name, &seen.entry().facts));
    let briefs = seen.collect::<Result<Vec<_>>>()?;
    Ok(Piece::new(form, name, briefs.iter().map(|brief| &**brief)))
}

/// The facts about a version that the API needs. For a version that an earlier program pushed they are computed from
/// all its facts.
fn brief<'a>(name: &str, facts: &'a Facts) -> Result<Cow<'a, str>> {
    match facts {
        Facts::Brief(brief) => Ok(Cow::Borrowed(brief)),
        Facts::Whole(facts) => {
            let unreadable = |source| Error::Unreadable { key: name.to_owned(), source };
            let package = serde_json::from_str(facts.get()).map_err(unreadable)?;
            Ok(Cow::Owned(dependencies::brief(&package)))
        }
    }
}
