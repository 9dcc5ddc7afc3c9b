//! Hosted gems as of a moment: every index and every gem.

use super::{Then, assert_still, now};
use crate::world::{FIRST, Gem, Index, World};

/// The files whose bytes do not depend on when they are rendered. `/versions` is not one of them, because it is
/// compared by the versions that its lines add up to.
const PATHS: &[&str] = &[
    "names",
    "info/lamp",
    "info/oil",
    "info/nothing",
    "specs.4.8.gz",
    "latest_specs.4.8.gz",
    "prerelease_specs.4.8.gz",
    "gems/lamp-1.0.0.gem",
    "gems/lamp-1.1.0-java.gem",
    "gems/oil-0.1.0.gem",
    "quick/Marshal.4.8/lamp-1.0.0.gemspec.rz",
    "api/v1/dependencies?gems=lamp,oil,nothing",
    "api/v1/dependencies.json?gems=oil,lamp",
    "api/v1/versions/lamp.json",
    "api/v1/versions/lamp/latest.json",
];

/// The steps of the test: a gem is pushed or yanked.
const STEPS: &[(&str, &str, &str, bool)] = &[
    ("lamp", "1.0.0", "ruby", true),
    ("lamp", "1.1.0", "java", true),
    ("lamp", "2.0.0.rc1", "ruby", true),
    ("oil", "0.1.0", "ruby", true),
    ("lamp", "1.0.0", "ruby", false),
    ("lamp", "1.2.0", "ruby", true),
    ("oil", "0.1.0", "ruby", false),
];

fn take(world: &World, (name, version, platform, pushed): (&str, &str, &str, bool)) {
    let admin = world.admin();
    match pushed {
        true => drop(admin.push(FIRST, &Gem::new(name, version).platform(platform).needs("rack", ">= 2")).expect(200)),
        false => drop(admin.yank(FIRST, name, version).expect(200)),
    }
}

#[test]
fn every_index_of_a_moment_is_what_it_was_and_they_agree() {
    let mut world = World::start();
    let anon = world.anon();
    let mut moments: Vec<(Then, Index)> = Vec::new();
    for step in STEPS {
        take(&world, *step);
        moments.push((now(&world, FIRST, PATHS), Index::read(&anon, FIRST)));
    }
    let (thens, indexes): (Vec<Then>, Vec<Index>) = moments.into_iter().unzip();
    assert_still(&world, FIRST, PATHS, &thens);
    for (then, index) in thens.iter().zip(&indexes) {
        for name in &then.names {
            let again = Index::read(&anon, &format!("{FIRST}@{name}"));
            assert_eq!(again.offered, index.offered, "{name}");
        }
    }
    world.restart();
    assert_still(&world, FIRST, PATHS, &thens);
    assert_eq!(Index::read(&world.anon(), FIRST), *indexes.last().unwrap(), "and the current state is unaffected");
}

#[test]
fn what_is_said_of_people_is_not_told_as_of_a_moment() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let then = now(&world, FIRST, &[]);
    for path in ["api/v1/gems/lamp/owners.json", "api/v1/search.json?query=lamp"] {
        world.anon().file(&format!("{FIRST}@{}", then.names[0]), path).expect(501);
    }
    world.admin().push(&format!("{FIRST}@{}", then.names[0]), &Gem::new("lamp", "1.1.0")).expect(405);
}
