//! The reader threads of the truth database wait for its file, while memory is unused.

use super::room::memory;
use super::size::{round_up, show};
use super::sized::is_worth;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Op;

const SETTING: &str = "store.reader_cache_bytes";
/// Fewer reads of pages say nothing.
const PAGE_READS_MIN: u64 = 1000;
/// Pages that each query reads from the file, on average.
const PER_QUERY_MIN: f64 = 0.1;
/// The part of the memory that nothing uses that the readers may get.
const ROOM_PART: u64 = 4;
/// Where the size of the database is unknown, the cache grows by this factor at once.
const STEP: u64 = 8;

pub(super) const CHECK: Check = Check {
    key: "database-memory-too-small",
    kind: FindingKind::Cause,
    about: "Queries of the truth database read its file again and again, because its readers have little memory, and memory is unused.",
    when: "in five minutes its reader threads read at least 1000 pages from the file, 0.1 for each query, and were blocked meanwhile for 5 s \
           and 1 % of the time of all requests",
    unless: "the kernel has the file in memory, so that no thread waits; or no memory is unused. Time without a processor does not count",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look: |seen| Verdict::Looked(problem(seen).into_iter().collect()),
};

fn problem(seen: &Seen) -> Option<Problem> {
    let (database, queries) = (seen.recent.database, seen.recent.ops.of(Op::TruthRead));
    let per_query = database.page_reads as f64 / queries.runs.max(1) as f64;
    if database.page_reads < PAGE_READS_MIN || per_query < PER_QUERY_MIN {
        return None;
    }
    // Jobs read it, too.
    let of_requests = (queries.nanos as f64 / database.busy_nanos.max(1) as f64).min(1.0);
    let lost_s = database.blocked_nanos() as f64 / 1e9 * of_requests;
    if !is_worth(seen, lost_s) {
        return None;
    }
    let setting = seen.facts.setting(SETTING)?.number?;
    let readers = seen.facts.setting("store.readers").and_then(|readers| readers.number).unwrap_or(1).max(1);
    let unused = memory(seen.machine.as_deref()?)?;
    let wanted =
        seen.facts.truth_bytes.map_or_else(|| setting.saturating_mul(STEP), |file| round_up(file as f64 * 1.1));
    let to = wanted.min(setting + unused / ROOM_PART / readers);
    if to <= setting {
        return None;
    }
    let part = lost_s / (queries.nanos.max(1) as f64 / 1e9);
    let by_repository = seen.recent.repositories.seconds(Op::TruthRead).map(|(name, seconds)| (name, seconds * part));
    let mut lost = Lost::of(by_repository);
    if lost.by_repository.is_empty() {
        lost = Lost::recent(lost_s);
    }
    let sentence = format!(
        "queries of the truth database wait for its file: in five minutes its readers read {} from it, {per_query:.1} pages for each query, and \
         were blocked for {lost_s:.0} s; each has {} of memory for pages, the database has {}, and {} of memory are unused",
        show(database.read_bytes),
        show(setting),
        seen.facts.truth_bytes.map_or_else(|| "an unknown size".to_owned(), show),
        show(unused),
    );
    Some(Problem {
        subject: "pool:truth.readers".to_owned(),
        // With the whole file in memory nobody reads it; with less of it, at least as much less.
        saves: Some(Saves::new(lost_s * (to as f64 / wanted.max(1) as f64).min(1.0), Gauge::Database)),
        lost,
        confidence: 0.8,
        sentence,
        changes: Change::of_setting(seen, SETTING, to).into_iter().collect(),
        evidence: json!({
            "where": [["kind", "=", "request"], ["truth_reads", ">", 0]], "by": ["repository", "file"],
            "measures": ["count", "sum(truth_reads)", "p95(truth_ms)"],
        }),
        event: queries.worst.event,
        guards: vec![
            Guard::passed("pages read for each query", (per_query * 10.0).round() / 10.0),
            Guard::passed("bytes that came from a disk", database.disk_bytes),
            Guard::passed("bytes of memory that nothing uses", unused),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::database::DatabaseSeen;
    use crate::signals::facts::SettingFact;
    use std::sync::Arc;
    use telemetry::{EventId, MachineSample, System, Tally};

    fn seen(page_reads: u64, busy_nanos: u64) -> Seen {
        let mut seen = Seen::default();
        let facts = Arc::make_mut(&mut seen.facts);
        let setting =
            |key: &str, number| SettingFact { key: key.to_owned(), number: Some(number), ..SettingFact::default() };
        facts.settings = vec![setting(SETTING, 1 << 20), setting("store.readers", 4)];
        facts.truth_bytes = Some(100 << 20);
        let system = System { available_bytes: Some(8 << 30), ..System::default() };
        seen.machine = Some(Arc::new(MachineSample { system, ..MachineSample::default() }));
        let second = 1_000_000_000;
        let (busy_nanos, run_nanos, starved_nanos) = (busy_nanos, second, second);
        seen.recent.database =
            DatabaseSeen { page_reads, busy_nanos, run_nanos, starved_nanos, ..DatabaseSeen::default() };
        seen.recent.ops.see(Op::TruthRead, Tally { count: 2000, vain: 0, nanos: busy_nanos }, EventId(5));
        seen
    }

    #[test]
    fn readers_that_wait_for_the_file_get_memory_for_all_of_it() {
        let problem = problem(&seen(5000, 8_000_000_000)).unwrap();
        let to = problem.changes[0].to.as_ref().unwrap().as_u64().unwrap();
        assert!((110 << 20..=124 << 20).contains(&to), "{to}");
        assert!(
            problem.sentence.contains("2.5 pages for each query") && problem.event == Some(EventId(5)),
            "{problem:?}"
        );
    }

    #[test]
    fn nothing_is_said_of_few_reads_of_threads_that_work_and_where_no_memory_is_left() {
        assert_eq!(problem(&seen(999, 8_000_000_000)), None);
        assert_eq!(problem(&seen(5000, 6_900_000_000)), None, "they worked, or had no processor");
        let mut short = seen(5000, 8_000_000_000);
        short.machine = Some(Arc::default());
        assert_eq!(problem(&short), None);
        let mut large = seen(5000, 8_000_000_000);
        Arc::make_mut(&mut large.facts).settings[0].number = Some(200 << 20);
        assert_eq!(problem(&large), None);
    }
}
