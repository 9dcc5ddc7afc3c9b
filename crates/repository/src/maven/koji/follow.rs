//! Looks at a hub without a client: regularly, and because of hooks.

use crate::error::Result;
use crate::hints::hint::Hint;
use crate::hints::waiting::Arrived;
use crate::maven::koji::job::{self, Whose};
use crate::maven::koji::schedule::{LOOK_EVERY_MS, PAUSED_AFTER_MS};
use crate::upstream::Remote;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use telemetry::Millis;

/// Starts a look if one is due: each minute while clients use the repository, and otherwise each half hour, of a hub
/// that was read before.
pub(crate) fn follow(remote: &Remote) {
    let (koji, now) = (remote.repository.shared.koji(), remote.now());
    let Some(record) = job::record(remote) else { return };
    if !remote.repository.asks {
        return;
    }
    let is_used = koji.follow.was_asked_since(Millis(now.0 - PAUSED_AFTER_MS));
    let is_changed = koji.follow.has_other_settings(record);
    if !is_changed {
        let has_hints = remote.repository.shared.hints.are_waiting();
        if !is_used && !has_hints && !koji.follow.is_idle_look_due(now) {
            return;
        }
        // A little before a client would need it, so that no client waits.
        let since = Millis(now.0 - LOOK_EVERY_MS / 12 * 11);
        if koji.known(remote.repository.origin).is_some_and(|known| known.tried >= since && known.tried <= now) {
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

/// Starts a look if hints make one due. Returns the time of the next.
pub(crate) fn look_for_hints(remote: &Remote) -> Option<Millis> {
    let (repository, now) = (&remote.repository, remote.now());
    let due = repository.shared.hints.due(now)?;
    if due > now || !repository.asks {
        return Some(due);
    }
    if let Ok(turn) = repository.shared.koji().looking.clone().try_lock_owned() {
        drop(job::start(remote, Whose::Ours { hinted: true }, turn));
    }
    Some(due)
}
