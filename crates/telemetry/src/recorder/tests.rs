//! Counting is exact, and no sink can harm another sink or the threads that release events.

use super::*;
use crate::log::lines::{Lines, LinesOptions};
use crate::log::tests::target;
use crate::log::{Level, LineFormat};
use crate::{Event, EventId, Layer, Op, Reason, Tick};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::Receiver;

const LONG: Duration = Duration::from_secs(30);

/// A sink that calls the function for each batch.
struct Does<F>(&'static str, F);

impl<F: FnMut(&[Event]) -> io::Result<()> + Send> Sink for Does<F> {
    fn name(&self) -> &'static str {
        self.0
    }
    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        (self.1)(events)
    }
}

fn sink(name: &'static str, does: impl FnMut(&[Event]) -> io::Result<()> + Send + 'static) -> Box<dyn Sink> {
    Box::new(Does(name, does))
}

/// A sink that sends the ids of its events to the receiver.
fn listener() -> (Box<dyn Sink>, Receiver<EventId>) {
    let (heard, ids) = channel();
    let does =
        move |events: &[Event]| events.iter().try_for_each(|event| heard.send(event.id)).map_err(io::Error::other);
    (sink("listener", does), ids)
}

fn start(shards: usize, buffered_events: usize, sinks: Vec<Box<dyn Sink>>) -> Arc<Recorder> {
    Recorder::start(RecorderOptions { shards, buffered_events, ..RecorderOptions::of(Clock::at(Millis(1))) }, sinks)
}

fn answered(recorder: &Recorder) -> Box<Event> {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), Tick(0));
    (event.outcome, event.status, event.layer) = (Some(Outcome::Answered), 200, Layer::Hosted);
    event
}

#[test]
fn outcomes_and_what_is_in_flight_sum_to_the_attempts_under_many_threads() {
    let recorder = start(3, 64, vec![sink("any", |_| Ok(()))]);
    let ended = |totals: &Totals| Outcome::ALL.iter().map(|outcome| totals.outcome(*outcome)).sum::<u64>();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let recorder = &recorder;
            scope.spawn(move || {
                for i in 0..1000 {
                    let mut event = answered(recorder);
                    event.outcome = Some(Outcome::ALL[(i + thread) % Outcome::COUNT]);
                    recorder.release(event);
                }
            });
        }
        for _ in 0..100 {
            let totals = recorder.totals();
            assert_eq!(ended(&totals) + totals.in_flight(), totals.attempts());
        }
    });
    let totals = recorder.totals();
    assert_eq!((ended(&totals), totals.in_flight(), totals.attempts()), (8000, 0, 8000));
    assert_eq!(totals.duration(Layer::Hosted).count(), 8000);
    assert!(recorder.flush(LONG));
    let totals = recorder.totals();
    assert_eq!(totals.sink("any").unwrap().taken + totals.unbuffered() + totals.sinks()[0].dropped, 8000);
}

#[test]
fn a_sink_that_hangs_errs_or_panics_harms_nobody() {
    let (listener, heard) = listener();
    let (hold, held) = channel::<()>();
    let (erring, erred) = channel();
    let (panicking, panicked) = channel();
    let recorder = start(
        1,
        100,
        vec![
            sink("hangs", move |_| held.recv().map_err(io::Error::other)),
            sink("errs", move |events| {
                let _ = erring.send(events.len());
                Err(io::Error::other("no"))
            }),
            sink("panics", move |events| {
                let _ = panicking.send(events.len());
                // Like `panic!`, without the message on stderr.
                std::panic::resume_unwind(Box::new("oh"))
            }),
            listener,
        ],
    );
    for _ in 0..5 {
        let events: Vec<_> = (0..40).map(|_| answered(&recorder)).collect();
        let sent: Vec<_> = events.iter().map(|event| event.id).collect();
        events.into_iter().for_each(|event| recorder.release(event));
        recorder.flush(Duration::ZERO);
        let got: Vec<_> = (0..40).map(|_| heard.recv_timeout(LONG).unwrap()).collect();
        assert_eq!(got, sent);
        // The next round's batches fit into every queue but that of the sink that hangs.
        for failing in [&erred, &panicked] {
            let mut met = 0;
            while met < 40 {
                met += failing.recv_timeout(LONG).unwrap();
            }
        }
    }
    assert!(!recorder.flush(Duration::from_millis(1)), "a hung sink has not processed its queue");
    drop(hold);
    assert!(recorder.flush(LONG), "the sink no longer hangs");

    let totals = recorder.totals();
    let of = |name| totals.sink(name).unwrap();
    assert!(of("hangs").dropped >= 100 && of("hangs").taken == 0);
    assert!(of("errs").errors >= 5 && of("errs").dropped == 0);
    assert!(of("panics").panics >= 5 && of("panics").dropped == 0);
    assert_eq!((of("listener").taken, of("listener").dropped, totals.unbuffered()), (200, 0, 0));
    assert_eq!(totals.outcome(Outcome::Answered), 200);
}

#[test]
fn stopping_returns_though_a_sink_hangs_and_counting_goes_on() {
    let (hold, held) = channel::<()>();
    let recorder = start(1, 4, vec![sink("hangs", move |_| held.recv().map_err(io::Error::other))]);
    recorder.release(answered(&recorder));
    recorder.stop(Duration::from_millis(1));
    recorder.stop(LONG);
    for _ in 0..10 {
        recorder.release(answered(&recorder));
    }
    let totals = recorder.totals();
    assert_eq!((totals.outcome(Outcome::Answered), totals.in_flight()), (11, 0));
    assert!(totals.unbuffered() >= 6, "the collector has ended");
    drop(hold);
}

#[test]
fn stopping_hands_on_what_is_buffered() {
    let (listener, heard) = listener();
    let recorder = start(2, 100, vec![listener]);
    let event = answered(&recorder);
    let id = event.id;
    recorder.release(event);
    recorder.stop(LONG);
    assert_eq!(heard.iter().collect::<Vec<_>>(), [id], "the sink's thread has ended");
}

#[test]
fn dropping_the_recorder_hands_on_what_is_buffered() {
    let (listener, heard) = listener();
    let recorder = start(2, 100, vec![listener]);
    let event = answered(&recorder);
    let id = event.id;
    recorder.release(event);
    drop(recorder);
    assert_eq!(heard.iter().collect::<Vec<_>>(), [id]);
}

#[test]
fn full_buffers_drop_and_count_and_say_so_as_a_bound() {
    let recorder = start(1, 10, vec![sink("any", |_| Ok(()))]);
    recorder.stop(LONG);
    for _ in 0..15 {
        recorder.release(answered(&recorder));
    }
    let bounds = recorder.bounds();
    let buffers = bounds.iter().find(|bound| bound.name() == BoundName::EventBuffers).unwrap();
    assert_eq!((buffers.capacity(), buffers.used(), buffers.rejected()), (10, 10, 5));
    assert_eq!(recorder.totals().outcome(Outcome::Answered), 15);
}

#[test]
fn an_event_is_counted_by_reason_layer_class_and_op() {
    let recorder = Recorder::silent(Clock::default());
    let mut event = answered(&recorder);
    (event.status, event.outcome, event.reason) = (404, Some(Outcome::NotFound), Some(Reason::NoSuchPackage));
    event.add(Op::TruthRead, 10);
    event.add(Op::TruthRead, 20);
    recorder.release(event);
    recorder.attempt();
    recorder.release(Event::job("lost", Millis(1)));

    let totals = recorder.totals();
    assert_eq!((totals.reason(Reason::NoSuchPackage), totals.replies(Layer::Hosted, 4)), (1, 1));
    assert_eq!((totals.op(Op::TruthRead).count(), totals.op(Op::TruthRead).sum()), (2, 30));
    assert_eq!(totals.first_byte(Layer::Hosted).count(), 1);
    assert_eq!(totals.outcome(Outcome::Failed), 1, "an event without an outcome is a bug");
    assert_eq!(totals.replies(Layer::None, 0), 0, "a job is no request");
}

#[test]
fn a_sink_that_loses_events_is_reported_once_and_again_when_it_takes_them() {
    let (target, lines) = target();
    let lines_of = Lines::start(LinesOptions::default(), target);
    let full = Arc::new(AtomicBool::new(true));
    let disk = full.clone();
    let errs = move |_: &[Event]| if disk.load(SeqCst) { Err(io::Error::other("no\nroom")) } else { Ok(()) };
    let recorder = start(1, 100, vec![sink("errs", errs)]);
    recorder.report_to(Log::new(recorder.clock().clone(), Level::Info, LineFormat::Text, lines_of.clone()));
    for _ in 0..3 {
        recorder.release(answered(&recorder));
        assert!(recorder.flush(LONG));
    }
    assert!(lines_of.flush(LONG));
    let said = String::from_utf8(lines.try_iter().flatten().collect()).unwrap();
    assert_eq!(said.lines().count(), 1);
    let text = "warn a sink loses events sink=errs errors=1 panics=0 dropped=0 why=no\u{fffd}room";
    assert!(said.contains(text), "{said}");
    full.store(false, SeqCst);
    let mut said = String::new();
    while said.is_empty() {
        recorder.release(answered(&recorder));
        assert!(recorder.flush(LONG) && lines_of.flush(LONG));
        said = String::from_utf8(lines.try_iter().flatten().collect()).unwrap();
    }
    assert!(said.contains("info a sink takes all events again sink=errs"), "{said}");
}
