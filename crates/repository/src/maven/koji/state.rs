//! The state of one Koji repository apart from its settings: the map, and what is known of the last looks.

use crate::error::Result;
use crate::maven::koji::change::Change;
use crate::maven::koji::counted::Counted;
use crate::maven::koji::map::apply::{Committed, NextMap, UNRECORDED};
use crate::maven::koji::map::{Duplicates, KojiMap, KojiView};
use crate::maven::koji::moments::Moments;
use crate::maven::koji::rows::{self, Written};
use crate::maven::koji::schedule::Following;
use crate::upstream::Remote;
use crate::upstream::failure::Failure;
use format::koji::model::{BuildId, EventId, Nvr};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex};
use store::{Lane, Origin};
use telemetry::{Event, Millis, Op, Reason, Slot, lock};

/// The state of a Koji repository.
#[derive(Debug, Default)]
pub(crate) struct KojiState {
    known: Mutex<Option<Known>>,
    /// The share of the map in the bound of memory.
    room: Mutex<Option<Slot>>,
    /// The turn to read the journal, and the upstream whose rows were read.
    reading: tokio::sync::Mutex<Option<Origin>>,
    /// The turn of the look under way.
    pub(crate) looking: Arc<tokio::sync::Mutex<()>>,
    /// The moments of events that clients named.
    pub(crate) moments: Moments,
    /// Calls of the hub, and requests of clients.
    pub(crate) counted: Counted,
    /// When looks are due, and what the last one leaves for the next.
    pub(crate) follow: Following,
}

/// The known state of a hub.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The upstream it was read from. A repository with another hub or other files is another upstream.
    pub(crate) origin: Origin,
    pub(crate) map: Arc<KojiMap>,
    /// When a look last confirmed it; when one was last tried, and why that failed.
    pub(crate) checked: Millis,
    pub(crate) tried: Millis,
    pub(crate) failed: Option<Reason>,
    /// The newest event that the last successful look saw.
    pub(crate) event: EventId,
    /// What that look left out, by reason.
    pub(crate) left_out: BTreeMap<&'static str, u64>,
}

impl Known {
    /// A map that no look has confirmed since the start. It was true when it last changed.
    pub(crate) fn new(origin: Origin, map: Arc<KojiMap>) -> Self {
        let (checked, event) = (map.changed(), map.newest());
        Self { origin, map, checked, tried: Millis(0), failed: None, event, left_out: BTreeMap::new() }
    }
}

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
    /// Whether the journal has the changes. If not, its budget for this repository is used up.
    pub(crate) recorded: bool,
}

impl KojiState {
    /// What is known of this upstream.
    pub(crate) fn known(&self, origin: Origin) -> Option<Known> {
        lock(&self.known).clone().filter(|known| known.origin == origin)
    }

    /// Replaces what is known.
    pub(crate) fn replace(&self, known: Known) {
        *lock(&self.known) = Some(known);
    }

    /// Changes what is known of this upstream.
    pub(crate) fn change<T>(&self, origin: Origin, change: impl FnOnce(&mut Known) -> T) -> Option<T> {
        lock(&self.known).as_mut().filter(|known| known.origin == origin).map(change)
    }

    /// Discards what is known, because the journal may have more. It is read again at the next use.
    async fn forget(&self) {
        *self.reading.lock().await = None;
        *lock(&self.known) = None;
        *lock(&self.room) = None;
    }
}

/// The rule of duplicates of a repository.
fn rule(remote: &Remote) -> Duplicates {
    let record = &remote.repository.record;
    let koji = record.remote.as_ref().and_then(|remote| remote.koji.as_deref());
    koji.map(Duplicates::of).unwrap_or_default()
}

/// What is known of the hub of a repository, from memory or from the journal; `None`: no look ever succeeded.
///
/// # Errors
///
/// A map that does not fit into `upstream.koji_maps_bytes`, and errors of the journal.
pub(crate) async fn load(remote: &Remote, event: &mut Event) -> Result<Option<Known>> {
    let (state, origin, rule) = (remote.repository.shared.koji(), remote.repository.origin, rule(remote));
    let in_memory = || {
        state.change(origin, |known| {
            if known.map.rule() != rule {
                known.map = Arc::new(known.map.by(rule));
            }
            known.clone()
        })
    };
    if let Some(known) = in_memory() {
        return Ok(Some(known));
    }
    let mut read = event.waited(Op::TurnWait, state.reading.lock()).await;
    let known = in_memory();
    if known.is_some() || *read == Some(origin) {
        return Ok(known);
    }
    let map = rows::read(remote, event).await?;
    if !map.is_empty() {
        let room = room(remote, map.weight())?;
        state.replace(Known::new(origin, Arc::new(map.by(rule))));
        *lock(&state.room) = Some(room);
    }
    *read = Some(origin);
    Ok(in_memory())
}

/// A share of the memory for maps.
fn room(remote: &Remote, bytes: u64) -> Result<Slot> {
    let room = remote.remotes.koji_maps.hold(bytes);
    room.map_err(|_| {
        let text = format!(
            "the map of {bytes} bytes does not fit into the memory for maps of Koji repositories; hint: raise \
             `upstream.koji_maps_bytes`"
        );
        Failure::new(Reason::UpstreamInvalid, text).into()
    })
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
pub(crate) async fn take(remote: &Remote, changes: Vec<Change>, event: &mut Event) -> Result<Taken> {
    let (state, origin, now) = (remote.repository.shared.koji(), remote.repository.origin, remote.now());
    let known = load(remote, event).await?;
    let known = known.unwrap_or_else(|| {
        let map = KojiMap::default().by(rule(remote));
        Known { checked: now, tried: now, ..Known::new(origin, Arc::new(map)) }
    });
    let before = known.map.clone();
    if changes.is_empty() {
        let recorded = before.is_recorded();
        return Ok(Taken { map: before, moved: Vec::new(), recorded });
    }
    // Checked before the commit, because afterwards the journal has the rows.
    drop(room(remote, changes.iter().map(weight).sum())?);
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
    let recorded = committed.is_some();
    let committed = committed.unwrap_or_else(|| Committed::in_memory(now, UNRECORDED));
    let (of, builds) = (before.clone(), builds_of(&changes));
    let make = move |(): &mut ()| {
        let mut next = NextMap::of(&of);
        next.add(&changes, committed);
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
    remote.remotes.store.change_upstream_index(remote.repository.id, &units, || state.replace(next));
    *lock(&state.room) = Some(room);
    Ok(Taken { map, moved, recorded })
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
        Change::Tag { .. } | Change::Settled { .. } => None,
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
