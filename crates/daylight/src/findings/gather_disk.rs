//! What findings are told about the disk: how much is free, and how much was.

use crate::app::App;
use insight::{DiskFact, ProgramFacts, ReadOnlyFact};
use store::{DatabaseState, ReadOnly};
use telemetry::{Tick, lock};

/// Adds the disk, and why nothing is written.
pub(super) fn add(app: &App, facts: &mut ProgramFacts) {
    let (free_bytes, floor_bytes) = (app.store.free_bytes(), app.store.floor_bytes());
    // 0: it was not measured yet, or it is full, and then nothing is written.
    if free_bytes > 0 {
        let [within_hour, within_days] = lock(&app.gathered.free).record(Tick::now(), free_bytes);
        facts.disk = Some(DiskFact { free_bytes, floor_bytes, within_hour, within_days });
    }
    facts.missing_files = app.store.missing_files();
    facts.read_only = app.store.read_only().map(|why| {
        let away = app
            .store
            .database()
            .and_then(DatabaseState::away)
            .filter(|_| matches!(why, ReadOnly::Database | ReadOnly::Parted));
        let is_for_space = matches!(why, ReadOnly::Full | ReadOnly::Low);
        // Strangers read the words about the server's state, and only operators read findings.
        ReadOnlyFact {
            why: away.map_or_else(|| why.to_string(), |away| format!("{why}: {}", away.cause)),
            is_for_space,
        }
    });
}
