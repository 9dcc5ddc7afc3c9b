//! Cheap attacks that occupy nothing: unknown metadata and versions, odd paths, gem calls in other formats. None
//! affects other clients.

use super::beside::{Others, bound, remote};
use crate::world::{Person, Says, Upstream, World};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::yield_now;

/// Number of concurrent attackers.
const ATTACKERS: usize = 4;
/// Number of requests before the normal clients begin.
const FIRST_ONES: usize = 40;
/// Maximum number of requests of an attack.
const MOST: usize = 100_000;
/// The budget for first-seen rows of an upstream in these tests, in bytes.
const BUDGET: u64 = 65_536;
const SETTINGS: &[(&str, &str)] = &[("DAYLIGHT_UPSTREAM_FIRST_SEEN_BYTES", "65536")];

/// Ends the attackers when dropped, also after a failed assertion.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Runs the normal clients during several attacks. Each attack receives its number.
fn beside(world: &World, attack: impl Fn(usize) + Sync) {
    let mut others = Others::new(world);
    let (over, made) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let end = Over(&over);
        for _ in 0..ATTACKERS {
            scope.spawn(|| {
                let _end = Over(&over);
                while !over.load(Relaxed) && made.load(Relaxed) < MOST {
                    attack(made.fetch_add(1, Relaxed));
                }
            });
        }
        while made.load(Relaxed) < FIRST_ONES && !over.load(Relaxed) {
            yield_now();
        }
        others.go_on();
        assert!(!over.load(Relaxed), "an attacker was answered otherwise");
        drop(end);
    });
}

/// A server with an upstream that has any file, without dates.
fn scene() -> (World, Upstream) {
    let (world, upstream) = (World::start_with(SETTINGS), Upstream::start());
    // With the SHA-1 of the file, so that no checksum file is requested.
    upstream.says_otherwise(Says::bytes("x").header("x-checksum-sha1", "11f6ad8ec52a2984abaafd7c3b516503785c2072"));
    remote(&world, ("far", "maven"), &upstream.url());
    remote(&world, ("far-raw", "raw"), &upstream.url());
    (world, upstream)
}

#[test]
fn anonymous_readers_of_versions_that_nobody_knew_fill_no_more_than_the_budget() {
    let (world, _upstream) = scene();
    let address = world.address();
    beside(&world, |number| {
        let paths = [format!("far/org/example/lamp/1.{number}/lamp-1.{number}.pom"), format!("far-raw/{number}.zip")];
        for path in paths {
            Person::new(address, None).get(&format!("/repository/{path}")).expect(200);
        }
    });
    let metrics = world.anon().get("/metrics").expect(200);
    let used = bound(metrics.text(), "used", "upstream.first_seen");
    assert!(used <= BUDGET, "{used}");
}

#[test]
fn paths_that_an_upstream_may_read_as_others_are_refused_and_in_nobody_s_way() {
    let (world, upstream) = scene();
    world.change("far", &json!({ "policy": { "deny": ["com.acme:*"] } }));
    let address = world.address();
    beside(&world, |number| {
        for name in ["com/acme;y", "com/acme%3By", "com/%252e%252e/com/acme", "com/acme%2523"] {
            let path = format!("/repository/far/{name}/x{number}/1/x{number}-1.jar");
            assert!(matches!(Person::new(address, None).get(&path).status, 403 | 404), "{path}");
        }
    });
    assert!(!upstream.count_of("acme") > 0, "the upstream was asked");
}

#[test]
fn calls_of_gems_in_other_repositories_change_nothing_and_are_in_nobody_s_way() {
    let (world, _upstream) = scene();
    world.tree("attic", "raw");
    let thief = world.person("thief", &["add_owner", "remove_owner", "update_owner"], &[]);
    let (address, secret) = (world.address(), thief.secret().to_owned());
    beside(&world, |_| {
        let (anon, thief) = (Person::new(address, None), Person::new(address, Some(secret.clone())));
        for method in ["PUT", "POST", "DELETE"] {
            let refused = thief.ask(method, "/repository/attic/api/v1/gems/x/owners", &[], b"email=thief");
            assert!(matches!(refused.status, 403 | 405), "{method}: {}", refused.status);
        }
        anon.ask("POST", "/repository/attic/api/v1/api_key", &[], b"name=k").expect(401);
    });
}

#[test]
fn an_upstream_that_redirects_to_many_dead_hosts_leaves_room_for_those_of_repositories() {
    let (world, upstream) = scene();
    // More paths than are remembered. No upstream listens there.
    let mut connection = world.anon().connect().unwrap();
    for port in 1..=600 {
        upstream.says(&format!("/{port}.zip"), Says::redirect(&format!("http://127.0.0.1:{port}/file.zip")));
        assert!(connection.call("GET", &format!("/repository/far-raw/{port}.zip"), &[], b"").unwrap().status >= 500);
    }
    let other = Upstream::start();
    other.file("/tool", "tool");
    remote(&world, ("other", "raw"), &other.url());
    world.anon().get("/repository/other/tool").expect(200);
    let told = world.admin().get("/api/v1/upstreams").expect(200).text().to_owned();
    assert!(told.contains(&other.address().to_string()), "its host is not remembered: {}", told.len());
}
