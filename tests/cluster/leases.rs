//! The work that one node does for all, and the nodes as `daylight cluster status` shows them.

use super::{VARIABLES, nodes, settings_of};
use crate::groups::command;
use crate::objects::shared;
use crate::world::{FIRST, Gem, ObjectProduct, Pebble, Ports, Postgres, World, await_true, eventually, free_port};
use serde_json::{Value, json};
use std::process::Command;

const START: &str = "2026-11-02T12:00:00Z";
const LATER: &str = "2026-11-02T12:02:00Z";
const A_WEEK_LATER: &str = "2026-11-09T12:00:00Z";
const LATER_STILL: &str = "2026-11-09T12:02:00Z";

fn node(postgres: &Postgres, name: &str) -> World {
    World::start_in_conformance_with_file(&settings_of(postgres, name), VARIABLES)
}

fn cluster(world: &World) -> Value {
    world.admin().get("/api/v1/cluster").expect(200).json()
}

/// Waits until this node sees that one of these does this work, and so many nodes live. Returns the place of the one.
fn await_holder(world: &World, work: &str, of: &[&str], living: usize) -> usize {
    eventually(|| {
        let seen = cluster(world);
        let nodes = seen["nodes"].as_array().unwrap().iter();
        let lives = |node: &&Value| matches!(node["state"].as_str(), Some("joining" | "serving"));
        let held = seen["leases"].as_array().unwrap().iter().find(|lease| lease["name"] == work);
        let place = held.and_then(|lease| of.iter().position(|name| lease["node"] == *name));
        place.filter(|_| nodes.filter(lives).count() == living).ok_or_else(|| format!("{seen:#}"))
    })
}

/// Starts `a`, and `b` when `a` does this work. Returns the one that does it then, and the other one: a node that gets no processor for three
/// seconds loses its work.
fn two(work: &str, start: impl Fn(&str) -> World) -> [(&'static str, World); 2] {
    let first = start("a");
    await_holder(&first, work, &["a"], 1);
    let mut nodes = [("a", first), ("b", start("b"))];
    let holder = await_holder(&nodes[1].1, work, &["a", "b"], 2);
    nodes.swap(0, holder);
    nodes
}

fn versions(world: &World) -> String {
    world.admin().get("/repository/far/versions").expect(200).text().to_owned()
}

/// Waits until a node lists a version of the upstream.
fn await_version(world: &World, version: &str) {
    eventually(|| match versions(world) {
        all if all.contains(version) => Ok(()),
        all => Err(all),
    });
}

/// Whether a node has ever needed this upstream since its start.
fn needed(world: &World, upstream: &World) -> bool {
    let known = world.admin().get("/api/v1/upstreams").expect(200).json();
    known["upstreams"].as_array().unwrap().iter().any(|host| host["host"] == upstream.address().to_string())
}

#[test]
fn one_node_looks_at_an_upstream_for_all_and_another_one_when_it_is_gone() {
    let (postgres, upstream) = (Postgres::start(), World::start());
    let publish = |version: &str| upstream.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    publish("1.0.0");
    let [(_, mut one), (heir, other)] = two("follow", |name| {
        let world = node(&postgres, name);
        world.set_time(START);
        if name == "a" {
            world.remote_of("gem", "far", &upstream.url(FIRST));
        }
        world
    });
    await_version(&one, "1.0.0");
    await_version(&other, "1.0.0");
    publish("2.0.0");
    [&one, &other].into_iter().for_each(|world| world.set_time(LATER));
    await_version(&other, "2.0.0");
    await_version(&one, "2.0.0");
    assert_eq!(versions(&one), versions(&other), "the same bytes");
    assert_eq!((needed(&one, &upstream), needed(&other, &upstream)), (true, false));
    // Each knows only the downloads of its own clients.
    one.change(FIRST, &json!({ "keep_unused": "1d" })).expect(200);
    [&one, &other].into_iter().for_each(|world| world.set_time(A_WEEK_LATER));
    let preview = json!({ "repositories": [FIRST], "apply": false });
    let plan = other.admin().post_json("/api/v1/cleanup", &preview).expect(200).json();
    assert!(!plan["repositories"][0]["waits_until"].is_null(), "{plan}");
    one.kill();
    await_holder(&other, "follow", &[heir], 1);
    publish("3.0.0");
    other.set_time(LATER_STILL);
    await_version(&other, "3.0.0");
    one.resume();
    await_holder(&one, "follow", &[heir], 2);
}

#[test]
fn a_node_that_copies_no_segments_has_no_jobs_for_new_rows() {
    let nodes = nodes(2, (shared(ObjectProduct::SeaweedFs), "segments"), "");
    let holder = || {
        let seen = nodes.admin(0).get("/api/v1/cluster").expect(200).json();
        let held = seen["leases"].as_array().unwrap().iter().find(|lease| lease["name"] == "segments");
        held.map(|lease| lease["node"].as_str().unwrap().to_owned())
    };
    await_true("a node copies segments", || holder().is_some());
    let other = nodes.admin(usize::from(holder().unwrap() == "a"));
    let jobs = |name: &str| {
        let question = json!(format!("count where method = '{name}'"));
        let answer = other.post_json("/api/v1/ask?nodes=here", &question).expect(200).json();
        answer["rows"][0]["count"].as_u64().unwrap_or_default()
    };
    let mut version = 0;
    let mut ship = || {
        let before = jobs("segment.ship");
        version += 1;
        nodes.admin(0).push(FIRST, &Gem::new("lamp", &format!("{version}.0.0"))).expect(200);
        await_true("its own folder has a segment with the rows", || jobs("segment.ship") > before);
    };
    // After its start it has compared all blobs with object storage once.
    await_true("only the other node has jobs", || {
        let before = jobs("objects.keep");
        (0..3).for_each(|_| ship());
        before > 0 && jobs("objects.keep") == before
    });
}

#[test]
fn the_status_has_each_node_with_what_it_lacks_and_does() {
    let postgres = Postgres::start();
    let start = |name: &str| World::start_with_file_and(&settings_of(&postgres, name), VARIABLES);
    let [(holder, mut one), (heir, other)] = two("retention", start);
    let status = |world: &World, more: &[&str]| {
        let told = command(world, &[&["cluster", "status"], more].concat());
        assert!(told.status.success(), "{told:?}");
        String::from_utf8(told.stdout).unwrap()
    };
    one.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let seen: Value = serde_json::from_str(&status(&other, &["--json"])).unwrap();
    assert!(seen["database"]["url"].as_str().unwrap().starts_with("postgres://") && seen["objects"].is_null());
    assert_eq!((&seen["nodes"][0]["name"], &seen["nodes"][0]["is_this"]), (&heir.into(), &true.into()));
    let told = status(&one, &[]);
    assert!(told.contains("without `store.objects` each node lacks the packages"), "{told}");
    let row = |name: &str| told.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{told}"));
    let [row_of_holder, row_of_heir] = [format!("{holder} (this)"), format!("{heir} ")].map(|begin| row(&begin));
    assert!(row_of_holder.contains("serving") && row_of_holder.contains("retention") && row_of_heir.contains("yes"));
    one.stop();
    await_holder(&other, "retention", &[heir], 1);
    let alone = World::start();
    assert!(status(&alone, &[]).starts_with("database: none, the data folder has all "));
}

#[test]
fn any_node_answers_the_challenge_of_another_one() {
    let (postgres, ports) = (Postgres::start(), Ports { tls: free_port(), http: free_port() });
    let pebble = Pebble::start(ports);
    // The name leads to the plain port of the first node only.
    let plain = |port: u16| format!("[server]\nhttp_listen = \"127.0.0.1:{port}\"\n");
    let acme = format!(
        "[server.acme]\ndirectory = \"{}\"\nnames = \"packages.example\"\ntrust = \"{}\"\n",
        pebble.directory(),
        pebble.trust().display()
    );
    let nodes = [("a", ports.http), ("b", free_port())].map(|(name, port)| {
        World::start_with_file_and(&format!("{}{acme}{}", plain(port), settings_of(&postgres, name)), VARIABLES)
    });
    nodes.iter().for_each(|world| world.await_log("got a certificate"));
    let asked = format!("http://127.0.0.1:{}/.well-known/acme-challenge/none", ports.http);
    let none = Command::new("curl")
        .args(["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", &asked])
        .output();
    assert_eq!(String::from_utf8(none.unwrap().stdout).unwrap(), "404");
}
