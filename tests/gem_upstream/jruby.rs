//! Builds with JRuby, which prefers gems for the platform `java` and uses Java's network stack.

use super::shelf::{Shelf, before, lamp_and_oil, lamp_and_oil_of_long_ago};
use super::{AFTER_A_WEEK, LATER, REMOTE, set_time};
use crate::world::{Client, Gem, Ruby, World};
use serde_json::json;

/// A moment between the start and an hour later.
const THEN: &str = "2026-11-02T12:30:00Z";
const TELL: &str = "require 'lamp'; puts \"#{Lamp::VERSION} #{Gem.loaded_specs['lamp'].platform}\"";

/// A version of lamp for Java, which differs from the one for every platform.
fn java(version: &str) -> Gem {
    Gem::new("lamp", version).needs("oil", "~> 1.0").platform("java").payload(b"classes")
}

/// Lamp 1.0.0 for every platform and for Java, and oil.
fn shelf() -> Shelf {
    let mut shelf = lamp_and_oil();
    shelf.push(&java("1.0.0"));
    shelf
}

/// Installs lamp on a new machine. Returns the chosen version, or the output of the failed command.
fn installed(url: &str, wanted: &str) -> Result<String, String> {
    let machine = Ruby::with(Client::Jruby);
    let app = machine.app("app", url, wanted);
    app.bundle(&["install"]).either().map(|_| app.lock())
}

#[track_caller]
fn assert_chosen(lock: &str, version: &str) {
    assert!(lock.contains(&format!("    lamp ({version})\n")) && lock.contains("    oil (1.0.0)\n"), "{lock}");
}

#[test]
fn jruby_installs_the_build_for_java_and_again_without_asking_the_upstream_and_without_the_upstream() {
    let shelf = shelf();
    let world = before(&shelf.upstream);
    let url = world.url(REMOTE);
    let machine = Ruby::with(Client::Jruby);
    let app = machine.app("app", &url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "1.0.0 java\n");
    assert_eq!(
        (shelf.upstream.count("/gems/lamp-1.0.0-java.gem"), shelf.upstream.count("/gems/lamp-1.0.0.gem")),
        (1, 0)
    );

    let cold = shelf.upstream.total();
    assert_chosen(&installed(&url, "gem 'lamp'").unwrap(), "1.0.0-java");
    assert_eq!(shelf.upstream.total(), cold, "{:?}", shelf.upstream.asked());

    shelf.upstream.unplug();
    set_time(&world, AFTER_A_WEEK);
    assert_chosen(&installed(&url, "gem 'lamp'").unwrap(), "1.0.0-java");
}

#[test]
fn the_gem_command_of_jruby_installs_and_lists_without_the_upstream_too() {
    let shelf = shelf();
    let world = before(&shelf.upstream);
    let from = format!("--clear-sources --source {}", world.url(REMOTE));
    let install = || Ruby::with(Client::Jruby).shell("", &format!("gem install --no-document {from} lamp")).good();
    let said = install();
    assert!(said.contains("Successfully installed lamp-1.0.0-java") && said.contains("2 gems installed"), "{said}");
    shelf.upstream.unplug();
    set_time(&world, AFTER_A_WEEK);
    assert_eq!(install(), said);
    let listed = Ruby::with(Client::Jruby).shell("", &format!("gem list --remote {from}")).good();
    assert!(listed.contains("lamp (1.0.0 ruby java)") && listed.contains("oil (1.0.0)"), "{listed}");
}

#[test]
fn jruby_is_not_offered_what_is_young_and_cannot_have_it_by_number() {
    let mut shelf = lamp_and_oil_of_long_ago();
    shelf.push(&java("1.0.0"));
    shelf.compact();
    let world = before(&shelf.upstream);
    let url = world.url(REMOTE);
    let cooldown = json!({"policy": {"cooldown_s": 7 * 86_400}});
    world.admin().patch_json(&format!("/api/v1/repositories/{REMOTE}"), &cooldown).expect(200);
    world.anon().file(REMOTE, "versions").expect(200);
    shelf.push(&java("1.1.0"));
    set_time(&world, LATER);
    assert_chosen(&installed(&url, "gem 'lamp'").unwrap(), "1.0.0-java");
    let said = installed(&url, "gem 'lamp', '1.1.0'").unwrap_err();
    assert!(said.contains("Could not find gem 'lamp (= 1.1.0)"), "{said}");
    world.anon().file(REMOTE, "gems/lamp-1.1.0-java.gem").expect(403);
    assert_eq!(shelf.upstream.count("/gems/lamp-1.1.0-java.gem"), 0);
    set_time(&world, AFTER_A_WEEK);
    assert_chosen(&installed(&url, "gem 'lamp'").unwrap(), "1.1.0-java");
}

/// An upstream that yanked lamp 1.1.0 an hour after it was installed here.
fn withdrawn() -> (Shelf, World) {
    let mut shelf = shelf();
    shelf.push(&java("1.1.0"));
    let world = before(&shelf.upstream);
    for path in ["info/oil", "info/lamp", "gems/oil-1.0.0.gem", "gems/lamp-1.1.0-java.gem"] {
        world.anon().file(REMOTE, path).expect(200);
    }
    shelf.yank("lamp", "1.1.0-java");
    set_time(&world, LATER);
    world.anon().file(REMOTE, "versions").expect(200);
    (shelf, world)
}

#[test]
fn jruby_builds_again_as_of_a_moment_what_was_yanked_since() {
    let (_shelf, world) = withdrawn();
    let wanted = "gem 'lamp', '1.1.0'";
    assert_chosen(&installed(&world.url(&format!("{REMOTE}@{THEN}")), wanted).unwrap(), "1.1.0-java");
    installed(&world.url(REMOTE), wanted).unwrap_err();
}
