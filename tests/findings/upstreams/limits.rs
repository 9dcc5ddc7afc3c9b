//! Limits: those of upstreams for this server, and those of this server for its clients.

use super::{ask, change, crowd, first, look, remote, sentence, server, silent};
use crate::world::{Connection, Says, Upstream, World, await_true};
use serde_json::Value;

/// A server that has met the limit of its upstream: so many calls of eight clients, then 429 with a pause of two seconds.
fn limited(calls: usize) -> (World, Upstream) {
    let (world, upstream) = (server(&[]), Upstream::start());
    upstream.says_otherwise(Says::bytes("bytes"));
    upstream.limits(calls, 2);
    remote(&world, "far", &upstream);
    let person = world.anon();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&person, "far", "a", 8, calls / 8 + 1));
        await_true("a call is too much", || upstream.asked().iter().any(|asked| asked.answered == 429));
        upstream.resets_limit();
        // The pause has passed.
        world.set_time("2026-11-02T12:00:03Z");
        assert!(asking.join().unwrap().iter().all(|status| *status == 200));
    });
    (world, upstream)
}

/// The finding about the limit, if it is open.
fn near(world: &World) -> Option<Value> {
    look(world).into_iter().find(|finding| finding["key"] == "upstream-limit-near")
}

#[test]
fn a_limit_that_is_reached_again_at_this_rate_is_told_before_with_the_token_that_causes_it() {
    for calls in [8, 50] {
        let (world, upstream) = limited(60);
        let nightly = world.person("nightly", &["read"], &[]);
        let statuses = ask(&nightly, "far", "b", 1, calls);
        assert_eq!(statuses, vec![200; calls]);
        let found = near(&world).unwrap_or_else(|| panic!("{:#?}", world.findings()));
        assert_eq!(found["subject"], format!("upstream:{}", upstream.address()));
        let said = sentence(&found);
        assert!(said.contains("blocks this server in") && said.contains("the token `nightly`"), "{found:#}");
        assert!(said.contains("with a pause of 2 s"), "{found:#}");
        let rows = world.admin().post_json("/api/v1/ask", &found["evidence"]).expect(200).json();
        assert!(!rows["rows"].as_array().unwrap().is_empty(), "{rows}");
        world.event(found["event"].as_str().unwrap());
    }
}

#[test]
fn a_rate_below_the_limit_and_an_upstream_without_one_are_silent() {
    let (world, _upstream) = (server(&[]), Upstream::start());
    let upstream = Upstream::start();
    upstream.says_otherwise(Says::bytes("bytes"));
    remote(&world, "far", &upstream);
    crowd(&world, "far", 8, 16);
    silent(&world, "upstream-limit-near");
    // Of the 64 requests before, four came after the pause.
    let (world, _upstream) = limited(60);
    silent(&world, "upstream-limit-near");
}

#[test]
fn pauses_that_requests_wait_for_are_told_with_who_causes_the_calls() {
    let (world, upstream) = limited(40);
    let id = format!("requests-pause@upstream:{}", upstream.address());
    let found = look(&world);
    let told = found
        .iter()
        .any(|one| one["id"] == id.as_str() || one["folds"].as_array().unwrap().contains(&id.as_str().into()));
    assert!(told, "{found:#?}");
}

#[test]
fn uploads_that_are_refused_for_lack_of_places_name_the_setting() {
    let settings = &[("DAYLIGHT_SERVER_MAX_UPLOADS", "2"), ("DAYLIGHT_SERVER_CLIENT_SHARE_PERCENT", "100")];
    for (refused, told) in [(16, false), (30, true), (200, true)] {
        let world = server(settings);
        let admin = world.admin();
        let held: Vec<Connection> = (0..2).map(|number| held(&world, number)).collect();
        let put = || admin.ask("PUT", "/repository/maven-releases/a/b/1/b-1.jar", &[], b"bytes").status;
        // A request that came first would have one of the places.
        let taken = "daylight_bound_used{bound=\"requests\",which=\"uploads\"} 2\n";
        await_true("both places are taken", || world.anon().get("/metrics").expect(200).text().contains(taken));
        let statuses: Vec<u16> = (0..refused).map(|_| put()).collect();
        assert!(statuses.iter().all(|status| *status == 503), "{statuses:?}");
        if told {
            let found = first(&world, "class-too-narrow", "bound:requests/uploads");
            let (from, to) = change(&found, "server.max_uploads");
            assert!(from == 2 && to > 2, "{found:#}");
            assert!(sentence(&found).contains("refused"), "{found:#}");
        } else {
            silent(&world, "class-too-narrow");
        }
        drop(held);
    }
}

/// An upload whose bytes do not come.
pub(crate) fn held(world: &World, number: usize) -> Connection {
    let mut connection = Connection::open(world.address()).unwrap();
    let admin = world.admin();
    let head = format!(
        "PUT /repository/maven-releases/c/d/{number}/d-{number}.jar HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: 100\r\n\r\n",
        admin.secret(),
    );
    connection.send(head.as_bytes()).unwrap();
    connection
}
