//! Clients that leave before an upstream answers occupy nothing, and the clients of one repository leave room for
//! others.

use super::cold::begin;
use super::{JAR, Scene, at, bytes};
use crate::accounts::sum;
use crate::hostile::beside::{await_metrics, bound};
use crate::world::{Connection, Says, Upstream, World, eventually, hex};
use serde_json::json;
use sha1::{Digest, Sha1};

/// Maximum number of concurrent fetches of one repository.
const EACH: u64 = 128;

fn patient() -> Scene {
    let world = World::start_with(&[
        ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600"),
        ("DAYLIGHT_UPSTREAM_MAX_CALLS", "1000"),
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "400"),
    ]);
    let scene = Scene { world, upstream: Upstream::start() };
    scene.add("central", "maven", &json!({}));
    scene
}

/// Waits until this number of files is being fetched.
fn await_flights(scene: &Scene, count: u64) {
    eventually(|| {
        let metrics = scene.world.admin().get("/metrics").expect(200);
        let used = |bound: &str| sum(metrics.text(), &format!("daylight_bound_used{{bound=\"{bound}\",which=\"\"}}"));
        let flights = [used("flights"), used("repository.flights")];
        if flights == [count; 2] { Ok(()) } else { Err(format!("{flights:?} and not {count}")) }
    });
}

fn ask(scene: &Scene, path: &str) -> Connection {
    let mut connection = Connection::open(scene.world.address()).unwrap();
    connection.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    connection
}

#[test]
fn who_asks_one_slow_upstream_for_everything_stands_in_nobody_else_s_way_and_leaves_nothing_behind() {
    let scene = patient();
    let other = Upstream::start();
    other.file("/tool.zip", "tool");
    let tools = json!({"name": "tools", "format": "raw", "kind": "remote", "remote": {"urls": [other.url()]}});
    scene.world.admin().post_json("/api/v1/repositories", &tools).expect(201);
    scene.upstream.says_otherwise(Says::bytes("never").silent());
    let lamp = Says::bytes("lamp").header("X-Checksum-SHA1", &hex(&Sha1::digest("lamp")));
    scene.upstream.says(&format!("/{JAR}"), lamp);
    let asking: Vec<_> = (0..EACH).map(|number| ask(&scene, &at(&format!("x/{number}/1/{number}-1.jar")))).collect();
    await_flights(&scene, EACH);
    let refused = scene.get(JAR).expect(503);
    assert!(refused.header("retry-after").is_some());
    assert_eq!(scene.client().get("/repository/tools/tool.zip").expect(200).text(), "tool");
    drop(asking);
    await_flights(&scene, 0);
    assert_eq!(scene.get(JAR).expect(200).text(), "lamp");
}

#[test]
fn where_there_is_no_room_to_ask_what_was_good_last_is_answered() {
    let scene = patient();
    scene.add("quick", "raw", &json!({"fresh_s": 0}));
    scene.upstream.file("/list", "old");
    let get = || scene.client().get("/repository/quick/list");
    get().expect(200);
    scene.upstream.says_otherwise(Says::bytes("never").silent());
    let asking: Vec<_> = (0..EACH).map(|number| ask(&scene, &format!("/repository/quick/{number}"))).collect();
    await_flights(&scene, EACH);
    let stale = get().expect(200);
    assert_eq!((stale.text(), stale.header("daylight-stale")), ("old", Some("bound_full")));
    drop(asking);
    await_flights(&scene, 0);
    assert_eq!(get().expect(200).header("daylight-stale"), None);
}

#[test]
fn what_has_begun_to_arrive_comes_whole_though_nobody_waits_for_it() {
    let scene = patient();
    let (path, whole) = (format!("/{JAR}"), bytes(1 << 20));
    scene.upstream.says(&path, Says::bytes(whole.clone()).held_at(500_000));
    drop(begin(scene.world.address(), &at(JAR), 100_000));
    // The server notices that this client left, as it noticed the other.
    let silent = "org/example/other/1/other-1.jar";
    scene.upstream.says(&format!("/{silent}"), Says::bytes("never").silent());
    let asking = ask(&scene, &at(silent));
    await_flights(&scene, 2);
    drop(asking);
    await_flights(&scene, 1);
    scene.upstream.release(&path);
    await_flights(&scene, 0);
    assert!(scene.get(JAR).expect(200).body == whole);
    assert_eq!(scene.asked(JAR), 1);
}

#[test]
fn a_file_that_is_kept_is_made_good_again_though_nobody_waits_for_that() {
    let scene = patient();
    scene.add("quick", "raw", &json!({"fresh_s": 0}));
    let get = || scene.client().get("/repository/quick/list");
    scene.upstream.file("/list", "old");
    get().expect(200);
    scene.upstream.says("/list", Says::file("new").silent());
    let leaves = ask(&scene, "/repository/quick/list");
    scene.upstream.await_count("/list", 2);
    drop(leaves);
    // As above.
    scene.upstream.says("/other", Says::bytes("never").silent());
    let other = ask(&scene, "/repository/quick/other");
    await_flights(&scene, 2);
    drop(other);
    await_flights(&scene, 1);
    scene.upstream.release("/list");
    await_flights(&scene, 0);
    scene.upstream.unplug();
    assert_eq!(get().expect(200).text(), "new");
}

#[test]
fn a_large_file_that_nobody_waits_for_any_more_is_not_fetched_to_its_end() {
    let scene = patient();
    let (path, silent) = (format!("/{JAR}"), "org/example/other/1/other-1.jar");
    scene.upstream.says(&path, Says::bytes(bytes(2 << 20)).announces(1 << 30).held_at(500_000));
    scene.upstream.says(&format!("/{silent}"), Says::bytes("never").silent());
    drop(begin(scene.world.address(), &at(JAR), 100_000));
    let asking = ask(&scene, &at(silent));
    scene.upstream.await_count(&format!("/{silent}"), 1);
    drop(asking);
    // The server notices that this client left, as it noticed the other.
    await_metrics(&scene.world, "the end of one", |metrics| bound(metrics, "used", "flights") <= 1);
    scene.upstream.release(&path);
    await_flights(&scene, 0);
    let metrics = scene.world.admin().get("/metrics").expect(200);
    assert_eq!(bound(metrics.text(), "rejected_total", "flights.abandoned"), 1);
}
