//! What users complain about in proxies of gems, each a test. Complaints about several upstreams behind one URL are in
//! `gem_groups`.

use super::shelf::{Shelf, before, lamp_and_oil, md5};
use super::{AFTER_A_WEEK, LATER, REMOTE, Scene, get};
use crate::world::{Answer, Client, FIRST, Gem, Index, Ruby, Says, Upstream};
use serde_json::json;
use std::io::Read as _;

crate::world::with_each_client!([gem_and_bundler_print_why_there_is_no_answer]);

/// Everything that clients of all ages request for lamp 1.0.0.
const PATHS: [&str; 10] = [
    "versions",
    "names",
    "info/lamp",
    "specs.4.8.gz",
    "latest_specs.4.8.gz",
    "prerelease_specs.4.8.gz",
    "quick/Marshal.4.8/lamp-1.0.0.gemspec.rz",
    "quick/Marshal.4.8/oil-1.0.0.gemspec.rz",
    "gems/lamp-1.0.0.gem",
    "api/v1/dependencies?gems=lamp",
];

/// The unpacked text of an answer.
fn text(answer: &Answer) -> String {
    let mut unpacked = Vec::new();
    let read = flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut unpacked);
    String::from_utf8_lossy(if read.is_ok() { &unpacked } else { &answer.body }).into_owned()
}

#[test]
fn what_was_asked_for_once_is_there_without_the_upstream_in_every_protocol_and_sends_no_client_there() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    let all = || {
        PATHS.map(|path| {
            let answer = get(&world, path).expect(200);
            let names_it = text(&answer).contains(&shelf.upstream.address().to_string());
            assert!(answer.header("location").is_none() && !names_it, "{path}");
            answer.body
        })
    };
    let online = all();
    assert_eq!(shelf.upstream.count_of("/quick/"), 0, "gemspecs are those of the packages");
    // They are no gems of a hosted repository.
    assert!(Index::read(&world.anon(), FIRST).names.is_empty());
    world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(404);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let refused = world.admin().push(REMOTE, &Gem::new("lamp", "3.0.0"));
    assert!(refused.status >= 400 && refused.text().contains("takes no changes"), "{}", refused.text());
    shelf.upstream.unplug();
    world.set_time(AFTER_A_WEEK);
    assert!(all() == online);
}

#[test]
fn tags_of_the_upstream_that_are_no_md5_do_not_send_clients_to_a_slower_index() {
    let shelf = lamp_and_oil();
    for (path, tag, text) in [
        ("/versions", "\"da39a3ee5e6b4b0d3255bfef95601890afd80709\"", shelf.versions.clone()),
        ("/info/lamp", "W/\"1-2\"", shelf.info("lamp")),
        ("/info/oil", "\"opaque\"", shelf.info("oil")),
    ] {
        shelf.upstream.says(path, Says::bytes(text).header("ETag", tag));
    }
    let world = before(&shelf.upstream);
    for path in ["versions", "info/lamp", "info/oil"] {
        let answer = get(&world, path).expect(200);
        assert_eq!(answer.header("etag"), Some(&format!("\"{}\"", md5(answer.text()))[..]), "{path}");
    }
    let machine = Ruby::new();
    let said = machine.app("app", &world.url(REMOTE), "gem 'lamp'").bundle(&["lock", "--verbose"]).good();
    assert!(!said.contains("api/v1/dependencies") && !said.contains("specs.4.8"), "{said}");
}

#[test]
fn an_upstream_without_an_index_is_an_error_and_never_an_empty_index() {
    let nobody = Upstream::start();
    nobody.unplug();
    let world = before(&nobody);
    let answering = [404, 400, 401, 403].map(|status| {
        let shelf = lamp_and_oil();
        shelf.upstream.says("/versions", Says::status(status));
        (format!("answers-{status}"), shelf)
    });
    for (name, shelf) in &answering {
        world.remote_of("gem", name, &shelf.upstream.url());
    }
    for repository in answering.iter().map(|(name, _)| &**name).chain([REMOTE]) {
        for path in PATHS {
            let status = world.anon().file(repository, path).status;
            assert!((502..=504).contains(&status), "{repository}: {path}: {status}");
        }
    }
    let machine = Ruby::new();
    let said = machine.app("app", &world.url(REMOTE), "gem 'lamp'").bundle(&["install"]).bad();
    assert!(!said.contains("Could not find gem"), "{said}");
}

#[test]
fn needs_that_nobody_can_tell_are_an_error_and_a_line_that_no_client_can_read_is_left_out() {
    let mut shelf = lamp_and_oil();
    shelf.upstream.says("/info/oil", Says::status(500));
    let world = before(&shelf.upstream);
    for path in ["api/v1/dependencies?gems=lamp,oil", "api/v1/dependencies.json?gems=oil", "info/oil"] {
        get(&world, path).expect(502);
    }
    assert_eq!(get(&world, "api/v1/dependencies.json?gems=nothing").expect(200).text(), "[]");
    let good = shelf.info("oil");
    let sum = good.trim_end().rsplit_once(':').unwrap().1.to_owned();
    let bad = format!("{good}1.1.0 |checksum:{}\n1.2.0 |checksum:\n1.3.0 |checksum:{sum}\n", &sum[..31]);
    shelf.set_info("oil", "1.1.0,1.2.0,1.3.0", &bad);
    world.set_time(LATER);
    get(&world, "versions").expect(200);
    let info = get(&world, "info/oil").expect(200).text().to_owned();
    assert!(!info.contains("\n1.1.0 ") && info.contains("\n1.3.0 |"), "{info}");
}

#[test]
fn a_kept_info_is_fetched_again_once_the_index_says_that_it_changed_which_is_seen_within_a_minute() {
    let mut shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    get(&world, "info/lamp").expect(200);
    world.set_time(LATER);
    get(&world, "info/lamp").expect(200);
    assert_eq!(shelf.upstream.count("/info/lamp"), 1);
    shelf.push(&Gem::new("lamp", "1.1.0"));
    world.set_time("2026-11-02T13:01:05Z");
    get(&world, "versions").expect(200);
    assert!(get(&world, "info/lamp").expect(200).text().contains("\n1.1.0 "));
    ["1.0.0", "1.1.0"].into_iter().for_each(|version| shelf.yank("lamp", version));
    world.set_time("2026-11-02T13:02:10Z");
    get(&world, "versions").expect(200);
    assert_eq!(get(&world, "info/lamp").expect(200).text(), "---\n");
}

#[test]
fn another_url_of_the_upstream_is_followed_at_once() {
    let (shelf, other) = (lamp_and_oil(), Shelf::new(&[Gem::new("lamp", "2.0.0")]));
    let world = before(&shelf.upstream);
    get(&world, "gems/lamp-1.0.0.gem").expect(200);
    world.change(REMOTE, &json!({"remote": {"urls": [other.upstream.url()]}, "keep_cached": false}));
    assert!(get(&world, "info/lamp").expect(200).text().contains("\n2.0.0 "));
    get(&world, "gems/lamp-2.0.0.gem").expect(200);
    get(&world, "gems/lamp-1.0.0.gem").expect(404);
}

/// A scene on a port whose digits contain no status. Bundler takes such digits for a status anywhere in an error.
fn beside_statuses() -> Scene {
    loop {
        let scene = Scene::new();
        let port = scene.world.address().port().to_string();
        if !["401", "403"].iter().any(|status| port.contains(status)) {
            return scene;
        }
    }
}

fn gem_and_bundler_print_why_there_is_no_answer(client: Client) {
    let mut scene = beside_statuses();
    scene.upstream.stop();
    let machine = Ruby::with(client);
    // After a few retries the circuit opens.
    for (repository, reasons) in [
        ("rubygems", ["this repository has no upstream yet"; 2]),
        (REMOTE, ["the upstream cannot be reached", "circuit open"]),
    ] {
        let url = scene.world.url(repository);
        let gem = machine.shell("", &format!("gem install lamp --clear-sources --source {url}"));
        for said in [gem, machine.app("app", &url, "gem 'lamp'").bundle(&["install"])] {
            let said = said.bad().replace('\n', " ");
            assert!(reasons.iter().any(|why| said.contains(why)), "{said}");
        }
    }
}
