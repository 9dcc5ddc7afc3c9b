//! The scope `observe`: events, the state of upstreams and repositories, and the journal, for a token that changes nothing.

use crate::world::{FIRST, Gem, World};
use serde_json::json;

#[test]
fn an_observer_reads_what_tells_how_the_server_runs_and_changes_nothing() {
    let world = World::start();
    world.repository("vault", true);
    let observer = world.person("observer", &["observe"], &[]);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    let answer = world.admin().get("/repository/vault/info/lamp").expect(200);
    let id = answer.header("daylight-event").unwrap();
    world.event(id);
    let event = format!("/api/v1/events/{id}");
    let seen = observer.get(&event).expect(200).json();
    assert_eq!((&seen["repository"], &seen["status"]), (&"vault".into(), &200.into()));

    observer.get("/repository/vault/info/lamp").expect(403);
    observer.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(403);
    for path in ["upstreams", "repositories", "repositories/vault", "journal?kind=publish"] {
        observer.get(&format!("/api/v1/{path}")).expect(200);
    }
    let journal = observer.get("/api/v1/journal").expect(200).json();
    let kinds: Vec<_> = journal["rows"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"publish") && !kinds.contains(&"token"), "{journal}");
    observer.patch_json("/api/v1/repositories/vault", &json!({ "private": false })).expect(403);
    world.person("part", &["observe"], &["vault"]).get("/api/v1/upstreams").expect(403);
    for path in ["tokens", "journal?kind=token", "repositories/vault/contents"] {
        let refused = observer.get(&format!("/api/v1/{path}")).expect(403).json();
        assert!(refused["detail"].as_str().unwrap().contains("lacks the scope `admin`"), "{refused}");
    }
    world.admin().get(&event).expect(200);
}

#[test]
fn who_may_not_observe_learns_the_scope_that_is_missing() {
    let world = World::start();
    let event = "/api/v1/events/0123456789abcdef";
    let person = |name, scopes: &[&str], repositories: &[&str]| world.person(name, scopes, repositories);
    let writer = person("writer", &["read", "write", "delete"], &[]);
    let refused = writer.get(event).expect(403).json();
    let [detail, hint] = ["detail", "hint"].map(|key| refused[key].as_str().unwrap().to_owned());
    assert!(detail.contains("token `writer` lacks the scope `observe`"), "{refused}");
    assert!(hint.contains("`daylight token create NAME --scope observe`"), "{refused}");

    let refused = person("part", &["observe"], &[FIRST]).get(event).expect(403).json();
    assert!(refused["detail"].as_str().unwrap().contains("in certain repositories only"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("made without `--repository`"), "{refused}");

    let refused = world.anon().get(event).expect(401).json();
    assert!(refused["detail"].as_str().unwrap().contains("a token with the scope `observe` is needed"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("--scope observe`"), "{refused}");
    person("observer", &["observe"], &[]).get(event).expect(404);
}

#[test]
fn the_document_names_the_scope_of_a_call_that_needs_less_than_admin() {
    let world = World::start();
    let document = world.admin().get("/api/v1/openapi.json").expect(200).json();
    let call = &document["paths"]["/api/v1/events/{id}"]["get"];
    assert_eq!(call["security"], serde_json::json!([{ "token": ["observe"] }]));
    assert!(document["paths"]["/api/v1/tokens"]["get"]["security"].is_null());
}
