//! Checks the map of a Koji repository: the rows of the journal must be readable and answer as the map in memory does, and
//! each cached file is compared with the map. This does not ask the hub.

use crate::error::{Error, Result};
use crate::maven::koji::load::load;
use crate::maven::koji::map::{KojiMap, KojiView};
use crate::maven::koji::rows;
use crate::upstream::{PATIENCE, Remote};
use schemars::JsonSchema;
use serde::Serialize;
use telemetry::{Event, Op};
use tokio::time::timeout;

/// What a check of the map of a Koji repository found. The figures of the map are in the first part, those of its files in each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "KojiCheck")]
pub struct KojiCheck {
    /// How many builds are in the tags.
    pub builds: u64,
    /// How many files these have.
    pub files: u64,
    /// Cached files that the map has with the same size and digest.
    pub cached: u64,
    /// Cached files of other builds: they left the tags, or another build has their folder now. They are answered as of a moment only.
    pub former: u64,
}

/// Checks the map if `after` is empty, and the cached files that come after it, at most `limit`. Adds a sentence for each mismatch to
/// `problems`, and returns what to give as `after` for the next part.
pub(crate) async fn check(
    remote: &Remote,
    after: &str,
    limit: usize,
    problems: &mut Vec<String>,
    event: &mut Event,
) -> Result<(KojiCheck, Option<String>)> {
    let mut check = KojiCheck::default();
    if after.is_empty()
        && let Err(error) = check_map(remote, &mut check, problems, event).await
    {
        let unreadable = matches!(error, Error::Unreadable { .. } | Error::Unsupported(_));
        if !unreadable {
            return Err(error);
        }
        problems.push(format!("the journal's rows of the map cannot be read: {error}"));
        return Ok((check, None));
    }
    let Some(known) = load(remote, event).await? else { return Ok((check, None)) };
    let cached = remote.remotes.store.cached_files(remote.repository.origin, "", after, limit, event).await?;
    for (path, kept) in &cached {
        let Some((folder, name)) = path.rsplit_once('/') else { continue };
        match known.map.file(folder, name, KojiView::Now) {
            Some((_, found)) if found.may_be(&kept.hashes) => check.cached += 1,
            _ => check.former += 1,
        }
    }
    let next = cached.last().map(|(path, _)| path.clone()).filter(|_| cached.len() >= limit);
    Ok((check, next))
}

/// Compares the map in memory with the one that the rows of the journal make. No look changes either meanwhile.
async fn check_map(
    remote: &Remote,
    check: &mut KojiCheck,
    problems: &mut Vec<String>,
    event: &mut Event,
) -> Result<()> {
    let looking = remote.repository.shared.koji().looking.clone().lock_owned();
    let turn = event.waited(Op::TurnWait, timeout(PATIENCE, looking)).await;
    // Nothing is wrong with a hub that nobody has needed yet.
    let Some(known) = load(remote, event).await? else { return Ok(()) };
    let totals = known.map.totals();
    (check.builds, check.files) = (totals.builds, totals.files);
    if !known.map.is_recorded() {
        problems
            .push("the journal lacks changes of the map, because `upstream.first_seen_bytes` is used up".to_owned());
        return Ok(());
    }
    let read = rows::read(remote, event).await?;
    // A look that lasts has written rows that were not read, or has not written them yet.
    if turn.is_ok() && !same(&known.map, &read) {
        problems.push("the map in memory answers otherwise than the journal's rows say".to_owned());
    }
    Ok(())
}

fn same(one: &KojiMap, other: &KojiMap) -> bool {
    one.digest() == other.digest()
}
