//! Purges or restores versions of a gem that an operator names.

use crate::actor::Actor;
use crate::cleanup::purge::purged;
use crate::error::Error;
use crate::gem::change_versions::change;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::facts;
use crate::repository::Repository;
use std::sync::Arc;
use store::{Entry, Lane, State, Withdrawal};
use telemetry::{Event, Millis};

/// The versions of `NAME`, or of `NAME:VERSION`: a number with all its builds, or one build, such as `1.0-java`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    version: Option<&'a str>,
}

impl<'a> Named<'a> {
    pub(crate) fn read(what: &'a str) -> Self {
        match what.split_once(':') {
            Some((name, version)) => Self { name, version: Some(version) },
            None => Self { name: what, version: None },
        }
    }

    fn is(self, entry: &Entry) -> Result<bool, Error> {
        let Some(version) = self.version else { return Ok(true) };
        let build = entry.key.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('-'));
        Ok(build == Some(version) || facts(entry)?.number.as_str() == version)
    }

    /// Those of its entries that `change` changes.
    fn changed(self, entries: &[Entry], change: impl Fn(&Entry) -> Option<Entry>) -> Result<Vec<Entry>, Error> {
        let mut changed = Vec::new();
        for entry in entries {
            if self.is(entry)? {
                changed.extend(change(entry));
            }
        }
        Ok(changed)
    }
}

/// Returns the versions that a purge changes. If `by` is an actor, they are purged.
pub(crate) async fn purge(
    hosted: Hosted<'_>,
    what: Named<'_>,
    why: &str,
    by: Option<Actor<'_>>,
    reload: impl AsyncFn(&mut Event) -> Result<Arc<Repository>, Error>,
    event: &mut Event,
) -> Result<Vec<Entry>, Error> {
    let which = |entries: &[Entry], at| what.changed(entries, |entry| purged(entry, why, at));
    match by {
        Some(by) => change(hosted, what.name, which, by, reload, event).await,
        None => {
            let unit = hosted.store.unit(hosted.repository.id, what.name, Lane::Index, event).await?;
            which(&unit.entries, hosted.store.now())
        }
    }
}

/// Restores versions that a cleanup removed within `store.undo`. Returns how many.
pub(crate) async fn restore(
    hosted: Hosted<'_>,
    what: Named<'_>,
    by: Actor<'_>,
    reload: impl AsyncFn(&mut Event) -> Result<Arc<Repository>, Error>,
    event: &mut Event,
) -> Result<u64, Error> {
    let cleaned =
        |entry: &Entry| entry.state == State::Withdrawn && matches!(entry.withdrawal, Some(Withdrawal::Cleanup { .. }));
    let unit = hosted.store.unit(hosted.repository.id, what.name, Lane::Index, event).await?;
    let removed = what.changed(&unit.entries, |entry| cleaned(entry).then(|| entry.clone()))?;
    let label = what.version.map_or_else(|| what.name.to_owned(), |version| format!("{}:{version}", what.name));
    if removed.is_empty() {
        return Err(Error::NothingRemoved(label));
    }
    let undo = hosted.store.blob_life().undo;
    let which = |entries: &[Entry], at: Millis| {
        let restorable = |entry: &Entry| cleaned(entry) && entry.changed.plus(undo) >= at;
        what.changed(entries, |entry| restorable(entry).then(|| entry.restored(at)))
    };
    match change(hosted, what.name, which, by, reload, event).await?.len() {
        0 => Err(Error::RemovedForGood(label)),
        restored => Ok(restored as u64),
    }
}
