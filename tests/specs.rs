//! The older index: `gem list` reads it with the date of its own copy.

use crate::accounts::{settled, sum};
use crate::world::{Answer, FIRST, Gem, Person, Ruby, World};
use serde_json::json;
use std::time::Duration;

fn path(what: &str) -> String {
    format!("/repository/{FIRST}/{what}")
}

fn since(person: &Person, moment: &str) -> Answer {
    person.ask("GET", &path("specs.4.8.gz"), &[("If-Modified-Since", moment)], b"")
}

#[test]
fn the_files_are_octets_of_a_known_length_in_no_coding_and_unchanged_for_their_date_or_a_later_one() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let anon = world.anon();
    for file in ["specs", "latest_specs", "prerelease_specs"] {
        let path = path(&format!("{file}.4.8.gz"));
        let got = anon.ask("GET", &path, &[("Accept-Encoding", "gzip")], b"").expect(200);
        assert_eq!(got.header("content-type"), Some("application/octet-stream"));
        assert_eq!((got.header("content-encoding"), &got.body[..2]), (None, &[0x1f, 0x8b][..]));
        let head = anon.ask("HEAD", &path, &[], b"").expect(200);
        let length = got.body.len().to_string();
        assert_eq!([&got, &head].map(|answer| answer.header("content-length")), [Some(&*length); 2]);
        assert_eq!(got.header("last-modified"), head.header("last-modified"));
    }
    // A file is unchanged for a client that sends its date or a later one, by any clock.
    let modified = anon.get(&path("specs.4.8.gz")).expect(200).header("last-modified").unwrap().to_owned();
    let unchanged = since(&anon, &modified).expect(304);
    assert_eq!((unchanged.header("last-modified"), unchanged.body.len()), (Some(&*modified), 0));
    since(&anon, "Fri, 01 Jan 2100 00:00:00 GMT").expect(304);
    since(&anon, "Thu, 01 Jan 1970 00:00:00 GMT").expect(200);
    let date = httpdate::parse_http_date(&modified).unwrap();
    for other in [date + Duration::from_secs(1), date - Duration::from_secs(1)] {
        since(&anon, &httpdate::fmt_http_date(other)).expect(200);
    }
    world.change(FIRST, &json!({ "protocols": { "full_index": false } }));
    anon.get(&path("specs.4.8.gz")).expect(404);
    anon.get(&path("versions")).expect(200);
}

/// A hosted repository, what a policy shows of another, and a group of both.
const VIEWS: [&str; 3] = [FIRST, "careful", "both"];

#[test]
fn two_changes_of_one_second_are_told_apart_by_their_dates() {
    let world = World::start_in_conformance(&[]);
    let (admin, anon) = (world.admin(), world.anon());
    world.set_time("2026-11-02T12:00:00.2Z");
    world.repository("careful", false);
    world.gem_group("both", &[FIRST, "careful"]);
    world.change("careful", &json!({ "policy": { "deny": ["poison"] } }));
    let push = |name: &str| [FIRST, "careful"].map(|to| admin.push(to, &Gem::new(name, "1.0.0")).expect(200));
    let ask = |repository: &str, since: Option<&str>| {
        let path = format!("/repository/{repository}/specs.4.8.gz");
        let since: Vec<_> = since.map(|since| ("If-Modified-Since", since)).into_iter().collect();
        let answer = anon.ask("GET", &path, &since, b"");
        (answer.status, answer.header("last-modified").map(str::to_owned))
    };
    push("lamp");
    let date = |second: u32| format!("Mon, 02 Nov 2026 12:00:{second:02} GMT");
    let (now, next) = (date(0), date(1));
    // An index for one view has no date before its second is over.
    for (view, sent) in VIEWS.into_iter().zip([Some(&now), None, Some(&now)]) {
        assert_eq!(ask(view, None), (200, sent.cloned()), "{view}");
        assert_eq!(ask(view, Some(&now)).0, if sent.is_some() { 304 } else { 200 }, "{view}");
    }
    world.set_time("2026-11-02T12:00:00.7Z");
    push("oil");
    for view in VIEWS {
        assert_eq!(ask(view, None), (200, None), "{view}: the next second has not come");
        assert_eq!(ask(view, Some(&now)).0, 200, "{view}");
        assert_eq!(ask(view, Some(&next)).0, 200, "{view}");
    }
    world.set_time("2026-11-02T12:00:01Z");
    for view in VIEWS {
        assert_eq!(ask(view, None), (200, Some(next.clone())), "{view}");
        assert_eq!(ask(view, Some(&next)), (304, Some(next.clone())), "{view}");
        assert_eq!(ask(view, Some(&now)).0, 200, "{view}: it is the date of the copy without the second gem");
    }
    push("wick");
    for view in VIEWS {
        assert_eq!(ask(view, Some(&next)).0, 200, "{view}");
    }
}

#[test]
fn gem_is_told_that_its_copy_is_unchanged_where_no_clock_can_have_dated_another_so() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let (url, ruby) = (world.url(FIRST), Ruby::new());
    let list = format!("gem list --remote --all --clear-sources --source {url}");
    assert!(ruby.shell("", &list).good().contains("lamp (1.0.0)"));
    let modified = world.anon().get(&path("specs.4.8.gz")).expect(200).header("last-modified").unwrap().to_owned();
    let unchanged = || {
        settled(&world);
        let metrics = world.anon().get("/metrics").expect(200);
        sum(metrics.text(), "daylight_outcomes_total{outcome=\"not_modified\"}")
    };
    // By its own clock it may have had an earlier copy in that second: the first two are not enough.
    for (minutes, told) in [(0, 0), (1, 0), (3, 1)] {
        let date = format!("find . -name specs.4.8 -exec touch --date '{modified} + {minutes} minutes' {{}} +");
        ruby.shell("", &date).good();
        let before = unchanged();
        assert!(ruby.shell("", &list).good().contains("lamp (1.0.0)"));
        assert_eq!(unchanged(), before + told, "{minutes} minutes later");
    }
    // Others show our own date.
    since(&world.anon(), &modified).expect(304);
}
