//! What pages must not say: that a cached version is the latest release, that caching is publishing, that a name has no version because
//! nobody has asked for it.

use super::{call, day, page, text, told};
use crate::world::{FIRST, Gem, Ruby, Says, Upstream, World, hex};
use md5::Md5;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const WEEK_S: u64 = 7 * 86_400;
const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";

fn pom(version: &str) -> String {
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp</artifactId>\
         <version>{version}</version><scm><url>https://example.test/source</url></scm><issueManagement>\
         <url>javascript:alert(1)</url></issueManagement></project>"
    )
}

#[test]
fn of_an_upstream_whose_list_is_not_known_the_newest_cached_version_is_told_and_when_it_was_cached() {
    let world = World::start();
    let upstream = Upstream::start();
    upstream.file(&format!("/{POM}"), pom("1.0"));
    upstream.file("/org/example/oil/2.0/oil-2.0.pom", pom("2.0").replace("lamp", "oil"));
    world.remote("far", &upstream.url());
    let other = Upstream::start();
    world.remote("other", &other.url());
    world.make(&json!({ "name": "both", "format": "maven", "kind": "group", "members": ["far", "other"] }));
    world.anon().file("far", POM).expect(200);
    let lamp = told(&world.anon(), "far", "org.example:lamp").unwrap();
    assert_eq!((&lamp["latest"], &lamp["latest_is"]), (&json!("1.0"), &json!("newest_cached")), "{lamp:#}");
    assert_eq!(lamp["about"]["links"], json!([{ "kind": "source", "url": "https://example.test/source" }]));
    let shown = world.anon().get(&page("far", "org.example:lamp")).expect(200).text().to_owned();
    assert!(shown.contains("the newest cached version") && !shown.contains("latest release"), "{shown}");
    assert!(shown.contains("first cached") && !shown.contains("Published"), "{shown}");
    let list = world.anon().get("/packages/far").expect(200).text().to_owned();
    assert!(list.contains("the newest cached version"), "{list}");
    let version = world.anon().get(&format!("{}/1.0", page("far", "org.example:lamp"))).expect(200).text().to_owned();
    assert!(version.contains("<dt>First cached</dt>") && !version.contains(">Published"), "{version}");

    // The other member has none in its cache, and may have some.
    let lamp = told(&world.anon(), "both", "org.example:lamp").unwrap();
    let parts: Vec<&str> = lamp["members"].as_array().unwrap().iter().map(|one| text(one, "part")).collect();
    assert_eq!(parts, ["answers", "unknown"], "{lamp:#}");
    let shown = world.anon().get(&page("both", "org.example:lamp")).expect(200).text().to_owned();
    assert!(shown.contains("</a>: nothing of it is known here: the list of its upstream"), "{shown}");

    // Something is cached here, and nothing was published.
    let first = world.anon().ask("GET", "/", &[("Accept", "text/html")], b"").text().to_owned();
    assert!(first.contains("Nothing of your own is published here yet"), "{first}");
    assert!(!first.contains("Nothing is published here"), "{first}");
}

/// The versions that clients get, as the API tells them.
fn visible(world: &World, name: &str) -> Vec<String> {
    let package = told(&world.anon(), "other", name).unwrap();
    let versions = super::in_state(&package, "visible").into_iter().map(|one| text(one, "version").to_owned());
    versions.collect()
}

#[test]
fn pages_the_lists_of_gem_and_info_agree_about_gems_that_nobody_has_asked_for() {
    let (upstream, world) = (World::start(), World::start_in_conformance(&[]));
    world.set_time(&day(28));
    let long_ago = [("Daylight-Published", "2026-02-03T09:30:00Z")];
    for gem in [Gem::new("lamp", "1.0.0"), Gem::new("oil", "2.0.0")] {
        upstream.admin().ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), &long_ago, &gem.bytes()).expect(200);
    }
    upstream.admin().push(FIRST, &Gem::new("wick", "3.0.0")).expect(200);
    world.remote_of("gem", "other", &upstream.url(FIRST));
    world.change("other", &json!({ "policy": { "cooldown_s": WEEK_S } }));
    world.anon().file("other", "versions").expect(200);
    let note = "the dates of its versions are not known here";
    let is_noted = |name: &str| world.anon().get(&page("other", name)).expect(200).text().contains(note);
    for name in ["lamp", "oil", "wick"] {
        assert_eq!(visible(&world, name).len(), 1, "{name}");
        assert!(is_noted(name), "{name}");
    }
    let client = Ruby::new();
    let listed = || client.shell("", &format!("gem list -r --clear-sources --source {}/", world.url("other"))).good();
    let all = listed();
    assert!(["lamp (1.0.0)", "oil (2.0.0)", "wick (3.0.0)"].iter().all(|gem| all.contains(gem)), "{all}");
    // A client asks, and the dates are known.
    for name in ["lamp", "wick"] {
        let info = world.anon().file("other", &format!("info/{name}")).expect(200).text().to_owned();
        let offered: Vec<&str> = info.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(visible(&world, name), offered, "{name}");
        assert!(!is_noted(name), "{name}");
    }
    let known = listed();
    assert!(known.contains("lamp (1.0.0)") && known.contains("oil (2.0.0)") && !known.contains("wick"), "{known}");
    let wick = told(&world.anon(), "other", "wick").unwrap();
    assert_eq!(wick["versions"][0]["hidden"]["rule"], "cooldown", "{wick:#}");
    let lamp: Value = world.anon().get(&call("other", "lamp")).expect(200).json();
    assert_eq!(lamp["versions"][0]["stated"], "2026-02-03T09:30:00.000Z", "{lamp:#}");
}

#[test]
fn a_cached_gem_tells_its_summary_its_licence_and_its_links() {
    let (upstream, world) = (Upstream::start(), World::start());
    let gem = Gem::new("lamp", "1.0.0")
        .says("A light")
        .links("changelog_uri", "https://example.test/changes")
        .links("source_code_uri", "http://example.test/source")
        .links("documentation_uri", "https://example.test/docs")
        .links("bug_tracker_uri", "javascript:alert(1)");
    // No Daylight takes such a link, but other servers do.
    let info = format!("---\n1.0.0 |checksum:{}\n", hex(&Sha256::digest(gem.bytes())));
    let versions = format!("created_at: 2026-01-01T00:00:00Z\n---\nlamp 1.0.0 {}\n", hex(&Md5::digest(&info)));
    upstream.says("/versions", Says::file(versions));
    upstream.file("/info/lamp", info);
    upstream.says("/gems/lamp-1.0.0.gem", Says::bytes(gem.bytes()));
    world.remote_of("gem", "other", &upstream.url());
    world.anon().file("other", "info/lamp").expect(200);
    let about = |path: &str| world.anon().get(path).expect(200).json()["about"].clone();
    assert_eq!(about(&call("other", "lamp"))["summary"], Value::Null);
    world.anon().file("other", "gems/lamp-1.0.0.gem").expect(200);
    let links = json!([
        { "kind": "changelog", "url": "https://example.test/changes" },
        { "kind": "source", "url": "http://example.test/source" },
        { "kind": "documentation", "url": "https://example.test/docs" },
    ]);
    for path in [call("other", "lamp"), format!("{}/1.0.0", call("other", "lamp"))] {
        let about = about(&path);
        assert_eq!((&about["summary"], &about["licenses"]), (&json!("A light"), &json!(["A light"])), "{about:#}");
        assert_eq!(about["links"], links);
    }
    for path in [page("other", "lamp"), format!("{}/1.0.0", page("other", "lamp"))] {
        let html = world.anon().get(&path).expect(200).text().to_owned();
        let link = "<a href=\"https://example.test/changes\" rel=\"nofollow noopener noreferrer\">";
        assert!(html.contains(link) && html.contains("A light") && !html.contains("javascript:"), "{html}");
    }
}
