//! Adds to the map in memory what other nodes have seen of the hub, as soon as their rows are in this node's journal.

use crate::error::Result;
use crate::maven::koji::rows;
use crate::maven::koji::state::Known;
use crate::maven::koji::take;
use crate::upstream::Remote;
use crate::upstream::first_seen::followed_rows::FollowedRow;
use telemetry::{Event, Job};

/// Accepts a row of another node. A task adds it, after the look under way.
pub(crate) fn take_in(remote: Remote, unit: &str, row: FollowedRow) {
    if unit != rows::unit(&remote) || !remote.repository.shared.koji().followed_rows.add(row) {
        return;
    }
    let back = remote.remotes.back.clone();
    back.spawn(async move {
        let koji = remote.repository.shared.koji();
        let turn = koji.looking.clone().lock_owned().await;
        let mut job = Job::begin(&remote.remotes.recorder, "koji_take_in");
        job.subject.repository = remote.repository.record.name.as_str().into();
        job.subject.kind = "koji";
        let done = take_in_rows(&remote, &mut job).await;
        if let Err(error) = &done {
            // The next request reads the journal, or tells why it cannot.
            koji.forget().await;
            remote.remotes.store.change_upstream_index(remote.repository.id, &[], || ());
            (job.reason, job.detail) = (Some(error.reason()), error.to_string());
        }
        job.end_as(&done);
        drop(turn);
    });
}

/// The caller has the turn of looks.
async fn take_in_rows(remote: &Remote, event: &mut Event) -> Result<()> {
    let koji = remote.repository.shared.koji();
    let rows = koji.followed_rows.take();
    let Some(known) = koji.known(remote.repository.origin) else {
        // The journal may have had none before.
        koji.forget().await;
        return Ok(());
    };
    let (commits, rest) = rows::of_others(remote, &known.map, rows, event).await?;
    if !rest.is_empty() {
        koji.followed_rows.put_back(rest);
    }
    let Some((_, last)) = commits.last() else { return Ok(()) };
    // The other node looked then, so this one need not. What its last look left is of the map before.
    koji.follow.forget();
    let known = Known { checked: known.checked.max(last.at), tried: known.tried.max(last.at), failed: None, ..known };
    let taken = take::put(remote, known, commits, event).await?;
    koji.change(remote.repository.origin, |known| known.event = known.event.max(taken.map.seen()));
    Ok(())
}
