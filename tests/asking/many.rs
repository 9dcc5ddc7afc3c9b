//! Millions of paths and of client programs stay within their memory, and answers tell what was cut off. `DAYLIGHT_PATHS` sets the number
//! of paths, of which a tenth is the number of programs; the default is 200,000.

use insight::{Asked, Caller, Column, Figure, Insight, InsightOptions, RepositoryFacts, Surroundings};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Class, ClientAddresses, Clock, Event, Layer, Log, Millis, Outcome, Recorder, RecorderOptions, Tick};

/// 2026-11-01T12:00:30Z.
const BEGIN: i64 = 1_793_534_430_000;
/// Events of a second, which are all stored.
const EACH: u64 = 50_000;
/// One of so many events is for one of the [`FREQUENT`] paths.
const OFTEN: u64 = 50;
const FREQUENT: u64 = 20;
/// The memory of events that are not in a segment yet: the most that a server takes unless it is told otherwise.
const MEMORY: u64 = 48 << 20;

/// The stored events of a server, without the server.
struct Stored {
    clock: Clock,
    recorder: Arc<Recorder>,
    insight: Arc<Insight>,
}

impl Stored {
    fn new(folder: &Path) -> Self {
        let clock = Clock::at(Millis(BEGIN));
        let options = InsightOptions {
            keep_bytes: 4 << 30,
            keep_time: Duration::from_secs(90 * 86_400),
            memory_bytes: MEMORY,
            ask_memory_bytes: 64 << 20,
            clock: clock.clone(),
            log: Log::silent(),
        };
        let insight = Insight::new(options);
        let options = RecorderOptions {
            clock: clock.clone(),
            shards: 2,
            buffered_events: 1 << 15,
            client_addresses: ClientAddresses::default(),
        };
        let censuses = vec![insight.sampler(Some(2 * EACH as u32)), insight.rollups()];
        let recorder = Recorder::start_with_censuses(options, censuses, vec![insight.sink()]);
        let facts = |_: &str| RepositoryFacts { kind: "hosted", format: "raw" };
        insight.begin(Surroundings {
            folder: folder.to_owned(),
            facts: Arc::new(facts),
            above_floor: Arc::new(|| true),
        });
        Self { clock, recorder, insight }
    }

    fn request(&self, number: u64, paths: u64) {
        self.recorder.attempt();
        let mut event = Event::request(self.clock.now(), Tick(0));
        event.subject.repository = "files".into();
        let path = if number.is_multiple_of(OFTEN) { number / OFTEN % FREQUENT } else { FREQUENT + number };
        event.path = format!("/repository/files/some/folder/{:x}/file-{path}.bin", path % 4093);
        event.agent = format!("tool{}/1.{}", number % (paths / 10), number % 7).into();
        (event.method, event.status, event.class, event.layer) = ("GET", 200, Some(Class::Downloads), Layer::Hosted);
        event.outcome = Some(Outcome::Answered);
        (event.first_byte, event.duration, event.bytes_out) =
            (100_000, 200_000 + number % 1000 * 100, 1000 + path % 1000);
        self.recorder.release(event);
        if number % 2048 == 2047 {
            assert!(self.recorder.flush(Duration::from_secs(60)));
        }
        if number % EACH == EACH - 1 {
            self.clock.set(Some(self.clock.now().plus(Duration::from_secs(1))));
        }
    }

    /// Waits until no event is in a log only: while segments are written, more came than memory had room for.
    fn settle(&self) {
        let parts = || self.insight.parts(Millis(i64::MIN), Millis(i64::MAX));
        while parts().iter().any(|part| part.number(Column::Weight, 0).is_err()) {
            std::thread::yield_now();
        }
    }

    fn ask(&self, text: &str) -> insight::Answer {
        let Ok(Asked::Question(mut question)) = Asked::read(text, self.clock.now()) else { panic!("{text}") };
        question.wait_ms = 600_000;
        let (done, answered) = std::sync::mpsc::channel();
        self.insight.asker().ask(*question, Caller::default(), move |answer| done.send(answer).unwrap());
        let answer = answered.recv().unwrap().unwrap();
        assert_eq!((answer.complete, &answer.unreadable[..]), (1.0, &[][..]), "{text}");
        answer
    }
}

fn count(figure: &Figure) -> u64 {
    let Figure::Whole(count) = figure else { panic!("{figure:?}") };
    count.cast_unsigned()
}

/// The most memory that this process had at once, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

#[test]
fn many_paths_and_programs_stay_within_their_memory_and_the_cut_is_told() {
    let paths: u64 = std::env::var("DAYLIGHT_PATHS").map_or(200_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let before = peak();
    let server = Stored::new(folder.path());
    (0..paths).for_each(|number| server.request(number, paths));
    assert!(server.recorder.flush(Duration::from_secs(600)));
    server.clock.set(Some(server.clock.now().plus(Duration::from_secs(1))));
    let stored = peak();
    server.settle();
    assert_eq!(server.recorder.totals().unbuffered(), 0);

    let top = server.ask("count, sum(bytes_out) by path from -1d top 20");
    let seen: u64 = top.rows.iter().map(|row| count(&row[1])).sum();
    assert_eq!(seen, paths.div_ceil(OFTEN), "the frequent paths lead: {:?}", top.rows.last());
    let most = 65_536;
    assert!(top.left_out >= (paths - paths / OFTEN).saturating_sub(most) && top.left_out < paths, "{}", top.left_out);
    let clients = server.ask("count by client_product from -1d top 5");
    assert_eq!(clients.rows.len(), 5);
    assert_eq!(clients.left_out > 0, paths / 10 > most, "{}", clients.left_out);
    let wide =
        server.ask("p95(duration_ms), distinct(client_version) by path, client_product, client_version from -1d top 5");
    assert!(wide.left_out > 0);
    let distinct = server.ask("distinct(path), distinct(client_product), count where path != '' from -1d");
    let [of_paths, clients, events] = [0, 1, 2].map(|place| count(&distinct.rows[0][place]));
    let near = |found: u64, truth: u64| (found as f64 / truth as f64 - 1.0).abs() < 0.08;
    assert!(near(of_paths, paths - paths / OFTEN) && near(clients, paths / 10), "{of_paths} paths, {clients} programs");
    assert_eq!(events, paths);
    for bound in server.insight.bounds() {
        println!(
            "{}: {} of {} at most, {} rejected",
            bound.name().as_str(),
            bound.highest(),
            bound.capacity(),
            bound.rejected()
        );
        assert!(bound.highest() <= bound.capacity(), "{}", bound.name().as_str());
    }
    println!(
        "{paths} paths: {before} MiB before, {stored} MiB with all stored, {} MiB after the questions; left out: {} of {paths}",
        peak(),
        top.left_out
    );
    server.recorder.stop(Duration::from_secs(600));
    server.insight.close();
}
