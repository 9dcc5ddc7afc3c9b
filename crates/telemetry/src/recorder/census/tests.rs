//! Every event is counted and seen, whatever a census says; rows that nobody needs are never unpacked.

use crate::log::tests::target;
use crate::log::{Level, LineFormat};
use crate::*;
use proptest::prelude::*;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

/// A census that calls the function for each event.
struct Says<F>(&'static str, F);

impl<F: FnMut(&Glance<'_>) -> u32 + Send> Census for Says<F> {
    fn name(&self) -> &'static str {
        self.0
    }
    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        SamplingDecision::store((self.1)(event), Because::Sample)
    }
}

/// A sink that keeps the weights of its events by their paths.
struct Gets {
    name: &'static str,
    all: bool,
    weights: Arc<Mutex<Vec<(String, u32)>>>,
}

impl Sink for Gets {
    fn name(&self) -> &'static str {
        self.name
    }
    fn wants_all(&self) -> bool {
        self.all
    }
    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.weights.lock().unwrap().extend(events.iter().map(|event| (event.path.clone(), event.weight)));
        Ok(())
    }
}

/// A census that waits for a lock at each event, and counts the events that it is told to be lost.
struct Waits(Arc<Mutex<()>>, Arc<Mutex<u64>>);

impl Census for Waits {
    fn name(&self) -> &'static str {
        "waits"
    }
    fn see(&mut self, _: &Glance<'_>) -> SamplingDecision {
        drop(self.0.lock().unwrap());
        SamplingDecision::DROP
    }
    fn lost(&mut self, events: u64) {
        *self.1.lock().unwrap() += events;
    }
}

#[test]
fn a_census_is_told_how_many_events_found_no_buffer() {
    let (gate, lost) = (Arc::default(), Arc::default());
    let options = RecorderOptions { buffered_events: 8, ..RecorderOptions::of(Clock::at(Millis(1))) };
    let waits = Waits(Arc::clone(&gate), Arc::clone(&lost));
    let recorder = Recorder::start_with_censuses(options, vec![Box::new(waits)], Vec::new());
    let closed = gate.lock().unwrap();
    (0..50).for_each(|_| release(&recorder, "a"));
    drop(closed);
    assert!(recorder.flush(LONG));
    let totals = recorder.totals();
    assert_eq!(*lost.lock().unwrap(), totals.unbuffered());
    assert_eq!(totals.censuses()[0].seen + totals.unbuffered(), 50);
    assert!(totals.unbuffered() >= 50 - 16);
}

fn start(censuses: Vec<Box<dyn Census>>, sinks: Vec<Box<dyn Sink>>) -> Arc<Recorder> {
    let options = RecorderOptions { buffered_events: 10_000, ..RecorderOptions::of(Clock::at(Millis(1))) };
    Recorder::start_with_censuses(options, censuses, sinks)
}

fn release(recorder: &Recorder, path: &str) {
    recorder.attempt();
    let mut event = Event::request(Millis(1), Tick(0));
    event.asked(path);
    (event.outcome, event.status, event.layer) = (Some(Outcome::Answered), 200, Layer::Page);
    event.subject.repository = path[..1].into();
    recorder.release(event);
}

/// The path is the weight.
fn by_path(event: &Glance<'_>) -> u32 {
    event.path.parse().unwrap()
}

#[test]
fn only_what_a_census_needs_is_unpacked_and_it_has_its_weight() {
    let weights = Arc::new(Mutex::default());
    let sink = Gets { name: "gets", all: false, weights: weights.clone() };
    let counts = Says("counts", |_: &Glance<'_>| 0);
    let recorder = start(vec![Box::new(counts), Box::new(Says("keeps", by_path))], vec![Box::new(sink)]);
    ["0", "3", "0", "1", "0"].iter().for_each(|path| release(&recorder, path));
    assert!(recorder.flush(LONG));
    assert_eq!(*weights.lock().unwrap(), [("3".to_owned(), 3), ("1".to_owned(), 1)]);
    let totals = recorder.totals();
    assert_eq!((totals.unpacked(), totals.outcome(Outcome::Answered)), (2, 5));
    ["0"; 9].iter().for_each(|path| release(&recorder, path));
    assert!(recorder.flush(LONG));
    assert_eq!((recorder.totals().unpacked(), recorder.totals().censuses()[0].seen), (2, 14));
}

#[test]
fn a_sink_that_wants_all_gets_each_event_as_one_and_the_others_what_a_census_needs() {
    let (all, kept) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
    let sinks: Vec<Box<dyn Sink>> = vec![
        Box::new(Gets { name: "all", all: true, weights: all.clone() }),
        Box::new(Gets { name: "kept", all: false, weights: kept.clone() }),
    ];
    let both: Vec<Box<dyn Census>> =
        vec![Box::new(Says("keeps", by_path)), Box::new(Says("more", |event: &Glance<'_>| by_path(event).min(2)))];
    let recorder = start(both, sinks);
    ["0", "3"].iter().for_each(|path| release(&recorder, path));
    assert!(recorder.flush(LONG));
    assert_eq!(*all.lock().unwrap(), [("0".to_owned(), 1), ("3".to_owned(), 1)]);
    assert_eq!(*kept.lock().unwrap(), [("3".to_owned(), 2)], "the smaller of two weights");
    assert_eq!(recorder.totals().unpacked(), 2);
}

#[test]
fn a_census_that_panics_is_called_no_more_and_the_log_and_the_metrics_say_so() {
    let (target, lines) = target();
    let lines_of = Lines::start(LinesOptions::default(), target);
    let panics = Says("panics", |event: &Glance<'_>| {
        if event.path == "2" {
            // Like `panic!`, without the message on stderr.
            std::panic::resume_unwind(Box::new("oh"))
        }
        0
    });
    let recorder = start(vec![Box::new(panics), Box::new(Says("keeps", by_path))], Vec::new());
    recorder.report_to(Log::new(recorder.clock().clone(), Level::Info, LineFormat::Text, lines_of.clone()));
    for _ in 0..3 {
        ["1", "2", "3", "4"].iter().for_each(|path| release(&recorder, path));
        assert!(recorder.flush(LONG));
    }
    let totals = recorder.totals();
    let of = |at: usize| (totals.censuses()[at].name, totals.censuses()[at].seen, totals.censuses()[at].missed);
    assert_eq!([of(0), of(1)], [("panics", 1, 11), ("keeps", 12, 0)]);
    assert_eq!(totals.outcome(Outcome::Answered), 12);
    let page = recorder.prometheus(&MetricsView::default());
    assert!(page.contains("daylight_census_missed_events_total{census=\"panics\"} 11"), "{page}");
    assert!(lines_of.flush(LONG));
    let said = String::from_utf8(lines.try_iter().flatten().collect()).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("warn a census panicked") && said.contains("census=panics why=oh"), "{said}");
}

/// The lines of the metrics that are about events.
fn counted(recorder: &Recorder) -> Vec<String> {
    let of = |name: &str| (name.to_owned(), RepositoryView { named: true, format: "raw", kind: "hosted" });
    let repositories = ["r0", "r1", "r2"].map(of).into();
    let page = recorder.prometheus(&MetricsView { repositories, ..MetricsView::default() });
    let of_events = ["attempts", "outcomes", "reasons", "request", "received", "sent", "op_duration", "repository"];
    let is_of_events = |line: &&str| {
        let ours = line.strip_prefix("daylight_");
        ours.is_some_and(|rest| of_events.iter().any(|name| rest.starts_with(name))) || line.starts_with("http_server")
    };
    page.lines().filter(is_of_events).map(str::to_owned).collect()
}

proptest! {
    // Each case starts two recorders.
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn exact_counts_do_not_depend_on_what_is_kept(events in prop::collection::vec((0u32..40, 0u64..9), 1..200)) {
        let (mut silly, weights) = (0u32, Arc::new(Mutex::default()));
        let says = move |_: &Glance<'_>| {
            silly = silly.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            silly >> 30
        };
        let gets = |all| Box::new(Gets { name: "gets", all, weights: Arc::clone(&weights) }) as Box<dyn Sink>;
        let recorders = [
            start(Vec::new(), vec![gets(true)]),
            start(vec![Box::new(Says("says", says))], vec![gets(false)]),
        ];
        for recorder in &recorders {
            for (what, bytes) in &events {
                recorder.attempt();
                let mut event = Event::request(Millis(i64::from(*what) * 90), Tick(0));
                event.subject.repository = format!("r{}", what % 3).into();
                event.layer = Layer::ALL[*what as usize % Layer::COUNT];
                event.outcome = Some(Outcome::ALL[*what as usize % Outcome::COUNT]);
                (event.method, event.status, event.bytes_out, event.duration) = ("GET", 200, *bytes, *bytes);
                event.add(Op::ALL[*what as usize], *bytes);
                recorder.release(event);
            }
            prop_assert!(recorder.flush(LONG));
        }
        let [all, silly] = recorders.each_ref().map(|recorder| counted(recorder));
        prop_assert!(all.iter().any(|line| line.contains("repository_requests_total")));
        prop_assert_eq!(&all, &silly);
    }
}
