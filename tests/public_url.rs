//! The URLs of the server in its answers: what the client used, and never what another client made up.

use crate::world::{Answer, FIRST, Gem, World};

/// A path that shows a URL of the server.
const SHOWING: [&str; 2] = ["/repository/private/settings.xml", "/repository/gems-private/api/v1/gems/lamp.json"];

/// Pages for people, which show URLs too and are never cached.
const PEOPLE: [&str; 2] = ["/", "/repository/gems-private/"];

/// A server with something at each path.
fn world(settings: &'static [(&'static str, &'static str)]) -> World {
    let world = World::start_with(settings);
    world.tree("private", "maven");
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world
}

/// Asks with these headers, twice, so that a page would be made.
fn asked(world: &World, path: &str, headers: &[(&str, &str)]) -> Answer {
    let ask = || world.anon().ask("GET", path, headers, b"").expect(200);
    ask();
    ask()
}

fn shows(answer: &Answer, url: &str) -> bool {
    answer.text().contains(&format!("{url}/repository/"))
}

#[test]
fn an_answer_has_the_host_of_its_own_request_and_no_cache_may_give_it_to_another_client() {
    let world = world(&[]);
    let here = world.root();
    for path in SHOWING.into_iter().chain(PEOPLE) {
        let forged = asked(&world, path, &[("Host", "evil.example")]);
        assert!(shows(&forged, "http://evil.example"), "{}", forged.text());
        assert!(forged.header("cache-control").unwrap().contains("no-store"), "{path}");
        let own = asked(&world, path, &[]);
        assert!(shows(&own, &here) && !own.text().contains("evil"), "{}", own.text());
        let gems = asked(&world, path, &[("Host", "Gems.Example:80")]);
        assert!(shows(&gems, "http://gems.example"), "{}", gems.text());
        // No host: where the server listens.
        let invalid = asked(&world, path, &[("Host", "user@evil.example")]);
        assert!(shows(&invalid, &here) && !invalid.text().contains("evil"), "{}", invalid.text());
        // It is for that client alone, too: the next one is answered by its own host.
        assert!(invalid.header("cache-control").unwrap().contains("no-store"), "{path}");
        let next = asked(&world, path, &[("Host", "gems.example.")]);
        assert!(shows(&next, "http://gems.example"), "{}", next.text());
    }
}

#[test]
fn forwarding_headers_of_an_untrusted_address_change_nothing_and_the_log_names_it_once() {
    let world = world(&[]);
    let lies =
        [("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Proto", "https"), ("Forwarded", "host=evil.example")];
    for path in SHOWING {
        let answer = asked(&world, path, &lies);
        assert!(shows(&answer, &world.root()), "{}", answer.text());
        assert!(!answer.text().contains("evil"), "{}", answer.text());
    }
    let named = "forwarding headers of an untrusted address are ignored";
    world.await_log(named);
    assert_eq!(world.log().matches(named).count(), 1, "{}", world.log());
    assert!(world.log().contains("server.trusted_proxies"), "{}", world.log());
}

#[test]
fn a_trusted_proxy_tells_the_url_and_what_a_client_made_up_before_it_is_not_believed() {
    let world =
        world(&[("DAYLIGHT_SERVER_TRUSTED_PROXIES", "127.0.0.1"), ("DAYLIGHT_SERVER_CLIENT_FROM", "x-forwarded-for")]);
    for path in SHOWING {
        let told = [
            ("X-Forwarded-For", "198.51.100.7, 192.0.2.1"),
            ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-Host", "evil.example, gems.example"),
        ];
        let answer = asked(&world, path, &told);
        assert!(shows(&answer, "https://gems.example") && !answer.text().contains("evil"), "{}", answer.text());
        assert_eq!(answer.header("cache-control"), Some("private, no-store"));
        // The next client has another name for it.
        let other = asked(&world, path, &[("X-Forwarded-Proto", "http"), ("Host", "inside.example")]);
        assert!(shows(&other, "http://inside.example"), "{}", other.text());
        // The header that this server does not believe.
        let other = asked(&world, path, &[("Forwarded", "for=192.0.2.1;host=evil.example"), ("Host", "a.example")]);
        assert!(shows(&other, "http://a.example"), "{}", other.text());
    }
}

#[test]
fn a_configured_url_is_shown_to_everybody_and_its_answers_may_be_cached() {
    let world = world(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example")]);
    for path in SHOWING {
        let answer = asked(&world, path, &[("Host", "evil.example")]);
        assert!(shows(&answer, "https://gems.example"), "{}", answer.text());
        assert_ne!(answer.header("cache-control"), Some("private, no-store"));
    }
}

#[test]
fn indexes_and_documents_are_the_same_for_every_host() {
    let world = world(&[]);
    let pom =
        br#"<project><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version></project>"#;
    world.admin().put("private", "org/example/lamp/1.0/lamp-1.0.pom", pom).expect(201);
    let gems = |path: &str| format!("/repository/{FIRST}/{path}");
    for path in [
        gems("versions"),
        gems("info/lamp"),
        gems("names"),
        gems("specs.4.8.gz"),
        gems("api/v1/versions/lamp.json"),
        gems("api/v1/dependencies.json?gems=lamp"),
        "/repository/private/org/example/lamp/maven-metadata.xml".to_owned(),
        "/repository/private/org/example/lamp/1.0/lamp-1.0.pom".to_owned(),
    ] {
        let (one, other) = (asked(&world, &path, &[("Host", "evil.example")]), asked(&world, &path, &[]));
        assert_eq!(one.body, other.body, "{path}");
        assert_ne!(one.header("cache-control"), Some("private, no-store"), "{path}");
    }
}

#[test]
fn a_server_that_listens_to_others_says_at_the_start_where_its_url_may_be_wrong() {
    let world = World::start_with_file("[server]\nlisten = \"0.0.0.0:0\"\n");
    let (log, warning) = (world.log(), "`server.public_url` is not set");
    assert!(log.contains(warning) && log.contains("hint="), "{log}");
    for settings in [
        "listen = \"127.0.0.1:0\"\n",
        "listen = \"0.0.0.0:0\"\npublic_url = \"https://gems.example\"\n",
        "listen = \"0.0.0.0:0\"\ntrusted_proxies = \"127.0.0.1\"\nclient_from = \"forwarded\"\n",
    ] {
        let world = World::start_with_file(&format!("[server]\n{settings}"));
        assert!(!world.log().contains(warning), "{}", world.log());
    }
}
