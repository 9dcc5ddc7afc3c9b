//! Writes down when things were last used, and whether all of that is known.

use crate::app::App;
use crate::last_uses::{SINK, TakenUses};
use repository::Error;
use store::{RepositoryId, RepositoryKind};
use telemetry::Event;

/// Uses that are written in one go.
const BATCH: usize = 4_096;

/// Writes down what was used until now.
pub(crate) async fn record_all(app: &App, event: &mut Event) -> Result<(), Error> {
    app.flush_sinks(event).await;
    record(app, event).await
}

/// Writes down what the sink has by now. A use through a group counts for each of its members.
pub(crate) async fn record(app: &App, event: &mut Event) -> Result<(), Error> {
    let _turn = app.last_uses.writing.lock().await;
    let totals = app.recorder.totals();
    let of_sink = totals.sinks().iter().filter(|sink| sink.name == SINK);
    let lost = of_sink.map(|sink| sink.dropped + sink.errors + sink.panics).sum::<u64>() + totals.unbuffered();
    let written = write(app, app.last_uses.take(lost), event).await;
    if written.is_err() {
        app.last_uses.lose();
    }
    written
}

async fn write(app: &App, taken: TakenUses, event: &mut Event) -> Result<(), Error> {
    let known = app.repositories.table(event).await?;
    let mut rows: Vec<(RepositoryId, String, i64)> = Vec::with_capacity(taken.uses.len());
    for (asked, name, day) in &taken.uses {
        let Some(repository) = known.by_name.get(&**asked) else { continue };
        let own = (repository.record.kind != RepositoryKind::Group).then_some(repository.id);
        let ids = repository.leaves.iter().map(|leaf| leaf.id).chain(own);
        rows.extend(ids.map(|id| (id, name.to_string(), *day)));
    }
    let mut lost = (!taken.complete).then(|| app.clock.now());
    while !rows.is_empty() || lost.is_some() {
        let rest = rows.split_off(rows.len().min(BATCH));
        app.store.record_uses(std::mem::replace(&mut rows, rest), lost.take(), event).await?;
    }
    Ok(())
}
