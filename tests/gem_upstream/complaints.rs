//! What users complain about in proxies of gems, each a test.
//!
//! Four complaints are about several upstreams behind one URL, and wait for groups of gems: no single URL for private and public gems, a
//! group that answers 200 with nothing, a member without an index that breaks the group, and a group that never looks again at what a
//! member has. Of the second and the last, the part that a single upstream can show is here.

use super::shelf::{Shelf, before, before_with, lamp_and_oil, md5};
use super::{AFTER_A_WEEK, LATER, REMOTE, set_time};
use crate::world::{Answer, FIRST, Gem, Index, Ruby, Says, Upstream, World};
use serde_json::json;
use std::io::Read as _;

/// A minute and a few seconds after the start.
const MINUTE_LATER: &str = "2026-11-02T12:01:05Z";
/// Everything that clients of all ages request for lamp 1.0.0.
const PATHS: [&str; 9] = [
    "versions",
    "names",
    "info/lamp",
    "specs.4.8.gz",
    "latest_specs.4.8.gz",
    "prerelease_specs.4.8.gz",
    "quick/Marshal.4.8/lamp-1.0.0.gemspec.rz",
    "gems/lamp-1.0.0.gem",
    "api/v1/dependencies?gems=lamp",
];

fn get(world: &World, path: &str) -> Answer {
    world.anon().file(REMOTE, path)
}

/// The unpacked text of an answer.
fn text(answer: &Answer) -> String {
    let mut unpacked = Vec::new();
    let read = flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut unpacked);
    String::from_utf8_lossy(if read.is_ok() { &unpacked } else { &answer.body }).into_owned()
}

fn set(world: &World, change: &serde_json::Value) {
    world.admin().patch_json(&format!("/api/v1/repositories/{REMOTE}"), change).expect(200);
}

#[test]
fn what_was_asked_for_once_is_there_without_the_upstream_in_every_protocol() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    let all = || PATHS.map(|path| get(&world, path).expect(200).body);
    let online = all();
    shelf.upstream.unplug();
    set_time(&world, AFTER_A_WEEK);
    assert!(all() == online);
}

#[test]
fn no_answer_sends_a_client_on_to_the_upstream() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    for path in PATHS {
        let answer = get(&world, path).expect(200);
        assert!(answer.header("location").is_none(), "{path}");
        assert!(!text(&answer).contains(&shelf.upstream.address().to_string()), "{path}");
    }
}

#[test]
fn tags_of_the_upstream_that_are_no_md5_do_not_send_clients_to_a_slower_index() {
    for tag in ["\"da39a3ee5e6b4b0d3255bfef95601890afd80709\"", "W/\"1-2\"", "\"opaque\""] {
        let shelf = lamp_and_oil();
        for path in ["/versions", "/info/lamp", "/info/oil"] {
            let text = path.strip_prefix("/info/").map_or_else(|| shelf.versions.clone(), |name| shelf.info(name));
            shelf.upstream.says(path, Says::bytes(text).header("ETag", tag));
        }
        let world = before(&shelf.upstream);
        for path in ["versions", "info/lamp"] {
            let answer = get(&world, path).expect(200);
            assert_eq!(answer.header("etag"), Some(&format!("\"{}\"", md5(answer.text()))[..]), "{path} {tag}");
        }
        let machine = Ruby::new();
        let said = machine.app("app", &world.url(REMOTE), "gem 'lamp'").bundle(&["lock", "--verbose"]).good();
        assert!(!said.contains("api/v1/dependencies") && !said.contains("specs.4.8"), "{said}");
    }
}

#[test]
fn there_is_a_compact_index_and_an_upstream_without_one_is_named_as_the_reason() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    for path in ["versions", "names", "info/lamp", "info/oil"] {
        get(&world, path).expect(200);
    }
    for status in [404, 400] {
        shelf.upstream.says("/versions", Says::status(status));
        let world = before(&shelf.upstream);
        for path in ["versions", "info/lamp", "specs.4.8.gz", "gems/lamp-1.0.0.gem"] {
            get(&world, path).expect(502);
        }
    }
}

#[test]
fn needs_that_nobody_can_tell_are_an_error_and_no_empty_list() {
    let shelf = lamp_and_oil();
    shelf.upstream.says("/info/oil", Says::status(500));
    let world = before(&shelf.upstream);
    for path in ["api/v1/dependencies?gems=lamp,oil", "api/v1/dependencies.json?gems=oil", "info/oil"] {
        get(&world, path).expect(502);
    }
    assert_eq!(get(&world, "api/v1/dependencies.json?gems=nothing").expect(200).text(), "[]");
}

#[test]
fn new_versions_are_seen_within_a_minute_and_new_names_at_once() {
    let mut shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    let version = |version: &str| get(&world, "info/lamp").expect(200).text().contains(&format!("\n{version} "));
    assert!(version("1.0.0"));
    shelf.push(&Gem::new("lamp", "1.1.0"));
    set_time(&world, MINUTE_LATER);
    get(&world, "versions").expect(200);
    assert!(version("1.1.0"));
    shelf.push(&Gem::new("wick", "1.0.0"));
    set_time(&world, "2026-11-02T12:01:10Z");
    get(&world, "info/wick").expect(200);
}

#[test]
fn a_cooldown_hides_what_is_young_and_none_of_the_old_versions() {
    let mut shelf = Shelf::new(&[]);
    for number in 0..300 {
        shelf.push(&Gem::new("lamp", &format!("1.0.{number}")));
    }
    // As old as the date of the index.
    shelf.compact();
    let world = before(&shelf.upstream);
    set(&world, &json!({"policy": {"cooldown_s": 7 * 86_400}}));
    get(&world, "versions").expect(200);
    let old = shelf.info("lamp");
    shelf.push(&Gem::new("lamp", "1.1.0"));
    set_time(&world, LATER);
    assert_eq!(get(&world, "info/lamp").expect(200).text(), old);
    assert!(!get(&world, "versions").expect(200).text().contains("1.1.0"));
}

#[test]
fn a_line_that_no_client_can_read_is_left_out() {
    let mut shelf = lamp_and_oil();
    let good = shelf.info("oil");
    let sum = good.trim_end().rsplit_once(':').unwrap().1.to_owned();
    let bad = format!("{good}1.1.0 |checksum:{}\n1.2.0 |checksum:\n1.3.0 |checksum:{sum}\n", &sum[..31]);
    shelf.set_info("oil", "1.1.0,1.2.0,1.3.0", &bad);
    let world = before(&shelf.upstream);
    let info = get(&world, "info/oil").expect(200).text().to_owned();
    assert!(!info.contains("\n1.1.0 ") && info.contains("\n1.3.0 |"), "{info}");
    let machine = Ruby::new();
    machine.app("app", &world.url(REMOTE), "gem 'lamp'").bundle(&["lock"]).good();
}

#[test]
fn each_listed_version_has_its_gemspec_whatever_the_upstream_has() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    for gem in ["lamp-1.0.0", "oil-1.0.0"] {
        get(&world, &format!("quick/Marshal.4.8/{gem}.gemspec.rz")).expect(200);
    }
    assert_eq!(shelf.upstream.count_of("/quick/"), 0);
}

#[test]
fn gems_of_the_upstream_are_no_gems_of_a_hosted_repository() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    PATHS.iter().for_each(|path| drop(get(&world, path).expect(200)));
    assert!(Index::read(&world.anon(), FIRST).names.is_empty());
    world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(404);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let refused = world.admin().push(REMOTE, &Gem::new("lamp", "3.0.0"));
    assert!(refused.status >= 400 && refused.text().contains("takes no changes"), "{}", refused.text());
}

#[test]
fn a_kept_info_is_fetched_again_once_the_index_says_that_it_changed() {
    let mut shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    get(&world, "info/lamp").expect(200);
    set_time(&world, LATER);
    get(&world, "info/lamp").expect(200);
    assert_eq!(shelf.upstream.count("/info/lamp"), 1);
    shelf.yank("lamp", "1.0.0");
    set_time(&world, "2026-11-02T14:00:00Z");
    get(&world, "versions").expect(200);
    assert_eq!(get(&world, "info/lamp").expect(200).text(), "---\n");
}

#[test]
fn another_url_of_the_upstream_is_followed_at_once() {
    let (shelf, other) = (lamp_and_oil(), Shelf::new(&[Gem::new("lamp", "2.0.0")]));
    let world = before(&shelf.upstream);
    get(&world, "gems/lamp-1.0.0.gem").expect(200);
    let urls = json!({"remote": {"urls": [other.upstream.url()]}, "keep_cached": false});
    set(&world, &urls);
    assert!(get(&world, "info/lamp").expect(200).text().contains("\n2.0.0 "));
    get(&world, "gems/lamp-2.0.0.gem").expect(200);
    get(&world, "gems/lamp-1.0.0.gem").expect(404);
}

/// A placeholder for an upstream on which nothing listens.
fn nobody() -> Upstream {
    let upstream = Upstream::start();
    upstream.unplug();
    upstream
}

#[test]
fn an_upstream_that_was_never_reached_is_an_error_and_never_an_empty_index() {
    let world = before_with(&nobody(), &[], &json!({}));
    for path in PATHS {
        let answer = get(&world, path);
        assert!(answer.status >= 500, "{path}: {}", answer.status);
    }
    let machine = Ruby::new();
    let said = machine.app("app", &world.url(REMOTE), "gem 'lamp'").bundle(&["install"]).bad();
    assert!(!said.contains("Could not find gem"), "{said}");
}
