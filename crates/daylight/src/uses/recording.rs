//! Writes down when things were last used, and whether all of that is known.

use crate::app::App;
use crate::uses::last_uses::{CENSUS, TakenUses};
use repository::Error;
use store::{RepositoryId, RepositoryKind};
use telemetry::{Event, Op};

/// Uses that are written in one go.
const BATCH: usize = 4_096;

/// Writes down what was used until now.
pub(crate) async fn record_all(app: &App, event: &mut Event) -> Result<(), Error> {
    app.flush_sinks(event).await;
    record(app, event).await
}

/// Writes down what the census has by now. A use through a group counts for each of its members.
pub(crate) async fn record(app: &App, event: &mut Event) -> Result<(), Error> {
    let _turn = event.waited(Op::TurnWait, app.last_uses.writing.lock()).await;
    let totals = app.recorder.totals();
    let of_census = totals.censuses().iter().filter(|census| census.name == CENSUS);
    let lost = of_census.map(|census| census.missed).sum::<u64>() + totals.unbuffered();
    let written = write(app, app.last_uses.take(lost), event).await;
    if written.is_err() {
        app.last_uses.lose();
    }
    written
}

async fn write(app: &App, taken: TakenUses, event: &mut Event) -> Result<(), Error> {
    let known = app.repositories.table(event).await?;
    let mut rows: Vec<(RepositoryId, String, i64)> = Vec::new();
    let all = taken.uses.iter().flat_map(|(day, of_day)| of_day.iter().map(move |(asked, names)| (day, asked, names)));
    for (day, asked, names) in all {
        let Some(repository) = known.by_name.get(&**asked) else { continue };
        let own = (repository.record.kind != RepositoryKind::Group).then_some(repository.id);
        let ids = repository.leaves.iter().map(|leaf| leaf.id).chain(own);
        rows.extend(ids.flat_map(|id| names.iter().map(move |name| (id, name.to_string(), *day))));
    }
    let mut lost = (!taken.complete).then(|| app.clock.now());
    while !rows.is_empty() || lost.is_some() {
        let rest = rows.split_off(rows.len().min(BATCH));
        app.store.record_uses(std::mem::replace(&mut rows, rest), lost.take(), event).await?;
    }
    Ok(())
}
