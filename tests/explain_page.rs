//! The page `/explain`, the links to it in refusals, and who may know what of it.

use crate::maven_deploys::{knows_as, shelf};
use crate::policy::{set, set_day, world};
use crate::world::{Answer, Central, FIRST, Person, Release, Ruby, World};
use serde_json::{Value, json};
use std::path::Path;

const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";
const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";
const WEEK_S: u64 = 7 * 86_400;
const HTML: (&str, &str) = ("Accept", "text/html");

/// As a proxy passes a request on: a user of this machine would be an observer.
const FORWARDED: [(&str, &str); 2] = [HTML, ("Via", "1.1 proxy")];

/// The text of a page, as a person reads it.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for one in html.chars() {
        match one {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => text.push(one),
            _ => {}
        }
    }
    let entities = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    entities.iter().fold(text, |text, (entity, one)| text.replace(entity, one))
}

/// The page behind a link of this server.
fn open(world: &World, person: &Person, link: &str) -> Answer {
    let path = link.strip_prefix(&world.root()).unwrap();
    person.ask("GET", path, &[HTML], b"")
}

fn explained(person: &Person, repository: &str, path: &str) -> Value {
    person.get(&format!("/api/v1/explain?repository={repository}&path={path}")).expect(200).json()
}

/// A hosted Maven repository with a version that a cooldown hides until the 17th.
fn cooled() -> World {
    let world = world();
    world.tree("releases", "maven");
    set_day(&world, 10);
    let pom = "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp</artifactId>\
               <version>1.0</version></project>";
    world.admin().put("releases", POM, pom.as_bytes()).expect(201);
    world.admin().put("releases", JAR, b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").expect(201);
    set(&world, "releases", &json!({ "cooldown_s": WEEK_S })).expect(200);
    world
}

/// A build that is refused, the one link in its output, the page, the command on it, and the same build again.
fn a_refused_build_leads_to_the_command_that_lets_it_pass(release: Release) {
    let central = Central::open();
    let world = shelf(cooled(), &central);
    let desk = central.machine(release);
    knows_as(&desk, &world, ["releases", "maven-snapshots"], "");
    let hut = desk.project("hut", &[("version", "1.0")]);
    let said = hut.maven(&["compile"]).bad();
    let begins = format!("{}explain?", world.url("").replace("repository//", ""));
    let mut links: Vec<&str> = said
        .split_whitespace()
        .filter_map(|word| Some(&word[word.find(&begins)?..]))
        .map(|link| link.trim_end_matches([')', ',', ';', '.', ':']))
        .collect();
    links.dedup();
    links.sort_unstable();
    links.dedup();
    assert_eq!(links.len(), 1, "{said}");
    let page = text(open(&world, &world.anon(), links[0]).expect(200).text());
    for told in [
        "403 refused",
        "versions are hidden until they are 7 days old",
        "org.example:lamp:1.0",
        "2026-11-10T12:00:00.000Z",
        "2026-11-17T12:00:00.000Z",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    let command = page.lines().find(|line| line.starts_with("daylight policy allow")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_daylight")).parent().unwrap().display();
    let admin = world.admin();
    let script = format!("export PATH=\"{program}:$PATH\" DAYLIGHT_TOKEN={}\n{command}", admin.secret());
    Ruby::here().shell("", &script).good();
    hut.maven(&["compile"]).good();
    let now = text(open(&world, &world.anon(), links[0]).expect(200).text());
    assert!(now.contains("200 answered") && !now.contains("daylight policy allow"), "{now}");
}

#[test]
fn a_build_with_maven_3_9_that_is_refused_leads_to_the_command_that_lets_it_pass() {
    a_refused_build_leads_to_the_command_that_lets_it_pass(Release::Three9);
}

#[test]
fn a_build_with_maven_3_8_that_is_refused_leads_to_the_command_that_lets_it_pass() {
    a_refused_build_leads_to_the_command_that_lets_it_pass(Release::Three8);
}

#[test]
fn a_build_with_maven_4_that_is_refused_leads_to_the_command_that_lets_it_pass() {
    a_refused_build_leads_to_the_command_that_lets_it_pass(Release::Four);
}

#[test]
fn clients_that_print_the_status_line_alone_find_the_link_in_it() {
    let world = cooled();
    let phrase = |agent: &str| {
        let path = format!("/repository/releases/{JAR}");
        world.anon().ask("GET", &path, &[("User-Agent", agent)], b"").expect(403).phrase
    };
    let young = "hidden by policy until it is older";
    let link = format!("{}explain?repository=releases&path={JAR}", world.url("").replace("repository//", ""));
    for agent in ["Apache-Maven/3.8.7 (Java 17.0.1)", "bundler/2.3.15 rubygems/3.3.15", "RubyGems/3.3.15 x86_64-linux"]
    {
        assert_eq!(phrase(agent), format!("{young}; why: {link}"));
    }
    assert_eq!(phrase("curl/8.0"), young);
}

#[test]
fn the_page_and_the_api_tell_the_same() {
    let world = cooled();
    let value = explained(&world.anon(), "releases", JAR);
    let page = world.anon().ask("GET", &format!("/explain?repository=releases&path={JAR}"), &[HTML], b"").expect(200);
    let page = text(page.text());
    let rule = &value["rule"];
    for told in [&rule["package"], &rule["text"], &rule["since"], &rule["until"], &rule["command"], &rule["repository"]]
    {
        assert!(page.contains(told.as_str().unwrap()), "{told}: {page}");
    }
    assert_eq!((&value["status"], &rule["kind"]), (&json!(403), &json!("cooldown")));
    // As of an earlier moment there was no policy.
    let before = "/explain?repository=releases&path=org.example:lamp:1.0&as_of=seq-1";
    assert!(!text(world.anon().ask("GET", before, &[HTML], b"").text()).contains("403 refused"));
    // Without a question there is the form.
    let form = world.anon().ask("GET", "/explain", &[HTML], b"").expect(200);
    assert!(form.text().contains("name=\"repository\"") && !form.text().contains("<h2>"), "{}", form.text());
}

#[test]
fn a_refusal_ends_with_a_link_that_no_cache_keeps_unless_the_url_is_configured() {
    let world = cooled();
    let answer = world.anon().file("releases", JAR).expect(403);
    let told = answer.json();
    let link = format!("{}explain?repository=releases&path={JAR}", world.url("").replace("repository//", ""));
    assert_eq!(told["explain"], *link);
    assert_eq!(answer.header("cache-control"), Some("private, no-store"), "its URL is that of this client");
    // A proven absence becomes a page for everyone, so it has no URL of one client.
    let missing = world.anon().file("releases", "org/example/lamp/2.0/lamp-2.0.jar").expect(404);
    assert!(!missing.text().contains("why: "), "{}", missing.text());
    assert_ne!(missing.header("cache-control"), Some("private, no-store"));

    let world = World::start_with(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://packages.example.test")]);
    world.repository("vault", true);
    let missing = world.anon().get(&format!("/repository/{FIRST}/gems/lamp-1.0.0.gem")).expect(404);
    let link = format!("https://packages.example.test/explain?repository={FIRST}&path=gems/lamp-1.0.0.gem");
    assert!(missing.text().ends_with(&format!("why: {link}\n")), "{}", missing.text());
    let refused = world.anon().get("/repository/vault/gems/lamp-1.0.0.gem").expect(401);
    let link = "https://packages.example.test/explain?repository=vault&path=gems/lamp-1.0.0.gem";
    assert!(refused.text().ends_with(&format!("why: {link}\n")), "{}", refused.text());
    assert_eq!(refused.header("cache-control"), Some("no-store"));
}

#[test]
fn a_private_repository_and_one_that_does_not_exist_are_explained_alike() {
    let world = World::start();
    world.repository("vault", true);
    let of = |person: &Person, name: &str| {
        let page = person.ask("GET", &format!("/explain?repository={name}&path=info/lamp"), &FORWARDED, b"");
        let api = person.get(&format!("/api/v1/explain?repository={name}&path=info/lamp"));
        let same = |text: &str| text.replace(name, "NAME");
        let id = page.header("daylight-event").unwrap();
        (page.status, same(page.text()).replace(id, "ID"), api.status, api.json()["detail"].as_str().map(same))
    };
    for person in [world.anon(), world.holder("wrong"), world.person("other", &["read"], &[FIRST])] {
        assert_eq!(of(&person, "vault"), of(&person, "none"));
    }
    let reader = world.person("reader", &["read"], &["vault"]);
    assert_eq!(of(&reader, "vault").0, 200);
}

#[test]
fn readers_learn_no_private_member_no_token_no_upstream_and_no_time() {
    let world = World::start();
    let remote =
        json!({ "name": "far", "format": "raw", "kind": "remote", "remote": { "urls": ["http://upstream.invalid/"] } });
    world.make(&remote);
    world.tree("tools", "raw");
    world.make(&json!({ "name": "vault", "format": "raw", "kind": "hosted", "private": true }));
    world.make(&json!({ "name": "all", "format": "raw", "kind": "group", "private": true, "members": ["vault", "tools", "far"] }));
    let guest = world.person("guest", &["read"], &["all", "tools", "far"]);
    world.admin().put("vault", "a/secret.txt", b"secret").expect(201);
    world.admin().put("tools", "a/old.txt", b"old").expect(201);
    world.admin().delete("tools", "a/old.txt").expect(204);
    let observer = world.person("observer", &["observe"], &[]);
    for path in ["a/secret.txt", "a/old.txt", "b/none.txt"] {
        let page = |person: &Person| {
            let page = person.ask("GET", &format!("/explain?repository=all&path={path}"), &FORWARDED, b"").expect(200);
            page.text().to_owned()
        };
        for seen in [page(&guest), explained(&guest, "all", path).to_string()] {
            for secret in ["vault", "upstream.invalid", "admin", "127.0.0.1", "\"ops\"", "\"ms\""] {
                // The one admin that is named is the role.
                let seen = seen.replace("an administrator", "");
                assert!(!seen.contains(secret), "{path}: {secret}: {seen}");
            }
        }
        let all = explained(&observer, "all", path);
        assert!(all["ops"].is_object() && all.to_string().contains("vault"), "{all}");
        assert!(page(&observer).contains("vault"));
    }
    let removed = explained(&observer, "all", "a/old.txt").to_string();
    assert!(removed.contains("admin"), "observers learn who removed it: {removed}");
}
