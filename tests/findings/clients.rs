//! Findings about clients, each with real traffic of such a client, and without a word about one that does it right.

use super::incident::{Incident, begun};
use crate::world::{FIRST, Gem, Ruby};
use std::process::Command;

/// Runs curl with these arguments, and discards what it gets.
fn curl(arguments: &[String]) {
    let output = Command::new("curl").arg("--silent").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A client that asks for `paths` in turn, so often in all.
fn loops(paths: usize, times: usize) -> Incident {
    let world = begun(&[]);
    world.tree("trees", "raw");
    (0..paths).for_each(|path| drop(world.admin().put("trees", &format!("state/{path}"), b"x").expect(201)));
    curl(&(0..times).map(|time| format!("{}state/{}", world.url("trees"), time % paths)).collect::<Vec<_>>());
    Incident::of(world)
}

#[test]
fn a_script_that_asks_in_a_tight_loop_is_named_with_its_path() {
    let told = loops(1, 900).open("tight-loop@client:127.0.0.1");
    let sentence = told["sentence"].as_str().unwrap();
    assert!(sentence.contains("asked for `/repository/trees/state/0` 900 times"), "{sentence}");
    assert!(sentence.contains("curl/"), "{sentence}");
}

#[test]
fn as_many_requests_for_many_paths_or_fewer_for_one_are_no_loop() {
    loops(30, 900).says_nothing_of("tight-loop");
    loops(1, 480).says_nothing_of("tight-loop");
}

#[test]
fn bundler_and_a_person_who_looks_around_are_named_for_nothing() {
    let world = begun(&[]);
    for version in 0..5 {
        world.admin().push(FIRST, &Gem::new("lamp", &format!("1.0.{version}"))).expect(200);
    }
    let ruby = Ruby::new();
    for name in ["one", "two"] {
        ruby.app(name, &world.url(FIRST), "gem 'lamp'").bundle(&["install"]).good();
    }
    Incident::of(world).says_nothing_of("");
}
