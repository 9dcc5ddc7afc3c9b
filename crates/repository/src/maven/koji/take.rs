//! Applies the changes that a look found: to the journal, then to the map in memory.

use crate::error::Result;
use crate::maven::koji::change::Change;
use crate::maven::koji::load::{load, room, rule};
use crate::maven::koji::map::apply::{Committed, NextMap, UNRECORDED};
use crate::maven::koji::map::{Duplicates, KojiMap, KojiView};
use crate::maven::koji::rows::{self, Written};
use crate::maven::koji::state::Known;
use crate::upstream::Remote;
use format::koji::model::{BuildId, Nvr};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use store::Lane;
use telemetry::{Event, Op, lock};

/// A folder that another build has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) folder: String,
    pub(crate) from: Nvr,
    pub(crate) to: Nvr,
}

/// Changes that were applied.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) map: Arc<KojiMap>,
    /// The folders that belong to another build than before.
    pub(crate) moved: Vec<Moved>,
}

/// Applies the changes that a look found: one commit of rows, then the next map. Every answer that depends on a changed
/// folder ends with it, in the repository and in its groups. The caller has the turn of looks.
///
/// # Errors
///
/// A map that would not fit into `upstream.koji_maps_bytes`: the last one stays. [`GivenUp`] if the journal has
/// rows that the map lacks: these are read before the next look.
///
/// [`GivenUp`]: crate::error::Error::GivenUp
pub(crate) async fn take(remote: &Remote, mut changes: Vec<Change>, event: &mut Event) -> Result<Taken> {
    let (state, origin, now) = (remote.repository.shared.koji(), remote.repository.origin, remote.now());
    let known = load(remote, event).await?;
    let known = known.unwrap_or_else(|| {
        let map = KojiMap::default().by(rule(remote));
        Known { checked: now, tried: now, ..Known::new(origin, Arc::new(map)) }
    });
    let before = known.map.clone();
    // A view of the journal keeps the rule of its time.
    if before.rule() != before.recorded_rule() {
        changes.push(Change::Rule { oldest: before.rule() == Duplicates::Oldest });
    }
    if changes.is_empty() {
        return Ok(Taken { map: before, moved: Vec::new() });
    }
    // Checked before the commit, because afterwards the journal has the rows. The map that is made takes its room beside
    // the present one.
    drop(room(remote, before.weight() + changes.iter().map(weight).sum::<u64>())?);
    // The journal cannot go on from a change that it lacks. After a start the next full look finds what it lacks.
    let written = match before.is_recorded() {
        true => rows::write(remote, &before, changes, event).await,
        false => Ok(Written { changes, committed: None }),
    };
    let Written { changes, committed } = match written {
        Ok(written) => written,
        Err(error) => {
            state.forget().await;
            return Err(error);
        }
    };
    let committed = committed.unwrap_or_else(|| Committed::in_memory(now, UNRECORDED));
    put(remote, known, vec![(changes, committed)], event).await
}

/// Replaces the known state by the one after these changes. Every answer that depends on a changed folder ends with it. The caller has the
/// turn of looks.
///
/// # Errors
///
/// A map that would not fit into `upstream.koji_maps_bytes`.
pub(super) async fn put(
    remote: &Remote,
    known: Known,
    commits: Vec<(Vec<Change>, Committed)>,
    event: &mut Event,
) -> Result<Taken> {
    let (state, origin) = (remote.repository.shared.koji(), remote.repository.origin);
    let of = known.map.clone();
    let make = move |(): &mut ()| {
        let mut next = NextMap::of(&of);
        let mut builds = HashSet::new();
        for (changes, committed) in commits {
            builds.extend(builds_of(&changes));
            next.add(&changes, committed);
        }
        let next = next.finish();
        let folders = next.folders_of_all(&builds);
        let moved = folders.iter().filter_map(|folder| moved(&of, &next, folder)).collect::<Vec<_>>();
        (Arc::new(next), folders, moved)
    };
    let (map, folders, moved) = remote.remotes.workers.run(Lane::Index, Op::KojiApply, event, make).await?;
    let room = room(remote, map.weight());
    if room.is_err() {
        state.forget().await;
    }
    let room = room?;
    let units = with_parents(&folders);
    let units: Vec<&str> = units.iter().map(String::as_str).collect();
    let next = Known { map: map.clone(), ..known };
    // The repository may have had another upstream in the meantime, whose rows are read again then.
    *event.waited(Op::TurnWait, state.reading.lock()).await = Some(origin);
    remote.remotes.store.change_upstream_index(remote.repository.id, &units, || state.replace(next));
    *lock(&state.room) = Some(room);
    Ok(Taken { map, moved })
}

/// Roughly the memory that a change takes.
fn weight(change: &Change) -> u64 {
    match change {
        Change::Build(build) => 400 + build.files.iter().map(|file| 40 + file.name.len() as u64 / 4).sum::<u64>(),
        _ => 160,
    }
}

/// The builds of changes.
fn builds_of(changes: &[Change]) -> HashSet<BuildId> {
    let build = |change: &Change| match change {
        Change::Build(build) => Some(build.id),
        Change::Facts { build, .. } | Change::Gone { build, .. } => Some(*build),
        Change::Tagged(tagging) | Change::Past { tagging, .. } => Some(tagging.build),
        Change::Tag { .. } | Change::Settled { .. } | Change::Rule { .. } => None,
    };
    changes.iter().filter_map(build).collect()
}

/// Whether a folder belongs to another build than before.
fn moved(before: &KojiMap, next: &KojiMap, folder: &str) -> Option<Moved> {
    let from = before.place(folder, KojiView::Now).ok()?;
    let to = next.place(folder, KojiView::Now).ok()?;
    (from.build != to.build).then(|| Moved { folder: folder.to_owned(), from: from.nvr, to: to.nvr })
}

/// These folders, and all folders above them.
fn with_parents(folders: &[String]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for folder in folders {
        let mut folder = folder.as_str();
        while all.insert(folder.to_owned())
            && let Some((above, _)) = folder.rsplit_once('/')
        {
            folder = above;
        }
    }
    all
}

#[cfg(test)]
mod tests;
