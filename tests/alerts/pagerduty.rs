//! PagerDuty: each event is one that its documentation allows, has the key of its finding, and is repeated only where it may be.

use super::{ID, OTHER, body, mute, opens, quiet, taker, unmute};
use crate::world::{Asked, Says, Upstream, await_true};
use serde_json::{Value, json};

/// The documented rules of Events API v2, "Send an Alert Event" (developer.pagerduty.com).
const SCHEMA: &str = include_str!("pagerduty.schema.json");
const KEY: &str = "0123456789abcdef0123456789abcdef";
const PATH: &str = "/v2/enqueue";

/// Checks a value with the part of JSON Schema that the schema uses. Returns each mistake, with its place.
fn wrong(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (keyword, rule) in schema.as_object().unwrap() {
        let length = value.as_str().map(|text| text.chars().count() as u64);
        let holds = match keyword.as_str() {
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                other => panic!("the type {other} is not checked"),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "minLength" => length >= rule.as_u64(),
            "maxLength" => length <= rule.as_u64(),
            "required" => rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "additionalProperties" => {
                value.as_object().unwrap().keys().all(|key| schema["properties"].get(key).is_some())
            }
            "properties" => {
                let inside = rule.as_object().unwrap().iter().filter_map(|(key, of)| Some((key, of, value.get(key)?)));
                all.extend(inside.flat_map(|(key, of, value)| wrong(of, value, &format!("{place}/{key}"))));
                true
            }
            "items" => {
                let items = value.as_array().unwrap().iter();
                all.extend(items.flat_map(|item| wrong(rule, item, &format!("{place}/*"))));
                true
            }
            other => panic!("the keyword {other} is not checked"),
        };
        if !holds {
            all.push(format!("{place} breaks {keyword} {rule}: {value}"));
        }
    }
    all
}

#[track_caller]
fn is_allowed(event: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert_eq!(wrong(&schema, event, ""), Vec::<String>::new());
}

#[test]
fn the_check_of_events_finds_what_the_documentation_forbids() {
    let good = json!({
        "routing_key": KEY, "event_action": "trigger", "dedup_key": "a",
        "payload": { "summary": "s", "source": "s", "severity": "info" },
    });
    is_allowed(&good);
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for (place, value) in [
        ("/routing_key", json!("short")),
        ("/event_action", json!("open")),
        ("/dedup_key", json!("x".repeat(256))),
        ("/payload/summary", json!("x".repeat(1025))),
        ("/payload/severity", json!("bad")),
        ("/links", json!([{ "text": "no href" }])),
        ("/more", json!(1)),
    ] {
        let mut bad = good.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        bad.pointer_mut(parent).unwrap()[key] = value;
        assert_ne!(wrong(&schema, &bad, ""), Vec::<String>::new(), "{place}");
    }
}

/// What was asked about a finding: the answer, and what it was.
fn asked_of(pager: &Upstream, id: &str) -> Vec<(u16, String)> {
    let all = pager.asked();
    let about = all.iter().filter(|asked| body(asked)["payload"]["custom_details"]["finding"] == id);
    about.map(|asked| (asked.answered, body(asked)["event_action"].as_str().unwrap().to_owned())).collect()
}

fn owned(all: &[(u16, &str)]) -> Vec<(u16, String)> {
    all.iter().map(|(status, action)| (*status, (*action).to_owned())).collect()
}

#[test]
fn a_finding_is_an_event_of_pagerduty_when_it_opens_and_when_it_closes_and_only_pauses_and_failures_are_repeated() {
    let pager = taker();
    let receiver = format!(
        "[[alerts.to]]\nname = \"pager\"\nkind = \"pagerduty\"\nkey_env = \"PAGER_KEY\"\nurl = \"{}v2/enqueue\"\n",
        pager.url()
    );
    let world = quiet(&receiver, &[("PAGER_KEY", KEY)]);
    pager.says_once(PATH, Says::status(429).header("Retry-After", "1"));
    pager.says_once(PATH, Says::status(500));
    opens(&world);
    let taken = |count: usize| {
        let taken = |asked: &&Asked| asked.answered == 202;
        await_true("events are taken", || pager.asked().iter().filter(taken).count() >= count);
    };
    taken(2);
    mute(&world, ID);
    taken(3);
    // An event that is refused as invalid is not sent again, has no end, and counts as a failure until the next one is taken.
    pager.says_once(PATH, Says::saying(400, format!(r#"{{"status": "invalid event", "errors": ["{KEY}"]}}"#)));
    unmute(&world, ID);
    await_true("the event was refused", || asked_of(&pager, ID).iter().any(|(status, _)| *status == 400));
    await_true("it is told as a failure, and neither known nor waiting", || {
        let state = super::receivers(&world).remove(0);
        state["takes"] == false && state["open"] == 1 && state["waiting"] == 0
    });
    mute(&world, ID);
    mute(&world, OTHER);
    taken(4);
    await_true("it takes alerts", || super::receivers(&world)[0]["takes"] == true);

    let all: Vec<Value> = pager.asked().iter().map(body).collect();
    all.iter().for_each(is_allowed);
    for event in &all {
        let id = event["payload"]["custom_details"]["finding"].as_str().unwrap();
        assert_eq!(event["dedup_key"], format!("packages.example.org:443/{id}"));
        assert_eq!((&event["routing_key"], &event["payload"]["severity"]), (&KEY.into(), &"warning".into()));
        assert!(event["links"][0]["href"].as_str().unwrap().starts_with("https://packages.example.org/#contra"));
    }
    let (first, second) = (asked_of(&pager, ID), asked_of(&pager, OTHER));
    let ends: &[(u16, &str)] = &[(202, "resolve"), (400, "trigger")];
    let end: &[(u16, &str)] = &[(202, "resolve")];
    let begins: &[(u16, &str)] = &[(429, "trigger"), (500, "trigger"), (202, "trigger")];
    // Which of the two came first met the pause and the failure.
    let met = owned(&[begins, ends].concat());
    let spared = owned(&[&[(202, "trigger")], ends].concat());
    assert!(
        first == met && second == owned(&[&begins[2..], end].concat())
            || first == spared && second == owned(&[begins, end].concat()),
        "{first:?} {second:?}"
    );

    // Each attempt is an event, with the reason of its failure.
    let question = json!({
        "where": [["method", "=", "alert.send"], ["path", "=", "alerts/pager"]], "by": ["outcome", "reason"],
        "measures": ["count"], "from": "2026-11-02T11:00:00Z", "to": "2026-11-02T13:00:00Z",
    });
    let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
    let count = |outcome: &str, reason: &str| {
        let rows = answer["rows"].as_array().unwrap().iter();
        let row = rows.filter(|row| row["outcome"] == outcome && row["reason"].as_str().unwrap_or_default() == reason);
        row.map(|row| row["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(count("failed", "upstream_paused"), 1, "{answer:#}");
    assert_eq!(count("failed", "upstream_failed"), 1, "{answer:#}");
    assert_eq!(count("failed", "upstream_refused"), 1, "{answer:#}");
    let metrics = world.admin().get("/metrics").expect(200);
    for line in ["daylight_alerts_sent_total{to=\"pager\"} 4\n", "daylight_alerts_failed_total{to=\"pager\"} 3\n"] {
        assert!(metrics.text().contains(line), "{line}{}", metrics.text());
    }
    // The key is nowhere but in the requests.
    for text in [world.log(), metrics.text().to_owned(), format!("{:?}", super::receivers(&world))] {
        assert!(!text.contains(KEY));
    }
}
