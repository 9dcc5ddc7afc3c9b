//! Deletes files: the journal gets a tombstone for each. The bytes stay until no row within the horizon refers to them,
//! and the path stays reserved.

use crate::actor::Actor;
use crate::error::Error;
use crate::tree::Tree;
use crate::tree::admit;
use crate::tree::file::{File, Provenance};
use crate::tree::folder::{self, Read};
use crate::visible;
use store::{Entry, Withdrawal};
use telemetry::{Event, Millis};

/// Number of folders that one read of the store returns.
const PAGE: usize = 1_000;

/// Deletes the file, or all files below its path.
pub(crate) async fn remove(
    tree: Tree<'_>,
    file: &File<'_>,
    by: Actor<'_>,
    at: Millis,
    event: &mut Event,
) -> Result<u64, Error> {
    admit::may_change(file, by)?;
    let path = file.path;
    let one = withdraw(tree, file.folder, |entry| entry.key == path, by, at, event).await?;
    match if one > 0 { one } else { remove_below(tree, path, by, at, event).await? } {
        0 => Err(match file.provenance() {
            Some(Provenance::Generated | Provenance::ChecksumOf(..)) => Error::MadeHere(path.to_owned()),
            Some(Provenance::Uploaded) | None => Error::NoSuchFile(path.to_owned()),
        }),
        removed => Ok(removed),
    }
}

/// Deletes all files below `path`.
async fn remove_below(tree: Tree<'_>, path: &str, by: Actor<'_>, at: Millis, event: &mut Event) -> Result<u64, Error> {
    let below = format!("{path}/");
    let mut removed = withdraw(tree, path, |_| true, by, at, event).await?;
    let mut after = below.clone();
    loop {
        let folders = tree.store.units(tree.repository.id, &after, PAGE, event).await?;
        let here = folders.iter().take_while(|folder| folder.starts_with(&below)).count();
        let all = async |folder: &str, event: &mut Event| withdraw(tree, folder, |_| true, by, at, event).await;
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
    which: impl Fn(&Entry) -> bool,
    by: Actor<'_>,
    at: Millis,
    event: &mut Event,
) -> Result<u64, Error> {
    let withdrawn = |rows: &[Entry]| {
        let seen = visible(rows, tree.repository.whole(at)).map(|seen| seen.entry()).filter(|entry| which(entry));
        seen.map(|entry| entry.withdrawn(Withdrawal::Deleted, at)).collect()
    };
    folder::change(tree, folder, Read::Live, withdrawn, by, at, event).await
}
