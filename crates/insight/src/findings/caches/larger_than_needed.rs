//! A cache takes memory that it does not need, while memory is short.

use super::room::{Room, memory_pressure};
use super::size::show;
use super::sized::{SIZED, Sized};
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;

/// The part of time in which tasks wait for memory.
const PRESSURE_MIN: f64 = 0.05;
/// Less is not worth a change, in bytes.
const FREED_MIN: u64 = 16 << 20;
/// Fewer lookups in an hour say nothing.
const LOOKUPS_MIN: f64 = 1000.0;
const WARM: Duration = Duration::from_secs(3600);

pub(super) const CHECK: Check = Check {
    key: "cache-larger-than-needed",
    kind: FindingKind::Cause,
    about: "A cache takes memory that a smaller size would leave to others, while memory is short.",
    when: "tasks wait for memory 5 % of the time (pressure of the kernel), and by its reuse curve of an hour a cache of at most half the \
           size answers all but 0.5 % of the same lookups and frees 16 MiB",
    unless: "it has had fewer than 1000 lookups in that hour",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    if seen.uptime < WARM {
        return Verdict::Unknown { needs: "lookups of an hour".to_owned(), until: Some(WARM) };
    }
    let pressure = seen.machine.as_deref().map_or(0.0, memory_pressure);
    if pressure < PRESSURE_MIN {
        return Verdict::QUIET;
    }
    let in_memory = SIZED.iter().filter(|sized| sized.room == Room::Memory);
    Verdict::Looked(in_memory.filter_map(|sized| problem(seen, sized, pressure)).collect())
}

fn problem(seen: &Seen, sized: &Sized, pressure: f64) -> Option<Problem> {
    let view = sized.view(seen, &seen.hour)?;
    let share = view.curve.share(view.size);
    let size = view.enough()?;
    let to = view.setting_for(size);
    let freed = view.counts.used.saturating_sub(to);
    if view.curve.lookups() < LOOKUPS_MIN || to > view.setting / 2 || freed < FREED_MIN {
        return None;
    }
    let name = sized.cache.as_str();
    let sentence = format!(
        "memory is short ({:.0} % of the time tasks wait for it), and the cache `{name}` takes {}: with {} it would have answered {:.1} % of \
         the lookups of the last hour, as now",
        pressure * 100.0,
        show(view.counts.used),
        show(to),
        share * 100.0,
    );
    Some(Problem {
        subject: format!("cache:{name}"),
        lost: Lost::default(),
        confidence: 0.6,
        sentence,
        changes: Change::of_setting(seen, sized.setting, to).into_iter().collect(),
        evidence: json!({
            "where": [["kind", "=", "request"], ["repository", "!=", ""]], "by": ["layer"],
            "measures": ["count", "distinct(path)", "sum(bytes_out)"],
        }),
        guards: vec![
            Guard::passed("time in which tasks wait for memory", (pressure * 1000.0).round() / 1000.0),
            Guard::passed("bytes that it would free", freed),
        ],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::too_small::tests::pages;
    use super::*;
    use crate::signals::facts::Facts;
    use std::sync::Arc;
    use telemetry::{MachineSample, Pressure, Pressures, Stall};

    /// A full cache of 100 MiB whose lookups need `needed` bytes, and this pressure on memory.
    fn seen(needed: u64, share: f64, lookups: u64) -> Seen {
        let mut seen = pages(0, lookups, needed, 1000);
        let Facts { settings, .. } = Arc::make_mut(&mut seen.facts);
        settings[0].number = Some(100 << 20);
        seen.recent.caches.tables.values_mut().for_each(|table| (table.capacity, table.used) = (94 << 20, 90 << 20));
        (seen.hour, seen.uptime) = (seen.recent.clone(), WARM);
        let memory = Pressure { some: Some(Stall { share, nanos: 0 }), full: None };
        let pressure = Pressures { memory, ..Pressures::default() };
        seen.machine = Some(Arc::new(MachineSample { pressure, ..MachineSample::default() }));
        seen
    }

    #[test]
    fn a_cache_that_needs_a_part_of_its_memory_is_told_only_while_memory_is_short() {
        let Verdict::Looked(problems) = look(&seen(4 << 20, 0.06, 1000)) else { unreachable!() };
        let to = problems[0].changes[0].to.as_ref().unwrap().as_u64().unwrap();
        assert!((4 << 20..8 << 20).contains(&to), "{to}");
        let twins = [seen(4 << 20, 0.04, 1000), seen(60 << 20, 0.06, 1000), seen(4 << 20, 0.06, 900)];
        twins.iter().for_each(|twin| assert_eq!(look(twin), Verdict::QUIET));
        let young = Seen { uptime: WARM / 2, ..seen(4 << 20, 0.06, 1000) };
        assert!(matches!(look(&young), Verdict::Unknown { until: Some(WARM), .. }));
    }
}
