//! Invariants 6 and 8: what may wait is bounded, and caches are never invalidated but carry stamps.

use super::{Source, code, nothing_wrong};
use telemetry::BoundName;

/// What limits the tasks or threads that a file starts.
enum Limit {
    /// A bound: each takes a place in it.
    Bound(BoundName),
    /// A fixed number for each process, core or call, and why no bound is needed.
    Fixed(&'static str),
}

use Limit::{Bound, Fixed};

/// Every file that starts tasks or threads, how often it does so, and what limits them.
const SPAWNS: &[(&str, usize, Limit)] = &[
    ("apps/src/answer/keep.rs", 1, Bound(BoundName::AppSlots)),
    ("apps/src/answer/refill.rs", 1, Fixed("one for each claim, of which a table has a most: `CLAIMS_MAX`")),
    ("apps/src/answer/refresh.rs", 1, Bound(BoundName::AppSlots)),
    (
        "apps/src/backends/idle.rs",
        1,
        Fixed("one for each core and backend: it closes idle connections, and `is_swept` is set until it has ended"),
    ),
    ("apps/src/pages/servers/links.rs", 1, Bound(BoundName::AppPageConnections)),
    ("apps/src/pass/body.rs", 1, Bound(BoundName::AppSlots)),
    ("apps/src/sendfile.rs", 1, Bound(BoundName::AppSlots)),
    ("apps/src/spool/anonymous_file.rs", 2, Bound(BoundName::Connections)),
    ("client/src/dial.rs", 1, Bound(BoundName::UpstreamCalls)),
    ("client/src/pool.rs", 1, Fixed("one for each host: `watched` is set until it has ended")),
    ("daylight/src/acme/mod.rs", 1, Fixed("one at a time: it writes a certificate, and the job waits for it")),
    (
        "daylight/src/alerts/command.rs",
        1,
        Fixed(
            "one process for each receiver that is a command, and one while it is tested; each is killed after `ATTEMPT`",
        ),
    ),
    (
        "daylight/src/alerts/mod.rs",
        2,
        Fixed(
            "one for each receiver of the settings, of which there are at most `RECEIVERS_MAX`, and one that tests it",
        ),
    ),
    (
        "daylight/src/alerts/receiver.rs",
        1,
        Fixed("one at a time for each receiver, which waits until its file is written"),
    ),
    (
        "daylight/src/cli/open_loop.rs",
        2,
        Fixed(
            "the command line: one with a timetable, and a task for each connection, of which the caller gives the most",
        ),
    ),
    ("daylight/src/cli/parallel.rs", 1, Fixed("the command line: a number of threads that the caller gives")),
    ("daylight/src/cli/upgrade.rs", 1, Fixed("the command line: one that waits for a signal")),
    ("daylight/src/instance/mod.rs", 1, Fixed("the heartbeat of the back runtime")),
    ("daylight/src/app_front/addresses.rs", 1, Fixed("one watch of the backends for each address of the settings")),
    ("daylight/src/app_front/command.rs", 1, Fixed("the command of `daylight front`: one process")),
    ("daylight/src/otlp/jobs.rs", 1, Fixed("one at a time: the job of metrics waits until the figures are read")),
    ("daylight/src/serve/jobs.rs", 2, Fixed("two for each job that lasts as long as the server: one runs it again")),
    ("daylight/src/serve/running.rs", 1, Fixed("the thread of the front")),
    ("front/src/body/file_reader.rs", 1, Bound(BoundName::FileThreads)),
    ("front/src/body/sendfile.rs", 1, Bound(BoundName::FileThreads)),
    ("front/src/exchange/drain.rs", 2, Bound(BoundName::Connections)),
    ("front/src/http2/mod.rs", 2, Bound(BoundName::Connections)),
    ("front/src/listen/mod.rs", 3, Bound(BoundName::Connections)),
    ("front/src/listen/reserved_connections.rs", 1, Bound(BoundName::ReservedConnections)),
    ("front/src/pages/compressor.rs", 1, Bound(BoundName::PageCompression)),
    ("insight/src/ask/asker.rs", 1, Fixed("one for each asker; questions are bounded by `Asks`")),
    ("insight/src/findings/mod.rs", 1, Fixed("one for each server: it looks for findings")),
    ("insight/src/watch/mod.rs", 1, Fixed("three for each server: one watches, one asks, one writes the last words")),
    ("insight/src/profile/mod.rs", 1, Bound(BoundName::Profiles)),
    ("insight/src/rollup/rollups.rs", 1, Fixed("one for each server: it writes the counts of events")),
    ("insight/src/store/maintenance.rs", 1, Fixed("one for each server")),
    (
        "repository/src/gem/upstream/fetch_ahead.rs",
        1,
        Fixed("one for each repository, which has `WIDTH` others: it holds the turn to fetch ahead"),
    ),
    (
        "repository/src/gem/upstream/follow.rs",
        1,
        Fixed("one for each repository: it holds the turn to look at its upstream's index"),
    ),
    (
        "repository/src/gem/upstream/look.rs",
        1,
        Fixed("one for each repository: it holds the turn to look at its upstream's index"),
    ),
    (
        "repository/src/gem/upstream/saved.rs",
        1,
        Fixed("one for each repository: it holds the turn to save what a start need not make again"),
    ),
    (
        "repository/src/gem/upstream/take_in.rs",
        1,
        Fixed("one for each repository: others that would take in rows of other nodes leave them to it"),
    ),
    ("repository/src/index/incremental_index.rs", 1, Fixed("one for each index: `writing` is set until it has ended")),
    ("repository/src/search/index.rs", 1, Fixed("one for each repository: it holds the turn to read its names")),
    ("repository/src/maven/koji/job.rs", 1, Fixed("one for each repository: it holds the turn to look at its hub")),
    (
        "repository/src/maven/koji/take_in.rs",
        1,
        Fixed("one for each repository: others that would take in rows of other nodes leave them to it"),
    ),
    ("repository/src/maven/retention.rs", 1, Bound(BoundName::SnapshotPrunes)),
    (
        "repository/src/maven/upstream/prefixes.rs",
        1,
        Fixed("one for each upstream: its list counts as known meanwhile"),
    ),
    (
        "repository/src/repositories/change.rs",
        1,
        Fixed("one for each change of an upstream, which only administrators make"),
    ),
    (
        "repository/src/repositories/upkeep.rs",
        1,
        Fixed("one for each change of retention, which only administrators make"),
    ),
    (
        "repository/src/upstream/first_seen/collected.rs",
        1,
        Fixed("one for each upstream: `is_written` is set until it has ended"),
    ),
    ("repository/src/upstream/flights.rs", 2, Bound(BoundName::Flights)),
    (
        "repository/src/upstream/hinted.rs",
        1,
        Fixed("one for each repository, which has `WIDTH` others: it holds the turn to ask for what hints are about"),
    ),
    ("repository/src/upstream/verify.rs", 1, Fixed("one at a time, by `Store::begin_verification`")),
    ("store/src/backup/files.rs", 1, Fixed("the command line: two for each backup or restore")),
    ("store/src/cache/file_cache.rs", 1, Fixed("one at the start of the process")),
    ("store/src/pool/mod.rs", 1, Fixed("one for each context; jobs are bounded by lane")),
    ("store/src/journal/shipper.rs", 1, Fixed("one for each store")),
    ("store/src/objects/blobs.rs", 1, Fixed("one for each blob that is fetched; all that need the blob wait for it")),
    ("store/src/objects/calls.rs", 2, Bound(BoundName::ObjectCalls)),
    ("store/src/objects/keeper.rs", 1, Fixed("one for each store with object storage")),
    (
        "store/src/truth/postgres/link.rs",
        4,
        Fixed(
            "one thread for each store, a task that connects, one for the connection, and one for the question of the writer",
        ),
    ),
    ("store/src/truth/postgres/parted.rs", 1, Fixed("the command line: one connection to the database")),
    ("store/src/writer/mod.rs", 1, Fixed("one for each store; batches are bounded by `TruthWriter`")),
    (
        "telemetry/src/prometheus/gauge_reader.rs",
        1,
        Fixed("one for each recorder, and at most 7 that wait for a gauge that hangs"),
    ),
    ("telemetry/src/log/lines.rs", 1, Fixed("one for each log; lines are bounded by `LogLines`")),
    ("telemetry/src/machine/mod.rs", 1, Fixed("two for each process: one reads the kernel, one asks the disk")),
    ("telemetry/src/machine/process_memory.rs", 1, Fixed("one for each recorder: it samples memory while jobs run")),
    ("telemetry/src/recorder/mod.rs", 1, Fixed("one for each recorder; events are bounded by `EventBuffers`")),
    ("telemetry/src/prometheus/scrapes.rs", 1, Fixed("one for each recorder; callers are bounded by `Scrapes`")),
    ("telemetry/src/recorder/sink_worker.rs", 1, Fixed("one for each sink; events are bounded by `EventSink`")),
];

/// How often a text starts a task or a thread.
fn spawns(source: &Source) -> usize {
    let calls = ["spawn(", "spawn_local(", "spawn_blocking(", "spawn_scoped("];
    let begins = |at: usize| !source.text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    calls.iter().map(|call| source.text.match_indices(call).filter(|(at, _)| begins(*at)).count()).sum()
}

#[test]
fn every_task_and_every_thread_has_a_limit() {
    let mut wrong = Vec::new();
    let sources = code();
    for source in &sources {
        let (path, found) = (source.path.trim_start_matches("crates/"), spawns(source));
        let allowed = SPAWNS.iter().find(|(file, ..)| *file == path).map_or(0, |(_, count, _)| *count);
        if found != allowed {
            wrong.push(format!(
                "{path} starts tasks or threads at {found} places, and {allowed} have a limit in the list"
            ));
        }
    }
    for (file, _, limit) in SPAWNS {
        if !sources.iter().any(|source| source.path.trim_start_matches("crates/") == *file) {
            wrong.push(format!("{file} is in the list and does not exist"));
        }
        match limit {
            Bound(name) if !BoundName::ALL.contains(name) => wrong.push(format!("{file}: {name:?} is no bound")),
            Fixed("") => wrong.push(format!("{file} gives no reason")),
            Bound(_) | Fixed(_) => {}
        }
    }
    nothing_wrong(wrong);
}

/// The files that release events of requests and of connections. All others release events of jobs.
const RELEASES: &[&str] =
    &["front/src/connection/state.rs", "front/src/connection/without_request.rs", "telemetry/src/recorder/mod.rs"];

#[test]
fn every_job_is_a_guard_that_records_its_duration_and_memory_however_it_ends() {
    let released = |source: &Source| {
        let path = source.path.trim_start_matches("crates/");
        source.text.contains(".release(") && source.text.contains("recorder") && !RELEASES.contains(&path)
    };
    let sources = code();
    let wrong = sources.iter().filter(|source| released(source));
    nothing_wrong(wrong.map(|source| format!("{} releases an event: use `telemetry::Job`", source.path)).collect());
}

/// Files with a cache, and how its entries stay right without invalidation.
const CACHES: &[(&str, &str)] = &[
    ("apps/src/cache/key.rs", "only compares keys"),
    ("apps/src/cache/store.rs", "each response has a freshness, which HTTP defines, and a number that purges raise"),
    ("apps/src/pages/kept.rs", "each page has the version of its item, and is used when its store has confirmed it"),
    ("front/src/pages/page_cache.rs", "each page has a stamp"),
    ("insight/src/reuse/miniature.rs", "a copy that answers nobody; a request that made an entry again replaces it"),
    ("insight/src/reuse/policy.rs", "only asks how many parts a cache would have"),
    ("repository/src/index/bounded_cache.rs", "the cache below the one with stamps"),
    ("repository/src/index/name_key.rs", "only compares keys"),
    ("repository/src/index/stamped_cache.rs", "each entry has a stamp"),
    ("store/src/cache/presence_cache.rs", "one thread changes it together with the rows that it mirrors"),
];

#[test]
fn nothing_is_invalidated_and_every_cache_says_how_it_stays_right() {
    let mut wrong = Vec::new();
    for source in &code() {
        let path = source.path.trim_start_matches("crates/");
        let functions = source.text.match_indices("fn ").map(|(at, _)| &source.text[at + 3..]);
        let name =
            |rest: &str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned();
        wrong.extend(
            functions
                .map(name)
                .filter(|name| name.contains("invalidat"))
                .map(|name| format!("{path}: `fn {name}`: use a stamp")),
        );
        if source.text.contains("quick_cache::") && !CACHES.iter().any(|(file, _)| *file == path) {
            wrong.push(format!("{path} has a cache that is not in the list of caches with stamps"));
        }
    }
    nothing_wrong(wrong);
}
