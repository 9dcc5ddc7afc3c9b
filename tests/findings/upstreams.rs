//! Findings about upstreams and pools: too few calls at once, an upstream that fails or is slow, connections that are set up for each call.

mod connections;
mod failing;
pub(crate) mod limits;
mod pools;

use crate::world::{Person, Upstream, World};
use serde_json::{Value, json};

/// Clients that ask at the same time, each for one file after the other. No file is asked for twice.
fn crowd(world: &World, repository: &str, clients: usize, rounds: usize) {
    ask(&world.anon(), repository, "a", clients, rounds).into_iter().for_each(|status| assert_eq!(status, 200));
}

/// The same for files of this folder, with the statuses of the answers.
pub(crate) fn ask(person: &Person, repository: &str, folder: &str, clients: usize, rounds: usize) -> Vec<u16> {
    let one = |client: usize| {
        let mut connection = person.connect().unwrap();
        let mut ask = |round: usize| {
            let path = format!("/repository/{repository}/{folder}/{client}-{round}");
            person.on(&mut connection, "GET", &path, &[], b"").unwrap().status
        };
        (0..rounds).map(&mut ask).collect::<Vec<u16>>()
    };
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..clients).map(|client| scope.spawn(move || one(client))).collect();
        asking.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// A raw repository with this upstream.
pub(crate) fn remote(world: &World, name: &str, upstream: &Upstream) {
    world.remote_of("raw", name, &upstream.url());
}

/// Starts a server whose clock stands at the beginning of an hour.
fn server(settings: &'static [(&'static str, &'static str)]) -> World {
    let world = World::start_in_conformance(settings);
    world.set_time("2026-11-02T12:00:00Z");
    world
}

/// The findings that are open six minutes after a first look.
fn look(world: &World) -> Vec<Value> {
    world.set_time("2026-11-02T12:04:00Z");
    world.findings();
    world.set_time("2026-11-02T12:10:00Z");
    world.findings().into_iter().filter(|finding| finding["state"] == "open").collect()
}

/// The finding that is named first, which has this key and subject. Its question has rows, and its event is kept.
#[track_caller]
fn first(world: &World, key: &str, subject: &str) -> Value {
    let found = look(world);
    let first = found.first().unwrap_or_else(|| panic!("nothing is open: {:?}", world.findings()));
    assert_eq!(first["id"], format!("{key}@{subject}"), "{found:#?}");
    let asked = world.admin().post_json("/api/v1/ask", &first["evidence"]).expect(200).json();
    assert!(!asked["rows"].as_array().unwrap().is_empty(), "{asked}");
    let event = world.event(first["event"].as_str().unwrap_or_else(|| panic!("no event: {first}")));
    assert_eq!(event["id"], first["event"]);
    first.clone()
}

/// No finding of this key is open or pending.
#[track_caller]
fn silent(world: &World, key: &str) {
    look(world);
    let found: Vec<Value> = world.findings().into_iter().filter(|finding| finding["key"] == key).collect();
    assert_eq!(found, Vec::<Value>::new());
}

/// The change of a setting that a finding advises: from, and to.
fn change(finding: &Value, setting: &str) -> (u64, u64) {
    let changes = finding["changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["setting"] == setting).unwrap_or_else(|| panic!("{finding:#}"));
    let number = |name: &str| change[name].as_u64().unwrap_or_else(|| panic!("{change}"));
    (number("from"), number("to"))
}

/// The words of a finding, with what else it tells in lists.
fn sentence(finding: &Value) -> &str {
    assert_ne!(finding["confidence"], json!(0.0));
    finding["sentence"].as_str().unwrap()
}
