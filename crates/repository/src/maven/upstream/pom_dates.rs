//! The ages of versions that an upstream had before the first look: the dates of their POMs, requested a few at a time.

use crate::error::Result;
use crate::upstream::first_seen::history::FolderHistory;
use crate::upstream::first_seen::observation::Observation;
use crate::upstream::first_seen::record;
use crate::upstream::flight::{FetchResult, FlightLifetime, FollowUntil, Stage};
use crate::upstream::release_age::ReportedDate;
use crate::upstream::{KeptFile, PATIENCE, Remembered, Remote};
use std::time::Duration;
use telemetry::{Event, Millis};
use tokio::time::timeout;

/// Maximum number of POMs that are requested in one turn, newest version first. The journal records their dates, so the
/// next turn requests others.
const LOOKED_FOR: usize = 32;
/// The delay until the next turn of a folder. It doubles after each turn without a date.
const AGAIN: Duration = Duration::from_secs(10);
/// Maximum number of doublings: 43 minutes.
const DOUBLED: u32 = 8;

impl FolderHistory {
    /// When POMs may be requested again; `None`: now.
    pub(crate) fn next_turn(&self, now: Millis) -> Option<Millis> {
        // A moment in the future comes from a clock that was set back.
        let looked = self.looked.filter(|looked| *looked <= now)?;
        let next = looked.plus(AGAIN * 2_u32.pow(self.in_vain.min(DOUBLED)));
        (next > now).then_some(next)
    }
}

/// The versions of this turn: the newest, which are last in the list; after a turn without a date, the ones before
/// them.
fn turn<'a>(open: &[&'a str], in_vain: u32) -> Vec<&'a str> {
    let skipped = (in_vain as usize).saturating_mul(LOOKED_FOR) % open.len().max(1);
    open.iter().rev().cycle().skip(skipped).take(open.len().min(LOOKED_FOR)).copied().collect()
}

/// Requests the POMs of these versions of a folder, and records their dates.
pub(crate) async fn look(
    remote: &Remote,
    folder: &str,
    known: &FolderHistory,
    open: &[&str],
    event: &mut Event,
) -> Result<()> {
    let artifact = folder.rsplit('/').next().unwrap_or(folder);
    let mut versions = Vec::new();
    for some in turn(open, known.in_vain).chunks(remote.remotes.width) {
        let poms: Vec<_> = some.iter().map(|version| format!("{folder}/{version}/{artifact}-{version}.pom")).collect();
        for (version, date) in some.iter().zip(dates(remote, &poms, event).await?) {
            versions.extend(date.map(|date| ((*version).to_owned(), ReportedDate { date, bound: false })));
        }
    }
    let looked = Some(!versions.is_empty());
    record::sights(
        remote,
        vec![Observation { folder: folder.to_owned(), versions, looked, ..Observation::default() }],
        event,
    )
    .await
}

/// The dates of these POMs, from the cache or from the upstream. `Some(None)`: there is no date or no POM; `None`: the
/// request failed.
async fn dates(remote: &Remote, poms: &[String], event: &mut Event) -> Result<Vec<Option<Option<Millis>>>> {
    let of = |kept: &KeptFile| kept.known.modified.as_deref().and_then(client::moment);
    let (mut dates, mut flights) = (vec![None; poms.len()], Vec::new());
    let may_wait = remote.may_wait().is_ok();
    for (at, pom) in poms.iter().enumerate() {
        match remote.recall(&remote.repository.file(pom), event).await? {
            Some(Remembered::File(kept)) => dates[at] = Some(of(&kept)),
            Some(Remembered::MissingUntil(until)) if remote.now() < until => dates[at] = Some(None),
            // All requests start before the first is awaited. Without a free place the date stays unknown.
            _ if !may_wait => {}
            _ => flights.extend(remote.flight(pom, FlightLifetime::ToItsEnd).ok().map(|flight| (at, flight))),
        }
    }
    for (at, flight) in flights {
        let came = timeout(PATIENCE, flight.follow(FollowUntil::Arriving, event)).await;
        dates[at] = match came.ok().flatten() {
            Some(Stage::Arriving(arriving)) => Some(arriving.modified),
            Some(Stage::Done(Ok(FetchResult::File(kept, _)))) => Some(of(&kept)),
            Some(Stage::Done(Ok(FetchResult::Missing(_)))) => Some(None),
            _ => None,
        };
    }
    Ok(dates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_their_turn_the_newest_first_and_whoever_told_nothing_does_not_keep_others_from_theirs() {
        let all: Vec<String> = (0..70).map(|number| number.to_string()).collect();
        let open: Vec<&str> = all.iter().map(String::as_str).collect();
        let ends = |in_vain| {
            let turn = turn(&open, in_vain);
            (turn.len(), turn[0], turn[LOOKED_FOR - 1])
        };
        assert_eq!((ends(0), ends(1), ends(2)), ((32, "69", "38"), (32, "37", "6"), (32, "5", "44")));
        assert_eq!(turn(&open[..2], 5), ["1", "0"]);
        assert!(turn(&[], 1).is_empty());
    }

    #[test]
    fn turns_are_further_apart_the_longer_nothing_is_told() {
        let next =
            |looked, in_vain| FolderHistory { looked, in_vain, ..FolderHistory::default() }.next_turn(Millis(5_000));
        assert_eq!((next(None, 0), next(Some(Millis(6_000)), 0)), (None, None));
        assert_eq!((next(Some(Millis(0)), 0), next(Some(Millis(-5_000)), 0)), (Some(Millis(10_000)), None));
        assert_eq!(
            (next(Some(Millis(0)), 3), next(Some(Millis(0)), 99)),
            (Some(Millis(80_000)), Some(Millis(2_560_000)))
        );
    }
}
