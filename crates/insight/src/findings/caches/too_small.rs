//! A cache in memory is too small: it evicts entries that are asked for again, a larger one would have them, and memory is unused.

use super::room::Room;
use super::size::show;
use super::sized::{SIZED, Sized, is_worth};
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::signals::seen::Seen;
use serde_json::json;

/// Fewer lookups that a larger cache would have answered say nothing.
const MISSED_MIN: f64 = 100.0;
/// The part of the entries that was evicted, or not admitted, within five minutes. A cache that still fills loses none.
const TURNOVER_MIN: f64 = 0.1;

pub(super) const CHECK: Check = Check {
    key: "cache-too-small",
    kind: FindingKind::Cause,
    about: "A cache is too small, and the memory or the descriptors that it lacks are unused.",
    when: "in five minutes at least 100 lookups missed entries that a larger cache would have had, by its reuse curve, and requests \
           waited 5 s longer for them than for a hit, and 1 % of the time of all requests",
    unless: "fewer than a tenth of its entries were evicted or not admitted meanwhile: it still fills, or changes make its entries \
             outdated; or no size for which there is room helps",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look: |seen| Verdict::Looked(SIZED.iter().filter_map(|sized| problem(seen, sized)).collect()),
};

/// Whether the cache is too small.
pub(super) fn problem(seen: &Seen, sized: &Sized) -> Option<Problem> {
    let view = sized.view(seen, &seen.recent)?;
    let lost_entries = view.counts.evictions + view.counts.refused;
    let turnover = lost_entries as f64 / view.counts.entries.max(1) as f64;
    if turnover < TURNOVER_MIN {
        return None;
    }
    let advice = sized.advice(&view, seen)?;
    if advice.missed.lookups < MISSED_MIN || !is_worth(seen, advice.saved_s) {
        return None;
    }
    let unused = sized.room.unused(seen)?;
    let amount = |number: u64| if sized.room == Room::Descriptors { number.to_string() } else { show(number) };
    let (name, before) = (sized.cache.as_str(), view.curve.answered() / view.curve.lookups().max(1.0));
    let sentence = format!(
        "the cache `{name}` ({}) is too small with {}: in five minutes {:.0} requests missed entries that it had evicted or not admitted, \
         and waited {:.0} s longer than for a hit; with {} it would answer {:.0} % of the lookups instead of {:.0} %; {} of {} are unused",
        sized.entries,
        amount(view.setting),
        advice.missed.lookups,
        advice.saved_s,
        amount(advice.setting),
        advice.share * 100.0,
        before * 100.0,
        amount(unused),
        sized.room.name(),
    );
    Some(Problem {
        subject: format!("cache:{name}"),
        lost: Lost::recent(advice.saved_s),
        saves: Some(Saves::new(advice.saved_s, Gauge::Cache(name.to_owned())).at_values(
            view.setting,
            advice.setting,
            |setting| view.saved_s(setting),
        )),
        confidence: 0.9,
        sentence,
        changes: Change::of_setting(seen, sized.setting, advice.setting).into_iter().collect(),
        evidence: json!({
            "where": [["kind", "=", "request"], ["repository", "!=", ""]], "by": ["layer"],
            "measures": ["count", "mean(first_byte_ms)", "sum(bytes_out)"],
        }),
        event: advice.missed.worst.event,
        guards: vec![
            Guard::passed("entries that left the cache or were not admitted, of all", round(turnover)),
            Guard::passed("share of lookups that a larger size would answer", round(advice.share)),
            Guard::passed("room that nothing uses", unused),
        ],
    })
}

fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::reuse::shards::Reuse;
    use crate::signals::caches::CacheSeen;
    use crate::signals::facts::SettingFact;
    use std::sync::Arc;
    use telemetry::{CacheName, EventId, MachineSample, System};

    /// A server with unused memory whose cache of pages has 1 MiB, of which `evicted` entries left, and `misses` lookups of this
    /// distance and duration.
    pub(crate) fn pages(evicted: u64, misses: u64, distance: u64, nanos: u64) -> Seen {
        let mut seen = Seen::default();
        let setting = SettingFact {
            key: "server.pages_bytes".to_owned(),
            number: Some(1 << 20),
            limits: Some((0, 1 << 40)),
            ..SettingFact::default()
        };
        Arc::make_mut(&mut seen.facts).settings.push(setting);
        let system = System { available_bytes: Some(4 << 30), ..System::default() };
        seen.machine = Some(Arc::new(MachineSample { system, ..MachineSample::default() }));
        let counts = CacheSeen {
            entries: 100,
            used: 900 << 10,
            capacity: 960 << 10,
            evictions: evicted,
            ..CacheSeen::default()
        };
        seen.recent.caches.tables.insert((CacheName::Pages, "found".into()), counts);
        let curve = &mut seen.recent.caches.curves[0];
        for number in 0..misses {
            let reuse = Reuse { distance: Some(distance), uses: 1.0 };
            curve.see(Some(reuse), true, nanos + number, EventId(number));
        }
        seen.recent.requests.all.nanos = 100_000_000_000;
        seen
    }

    fn problems(seen: &Seen) -> Vec<Problem> {
        match (CHECK.look)(seen) {
            Verdict::Looked(problems) => problems,
            Verdict::Unknown { .. } => unreachable!(),
        }
    }

    #[test]
    fn a_cache_that_evicts_what_is_asked_for_again_is_too_small_and_the_size_that_has_it_is_advised() {
        let found = problems(&pages(50, 1100, 20 << 20, 5_000_000));
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!((problem.subject.as_str(), problem.event), ("cache:pages", Some(EventId(1099))));
        let change = &problem.changes[0];
        let to = change.to.as_ref().unwrap().as_u64().unwrap();
        assert_eq!(change.setting.as_deref(), Some("server.pages_bytes"));
        assert!((20 << 20..=28 << 20).contains(&to), "{to}");
        assert!((5.4..5.6).contains(&problem.lost.recent_s), "{:?}", problem.lost);
        assert!(problem.sentence.contains("instead of 0 %; 4.0 GiB of memory are unused"), "{}", problem.sentence);
    }

    #[test]
    fn nothing_is_said_of_a_cache_that_fills_of_cheap_misses_of_few_of_changes_and_where_no_memory_is_left() {
        assert_eq!(problems(&pages(9, 1100, 20 << 20, 5_000_000)), []);
        assert_eq!(problems(&pages(50, 1100, 20 << 20, 4_000_000)), []);
        assert_eq!(problems(&pages(50, 90, 20 << 20, 500_000_000)), []);
        assert_eq!(problems(&pages(50, 1100, 800 << 10, 5_000_000)), [], "the cache has room for these");
        let mut outdated = pages(50, 1100, 20 << 20, 5_000_000);
        outdated.recent.caches.tables.values_mut().for_each(|table| table.stale = 1000);
        assert_eq!(problems(&outdated), []);
        let mut busy = pages(50, 1100, 20 << 20, 5_000_000);
        busy.recent.requests.all.nanos = 600_000_000_000;
        assert_eq!(problems(&busy), [], "less than a hundredth of all");
        let mut short = pages(50, 1100, 20 << 20, 5_000_000);
        let system = System { available_bytes: Some(1 << 20), ..System::default() };
        short.machine = Some(Arc::new(MachineSample { system, ..MachineSample::default() }));
        assert_eq!(problems(&short), []);
    }
}
