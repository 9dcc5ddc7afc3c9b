//! Renders the large indexes from rows, for views that differ from the full content: as of a moment, or through a
//! policy. The ropes hold the full content.

use crate::content::soonest;
use crate::error::Error;
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::indexes::last_modified::end_of_second;
use crate::gem::indexes::specs::packed;
use crate::gem::info::make;
use crate::gem::info_lines::{facts, info_lines};
use crate::gem::spec_parts::parts_of;
use crate::gem::views::{ViewAnswer, ViewPart};
use crate::index::document::Index;
use crate::index::rope::chunks::Chunks;
use crate::index::rope::chunks::UNITS;
use crate::repository::Repository;
use crate::visible;
use crate::visible::gone;
use crate::visible::next_change;
use format::gem::dependencies::{self, Form, Piece};
use format::gem::{self, Identity, Package, specs};
use std::sync::Arc;
use store::{Entry, Lane};
use telemetry::{Event, Millis, Op};

/// The rendered answer, and when the policy may show other content.
type Rendered = Result<(ViewAnswer, Option<Millis>), Error>;

/// Number of gems that one step of a reader thread reads.
const PAGE: usize = 1_000;

/// `/versions`: a line for each gem, including gems without published versions.
pub(crate) async fn versions(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Found, Error> {
    hosted.once(ViewPart::Versions, now, event, async |event| render_versions(hosted, now, event).await).await?.found()
}

async fn render_versions(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Rendered {
    let line = move |name: &str, rows: Vec<Entry>, repository: &Repository| {
        let view = repository.view(now);
        let (lines, _) = info_lines(visible(&rows, view), repository.info_format())?;
        let md5 = gem::info::md5_hex(&gem::info::render(&lines));
        Ok(match lines.is_empty() {
            false => Some(gem::versions::summary(name, &lines, &md5)),
            true => gone(&rows, view).then(|| gem::versions::tombstone(name, &md5)),
        })
    };
    let (lines, fresh_until) = each(hosted, line, now, event).await?;
    let created = hosted.repository.record.created.seconds();
    let index = make(hosted, lines.len(), event, move || Ok(gem::versions::render(created, lines))).await?;
    Ok((Found::Index(Index { fresh_until, ..index }).into(), fresh_until))
}

/// `/names`: every gem that has a published version.
pub(crate) async fn names(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Found, Error> {
    hosted.once(ViewPart::Names, now, event, async |event| render_names(hosted, now, event).await).await?.found()
}

async fn render_names(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Rendered {
    let name = move |name: &str, rows: Vec<Entry>, repository: &Repository| {
        Ok(visible(&rows, repository.view(now)).next().map(|_| gem::names::line(name)))
    };
    let (names, fresh_until) = each(hosted, name, now, event).await?;
    let render = move || Ok([gem::names::opening(names.len()), &names.concat()].concat().into_bytes());
    let index = make(hosted, PAGE, event, render).await?;
    Ok((Found::Index(Index { fresh_until, ..index }).into(), fresh_until))
}

/// One of the three files of the older index.
pub(crate) async fn specs(
    hosted: Hosted<'_>,
    file: specs::File,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let part = ViewPart::Specs(file);
    let made = hosted.once(part, now, event, async |event| render_specs(hosted, file, now, event).await).await;
    made?.found_at(now)
}

async fn render_specs(hosted: Hosted<'_>, file: specs::File, now: Millis, event: &mut Event) -> Rendered {
    let said = move |name: &str, rows: Vec<Entry>, repository: &Repository| {
        let identity = |row: &Entry| {
            let Package { number, platform, .. } = facts(row)?;
            Ok(Identity { number, platform })
        };
        let parts = parts_of(name, &rows, repository.view(now), identity)?;
        Ok((!rows.is_empty()).then(|| (name.to_owned(), parts)))
    };
    let (said, fresh_until) = each(hosted, said, now, event).await?;
    // Policy and purges change the visible versions without a change of the rows.
    let modified = end_of_second(hosted.store.now());
    let pack = move |(): &mut ()| {
        let mut chunks = Chunks::new();
        let mut units = said.into_iter().peekable();
        while units.peek().is_some() {
            chunks.append(units.by_ref().take(UNITS).collect())?;
        }
        packed(&chunks, file, modified)
    };
    let file = hosted.context.workers.run(Lane::Index, Op::IndexRender, event, pack).await??;
    Ok((Found::Packed(file).into(), fresh_until))
}

/// The dependencies of the visible versions of these gems, a piece for each.
pub(crate) async fn pieces(
    hosted: Hosted<'_>,
    names: &[String],
    form: Form,
    now: Millis,
    event: &mut Event,
) -> Result<Vec<Arc<Piece>>, Error> {
    let mut pieces = Vec::with_capacity(names.len());
    for name in names {
        let part = ViewPart::Needs(form, name.clone());
        let made = hosted.once(part, now, event, async |event| piece(hosted, name, form, now, event).await).await?;
        pieces.push(made.needs()?);
    }
    Ok(pieces)
}

async fn piece(hosted: Hosted<'_>, name: &str, form: Form, now: Millis, event: &mut Event) -> Rendered {
    let (view, rows) = (hosted.repository.view(now), hosted.repository.unit(hosted.store, name, event).await?);
    let briefs = visible(&rows, view).map(|seen| Ok(dependencies::brief(&facts(seen.entry())?)));
    let briefs = briefs.collect::<Result<Vec<_>, Error>>()?;
    let piece = event.time(Op::IndexRender, || Piece::new(form, name, briefs.iter().map(String::as_str)));
    Ok((ViewAnswer::Needs(Arc::new(piece)), next_change(&rows, view)))
}

/// The results of `say` for each gem, in the order of their names, and when the policy may show other versions.
async fn each<T: Send + 'static>(
    hosted: Hosted<'_>,
    say: impl Fn(&str, Vec<Entry>, &Repository) -> Result<Option<T>, Error> + Clone + Send + 'static,
    now: Millis,
    event: &mut Event,
) -> Result<(Vec<T>, Option<Millis>), Error> {
    let (mut said, mut until, mut after) = (Vec::new(), None::<Millis>, Some(String::new()));
    while let Some(from) = after {
        let (say, repository) = (say.clone(), hosted.repository.clone());
        let read = move |name: &str, rows: Vec<Entry>| {
            (next_change(&rows, repository.view(now)), say(name, rows, &repository))
        };
        let (some, last) = hosted.repository.units(hosted.store, &from, PAGE, read, event).await?;
        for (turns, one) in some {
            until = soonest(until, turns);
            said.extend(one?);
        }
        after = last;
    }
    Ok((said, until))
}
