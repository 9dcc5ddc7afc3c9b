//! Entries of a cache are outdated before they are asked for again: more memory does not help.

use super::sized::{SIZED, Sized, is_worth};
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;

/// Fewer outdated entries say nothing.
const STALE_MIN: u64 = 200;
/// The part of the misses of known entries that were outdated.
const STALE_SHARE_MIN: f64 = 0.5;

pub(super) const CHECK: Check = Check {
    key: "cache-outdated",
    kind: FindingKind::Cause,
    about: "A cache loses its entries to changes, not to its size, so more memory does not help.",
    when: "in five minutes at least 200 lookups found an entry that had changed, these are half of the misses of entries that the size of \
           the cache has, and requests waited 5 s longer for them than for a hit, and 1 % of the time of all requests",
    unless: "",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look: |seen| Verdict::Looked(SIZED.iter().filter_map(|sized| problem(seen, sized)).collect()),
};

fn problem(seen: &Seen, sized: &Sized) -> Option<Problem> {
    let view = sized.view(seen, &seen.recent)?;
    let (missed, lost_s) = view.lost_in_size();
    let (stale, hits) = (view.counts.stale, view.curve.answered());
    let share = stale as f64 / missed.lookups.max(1.0);
    if stale < STALE_MIN || share < STALE_SHARE_MIN {
        return None;
    }
    let lost_s = lost_s * share.min(1.0);
    if !is_worth(seen, lost_s) {
        return None;
    }
    let name = sized.cache.as_str();
    let sentence = format!(
        "the cache `{name}` ({}) loses its entries to changes, not to its size, so more memory does not help: in five minutes {stale} \
         lookups found an outdated entry and {hits:.0} a valid one, and requests waited {lost_s:.0} s for what had to be made again; publish \
         versions of a package in one go, or ask for its lists less often",
        sized.entries,
    );
    Some(Problem {
        subject: format!("cache:{name}"),
        lost: Lost::recent(lost_s),
        confidence: 0.8,
        sentence,
        evidence: json!({
            "where": [["kind", "=", "request"], ["layer", "!=", "page"], ["repository", "!=", ""]], "by": ["repository", "file"],
            "measures": ["count", "sum(first_byte_ms)", "distinct(path)"],
        }),
        event: missed.worst.event,
        guards: vec![
            Guard::passed(
                "outdated entries, of the misses that the size has",
                (share.min(1.0) * 1000.0).round() / 1000.0,
            ),
            Guard::passed("evicted entries", view.counts.evictions),
        ],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::too_small::tests::pages;
    use super::*;

    /// Lookups of entries that the cache has room for, of which `stale` were outdated.
    fn changed(stale: u64, nanos: u64) -> Vec<Problem> {
        let mut seen = pages(0, 500, 10_000, nanos);
        seen.recent.caches.tables.values_mut().for_each(|table| table.stale = stale);
        let Verdict::Looked(problems) = (CHECK.look)(&seen) else { unreachable!() };
        problems
    }

    #[test]
    fn entries_that_change_before_they_are_asked_for_again_are_told_without_a_setting() {
        let found = changed(450, 20_000_000);
        assert!(found[0].changes.is_empty() && found[0].sentence.contains("more memory does not help"), "{found:?}");
        assert!(found[0].lost.recent_s > 8.0);
    }

    #[test]
    fn nothing_is_said_of_few_changes_of_other_misses_and_of_cheap_ones() {
        assert_eq!(changed(199, 20_000_000), []);
        assert_eq!(changed(240, 20_000_000), []);
        assert_eq!(changed(450, 10_000_000), []);
    }
}
