//! An event as a line of JSON: every key, keys that are left out, and every text.

use super::*;
use crate::{AppUse, Arrival, EventId, JobMemory, Layer, MemberSaid, Outcome, Subject, Tick, Trace, UpstreamUse};
use serde_json::{Value, json};

fn written(event: &Event) -> Value {
    let mut line = Vec::new();
    write(event, &mut line).unwrap();
    assert_eq!(line.pop(), Some(b'\n'));
    serde_json::from_slice(&line).unwrap()
}

#[test]
fn an_event_is_a_line_of_json_whatever_it_says() {
    let mut event = Event::request(Millis(1_793_534_400_007), Tick(0));
    (event.method, event.path) = ("GET", "/a \"b\" \\ \u{7} é".to_owned());
    event.subject = Subject { repository: "gems".into(), kind: "info", ..Subject::default() };
    (event.status, event.outcome, event.reason) = (200, Some(Outcome::Answered), Some(Reason::Io));
    (event.bytes_out, event.first_byte, event.duration) = (u64::MAX, 12_345_678, 999_999_600);
    let known = MemberRecord {
        detail: "x".into(),
        until: Some(Millis(1)),
        ..MemberRecord::new("z", MemberSaid::NotFound, Some(Reason::NoSuchFile))
    };
    let asked = MemberRecord {
        nanos: 1500,
        ops: vec![(Op::TruthRead, Tally { count: 2, vain: 0, nanos: 1_000_000 })],
        flight: Some(EventId(7)),
        ..MemberRecord::new("x\"y", MemberSaid::Hit, None)
    };
    event.members = vec![known, asked];
    event.add(Op::PageLookup, 499);
    let said = written(&event);
    let expected = json!({
        "id": event.id.to_string(), "at": "2026-11-01T12:00:00.007Z", "kind": "request", "method": "GET",
        "path": "/a \"b\" \\ \u{7} é", "repository": "gems", "file": "info", "status": 200, "outcome": "answered",
        "reason": Reason::Io.as_str(), "layer": "none", "bytes_in": 0, "bytes_out": u64::MAX,
        "first_byte_ms": 12.346, "duration_ms": 1000.0, "unaccounted_ms": 999.999, "ops": {"page.lookup": {"count": 1, "ms": 0.0}},
        "members": [{"member": "z", "said": "not_found", "reason": "no_such_file", "detail": "x",
            "until": "1970-01-01T00:00:00.001Z", "ms": 0.0, "ops": {}},
            {"member": "x\"y", "said": "hit", "ms": 0.002, "flight": "0000000000000007", "ops": {"truth.read": {"count": 2, "ms": 1.0}}}],
        "weight": 1, "kept_because": "all",
    });
    assert_eq!(said, expected);
}

#[test]
fn what_is_empty_is_left_out_but_for_numbers_and_the_outcome() {
    let said = written(&Event::job("sweep", Millis(-1)));
    let keys: Vec<&str> = said.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "id",
        "at",
        "kind",
        "method",
        "status",
        "outcome",
        "layer",
        "bytes_in",
        "bytes_out",
        "first_byte_ms",
        "duration_ms",
        "unaccounted_ms",
        "ops",
        "weight",
        "kept_because",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!((&said["outcome"], &said["at"]), (&Value::Null, &json!("1969-12-31T23:59:59.999Z")));
}

#[test]
fn ops_that_overlap_show_as_negative_time_and_the_part_beside_hits_has_its_keys() {
    let mut event = Event::request(Millis(1), Tick(0));
    event.add_all(Op::BodyRead, Tally { count: 1, vain: 1, nanos: 2_000_000 });
    event.add(Op::Route, 1_500_000);
    *event.more_mut() = More {
        size: 3,
        arrival: Some(Arrival { in_flight: 1, late: 2_000_000, class_used: 4 }),
        queued_outside: 5_000_000,
        trace: Some(Trace { id: 0xab, parent: 0xc }),
        upstream: Some(UpstreamUse {
            host: "example.org:443".into(),
            status: 200,
            calls: 4,
            redirected: 1,
            pauses: 3,
            connects: 2,
            reused: 2,
            closed_by: Some(ClosedBy::Upstream),
            bytes: 9,
            flight: Some(EventId(5)),
            followed: 10,
            followers: vec![EventId(6), EventId(7)],
        }),
        app: Some(Box::new(AppUse {
            lane: "/reports/**".into(),
            backend: "http://127.0.0.1:3000".into(),
            cache: "fwd=miss",
            page: "old",
            ahead: 2,
            server_timing: "db;dur=5.3, \"x\"".into(),
        })),
        memory: Some(JobMemory { before: 1, highest: 3, after: 2 }),
        beside: vec![(Op::TruthRead, Tally { count: 2, vain: 0, nanos: 4_000_000 })],
    };
    event.class = Some(Class::Uploads);
    let said = written(&event);
    let expected = json!({
        "class": "uploads", "unaccounted_ms": -1.5, "beside": {"truth.read": {"count": 2, "ms": 4.0}}, "size": 3, "queued_outside_ms": 5.0,
        "ops": {"body.read": {"count": 1, "vain": 1, "ms": 2.0, "inside": true}, "route.read": {"count": 1, "ms": 1.5}},
        "arrival": {"in_flight": 1, "late_ms": 2.0, "class_used": 4},
        "trace": "000000000000000000000000000000ab", "trace_parent": "000000000000000c",
        "upstream": {"host": "example.org:443", "status": 200, "calls": 4, "redirected": 1, "connects": 2, "reused": 2, "pauses": 3,
            "closed_by": "upstream", "bytes": 9, "flight": "0000000000000005", "followed": 10,
            "followers": ["0000000000000006", "0000000000000007"]},
        "app": {"lane": "/reports/**", "backend": "http://127.0.0.1:3000", "cache": "fwd=miss", "page": "old", "ahead": 2,
            "server_timing": "db;dur=5.3, \"x\""},
        "memory": {"before_bytes": 1, "highest_bytes": 3, "after_bytes": 2},
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&said[key], value, "{key}");
    }
}

#[test]
fn a_hit_in_the_cache_of_an_application_tells_that_much_by_its_layer() {
    let mut hit = Event::request(Millis(1), Tick(0));
    assert_eq!(written(&hit)["app"], Value::Null);
    hit.layer = Layer::AppCache;
    assert_eq!(written(&hit)["app"], json!({"cache": "hit"}));
    hit.more_mut().app = Some(Box::new(AppUse { cache: "hit; detail=stale", ..AppUse::default() }));
    assert_eq!(written(&hit)["app"], json!({"cache": "hit; detail=stale"}));
    (hit.layer, hit.more) = (Layer::AppPages, None);
    assert_eq!(written(&hit)["app"], json!({"cache": "hit", "page": "hit"}));
}

#[test]
fn an_agent_is_written_with_its_parts() {
    let bundler = "bundler/2.5.22 (\"x\") ci/github,ci 0123456789abcdef";
    for (agent, parts) in [
        (bundler, json!([bundler, "bundler", "2.5.22", "github", "0123456789abcdef"])),
        (bundler, json!([bundler, "bundler", "2.5.22", "github", "0123456789abcdef"])),
        ("curl/8", json!(["curl/8", "curl", "8", null, null])),
        ("", json!([null, null, null, null, null])),
        ("é", json!(["é", null, null, null, null])),
    ] {
        let mut event = Event::job("", Millis(0));
        event.agent = agent.into();
        let said = written(&event);
        assert_eq!(json!(["agent", "client_product", "client_version", "ci", "run"].map(|key| &said[key])), parts);
    }
}

#[test]
fn each_event_tells_its_own_moment() {
    for at in [0, 1, 999, 1000, 1_793_534_400_000, i64::MAX, 5].map(Millis) {
        assert_eq!(written(&Event::job("sweep", at))["at"], at.to_string());
    }
}
