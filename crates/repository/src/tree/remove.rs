//! Deletes files: the journal gets a tombstone for each. The bytes stay until no row within the horizon refers to them,
//! and the path stays reserved.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::tree::Tree;
use crate::tree::admit;
use crate::tree::deploy::present;
use crate::tree::facts::Provenance;
use crate::tree::file::File;
use crate::tree::folder::{self, Read};
use crate::visible;
use crate::write_conditions::WriteConditions;
use store::{Entry, Withdrawal};
use telemetry::{Event, Millis};

/// Number of folders that one read of the store returns.
const PAGE: usize = 1_000;

/// Deletes the file, or all files below its path. Conditions are about the file: a folder is none.
pub(crate) async fn remove(
    tree: Tree<'_>,
    file: &File<'_>,
    conditions: Option<&WriteConditions>,
    by: Actor<'_>,
    at: Millis,
    event: &mut Event,
) -> Result<u64> {
    admit::may_change(file, by)?;
    let path = file.path;
    let check = |there: Option<&Entry>| match conditions {
        Some(conditions) => {
            let there = there.and_then(|entry| present(entry, file.is_immutable_in(tree.repository)));
            Ok(conditions.check(path, there.as_ref())?)
        }
        None => Ok(()),
    };
    let it = |entry: &Entry| if entry.key == path { check(Some(entry)).map(|()| true) } else { Ok(false) };
    let mut removed = withdraw(tree, file.folder, it, by, at, event).await?;
    if removed == 0 {
        check(None)?;
        removed = remove_below(tree, path, by, at, event).await?;
    }
    match removed {
        0 => Err(match file.provenance() {
            Some(Provenance::Generated | Provenance::ChecksumOf(..)) => Error::MadeHere(path.to_owned()),
            Some(Provenance::Uploaded) | None => Error::NoSuchFile(path.to_owned()),
        }),
        removed => Ok(removed),
    }
}

/// Deletes all files below `path`.
async fn remove_below(tree: Tree<'_>, path: &str, by: Actor<'_>, at: Millis, event: &mut Event) -> Result<u64> {
    let below = format!("{path}/");
    let mut removed = withdraw(tree, path, |_| Ok(true), by, at, event).await?;
    let mut after = below.clone();
    loop {
        let folders = tree.store.units(tree.repository.id, &after, PAGE, event).await?;
        let here = folders.iter().take_while(|folder| folder.starts_with(&below)).count();
        let all = async |folder: &str, event: &mut Event| withdraw(tree, folder, |_| Ok(true), by, at, event).await;
        removed += folder::each(&folders[..here], all, event).await?;
        match folders.last() {
            Some(last) if here == PAGE => after.clone_from(last),
            _ => return Ok(removed),
        }
    }
}

/// Deletes the files of a folder that `which` selects. Returns their number.
async fn withdraw(
    tree: Tree<'_>,
    folder: &str,
    which: impl Fn(&Entry) -> Result<bool>,
    by: Actor<'_>,
    at: Millis,
    event: &mut Event,
) -> Result<u64> {
    let withdrawn = |rows: &[Entry]| {
        let mut gone = Vec::new();
        for entry in visible(rows, tree.repository.whole(at)).map(|seen| seen.entry()) {
            if which(entry)? {
                gone.push(entry.withdrawn(Withdrawal::Deleted, at));
            }
        }
        Ok(gone)
    };
    folder::change(tree, folder, Read::Live, withdrawn, by, at, event).await
}
