//! Reads the map of a repository at its first use after a start.

use crate::error::{Error, Result};
use crate::maven::koji::map::Duplicates;
use crate::maven::koji::rows;
use crate::maven::koji::schedule::FIRST_AGAIN_MS;
use crate::maven::koji::state::Known;
use crate::upstream::Remote;
use crate::upstream::failure::Failure;
use std::sync::Arc;
use telemetry::{Event, Millis, Op, Reason, Slot, lock};

/// The known state of the hub of a repository, from memory or from the journal; `None`: no look ever succeeded.
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
    // Requests do not read the whole journal again and again for a map that does not fit.
    let now = remote.now();
    let is_recent = |at: &Millis| *at <= now && now.0 - at.0 < FIRST_AGAIN_MS;
    let unfit = lock(&state.unfit).clone().filter(|(of, at, _)| *of == origin && is_recent(at));
    if let Some((_, _, failure)) = unfit {
        return Err(failure.into());
    }
    let map = rows::read(remote, event).await?;
    if !map.is_empty() {
        let room = room(remote, map.weight()).inspect_err(|error| {
            if let Error::Upstream(failure) = error {
                *lock(&state.unfit) = Some((origin, now, failure.clone()));
            }
        })?;
        let mut known = Known::new(origin, Arc::new(map.by(rule)));
        if remote.is_followed_elsewhere(Some(known.checked)) {
            known.tried = known.checked;
        }
        state.replace(known);
        *lock(&state.room) = Some(room);
    }
    *read = Some(origin);
    Ok(in_memory())
}

/// The rule of duplicates of a repository.
pub(super) fn rule(remote: &Remote) -> Duplicates {
    remote.repository.record.koji().map(Duplicates::of).unwrap_or_default()
}

/// A share of the memory for maps.
pub(super) fn room(remote: &Remote, bytes: u64) -> Result<Slot> {
    let room = remote.remotes.koji_maps.hold(bytes);
    room.map_err(|_| {
        let text = format!(
            "the map of {bytes} bytes does not fit into the memory for maps of Koji repositories; hint: raise \
             `upstream.koji_maps_bytes`"
        );
        Failure::new(Reason::UpstreamInvalid, text).into()
    })
}
