//! The events of answers from an upstream: the fetch that an answer waited for, and the result of that fetch.

use super::{JAR, METADATA, Scene};
use crate::pages::events;
use crate::world::{Answer, Says, hex, metadata};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

pub(super) fn of<'a>(events: &'a [Value], answer: &Answer) -> &'a Value {
    let id = answer.header("daylight-event").unwrap();
    events.iter().find(|event| event["id"] == id).unwrap()
}

/// The event of the fetch that the answer waited for.
pub(super) fn flight<'a>(events: &'a [Value], answer: &Answer) -> &'a Value {
    let id = &of(events, answer)["members"][0]["flight"];
    events.iter().find(|event| event["id"] == *id).unwrap()
}

#[test]
fn who_waits_for_a_fetch_names_it_and_it_tells_what_the_upstream_took() {
    let mut scene = Scene::new();
    let says = Says::file("lamp").header("X-Checksum-SHA1", &hex(&Sha1::digest("lamp")));
    scene.upstream.says(&format!("/{JAR}"), says);
    let (waited, kept) = (scene.get(JAR).expect(200), scene.get(JAR).expect(200));
    scene.world.stop();
    let events = events(&scene.world);
    let fetch = flight(&events, &waited);
    let made = &fetch["upstream"];
    assert_eq!(made["followers"], json!([waited.header("daylight-event").unwrap()]), "{fetch}");
    assert_eq!((&made["followed"], &made["calls"], &made["connects"]), (&json!(1), &json!(1), &json!(1)), "{fetch}");
    let host = json!(scene.upstream.address().to_string());
    for told in [&of(&events, &waited)["upstream"], made] {
        assert_eq!((&told["host"], &told["status"], &told["bytes"]), (&host, &json!(200), &json!(4)), "{told}");
    }
    assert_eq!(of(&events, &kept).get("upstream"), None, "it called no upstream");
    assert_eq!((&fetch["kind"], &fetch["method"], &fetch["outcome"]), (&json!("job"), &json!("fetch"), &json!("done")));
    assert_eq!((&fetch["repository"], &fetch["path"]), (&json!("central"), &json!(JAR)));
    let asked = of(&events, &waited);
    for part in ["package", "version", "file"] {
        assert_eq!(fetch[part], asked[part], "{part} of the fetch is that of the request");
    }
    assert_eq!(fetch["package"], "org.example:lamp", "{fetch}");
    for op in ["upstream.resolve", "upstream.tcp", "upstream.first_byte"] {
        assert_eq!(fetch["ops"][op]["count"], 1, "{fetch}");
    }
    let event = of(&events, &waited);
    assert_eq!((&event["members"][0]["said"], &event["layer"]), (&json!("hit"), &json!("remote")));
    assert_eq!(event["ops"]["flight.wait"]["count"], 1);
    assert!(
        event["ops"].get("upstream.first_byte").is_none(),
        "it belongs to the fetch, and not to the waiting request"
    );
    let event = of(&events, &kept);
    assert_eq!((event["members"][0].get("flight"), event["ops"].get("flight.wait")), (None, None));
}

#[test]
fn metrics_which_anybody_may_read_name_no_host_of_an_upstream() {
    let scene = Scene::new();
    scene.upstream.file(&format!("/{JAR}"), "lamp");
    scene.get(JAR).expect(200);
    let metrics = scene.client().get("/metrics").expect(200);
    let address = scene.upstream.address();
    assert!(!metrics.text().contains(&format!(":{}", address.port())), "{address} is named");
    let told = scene.world.admin().get("/api/v1/upstreams").expect(200).json();
    let host = told["upstreams"].as_array().unwrap().iter().find(|host| host["host"] == address.to_string()).unwrap();
    let line = format!("daylight_bound_peak{{bound=\"upstream.calls\",which=\"{}\"", host["number"]);
    assert!(metrics.text().contains(&line), "{line}");
}

#[test]
fn strangers_are_told_what_went_wrong_and_whoever_runs_the_server_with_whom_where_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::with_file(&format!("[upstream]\ncredentials_folder = {:?}\n", folder.path()));
    let address = scene.upstream.address().to_string();
    scene.upstream.says(&format!("/{JAR}"), Says::status(403).header("Content-Type", "text/plain"));
    let login = folder.path().join("login");
    std::fs::write(&login, "me:hush").unwrap();
    let login = login.to_str().unwrap();
    scene.add("closed", "maven", &json!({"credentials": format!("file:{login}")}));
    std::fs::remove_file(login).unwrap();
    let refused = scene.get(JAR).expect(502);
    let misset = scene.client().get(&format!("/repository/closed/{JAR}")).expect(502);
    scene.upstream.unplug();
    let away = scene.get(METADATA).expect(502);
    let problem = &[("Accept", "application/problem+json")];
    let typed = scene.client().ask("GET", &super::at(METADATA), problem, b"").expect(502);
    scene.world.stop();
    let events = events(&scene.world);
    for (answer, told, kept) in [
        (&refused, "the upstream refused the request: it answered 403", vec!["the upstream says 403", "hint: check"]),
        (&misset, "the settings of the upstream of this repository cannot be used", vec![login]),
        (&away, "the upstream cannot be reached", vec![&address]),
        (&typed, "the upstream cannot be reached", vec![&address]),
    ] {
        let text = answer.text();
        assert!(text.contains(told) && text.contains("daylight explain --event "), "{text}");
        for kept in kept {
            assert!(!text.contains(kept), "{text}");
            for event in [of(&events, answer), flight(&events, answer)] {
                assert!(event["detail"].as_str().unwrap().contains(kept), "{kept}: {event}");
            }
        }
    }
}

#[test]
fn what_the_upstream_did_wrong_is_told_to_whoever_looks() {
    let mut scene = Scene::with(&json!({"fresh_s": 0}));
    scene.upstream.file(&format!("/{METADATA}"), metadata(&["1.0"]));
    scene.get(METADATA).expect(200);
    scene.upstream.says_otherwise(Says::status(403));
    scene.upstream.says(&format!("/{METADATA}"), Says::status(500));
    let (stale, refused) = (scene.get(METADATA).expect(200), scene.get(JAR).expect(403));
    scene.upstream.says_otherwise(Says::status(404));
    let missing = scene.get("org/example/other/1/other-1.jar").expect(404);
    scene.world.stop();
    let events = events(&scene.world);
    for (answer, said, reason) in [
        (&stale, "stale", "upstream_failed"),
        (&refused, "failed", "upstream_forbids"),
        (&missing, "not_found", "no_such_file"),
    ] {
        let member = &of(&events, answer)["members"][0];
        assert_eq!((&member["said"], &member["reason"]), (&json!(said), &json!(reason)), "{member}");
    }
    assert_eq!(of(&events, &refused)["reason"], "upstream_forbids");
    let failed = flight(&events, &stale);
    assert_eq!((&failed["outcome"], &failed["reason"]), (&json!("failed"), &json!("upstream_failed")));
    assert_eq!(flight(&events, &missing)["outcome"], "done");
}
