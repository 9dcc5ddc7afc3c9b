//! What the code declares: operations, bounds, caches and pools. Each new one is in these rows by itself.

use super::panel::{Column, Panel, Query, query};
use std::collections::BTreeMap;
use telemetry::{BoundName, CacheName, Op, PoolName, Unit};

/// A group of fewer names than this has no panel of its own.
const GROUP_MIN: usize = 3;

/// Names in groups, in order. Small groups are one together, which is the last.
fn groups<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, Vec<&'a str>)> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    all.for_each(|(group, name)| groups.entry(group).or_default().push(name));
    let (large, small): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, names)| names.len() >= GROUP_MIN);
    let others: Vec<&str> = small.into_iter().flat_map(|(_, names)| names).collect();
    let large = large.into_iter().map(|(group, names)| (group.to_owned(), names));
    large.chain((!others.is_empty()).then_some(("others".to_owned(), others))).collect()
}

/// A matcher of a label for these names. A dot would match any character.
fn one_of(label: &str, names: &[&str]) -> String {
    format!("{label}=~\"{}\"", names.join("|").replace('.', "\\\\."))
}

fn rate(by: &str, of: &str) -> String {
    format!("sum by ({by}) (rate({of}[$__rate_interval]))")
}

/// A table of everything, with its description, and two panels for each group.
pub(super) fn operations() -> Vec<Panel> {
    let (seconds, count) = ("daylight_op_duration_seconds_sum@", "daylight_op_duration_seconds_count@");
    let (seconds, count) = (rate("instance, op", seconds), rate("instance, op", count));
    let buckets = rate("instance, op, le", "daylight_op_duration_seconds_bucket@");
    let columns = vec![
        Column::described("op", Op::ALL.iter().map(|op| (op.as_str(), op.doc()))),
        Column::unit("runs", "ops"),
        Column::unit("in vain", "ops"),
        Column::unit("mean", "s"),
        Column::unit("at the chosen quantile", "s"),
        Column::unit("seconds a second", "none"),
    ];
    let queries = [
        query(&count, "runs"),
        query(rate("instance, op", "daylight_op_vain_total@"), "in vain"),
        query(format!("{seconds} / {count}"), "mean"),
        query(format!("histogram_quantile($quantile, {buckets})"), "at the chosen quantile"),
        query(&seconds, "seconds a second"),
    ];
    let mut panels = vec![Panel::table("All operations", columns, queries).about(
        "`seconds a second` is how much time requests and jobs spend in an operation, added up over all of them",
    )];
    let all = Op::ALL.iter().map(|op| (op.as_str().split('.').next().unwrap_or_default(), op.as_str()));
    for (group, names) in groups(all) {
        let ops = one_of("op", &names);
        let time = rate("op", &format!("daylight_op_duration_seconds_sum@{{{ops}}}"));
        let buckets = rate("op, le", &format!("daylight_op_duration_seconds_bucket@{{{ops}}}"));
        let slow = format!("histogram_quantile($quantile, {buckets})");
        let title = format!("Operations: {group}");
        panels.push(Panel::stacked(&format!("{title}, seconds a second"), "none", [query(time, "{{op}}")]).wide(12));
        panels.push(Panel::lines(&format!("{title}, at the chosen quantile"), "s", [query(slow, "{{op}}")]).wide(12));
    }
    panels
}

/// `a / b` of bounds, whatever they count.
fn fullness(names: &[&str], bytes: bool) -> String {
    let (unit, names) = (if bytes { "_bytes" } else { "" }, one_of("bound", names));
    let of = |figure: &str| format!("daylight_bound_{figure}{unit}@{{{names}}}");
    format!("max by (bound, which) ({} / {})", of("used"), of("limit"))
}

/// A table of everything, with its description, and a panel for each unit. Caches have rows of their own.
pub(super) fn bounds() -> Vec<Panel> {
    let either = |figure: &str| {
        let sum = |unit: &str| format!("sum by (instance, bound, which) (daylight_bound_{figure}{unit}@)");
        format!("{} or {}", sum(""), sum("_bytes"))
    };
    let of = |figure: &str| rate("instance, bound, which", &format!("daylight_bound_{figure}@"));
    let columns = vec![
        Column::described("bound", BoundName::ALL.iter().map(|bound| (bound.as_str(), bound.doc()))),
        Column::unit("rejected", "ops"),
        Column::unit("seconds waited a second", "none"),
        Column::unit("full", "percentunit"),
    ];
    let queries = [
        query(either("used"), "used"),
        query(either("limit"), "limit"),
        query(either("peak"), "peak"),
        query("sum by (instance, bound, which) (daylight_bound_waiting@)", "waiting"),
        query(of("rejected_total"), "rejected"),
        query(of("waited_seconds_total"), "seconds waited a second"),
        query(format!("({}) / ({})", either("used"), either("limit")), "full"),
    ];
    let top = |figure: &str| [query(format!("topk(10, {})", rate("bound, which", figure)), "{{bound}} {{which}}")];
    let mut panels = vec![
        Panel::table("All bounds", columns, queries)
            .about("Queues, pools, caches and limits. Sizes in bytes are among them; docs/metrics.md has the unit and the setting of each."),
        Panel::lines("Rejected", "ops", top("daylight_bound_rejected_total@")).wide(12),
        Panel::lines("Time that callers waited for a place", "none", top("daylight_bound_waited_seconds_total@"))
            .wide(12)
            .about("Seconds a second, added up over all callers"),
    ];
    let is_cache = |bound: BoundName| CacheName::ALL.iter().any(|cache| cache.bound() == bound);
    let others = BoundName::ALL.iter().filter(|bound| !is_cache(**bound));
    let (of_bytes, of_items): (Vec<BoundName>, Vec<BoundName>) = others.partition(|bound| bound.unit() == Unit::Bytes);
    let full = |title: String, names: &[&str], bytes| {
        Panel::lines(&title, "percentunit", [query(fullness(names, bytes), "{{bound}} {{which}}")]).share()
    };
    for (unit, names) in groups(of_items.iter().map(|bound| (bound.unit().as_str(), bound.as_str()))) {
        panels.push(full(format!("How full: {unit}"), &names, false));
    }
    let names: Vec<&str> = of_bytes.iter().map(|bound| bound.as_str()).collect();
    panels.push(full("How full: bytes".to_owned(), &names, true));
    panels
}

/// A table of everything, with the meaning of a hit, and figures that tell whether the sizes are right.
pub(super) fn caches() -> Vec<Panel> {
    let of = |figure: &str| rate("instance, cache", &format!("daylight_cache_{figure}_total@"));
    let (hits, misses) = (of("hits"), of("misses"));
    let columns = vec![
        Column::described("cache", CacheName::ALL.iter().map(|cache| (cache.as_str(), cache.doc()))),
        Column::unit("hits", "ops"),
        Column::unit("misses", "ops"),
        Column::unit("evictions", "ops"),
        Column::unit("hit share", "percentunit"),
    ];
    let queries = [
        query(&hits, "hits"),
        query(&misses, "misses"),
        query(of("evictions"), "evictions"),
        query(format!("{hits} / ({hits} + {misses})"), "hit share"),
    ];
    let (hits, misses) = (rate("cache", "daylight_cache_hits_total@"), rate("cache", "daylight_cache_misses_total@"));
    let lines = |title: &str, unit, expr: String| Panel::lines(title, unit, [query(expr, "{{cache}}")]);
    let names = |bytes: bool| -> Vec<&str> {
        let all = CacheName::ALL.iter().filter(|cache| (cache.bound().unit() == Unit::Bytes) == bytes);
        all.map(|cache| cache.as_str()).collect()
    };
    vec![
        Panel::table("All caches", columns, queries),
        lines("Hit share", "percentunit", format!("{hits} / ({hits} + {misses})")).share().wide(12),
        Panel::lines(
            "Misses that a larger cache may turn into hits",
            "ops",
            [query(rate("cache, kind", "daylight_cache_misses_total@{kind!=\"stale\"}"), "{{cache}} {{kind}}")],
        )
        .wide(12)
        .about(
            "`absent`: never made, or evicted; `refused`: not admitted. Stale entries have changed, whatever the size.",
        ),
        lines("Evictions", "ops", rate("cache", "daylight_cache_evictions_total@")),
        lines("Bytes", "bytes", "sum by (cache) (daylight_cache_bytes@)".to_owned()),
        lines("Entries", "none", "sum by (cache) (daylight_cache_entries@)".to_owned()),
        Panel::lines("How full", "percentunit", [query(fullness(&names(true), true), "{{bound}} {{which}}")])
            .share()
            .wide(12),
        Panel::lines("How full: files", "percentunit", [query(fullness(&names(false), false), "{{bound}} {{which}}")])
            .share()
            .wide(12),
    ]
}

/// A table of everything, with its description, and what tells whether a pool is too narrow.
pub(super) fn pools() -> Vec<Panel> {
    let busy = |by: &str| {
        format!("{} / sum by ({by}) (daylight_pool_threads@)", rate(by, "daylight_pool_busy_seconds_total@"))
    };
    let now = |figure: &str, name: &str| -> Query {
        query(format!("sum by (instance, pool) (daylight_pool_{figure}@)"), name)
    };
    let columns = vec![
        Column::described("pool", PoolName::ALL.iter().map(|pool| (pool.as_str(), pool.doc()))),
        Column::unit("busy share", "percentunit"),
    ];
    let queries = [
        now("threads", "threads"),
        now("busy_threads", "busy"),
        now("busy_threads_peak", "peak"),
        query(busy("instance, pool"), "busy share"),
    ];
    let names: Vec<&str> = PoolName::ALL.iter().map(|pool| pool.as_str()).collect();
    let waited = rate("bound", &format!("daylight_bound_waited_seconds_total@{{{}}}", one_of("bound", &names)));
    vec![
        Panel::table("All pools", columns, queries),
        Panel::lines("Busy share", "percentunit", [query(busy("pool"), "{{pool}}")]).share().wide(12),
        Panel::lines("Time that callers waited for a thread", "none", [query(waited, "{{bound}}")])
            .wide(12)
            .about("Seconds a second, added up over all callers. A pool is too narrow if it is busy and they wait."),
    ]
}
