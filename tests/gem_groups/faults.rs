//! Members that fail: each keeps its last answers, and a name whose owner is unknown gets no answer.

use super::{FIRST, GROUP, LATER, Shelf, add_remotes, still};
use crate::world::{Gem, Says, World};

/// A hosted repository that has oil, two remote ones, and a group of all.
fn group(one: &Shelf, two: &Shelf) -> World {
    let world = still();
    add_remotes(&world, &[("one", one), ("two", two)]);
    world.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    world.gem_group(GROUP, &[FIRST, "one", "two"]);
    world
}

fn shelves() -> (Shelf, Shelf) {
    (Shelf::with(&["lamp 1.0.0"]), Shelf::with(&["wick 1.0.0"]))
}

#[test]
fn a_member_whose_upstream_fails_keeps_what_it_said() {
    let (mut one, mut two) = shelves();
    let world = group(&one, &two);
    let get = |path: &str| world.anon().file(GROUP, path);
    let before = get("versions").expect(200).text().to_owned();
    get("info/lamp").expect(200);
    one.upstream.unplug();
    one.push(&Gem::new("lamp", "2.0.0"));
    two.push(&Gem::new("wick", "2.0.0"));
    world.set_time(LATER);
    let answer = get("versions").expect(200);
    assert!(answer.text().starts_with(&before) && answer.text().contains("\nwick 2.0.0 "), "{}", answer.text());
    get("info/lamp").expect(200);
    get("info/wick").expect(200);
    get("gems/wick-2.0.0.gem").expect(200);
    get("info/oil").expect(200);
    // The index proves that no member has it.
    get("info/tallow").expect(404);
    one.upstream.plug();
    world.set_time("2026-11-02T14:00:00Z");
    assert!(get("versions").expect(200).text().contains("\nlamp 2.0.0 "));
}

#[test]
fn where_an_index_was_never_seen_only_names_that_are_surely_of_another_member_are_answered() {
    for (away, listed, is_sure) in [("one", "wick", false), ("two", "lamp", true)] {
        let (one, two) = shelves();
        let dead = if away == "one" { &one } else { &two };
        dead.upstream.unplug();
        let world = group(&one, &two);
        let get = |path: &str| world.anon().file(GROUP, path);
        for path in ["versions", "names", "specs.4.8.gz"] {
            assert!(get(path).status >= 500, "{path} without {away}");
        }
        for path in ["info/oil", "gems/oil-1.0.0.gem", "quick/Marshal.4.8/oil-1.0.0.gemspec.rz", "api/v1/gems/oil.json"]
        {
            get(path).expect(200);
        }
        assert_eq!(get("api/v1/dependencies.json?gems=oil").expect(200).json().as_array().unwrap().len(), 1);
        for path in [
            format!("info/{listed}"),
            format!("gems/{listed}-1.0.0.gem"),
            format!("api/v1/dependencies.json?gems=oil,{listed}"),
            format!("api/v1/gems/{listed}.json"),
        ] {
            assert_eq!(get(&path).status == 200, is_sure, "{path} without {away}");
            assert!(is_sure || get(&path).status >= 500, "{path} without {away}: {}", get(&path).status);
        }
        // The member that fails may have it.
        for path in ["info/tallow", "gems/tallow-1.0.0.gem", "api/v1/dependencies.json?gems=tallow"] {
            assert!(get(path).status >= 500, "{path} without {away}: {}", get(path).status);
        }
        dead.upstream.plug();
        world.set_time(LATER);
        get("versions").expect(200);
        get(&format!("info/{listed}")).expect(200);
        get("info/tallow").expect(404);
    }
}

#[test]
fn a_remote_member_without_an_upstream_has_nothing() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    world.gem_group(GROUP, &[FIRST, "rubygems"]);
    let get = |path: &str| world.anon().file(GROUP, path);
    assert!(get("versions").expect(200).text().contains("\noil 1.0.0 "));
    get("info/oil").expect(200);
    get("info/lamp").expect(404);
}

#[test]
fn a_name_of_a_hosted_member_waits_for_no_upstream() {
    let (one, two) = shelves();
    let index = one.versions.clone();
    let world = group(&one, &two);
    one.upstream.says("/versions", Says::bytes(index).silent());
    // The index of one member was never seen, and it fails. No other member is asked for our gems.
    for path in ["info/oil", "gems/oil-1.0.0.gem", "api/v1/dependencies.json?gems=oil", "api/v1/versions/oil.json"] {
        world.anon().file(GROUP, path).expect(200);
    }
    assert_eq!(one.upstream.total(), 0);
}
