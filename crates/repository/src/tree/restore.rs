//! Undoes the last deletion of a path, within the undo window.

use crate::actor::Actor;
use crate::error::Result;
use crate::error::unrestorable::Unrestorable;
use crate::tree::Tree;
use crate::tree::admit;
use crate::tree::folder::{self, Read};
use std::collections::BTreeSet;
use store::{Entry, State, Withdrawal};
use telemetry::{Event, Millis};

/// Number of entries that one read of the store returns.
const PAGE: usize = 1_000;

/// Restores what the last deletion of `path`, or of anything below it, removed. Returns the number of files.
pub(crate) async fn restore(tree: Tree<'_>, path: &str, by: Actor<'_>, at: Millis, event: &mut Event) -> Result<u64> {
    admit::may_change(&tree.repository.file(path), by)?;
    let Some((removed, folders)) = last_removal(tree, path, event).await? else {
        return Err(Unrestorable::Nothing(path.to_owned()).into());
    };
    if removed.plus(tree.store.blob_life().undo) < at {
        return Err(Unrestorable::TooLate(path.to_owned()).into());
    }
    let live = |rows: &[Entry]| {
        let removed = rows.iter().filter(|entry| is_removed(entry, path) && entry.changed == removed);
        Ok(removed.map(|entry| entry.restored(at)).collect())
    };
    let all =
        async |folder: &str, event: &mut Event| folder::change(tree, folder, Read::All, live, by, at, event).await;
    folder::each(&folders.into_iter().collect::<Vec<_>>(), all, event).await
}

/// Whether the entry is withdrawn, not purged, and at `path` or below it.
fn is_removed(entry: &Entry, path: &str) -> bool {
    let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
    let purged = matches!(entry.withdrawal, Some(Withdrawal::Purged { .. }));
    entry.state == State::Withdrawn && !purged && entry.key.strip_prefix(path).is_some_and(below)
}

/// When something at or below `path` was last deleted, and the folders that it was in.
async fn last_removal(tree: Tree<'_>, path: &str, event: &mut Event) -> Result<Option<(Millis, BTreeSet<String>)>> {
    let mut found: Option<(Millis, BTreeSet<String>)> = None;
    let mut after = String::new();
    loop {
        let rows = tree.store.entries_beginning(tree.repository.id, path, &after, PAGE, event).await?;
        for entry in rows.iter().filter(|entry| is_removed(entry, path)) {
            match &mut found {
                Some((last, folders)) if *last == entry.changed => drop(folders.insert(entry.unit.clone())),
                Some((last, _)) if *last > entry.changed => {}
                _ => found = Some((entry.changed, [entry.unit.clone()].into())),
            }
        }
        match rows.last() {
            Some(last) if rows.len() == PAGE => after.clone_from(&last.key),
            _ => return Ok(found),
        }
    }
}
