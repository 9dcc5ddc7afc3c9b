//! Tests of events that are made from their columns.

use super::*;
use crate::block::Block;
use crate::row::{RepositoryFacts, Row};
use telemetry::{
    AppUse, Arrival, Because, Class, Event, Layer, MemberRecord, MemberSaid, Millis, More, Op, Outcome, Tally, Tick,
    Trace, UpstreamUse,
};

/// An event with a value in every part. All times are whole microseconds.
fn full(because: Because) -> Event {
    let mut event = *Event::request(Millis(1_793_534_400_123), Tick(0));
    event.asked("/repository/all/info/lamp");
    (event.method, event.protocol) = ("GET", "HTTP/1.1");
    (event.status, event.outcome, event.layer) = (502, Some(Outcome::Failed), Layer::Group);
    (event.class, event.because, event.weight) = (Some(Class::ALL[0]), because, 3);
    (event.bytes_in, event.bytes_out) = (7, 1234);
    (event.first_byte, event.duration) = (2_000_000, 5_432_000);
    event.subject.repository = "all".into();
    event.subject.package = "lamp".into();
    event.subject.kind = "info";
    event.client = "10.0.0.1".into();
    event.agent = "bundler/2.6.1 rubygems/3.6.2 ruby/3.4.1 (x) command/install 0123456789abcdef".into();
    event.detail = "the upstream closed the connection".into();
    event.add(Op::TruthRead, 1_000_000);
    event.add(Op::MembersAsk, 500_000);
    let members = [("near", MemberSaid::NotFound, 30_000), ("far", MemberSaid::Failed, 400_000)];
    event.members =
        members.map(|(name, said, nanos)| MemberRecord { nanos, ..MemberRecord::new(name, said, None) }).into();
    let arrival = Arrival { in_flight: 3, late: 4_000, class_used: 2 };
    let trace = Trace { id: 5, parent: 6 };
    let upstream =
        UpstreamUse { host: "h:1".into(), status: 502, calls: 1, connects: 1, bytes: 9, ..Default::default() };
    event.more = Some(Box::new(More {
        size: 11,
        arrival: Some(arrival),
        queued_outside: 8_000,
        trace: Some(trace),
        upstream: Some(upstream),
        app: Some(Box::new(AppUse {
            lane: "/reports/**".into(),
            backend: "http://127.0.0.1:3000".into(),
            cache: "fwd=miss",
            page: "old",
            ahead: 2,
            server_timing: "db;dur=5".into(),
        })),
        beside: vec![(Op::TlsHandshake, Tally { count: 1, vain: 0, nanos: 1000 })],
        ..More::default()
    }));
    event
}

fn kept(events: &[Event]) -> Vec<Arc<dyn Part>> {
    let mut block = Block::default();
    for event in events {
        block.push(&Row::of(event, RepositoryFacts { kind: "group", format: "gem" }));
    }
    vec![Arc::new(block)]
}

#[test]
fn an_event_that_was_stored_whole_reads_as_before() {
    let events: Vec<Event> = [Because::Failed, Because::Member, Because::Slow].map(full).into();
    for event in &events {
        assert_eq!(find(&kept(&events), event.id).unwrap().unwrap(), event.json());
    }
    assert_eq!(find(&kept(&events), EventId(7)).unwrap(), None);
}

#[test]
fn a_sampled_event_has_the_same_keys_with_operations_in_the_keys_of_their_columns() {
    let event = full(Because::Sample);
    let (mut found, mut before) = (find(&kept(std::slice::from_ref(&event)), event.id).unwrap().unwrap(), event.json());
    assert_eq!((&found["truth_ms"], &found["members_ask_ms"]), (&json!(1.0), &json!(0.5)));
    let said = json!([{ "member": "near", "said": "not_found" }, { "member": "far", "said": "failed", "ms": 0.4 }]);
    assert_eq!(found["members"], said);
    for object in [&mut found, &mut before] {
        let gone = ["ops", "members", "beside", "agent", "detail", "trace_parent", "truth_ms", "members_ask_ms"];
        object.as_object_mut().unwrap().retain(|key, _| !gone.contains(&key.as_str()));
    }
    assert_eq!(found, before);
}

#[test]
fn a_hit_of_an_application_and_a_request_whose_body_took_long_read_as_before() {
    let mut hit = *Event::request(Millis(1_793_534_400_000), Tick(0));
    (hit.layer, hit.because) = (Layer::AppCache, Because::Sample);
    let mut passed = full(Because::Slow);
    passed.add(Op::AppBody, 3_000_000);
    let before = passed.json();
    let mut page = hit.clone();
    (page.layer, page.id) = (Layer::AppPages, EventId(77));
    let events = [hit, passed, page];
    let found = |event: &Event| find(&kept(&events), event.id).unwrap().unwrap();
    assert_eq!(found(&events[0])["app"], json!({ "cache": "hit" }));
    assert_eq!(found(&events[1]), before);
    assert_eq!(found(&events[2])["app"], json!({ "cache": "hit", "page": "hit" }));
}

#[test]
fn an_event_that_failed_early_has_no_key_without_a_value() {
    let event = *Event::request(Millis(1_793_534_400_000), Tick(0));
    let found = find(&kept(std::slice::from_ref(&event)), event.id).unwrap().unwrap();
    let mut before = event.json();
    before.as_object_mut().unwrap().remove("ops");
    assert_eq!(found, before);
}
