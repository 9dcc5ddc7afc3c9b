//! Pauses that an upstream asks for: short ones are waited for, and longer ones are told to the client.

use super::told::{flight, of};
use super::{JAR, METADATA, Scene, at};
use crate::pages::events;
use crate::world::{Answer, Says};
use serde_json::json;
use std::thread;
use std::time::{Duration, SystemTime};

const LATER: &str = "org/example/lamp/2.0/lamp-2.0.jar";

/// Requests a file whose upstream asks for a pause with this answer, and has it after the first request.
fn waited(scene: &Scene, path: &str, says: Says) -> Answer {
    let there = format!("/{path}");
    scene.upstream.says(&there, says);
    let client = scene.client();
    thread::scope(|scope| {
        let asked = scope.spawn(|| client.get(&at(path)));
        scene.upstream.await_count(&there, 1);
        scene.upstream.file(&there, "lamp");
        asked.join().unwrap()
    })
}

#[test]
fn a_short_pause_is_waited_for_and_told_in_the_event() {
    let mut scene = Scene::new();
    let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    let answers = [(JAR, 429, "1"), (LATER, 503, "1"), ("org/example/lamp/3.0/lamp-3.0.jar", 503, &*soon)];
    let answers = answers.map(|(path, status, after)| {
        let answer = waited(&scene, path, Says::status(status).header("Retry-After", after)).expect(200);
        assert_eq!((answer.text(), scene.asked(path)), ("lamp", 2));
        answer
    });
    scene.world.stop();
    let events = events(&scene.world);
    for answer in &answers {
        let (event, fetch) = (of(&events, answer), flight(&events, answer));
        assert_eq!(fetch["ops"]["upstream.pause"]["count"], 1, "{fetch}");
        assert_eq!((&fetch["upstream"]["pauses"], &fetch["upstream"]["calls"]), (&json!(1), &json!(2)), "{fetch}");
        assert_eq!((&event["upstream"]["pauses"], &event["upstream"]["status"]), (&json!(1), &json!(200)), "{event}");
    }
}

#[test]
fn pauses_that_are_too_long_together_end_with_503_and_the_rest_of_the_pause() {
    let mut scene = Scene::with_file("[upstream]\nwait_for_retry = \"2s\"\n");
    scene.upstream.says_otherwise(Says::status(429).header("Retry-After", "1"));
    let refused = scene.get(JAR).expect(503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let calls = scene.asked(JAR);
    assert!((2..=5).contains(&calls), "{calls}");
    // A longer pause is not waited for at all.
    scene.upstream.says_otherwise(Says::status(503).header("Retry-After", "30"));
    let told = loop {
        let told = scene.get(LATER).expect(503);
        if scene.asked(LATER) > 0 {
            break told;
        }
    };
    scene.world.stop();
    let events = events(&scene.world);
    let waited = of(&events, &refused);
    assert_eq!((&waited["reason"], &waited["upstream"]["pauses"]), (&json!("upstream_paused"), &json!(calls - 1)));
    let longer = flight(&events, &told);
    assert_eq!(longer["upstream"]["status"], 503, "{longer}");
    assert!(told.header("retry-after").unwrap().parse::<u64>().unwrap() > 20);
}

#[test]
fn whoever_can_have_the_last_good_file_waits_for_no_pause() {
    let mut scene = Scene::with(&json!({"fresh_s": 0}));
    let path = format!("/{METADATA}");
    scene.upstream.file(&path, crate::world::metadata(&["1.0"]));
    scene.get(METADATA).expect(200);
    scene.upstream.says(&path, Says::status(429).header("Retry-After", "1"));
    let stale = scene.get(METADATA).expect(200);
    assert_eq!(stale.header("daylight-stale"), Some("upstream_paused"));
    scene.world.stop();
    let events = events(&scene.world);
    assert_eq!(flight(&events, &stale)["ops"].get("upstream.pause"), None);
}

#[test]
fn a_403_about_one_file_is_told_as_such_and_never_remembered_as_missing() {
    let scene = Scene::new();
    let path = format!("/{JAR}");
    scene.upstream.says(&path, Says::status(403));
    // Nothing shows yet that the upstream serves this server at all.
    scene.get(JAR).expect(502);
    scene.upstream.file(&format!("/{LATER}"), "lamp");
    scene.get(LATER).expect(200);
    let refused = scene.get(JAR).expect(403);
    assert!(refused.text().contains("the upstream refuses this file"), "{}", refused.text());
    // A hundred folders in a row are not a hundred files in quarantine.
    scene.upstream.says_otherwise(Says::status(403));
    let many = (0..100).map(|number| format!("org/example/lamp/9.{number}/lamp-9.{number}.jar"));
    let statuses: Vec<u16> = many.map(|path| scene.get(&path).status).collect();
    assert_eq!((statuses[0], statuses[99]), (403, 502), "{statuses:?}");
    scene.upstream.file(&path, "now");
    assert_eq!(scene.get(JAR).expect(200).text(), "now");
}
