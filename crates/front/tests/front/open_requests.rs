//! Requests in progress: the table of open requests, and the load of the core that each event records.

use crate::growing::FileWriter;
use crate::http2::{ask, run, spoken, tcp};
use crate::running_front::{BIG, Front, HANGS, options};
use front::{Limits, Options};
use std::time::Duration;
use telemetry::{Op, OpenRequestView, Outcome, Tick};

/// Waits until this holds for the table.
#[track_caller]
fn table(front: &Front, holds: impl Fn(&[OpenRequestView]) -> bool) -> Vec<OpenRequestView> {
    let began = Tick::now();
    loop {
        let all = front.recorder.open_requests().list(Tick::now());
        if holds(&all) {
            return all;
        }
        assert!(Tick::now().since(began) < HANGS.as_nanos() as u64, "the table has {all:?}");
        std::thread::yield_now();
    }
}

/// Waits until the table has only one request, for which this holds.
#[track_caller]
fn shown(front: &Front, holds: impl Fn(&OpenRequestView) -> bool) -> OpenRequestView {
    table(front, |all| all.len() == 1 && holds(&all[0])).remove(0)
}

fn one_core() -> Front {
    Front::with(Options { cores: 1, ..options(Limits::default()) })
}

#[test]
fn a_request_whose_handler_waits_is_shown_with_its_operations_until_it_ends() {
    let front = Front::new();
    let mut client = front.client();
    let secret = "daylight_0123456789abcdefghijklmnop";
    client.send(format!("GET /waits/{secret}?token={secret} HTTP/1.1\r\nhost: a\r\n\r\n"));
    let one = shown(&front, |_| true);
    assert_eq!((one.method, one.path.as_str()), ("GET", "/waits/daylight_***"));
    assert_eq!(one.ops, [Op::TruthRead, Op::MembersAsk]);
    drop(client);
    let event = front.event();
    assert_eq!((event.id, event.outcome), (one.id, Some(Outcome::ClientGone)));
    assert_eq!(front.recorder.open_requests().list(Tick::now()), []);
}

#[test]
fn an_upload_that_does_not_arrive_is_shown_with_its_bytes() {
    let front = Front::new();
    let mut client = front.client();
    client.send("POST /upload HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nabc");
    assert_eq!(shown(&front, |one| one.bytes_in == 3).ops, [Op::BodyReceive]);
    client.send("defg");
    shown(&front, |one| one.bytes_in == 7);
    client.send("hij");
    assert_eq!(client.answer().status, 200);
    assert_eq!(front.event().path, "/upload");
    assert_eq!(front.recorder.open_requests().list(Tick::now()), []);
}

#[test]
fn a_reply_that_its_client_does_not_read_is_shown_with_its_bytes() {
    for path in ["/big", "/file"] {
        let front = Front::new();
        let mut client = front.client();
        client.send(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        let one = shown(&front, |one| one.bytes_out > 0 && one.ops == [Op::BodySend]);
        assert_eq!(one.path, path);
        client.head();
        client.body(BIG / 2);
        shown(&front, |one| one.bytes_out > BIG as u64 / 2);
        client.body(BIG - BIG / 2);
        assert_eq!(front.event().bytes_out, BIG as u64);
        assert_eq!(front.recorder.open_requests().list(Tick::now()), []);
    }
}

#[test]
fn a_reply_that_waits_for_the_rest_of_its_file_is_not_waiting_for_its_client() {
    let front = Front::new();
    let mut file = FileWriter::new("waits-for-the-rest", Some(10));
    file.grow(4);
    let mut client = front.client();
    client.send(format!("GET {} HTTP/1.1\r\nhost: a\r\n\r\n", file.path()));
    shown(&front, |one| one.ops == [Op::BodyWait] && one.bytes_out == 4);
    file.grow(6);
    file.whole();
    assert_eq!(client.answer().body.len(), 10);
    let event = front.event();
    assert!(event.tally(Op::BodyWait).count > 0 && event.tally(Op::BodyWait).nanos > 0, "{event:?}");
    assert!(event.tally(Op::BodyWait).nanos <= event.duration, "{event:?}");
    assert_eq!(front.recorder.open_requests().list(Tick::now()), []);
}

#[test]
fn streams_of_http_2_are_shown_one_by_one() {
    let front = Front::new();
    let mut file = FileWriter::new("waits-for-the-rest-on-http-2", Some(10));
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        let big = ask(&mut sender, "/big").await;
        shown(&front, |one| one.ops == [Op::BodySend] && one.bytes_out == 100_000);
        drop(big);
        assert_eq!(front.event().path, "/big");
        file.grow(4);
        let growing = ask(&mut sender, file.path()).await;
        shown(&front, |one| one.ops == [Op::BodyWait]);
        drop(growing);
        assert_eq!(front.event().path, file.path());
        assert_eq!(front.recorder.open_requests().list(Tick::now()), []);
    });
}

#[test]
fn an_event_tells_how_many_requests_its_core_had_in_progress() {
    let front = one_core();
    let in_flight = || {
        assert_eq!(front.client().get("/who").status, 200);
        front.event().more.unwrap().arrival.unwrap().in_flight
    };
    assert_eq!(in_flight(), 0);
    let mut waiting = [front.client(), front.client(), front.client()];
    waiting.iter_mut().for_each(|client| client.send("GET /waits/here HTTP/1.1\r\nhost: a\r\n\r\n"));
    table(&front, |all| all.len() == 3);
    assert_eq!(in_flight(), 3);
    drop(waiting);
    let left: Vec<u32> = (0..3).map(|_| front.event().more.unwrap().arrival.unwrap().in_flight).collect();
    assert_eq!(left.iter().sum::<u32>(), 3, "the first found none, the last two: {left:?}");
    assert_eq!(in_flight(), 0);
}

#[test]
fn an_event_tells_how_late_the_event_loop_of_its_core_was() {
    let front = one_core();
    let late = |path: &str| {
        let mut client = front.client();
        client.send(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        client.answer();
        front.event().more.unwrap().arrival.unwrap().late
    };
    late("/blocks");
    // The beat of the loop was due while `/blocks` ran, so this request or the beat before it finds the loop late.
    let nanos = u64::try_from(Duration::from_millis(100).as_nanos()).unwrap();
    assert!((nanos..HANGS.as_nanos() as u64).contains(&late("/who")));
}

#[test]
fn the_queue_of_a_trusted_proxy_and_a_sampled_trace_are_recorded() {
    let front = Front::behind(front::ClientFrom::XForwardedFor, Limits::default());
    let of = |mut client: crate::running_front::Client, headers: &str| {
        client.send(format!("GET /who HTTP/1.1\r\nhost: a\r\n{headers}\r\n"));
        assert_eq!(client.answer().status, 200);
        let more = front.event().more.unwrap();
        (more.queued_outside, more.trace.map(|trace| (trace.id, trace.parent)))
    };
    let start = front.recorder.clock().now().0 - 60_000;
    let queued = format!("X-Request-Start: t={start}\r\n");
    let (waited, _) = of(front.client(), &queued);
    // The time of the event is in whole milliseconds.
    assert!((59_900_000_000..60_000_000_000 + HANGS.as_nanos() as u64).contains(&waited), "{waited}");
    assert_eq!(of(front.client_from([127, 0, 0, 2]), &queued), (0, None), "not a trusted proxy");
    let trace = "traceparent: 00-0000000000000000000000000000000a-000000000000000b-01\r\n";
    assert_eq!(of(front.client_from([127, 0, 0, 2]), trace), (0, Some((10, 11))));
    assert_eq!(of(front.client(), &trace.replace("-01", "-00")), (0, None));
}
