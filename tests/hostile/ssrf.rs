//! Upstreams whose name is moved to an address that only this server can reach: its own ports, its network, the
//! credentials service of the cloud.

use super::healthy;
use crate::world::{Upstream, World};
use serde_json::json;

fn remote(name: &str, url: &str) -> serde_json::Value {
    json!({ "name": name, "format": "maven", "kind": "remote", "remote": { "urls": [url] } })
}

/// The error for an upstream that is refused when it is set.
fn refused(world: &World, url: &str) -> serde_json::Value {
    world.admin().post_json("/api/v1/repositories", &remote("odd", url)).expect(400).json()
}

#[test]
fn where_clouds_tell_machines_their_credentials_is_no_upstream_unless_a_setting_says_so() {
    let world = World::start();
    for host in
        ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "0xa9.0xfea9fe", "2852039166"]
    {
        let said = refused(&world, &format!("http://{host}/latest/"));
        assert!(said.to_string().contains("upstream.link_local_networks"), "{said}");
    }
    let world = World::start_with(&[("DAYLIGHT_UPSTREAM_LINK_LOCAL_NETWORKS", "true")]);
    world.make(&remote("odd", "http://169.254.169.254/"));
}

#[test]
fn upstreams_are_in_the_public_network_alone_where_a_setting_says_so() {
    let world = World::start_with(&[("DAYLIGHT_UPSTREAM_PRIVATE_NETWORKS", "false")]);
    for host in ["127.0.0.1:1", "localhost", "10.0.0.1", "[fd12::1]", "[64:ff9b::10.0.0.1]"] {
        let said = refused(&world, &format!("http://{host}/"));
        assert!(said.to_string().contains("upstream.private_networks"), "{said}");
    }
    world.make(&remote("far", "http://192.0.2.1/"));
}

#[test]
fn a_name_that_moved_inside_stays_uncalled_after_a_restart_until_somebody_sets_it_anew() {
    let (mut world, far) = (World::start(), Upstream::start());
    far.file("/org/example/lamp/1/lamp-1.jar", "kept");
    far.file("/org/example/lamp/2/lamp-2.jar", "inside");
    let url = far.url().replace("127.0.0.1", "localhost");
    world.make(&remote("far", &url));
    let get = |world: &World, version: u32| {
        world.anon().file("far", &format!("org/example/lamp/{version}/lamp-{version}.jar"))
    };
    get(&world, 1).expect(200);
    world.stop();
    // The name was public at its first call. Without a resolver of its own, this machine cannot test other moves.
    let cache = rusqlite::Connection::open(world.data().join("cache.sqlite")).unwrap();
    let noted: String = cache.query_row("SELECT zone FROM pin", [], |row| row.get(0)).unwrap();
    assert_eq!(noted, "loopback");
    cache.execute("UPDATE pin SET zone = 'public'", []).unwrap();
    drop(cache);
    world.resume();
    let asked = far.total();
    let answer = get(&world, 2).expect(502);
    assert!(!answer.text().contains("loopback"), "strangers learn nothing of the network: {}", answer.text());
    let event = world.event(answer.header("daylight-event").unwrap()).to_string();
    assert!(event.contains("has a loopback address now, and had a public one"), "{event}");
    assert_eq!(far.total(), asked);
    assert_eq!(get(&world, 1).expect(200).text(), "kept");
    world.change("far", &json!({ "remote": { "urls": [url] } }));
    assert_eq!(get(&world, 2).expect(200).text(), "inside");
    healthy(&world);
}
