//! A cache stores entries that nobody asks for again.

use super::room::Room;
use super::size::show;
use super::sized::{SIZED, Sized};
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;
use telemetry::{CacheName, Op};

/// Fewer entries that were stored say nothing.
const INSERTS_MIN: u64 = 1000;
/// The largest number of hits for each entry that was stored, by the upper end of its 95 % interval.
const REUSE_MAX: f64 = 0.05;

pub(super) const CHECK: Check = Check {
    key: "cache-without-reuse",
    kind: FindingKind::Cause,
    about: "A cache stores entries that hardly anybody asks for again.",
    when: "in an hour at least 1000 entries were stored and half of them evicted, for each of them there were fewer than 0.05 hits (upper \
           end of the Wilson interval), in the last day, too, and storing them took more time than the hits saved",
    unless: "a larger size would have answered as many lookups as that, or the entries became outdated before they were asked for again",
    after: Check::AFTER,
    keeps: Duration::from_secs(3600),
    look: |seen| Verdict::Looked(SIZED.iter().filter_map(|sized| problem(seen, sized)).collect()),
};

/// The upper end of the 95 % interval of a share (Wilson, 1927).
fn wilson_upper(hits: f64, of: f64) -> f64 {
    const Z: f64 = 1.96;
    let (share, z2) = (hits / of, Z * Z);
    let spread = Z * (share * (1.0 - share) / of + z2 / (4.0 * of * of)).sqrt();
    ((share + z2 / (2.0 * of) + spread) / (1.0 + z2 / of)).min(1.0)
}

fn problem(seen: &Seen, sized: &Sized) -> Option<Problem> {
    // Only making pages is measured by an operation of its own.
    let view = (sized.cache == CacheName::Pages).then(|| sized.view(seen, &seen.hour)).flatten()?;
    let (counts, hits) = (view.counts, view.curve.answered());
    let stored = counts.inserts as f64;
    if counts.inserts < INSERTS_MIN || counts.evictions * 2 < counts.inserts || counts.stale > counts.inserts / 2 {
        return None;
    }
    let reuse = wilson_upper(hits.min(stored), stored);
    let larger = sized.advice(&view, seen).map_or(0.0, |advice| advice.missed.lookups / stored);
    // Requests by day may fill the cache again after a night.
    let day = sized.view(seen, &seen.day)?;
    let daily = (day.counts.inserts as f64).max(1.0);
    let daily = wilson_upper(day.curve.answered().min(daily), daily);
    if reuse.max(daily) >= REUSE_MAX || larger >= REUSE_MAX {
        return None;
    }
    let kept = seen.hour.ops.of(Op::PageKeep);
    let saved = hits * (view.curve.all_missed().mean() - view.curve.answer_nanos()).max(0.0);
    let net_s = (kept.nanos as f64 - saved) / 1e9;
    if net_s <= 0.0 {
        return None;
    }
    let (name, to) = (sized.cache.as_str(), view.setting / 4);
    debug_assert!(sized.room == Room::Memory);
    let sentence = format!(
        "the cache `{name}` ({}) stores what nobody asks for again: of {} entries that were stored in an hour {} were evicted, with {hits:.0} \
         hits; storing them cost {:.1} s and saved {:.1} s; a quarter of {} does as well",
        sized.entries,
        counts.inserts,
        counts.evictions,
        kept.nanos as f64 / 1e9,
        saved / 1e9,
        show(view.setting),
    );
    Some(Problem {
        subject: format!("cache:{name}"),
        lost: Lost::hourly(net_s),
        confidence: 0.7,
        sentence,
        changes: Change::of_setting(seen, sized.setting, to).into_iter().collect(),
        evidence: json!({
            "where": [["kind", "=", "request"], ["repository", "!=", ""]], "by": ["layer"],
            "measures": ["count", "distinct(path)", "mean(first_byte_ms)"],
        }),
        event: kept.worst.event,
        guards: vec![
            Guard::passed("hits for each stored entry, upper end", (reuse * 1000.0).round() / 1000.0),
            Guard::passed("misses of outdated entries", counts.stale),
        ],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::too_small::tests::pages;
    use super::*;
    use telemetry::{EventId, Tally};

    /// 2000 entries were stored and nearly all of them evicted, after `hits`.
    fn stored(hits: u64) -> Seen {
        let mut seen = pages(1900, 2000, 10_000, 300_000);
        seen.hour = seen.recent.clone();
        seen.hour.caches.tables.values_mut().for_each(|table| table.inserts = 2000);
        for number in 0..hits {
            let reuse = crate::reuse::shards::Reuse { distance: Some(10_000), uses: 1.0 };
            seen.hour.caches.curves[0].see(Some(reuse), false, 200_000, EventId(number));
        }
        seen.hour.ops.see(Op::PageKeep, Tally { count: 2000, vain: 0, nanos: 1_500_000_000 }, EventId(7));
        seen.day = seen.hour.clone();
        seen
    }

    fn found(seen: &Seen) -> usize {
        let Verdict::Looked(problems) = (CHECK.look)(seen) else { unreachable!() };
        problems.len()
    }

    #[test]
    fn entries_that_are_stored_and_never_asked_for_again_are_told() {
        let Verdict::Looked(problems) = (CHECK.look)(&stored(20)) else { unreachable!() };
        let change = &problems[0].changes[0];
        assert_eq!((change.to.as_ref().unwrap().as_u64(), problems[0].event), (Some(256 << 10), Some(EventId(7))));
    }

    #[test]
    fn nothing_is_said_of_entries_with_hits_of_few_of_outdated_ones_and_where_a_larger_size_helps() {
        assert_eq!(found(&stored(90)), 0, "the interval reaches beyond the threshold");
        let with = |change: fn(&mut crate::signals::caches::CacheSeen)| {
            let mut seen = stored(0);
            seen.hour.caches.tables.values_mut().for_each(change);
            found(&seen)
        };
        assert_eq!(with(|table| table.inserts = 999), 0);
        assert_eq!(with(|table| table.evictions = 900), 0);
        assert_eq!(with(|table| table.stale = 1500), 0);
        let mut larger = stored(0);
        larger.hour.caches.curves = pages(0, 2000, 20 << 20, 5_000_000).recent.caches.curves;
        assert_eq!(found(&larger), 0);
        let busy_day = Seen { day: stored(90).day, ..stored(0) };
        assert_eq!(found(&busy_day), 0);
    }
}
