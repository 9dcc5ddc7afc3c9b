//! The older index: `specs.4.8.gz`, `latest_specs.4.8.gz` and `prerelease_specs.4.8.gz`. A change renders its gem again
//! and encodes the chunk of that gem. The first rendering of all gems takes long and happens once.

use crate::error::Result;
use crate::gem::hosted::Hosted;
use crate::gem::indexes::specs::{GemParts, Packed, SpecFiles};
use crate::gem::spec_parts::parts;
use crate::gem::versions::touched;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::chunks::UNITS;
use format::gem::specs;
use store::Outline;
use telemetry::{Event, Millis, Op};

/// One of the three files of a hosted repository.
pub(crate) async fn specs(hosted: Hosted<'_>, file: specs::File, now: Millis, event: &mut Event) -> Result<Packed> {
    let mut turn = event.waited(Op::TurnWait, hosted.indexes.specs.clone().lock_owned()).await;
    if let Some(files) = turn.current(hosted.store, now) {
        return Ok(hosted.indexes.sent_dates.file(&files[file as usize], now));
    }
    let (stamp, date) = (hosted.stamp(), hosted.indexes.sent_dates.next(now));
    turn = hosted.context.read_index(turn, event).await?;
    if turn.source().is_none() {
        turn.replace(SpecFiles::new(hosted.store.last(), date));
    }
    while let Some(after) = turn.made()?.unfinished() {
        let names = hosted.store.units(hosted.repository.id, after, UNITS, event).await?;
        let more = names.last().filter(|_| names.len() == UNITS).cloned();
        let gems = rendered(hosted, names, now, event).await?;
        (turn, ()) = hosted.context.change_index(turn, event, move |made| made.append(gems, more)).await?;
    }
    loop {
        let touched = touched(hosted, turn.made()?.through(), event).await?;
        let through = touched.through;
        let gems = rendered(hosted, touched.gems.into_keys().collect(), now, event).await?;
        let change = move |made: &mut SpecFiles| made.change(gems.into_iter().collect(), through, date);
        (turn, ()) = hosted.context.change_index(turn, event, change).await?;
        if touched.last {
            break;
        }
    }
    let files;
    (turn, files) = hosted.context.change_index(turn, event, |made| made.files()).await?;
    let sent = hosted.indexes.sent_dates.file(&files[file as usize], now);
    hosted.context.settle_index(turn, stamp, files);
    Ok(sent)
}

/// The parts of these gems, rendered on the thread that reads their versions.
async fn rendered(
    hosted: Hosted<'_>,
    names: Vec<String>,
    now: Millis,
    event: &mut Event,
) -> Result<Vec<(String, GemParts)>> {
    let repository = hosted.repository.clone();
    let render = move |name: &str, rows: Vec<Outline>| Ok((name.to_owned(), parts(name, &rows, repository.view(now))?));
    hosted.store.outlines(hosted.repository.id, names, render, event).await?.into_iter().collect()
}
