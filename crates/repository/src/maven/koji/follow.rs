//! Looks at a hub without a client: regularly, and because of hooks.

use crate::error::Result;
use crate::hints::hint::Hint;
use crate::hints::waiting::Arrived;
use crate::maven::koji::job::{self, Whose};
use crate::maven::koji::schedule::{LOOK_EVERY_MS, PAUSED_AFTER_MS};
use crate::record::RepositoryRecord;
use crate::repository::Repository;
use crate::upstream::Remote;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use telemetry::Millis;

/// Starts a look if one is due: each minute while clients use the repository, and otherwise each half hour, of a hub
/// that was read before.
pub(crate) fn follow(remote: &Remote) {
    let (koji, now) = (remote.repository.shared.koji(), remote.now());
    let Some(record) = remote.repository.record.koji() else { return };
    if !remote.repository.asks {
        return;
    }
    let is_used = koji.follow.was_asked_since(Millis(now.0 - PAUSED_AFTER_MS));
    let is_changed = koji.follow.has_other_settings(record);
    if !is_changed {
        let has_hints = remote.repository.shared.hints.are_waiting();
        if !is_used && !remote.follows_for_others() && !has_hints && !koji.follow.is_idle_look_due(now) {
            return;
        }
        let origin = remote.repository.origin;
        if remote.is_followed_elsewhere(koji.known(origin).map(|known| known.tried)) {
            return;
        }
        if koji.known(origin).is_none() && koji.follow.recent_failure(origin, now).is_some() {
            return;
        }
        // A little before a client would need it, so that no client waits.
        let since = Millis(now.0 - LOOK_EVERY_MS / 12 * 11);
        if koji.known(origin).is_some_and(|known| known.tried >= since && known.tried <= now) {
            return;
        }
    }
    if let Ok(turn) = koji.looking.clone().try_lock_owned() {
        let whose = if is_used { Whose::AClient } else { Whose::Ours { hinted: false } };
        drop(job::start(remote, whose, turn));
    }
}

/// Accepts a hint that something changed, and looks at once if a look is due.
pub(crate) fn take_hint(remote: &Remote, published: Option<Millis>, shared: &Arc<AtomicBool>) -> Result<()> {
    let (repository, at) = (&remote.repository, remote.now());
    // A message of Koji names a build and no Maven artifact, so each hint means that anything may have changed.
    let arrived = Arrived { hint: Hint::anything(), at, published, basis: job::said(remote), shared };
    repository.shared.hints.count_taken(at);
    repository.shared.hints.take(arrived, false, &remote.remotes.hints.bound);
    look_for_hints(remote);
    Ok(())
}

impl Repository {
    /// Records that its settings were others before. If the hub's were, a look is due.
    pub(crate) fn change_from(&self, before: &RepositoryRecord) {
        if let (Some(before), Some(now)) = (before.koji(), self.record.koji())
            && before != now
        {
            self.shared.koji().follow.change_settings(before);
        }
    }

    /// Whether a look is due because the settings of its hub were changed.
    pub(crate) fn awaits_look(&self) -> bool {
        self.record.koji().is_some_and(|record| self.shared.koji().follow.has_other_settings(record))
    }
}

/// Starts a look if hints or other settings make one due. Returns the time of the next that hints cause.
pub(crate) fn look_for_hints(remote: &Remote) -> Option<Millis> {
    let (repository, now) = (&remote.repository, remote.now());
    if repository.asks
        && repository.awaits_look()
        && let Ok(turn) = repository.shared.koji().looking.clone().try_lock_owned()
    {
        drop(job::start(remote, Whose::Ours { hinted: false }, turn));
    }
    let due = repository.shared.hints.due(now)?;
    if due > now || !repository.asks {
        return Some(due);
    }
    if let Ok(turn) = repository.shared.koji().looking.clone().try_lock_owned() {
        drop(job::start(remote, Whose::Ours { hinted: true }, turn));
    }
    Some(due)
}
