//! Purges a file of a hosted tree, or all files below a path, including files that were deleted before.
//!
//! A path that is both, as the marker of a folder is in object stores, is that of the file: the files below it stay.

use crate::actor::Actor;
use crate::cleanup::purge::purged;
use crate::error::Result;
use crate::services::Served;
use crate::tree::folder;
use std::collections::BTreeSet;
use store::Entry;
use telemetry::Event;

/// Number of entries that one read of the store returns.
const PAGE: usize = 1_000;

/// The files at the path that `what` names and below it that a purge changes. If `by` is an actor, they are purged.
pub(crate) async fn purge(
    of: Served<'_>,
    what: &str,
    why: &str,
    by: Option<Actor<'_>>,
    event: &mut Event,
) -> Result<Vec<Entry>> {
    let (tree, at) = (of.tree(), of.services.store.now());
    let path = &*of.repository.format.rules().named_path(what);
    let is_file = tree.store.entry(tree.repository.id, path, event).await?.is_some();
    let below = |entry: &Entry| {
        entry.key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || (!is_file && rest.starts_with('/')))
    };
    let which = |rows: &[Entry]| -> Vec<Entry> {
        rows.iter().filter(|entry| below(entry)).filter_map(|entry| purged(entry, why, at)).collect()
    };
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let rows = tree.store.entries_beginning(tree.repository.id, path, &after, PAGE, event).await?;
        found.extend(which(&rows));
        match rows.last() {
            Some(last) if rows.len() == PAGE => after.clone_from(&last.key),
            _ => break,
        }
    }
    if let Some(by) = by {
        let folders: BTreeSet<String> = found.iter().map(|entry| entry.unit.clone()).collect();
        let all = async |folder: &str, event: &mut Event| {
            folder::change(tree, folder, folder::Read::All, |rows| Ok(which(rows)), by, at, event).await
        };
        folder::each(&folders.into_iter().collect::<Vec<_>>(), all, event).await?;
    }
    Ok(found)
}
