//! The part of events about upstreams: which host was called, over which connection, and who waited for the call.

use super::{JAR, METADATA, Scene, at};
use crate::hostile::beside::{await_metrics, bound};
use crate::world::{Answer, Says, hex};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

/// The record about upstreams of the event of an answer.
fn used(scene: &Scene, answer: &Answer) -> Value {
    scene.world.event(answer.header("daylight-event").unwrap())["upstream"].clone()
}

/// The event of the fetch that it waited for.
fn fetch(scene: &Scene, used: &Value) -> Value {
    scene.world.event(used["flight"].as_str().unwrap())
}

#[test]
fn the_requests_that_follow_the_fetch_of_another_one_are_counted_in_it() {
    let scene = Scene::new();
    let path = format!("/{METADATA}");
    scene.upstream.says(&path, Says::file("<metadata/>").silent());
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let asks: Vec<_> = (0..3)
            .map(|_| {
                let client = scene.client();
                scope.spawn(move || client.get(&at(METADATA)).expect(200))
            })
            .collect();
        scene.upstream.await_count(&path, 1);
        // All of them wait before the upstream answers.
        await_metrics(&scene.world, "three waiting requests", |metrics| {
            bound(metrics, "used", "upstream.waiters") == 3
        });
        scene.upstream.release(&path);
        asks.into_iter().map(|ask| ask.join().unwrap()).collect()
    });
    let fetch = fetch(&scene, &used(&scene, &answers[0]));
    let mut followers: Vec<&str> =
        fetch["upstream"]["followers"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let mut ids: Vec<&str> = answers.iter().map(|answer| answer.header("daylight-event").unwrap()).collect();
    followers.sort_unstable();
    ids.sort_unstable();
    assert_eq!((followers, &fetch["upstream"]["followed"]), (ids, &json!(3)));
}

#[test]
fn a_checksum_that_is_requested_while_its_file_arrives_costs_no_call_of_its_own() {
    let scene = Scene::new();
    let (path, sum) = (format!("/{JAR}"), format!("/{JAR}.sha1"));
    scene.upstream.says(&path, Says::bytes("lamp").silent());
    let sha1 = hex(&Sha1::digest("lamp"));
    scene.upstream.file(&sum, sha1.clone());
    let told = std::thread::scope(|scope| {
        let client = scene.client();
        let file = scope.spawn(move || client.get(&at(JAR)).expect(200));
        scene.upstream.await_count(&path, 1);
        let client = scene.client();
        let told = scope.spawn(move || client.get(&at(&format!("{JAR}.sha1"))).expect(200));
        await_metrics(&scene.world, "two waiting requests", |metrics| bound(metrics, "used", "upstream.waiters") == 2);
        scene.upstream.release(&path);
        assert_eq!(file.join().unwrap().text(), "lamp");
        told.join().unwrap()
    });
    assert_eq!((told.text(), scene.asked(JAR), scene.upstream.count(&sum)), (sha1.as_str(), 1, 1));
    // It names the fetch that it waited for.
    assert_eq!(fetch(&scene, &used(&scene, &told))["upstream"]["followed"], 2);
}

#[test]
fn an_upstream_that_closes_each_connection_is_named_as_the_cause_of_the_next_set_up() {
    let scene = Scene::new();
    scene.upstream.says_otherwise(Says::status(404).header("Connection", "close"));
    let jar = |number: usize| format!("org/example/lamp/{number}/lamp-{number}.pom");
    for number in 0..3 {
        scene.upstream.says(&format!("/{}", jar(number)), Says::file("<project/>").header("Connection", "close"));
    }
    let asked: Vec<Value> =
        (0..3).map(|number| fetch(&scene, &used(&scene, &scene.get(&jar(number)).expect(200)))).collect();
    for event in &asked {
        for op in ["upstream.resolve", "upstream.tcp"] {
            assert_eq!(event["ops"][op]["count"], 1, "{event}");
        }
        assert_eq!((&event["upstream"]["connects"], event["upstream"].get("reused")), (&json!(1), None), "{event}");
    }
    // The request for the checksum may have taken the notice of the first connection.
    assert!(asked[1..].iter().any(|event| event["upstream"]["closed_by"] == "upstream"), "{asked:?}");
}

#[test]
fn a_private_host_to_which_a_redirect_leads_is_not_named() {
    let scene = Scene::new();
    let elsewhere = crate::world::Upstream::start();
    elsewhere.file("/bytes", "lamp");
    scene.upstream.says(&format!("/{JAR}"), Says::redirect(&format!("{}bytes", elsewhere.url())));
    let asked = used(&scene, &scene.get(JAR).expect(200));
    let made = fetch(&scene, &asked)["upstream"].clone();
    assert_eq!(
        (&made["host"], &made["redirected"]),
        (&json!(scene.upstream.address().to_string()), &json!(1)),
        "{made}"
    );
    assert!(!made.to_string().contains(&elsewhere.address().to_string()), "{made}");
}
