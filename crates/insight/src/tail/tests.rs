//! Listeners: what each gets, and what it is told.

use super::*;
use crate::RepositoryFacts;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use telemetry::{Clock, EventId, Layer, Millis, Outcome, Recorder, RecorderOptions, SamplingDecision, Subject, Tick};

/// Longer than any step.
const LONG: Duration = Duration::from_secs(30);

fn filter(text: &str) -> Filter {
    Filter::from_text(text, Millis(0)).unwrap()
}

fn event(path: &str, status: u16) -> Event {
    let mut event = *Event::request(Millis(1_000), Tick(0));
    event.asked(path);
    (event.status, event.outcome, event.layer) = (status, Some(Outcome::Answered), Layer::Page);
    event
}

/// The next piece; `None` at the end, and an empty one if nothing waits.
fn piece(listener: &mut Listener) -> Option<Vec<u8>> {
    match listener.poll_next(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => Some(Vec::new()),
        Poll::Ready(messages) => messages,
    }
}

/// The messages that wait; `None` at the end.
fn read(listener: &mut Listener) -> Option<String> {
    let mut all = piece(listener)?;
    while let Some(more) = piece(listener).filter(|more| !more.is_empty()) {
        all.extend(more);
    }
    Some(String::from_utf8(all).unwrap())
}

/// The paths of the events among messages.
fn paths(messages: &str) -> Vec<String> {
    let events = messages.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.map(|data| serde_json::from_str::<serde_json::Value>(data).unwrap());
    events.filter_map(|event| Some(event["path"].as_str()?.to_owned())).collect()
}

/// A census that needs no event.
struct NeedsNone;

impl telemetry::Census for NeedsNone {
    fn name(&self) -> &'static str {
        "needs_none"
    }

    fn see(&mut self, _: &telemetry::Glance<'_>) -> SamplingDecision {
        SamplingDecision::DROP
    }
}

#[test]
fn no_event_is_unpacked_unless_somebody_listens() {
    let tail = Tail::new(2, 2);
    let options = RecorderOptions { buffered_events: 10_000, ..RecorderOptions::of(Clock::at(Millis(1))) };
    let recorder = Recorder::start_with_censuses(options, vec![Box::new(NeedsNone)], vec![tail.sink()]);
    let release = |path: &str| {
        recorder.attempt();
        recorder.release(Box::new(event(path, 200)));
        assert!(recorder.flush(LONG));
        recorder.totals().unpacked()
    };
    assert_eq!(release("/before"), 0);
    let mut listener = tail.listen(Filter::All(Vec::new()), false, 1).unwrap();
    assert_eq!(release("/during"), 1);
    assert_eq!(paths(&read(&mut listener).unwrap()), ["/during"]);
    drop(listener);
    assert_eq!(release("/after"), 1);
    recorder.stop(LONG);
}

#[test]
fn an_event_is_a_line_of_its_columns_for_the_listeners_that_chose_it() {
    let tail = Tail::new(4, 4);
    tail.set_facts(Arc::new(|name| RepositoryFacts { kind: if name == "gems" { "group" } else { "" }, format: "gem" }));
    let mut all = tail.listen(filter(""), false, 1).unwrap();
    let mut failed = tail.listen(filter("status >= 500"), false, 1).unwrap();
    let mut of_group = tail.listen(filter("repository_kind = group and status < 500"), false, 1).unwrap();
    let start = "retry: 2000\nevent: start\ndata: {}\n\n";
    for listener in [&mut all, &mut failed, &mut of_group] {
        assert_eq!(read(listener).unwrap(), start);
        assert_eq!(read(listener).unwrap(), "");
    }
    let mut hit = event("/repository/gems/info/\"r\"", 200);
    hit.id = EventId(0x0123_4567_89ab_cdef);
    (hit.method, hit.protocol, hit.client, hit.agent) = ("GET", "HTTP/2", "::1".into(), "bundler/2.5 \"x\"".into());
    hit.subject = Subject { repository: "gems".into(), package: "r".into(), kind: "info", ..Subject::default() };
    (hit.first_byte, hit.duration, hit.bytes_out) = (41_000, 1_250_000, 900);
    tail.sink().write(&[hit, event("/broken", 503)]).unwrap();
    let line = r#"{"at":"1970-01-01T00:00:01.000Z","id":"0123456789abcdef","kind":"request","layer":"page","method":"GET","protocol":"HTTP/2","repository":"gems","repository_kind":"group","format":"gem","package":"r","file":"info","path":"/repository/gems/info/\"r\"","client":"::1","client_product":"bundler","client_version":"2.5","status":200,"outcome":"answered","bytes_in":0,"bytes_out":900,"first_byte_ms":0.041,"duration_ms":1.25,"unaccounted_ms":1.25,"agent":"bundler/2.5 \"x\"","weight":1}"#;
    assert_eq!(read(&mut of_group).unwrap(), format!("data: {line}\n\n"));
    assert_eq!(paths(&read(&mut failed).unwrap()), ["/broken"]);
    assert_eq!(paths(&read(&mut all).unwrap()), ["/repository/gems/info/\"r\"", "/broken"]);
}

#[test]
fn a_flood_is_sampled_with_weights_and_the_stream_says_so_unless_all_are_wanted() {
    let tail = Tail::new(2, 2);
    let (mut some, mut every) = (tail.listen(filter(""), false, 1).unwrap(), tail.listen(filter(""), true, 1).unwrap());
    assert_eq!(read(&mut some), read(&mut every));
    let flood: Vec<Event> = (0..2_000).map(|_| event("/x", 200)).collect();
    tail.sink().write(&flood).unwrap();
    assert_eq!(paths(&read(&mut every).unwrap()).len(), 2_000);
    let messages = read(&mut some).unwrap();
    assert_eq!(messages.matches("event: sampled\n").count(), 1, "once a second");
    let weights: Vec<u64> =
        messages.split("\"weight\":").skip(1).map(|rest| rest.split('}').next().unwrap().parse().unwrap()).collect();
    let sum: u64 = weights.iter().sum();
    assert!(weights.len() < 1_000 && weights[..200] == [1; 200] && (1_900..=2_000).contains(&sum), "{sum} {weights:?}");
}

#[test]
fn a_listener_that_does_not_read_holds_what_its_queue_says_and_a_slow_one_a_piece_at_a_time() {
    let tail = Tail::new(1, 1);
    let mut slow = tail.listen(filter(""), true, 1).unwrap();
    for length in [20, 400, 3_000] {
        let batch: Vec<Event> = (0..2_000).map(|_| event(&"p".repeat(length), 200)).collect();
        tail.sink().write(&batch).unwrap();
        let (mut taken, mut pieces) = (0, 0);
        while let Some(piece) = piece(&mut slow).filter(|piece| !piece.is_empty()) {
            assert!(piece.len() <= Tail::PIECE_BYTES + 200, "{}", piece.len());
            taken += piece.capacity();
            pieces += 1;
        }
        let most = Tail::QUEUE_BYTES as usize + 2 * Tail::PIECE_BYTES;
        assert!(pieces > 10 && taken <= most, "{taken} bytes in {pieces} pieces");
    }
}

#[test]
fn a_listener_that_does_not_read_loses_events_and_is_told_how_many_and_others_lose_none() {
    let tail = Tail::new(2, 2);
    let (mut slow, mut quick) = (tail.listen(filter(""), true, 1).unwrap(), tail.listen(filter(""), true, 1).unwrap());
    let [_, queued] = tail.bounds();
    let batch: Vec<Event> = (0..100).map(|_| event(&"p".repeat(400), 200)).collect();
    let mut read_by_quick = 0;
    for _ in 0..30 {
        tail.sink().write(&batch).unwrap();
        read_by_quick += paths(&read(&mut quick).unwrap()).len();
    }
    assert_eq!(read_by_quick, 3_000);
    assert!(queued.used() <= Tail::QUEUE_BYTES && queued.used() > Tail::QUEUE_BYTES - 1_000, "{}", queued.used());
    let messages = read(&mut slow).unwrap();
    let got = paths(&messages).len() as u64;
    let lost = queued.rejected();
    assert!(got > 0 && lost > 0 && got + lost == 3_000, "{got} {lost}");
    let told = format!("event: lost\ndata: {{\"matched\":3000,\"sent\":{got},\"lost\":{lost}}}\n\n");
    assert!(messages.ends_with(&told), "{}", &messages[messages.len() - 200..]);
    assert_eq!(queued.used(), 0);
    tail.sink().write(&batch).unwrap();
    let messages = read(&mut slow).unwrap();
    assert_eq!(
        (paths(&messages).len(), messages.contains("event: lost")),
        (100, false),
        "it goes on, and is told once"
    );
}

/// Remembers that it was woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Release);
    }
}

#[test]
fn a_listener_is_woken_for_events_and_at_the_end_and_nobody_listens_after_it() {
    let tail = Tail::new(2, 2);
    let mut listener = tail.listen(filter("status = 200"), false, 1).unwrap();
    read(&mut listener);
    let woken = Arc::new(Woken::default());
    let wait = |listener: &mut Listener| {
        woken.0.store(false, Release);
        listener.poll_next(&mut Context::from_waker(&woken.clone().into())).is_pending()
    };
    let is_woken = || woken.0.load(std::sync::atomic::Ordering::Acquire);
    assert!(wait(&mut listener));
    tail.sink().write(&[event("/other", 404)]).unwrap();
    assert!(!is_woken());
    tail.sink().write(&[event("/this", 200)]).unwrap();
    assert!(is_woken());
    assert_eq!(paths(&read(&mut listener).unwrap()), ["/this"]);
    assert!(wait(&mut listener));
    tail.close();
    assert!(is_woken());
    let end = "event: end\ndata: {\"matched\":1,\"sent\":1,\"lost\":0}\n\n";
    assert_eq!((read(&mut listener).as_deref(), read(&mut listener)), (Some(end), None));
    let mut late = tail.listen(filter(""), false, 1).unwrap();
    assert!(read(&mut late).unwrap().ends_with("event: end\ndata: {\"matched\":0,\"sent\":0,\"lost\":0}\n\n"));
    assert_eq!(read(&mut late), None);
}

#[test]
fn one_caller_cannot_take_the_places_of_all_others() {
    let tail = Tail::new(3, 2);
    let listen = |caller| tail.listen(filter(""), false, caller).map_err(|why| (why, caller));
    let (one, two) = (listen(1).unwrap(), listen(1).unwrap());
    assert_eq!(listen(1).unwrap_err(), (NoPlace::OfCaller, 1));
    let other = listen(2).unwrap();
    assert_eq!(listen(2).unwrap_err(), (NoPlace::Full, 2));
    let [places, _] = tail.bounds();
    assert_eq!((places.used(), places.rejected()), (3, 2));
    drop((one, other));
    listen(1).unwrap();
    drop(two);
    assert_eq!(places.used(), 0);
}
