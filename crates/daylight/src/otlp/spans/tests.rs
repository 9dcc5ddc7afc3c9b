//! Events as spans.

use super::*;
use crate::otlp::proto::KeyValue;
use proptest::prelude::*;
use prost::Message;
use std::collections::BTreeMap;
use telemetry::{AppUse, Layer, MemberSaid, Millis, Subject, Tick, Trace, UpstreamUse};

const FACTS: RepositoryFacts = RepositoryFacts { kind: "hosted", format: "gem" };

/// The same with a change.
fn with(change: impl FnOnce(&mut Event)) -> Event {
    let mut event = request();
    change(&mut event);
    event
}

fn request() -> Event {
    let mut event = *Event::request(Millis(1_793_534_400_123), Tick(0));
    (event.id, event.method, event.protocol) = (EventId(0x0123_4567_89ab_cdef), "GET", "HTTP/1.1");
    event.path = "/repository/gems/info/lamp".to_owned();
    event.subject = Subject { repository: "gems".into(), package: "lamp".into(), version: "".into(), kind: "info" };
    (event.client, event.agent, event.status) = ("192.0.2.7".into(), "bundler/2.5".into(), 200);
    (event.outcome, event.layer) = (Some(Outcome::Answered), Layer::Hosted);
    (event.bytes_in, event.bytes_out, event.duration, event.first_byte) = (3, 1000, 2_500_000, 2_000_000);
    event
}

fn of(event: &Event) -> Span {
    span(event, FACTS, &ServerName { address: "gems.example".to_owned(), port: 443, scheme: "https".to_owned() })
}

fn attributes(span: &Span) -> BTreeMap<&str, String> {
    let value = |one: &KeyValue| match one.value.clone().unwrap().value.unwrap() {
        Value::Text(text) => text,
        Value::Int(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Bool(yes) => yes.to_string(),
        Value::List(list) => format!("{} values", list.values.len()),
    };
    span.attributes.iter().map(|one| (one.key.as_str(), value(one))).collect()
}

#[test]
fn a_request_is_a_span_of_a_server_with_the_names_of_the_conventions() {
    let span = of(&request());
    assert_eq!((span.name.as_str(), span.kind), ("GET /repository/{name}/{path}", SERVER));
    assert_eq!(span.start_time_unix_nano, 1_793_534_400_123_000_000);
    assert_eq!(span.end_time_unix_nano - span.start_time_unix_nano, 2_500_000);
    assert_eq!((&span.status, span.trace_state.as_str(), span.flags), (&None, "ot=th:0", SAMPLED));
    let told = attributes(&span);
    for (key, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/repository/{name}/{path}"),
        ("url.path", "/repository/gems/info/lamp"),
        ("url.scheme", "https"),
        ("http.response.status_code", "200"),
        ("network.protocol.version", "1.1"),
        ("client.address", "192.0.2.7"),
        ("user_agent.original", "bundler/2.5"),
        ("server.address", "gems.example"),
        ("server.port", "443"),
        ("http.response.body.size", "1000"),
        ("daylight.event", "0123456789abcdef"),
        ("daylight.repository", "gems"),
        ("daylight.outcome", "answered"),
        ("daylight.layer", "hosted"),
        ("daylight.first_byte_ms", "2"),
        ("daylight.weight", "1"),
    ] {
        assert_eq!(told.get(key).map(String::as_str), Some(value), "{key}");
    }
    assert!(!told.contains_key("error.type") && !told.contains_key("daylight.reason"));
    assert_eq!(span.span_id, 0x0123_4567_89ab_cdef_u64.to_be_bytes());
}

#[test]
fn a_failure_has_a_status_and_a_type_and_a_404_has_neither() {
    let failed = with(|event| {
        event.status = 502;
        event.outcome = Some(Outcome::Failed);
        event.detail = "why".into();
    });
    let span = of(&failed);
    assert_eq!(span.status, Some(Status { message: "why".into(), code: ERROR }));
    assert_eq!(attributes(&span)["error.type"], "502");
    let gone = with(|event| {
        event.status = 0;
        event.outcome = Some(Outcome::ClientGone);
    });
    assert_eq!((of(&gone).status, attributes(&of(&gone))["error.type"].as_str()), (None, "client_gone"));
    let missing = of(&with(|event| {
        event.status = 404;
        event.outcome = Some(Outcome::NotFound);
    }));
    assert!(missing.status.is_none() && !attributes(&missing).contains_key("error.type"));
}

#[test]
fn a_client_that_traces_is_the_parent_and_other_traces_come_from_the_event() {
    let mut traced = request();
    traced.more_mut().trace = Some(Trace { id: 7, parent: 9 });
    let span = of(&traced);
    assert_eq!((span.trace_id, span.parent_span_id), (7u128.to_be_bytes().to_vec(), 9u64.to_be_bytes().to_vec()));
    assert_eq!((span.trace_state.as_str(), span.flags), ("", SAMPLED | REMOTE_PARENT));
    let (first, again) = (of(&request()), of(&request()));
    assert_eq!(first.trace_id, again.trace_id);
    assert!(first.parent_span_id.is_empty() && first.trace_id[..8] == first.span_id[..]);
    let zero = of(&with(|event| {
        event.id = EventId(0);
    }));
    assert!(zero.trace_id.iter().any(|byte| *byte != 0) && zero.span_id.iter().any(|byte| *byte != 0));
}

#[test]
fn a_weight_is_told_and_no_threshold_is_claimed_for_it() {
    let span = of(&with(|event| {
        event.weight = 8;
    }));
    let told = attributes(&span);
    assert_eq!(
        (told["daylight.weight"].as_str(), told["SampleRate"].as_str(), span.trace_state.as_str()),
        ("8", "8", "")
    );
}

#[test]
fn a_job_is_internal_and_members_and_upstreams_are_told() {
    let mut job = *Event::job("fetch", Millis(5));
    job.outcome = Some(Outcome::Done);
    let span = of(&job);
    assert_eq!((span.name.as_str(), span.kind), ("fetch", INTERNAL));
    assert!(!attributes(&span).keys().any(|key| key.starts_with("http.") || key.starts_with("url.")));

    let mut asked = request();
    let used = UpstreamUse {
        host: "a.test:443".into(),
        status: 200,
        calls: 1,
        flight: Some(EventId(3)),
        ..UpstreamUse::default()
    };
    let member = MemberRecord {
        nanos: 1_000_000,
        flight: Some(EventId(3)),
        upstream: Some(Box::new(used)),
        ..MemberRecord::new("far", MemberSaid::Hit, None)
    };
    asked.absorb(member);
    asked.more_mut().app = Some(Box::new(AppUse { lane: "/slow".into(), ..AppUse::default() }));
    let span = of(&asked);
    let told = attributes(&span);
    assert_eq!(
        (told["daylight.members"].as_str(), told["daylight.upstream.host"].as_str()),
        ("1 values", "a.test:443")
    );
    assert_eq!(span.links, [Link { trace_id: trace_of(EventId(3)).to_vec(), span_id: span_of(EventId(3)).to_vec() }]);
}

proptest! {
    #[test]
    fn ids_of_traces_differ_and_their_low_bits_are_spread(ids in prop::collection::hash_set(any::<u64>(), 2..50)) {
        let traces: std::collections::BTreeSet<_> = ids.iter().map(|id| trace_of(EventId(*id))).collect();
        prop_assert_eq!(traces.len(), ids.len());
        prop_assert!(traces.iter().all(|trace| *trace != [0; 16]));
    }

    /// The recorder hides secrets before a sink gets an event. Nothing else of the event may bring them back.
    #[test]
    fn no_planted_secret_leaves_in_a_span(secret in "[a-zA-Z0-9]{20,40}", weight in 1u32..100) {
        struct Keeps(std::sync::mpsc::Sender<Event>);
        impl telemetry::Sink for Keeps {
            fn name(&self) -> &'static str {
                "keeps"
            }
            fn write(&mut self, events: &[Event]) -> std::io::Result<()> {
                events.iter().for_each(|event| drop(self.0.send(event.clone())));
                Ok(())
            }
        }
        let (send, kept) = std::sync::mpsc::channel();
        let options = telemetry::RecorderOptions::of(telemetry::Clock::default());
        let recorder = telemetry::Recorder::start(options, vec![Box::new(Keeps(send))]);
        recorder.attempt();
        let mut event = Box::new(request());
        event.weight = weight;
        event.asked(&format!("/repository/gems/x?token={secret}"));
        event.agent = Event::text(&format!("curl/8 (https://ann:{secret}@example.test/) Bearer {secret}")).into();
        event.detail = format!("GET https://ann:{secret}@example.test/a?api_key={secret} failed: authorization: Bearer {secret}");
        let member = MemberRecord { detail: format!("https://u:{secret}@a.test"), ..MemberRecord::new("far", MemberSaid::Failed, None) };
        event.absorb(member);
        event.more_mut().app = Some(Box::new(AppUse { server_timing: format!("a;desc=\"token={secret}\"").as_str().into(), ..AppUse::default() }));
        recorder.release(event);
        prop_assert!(recorder.flush(std::time::Duration::from_secs(30)));
        let sent = of(&kept.recv().unwrap()).encode_to_vec();
        let found = sent.windows(secret.len()).any(|part| part == secret.as_bytes());
        prop_assert!(!found, "{:?}", String::from_utf8_lossy(&sent));
    }
}
