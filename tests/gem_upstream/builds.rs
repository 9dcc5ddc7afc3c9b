//! Builds through a remote repository, with each of the real clients.

use super::shelf::{before, lamp_and_oil, lamp_and_oil_of_long_ago};
use super::{AFTER_A_WEEK, LATER, REMOTE, Scene, set_time};
use crate::world::{Client, FIRST, Gem, Ruby, World};
use serde_json::json;

crate::world::with_each_client!([
    what_was_built_once_is_built_again_without_asking_the_upstream_and_without_the_upstream,
    gem_alone_lists_fetches_and_installs_without_the_upstream_too,
    a_young_version_is_not_chosen_and_cannot_be_had_by_number,
]);

const TELL: &str = "require 'lamp'; puts \"lamp #{Lamp::VERSION}\"";

/// Installs the gem on a new machine, and returns the installed version.
fn installed(client: Client, url: &str) -> String {
    let machine = Ruby::with(client);
    let app = machine.app("app", url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    app.ruby(TELL)
}

fn what_was_built_once_is_built_again_without_asking_the_upstream_and_without_the_upstream(client: Client) {
    let mut shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    let url = world.url(REMOTE);
    let machine = Ruby::with(client);
    let app = machine.app("app", &url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "lamp 1.0.0\n");
    let cold = shelf.upstream.total();
    assert_eq!((shelf.upstream.count("/gems/lamp-1.0.0.gem"), shelf.upstream.count("/versions")), (1, 1));
    assert_eq!(installed(client, &url), "lamp 1.0.0\n");
    assert_eq!(shelf.upstream.total(), cold, "{:?}", shelf.upstream.asked());

    shelf.push(&Gem::new("lamp", "1.1.0").needs("oil", "~> 1.0"));
    set_time(&world, LATER);
    app.bundle(&["update", "lamp"]).good();
    assert_eq!(app.ruby(TELL), "lamp 1.1.0\n");

    shelf.upstream.unplug();
    set_time(&world, AFTER_A_WEEK);
    assert_eq!(installed(client, &url), "lamp 1.1.0\n");
}

/// Runs common `gem` commands with this URL as the only source.
fn gem_alone(client: Client, url: &str) {
    let machine = Ruby::with(client);
    machine.shell("", &format!("gem sources --add {url}")).good();
    machine.shell("", "gem sources --remove \"$(ruby -e 'puts Gem.default_sources')\"").good();
    let say = |command: &str| machine.shell("", command).good();
    let listed = say("gem list --remote");
    assert!(listed.contains("lamp (1.0.0)") && listed.contains("oil (1.0.0)"), "{listed}");
    say("gem fetch lamp && test -s lamp-1.0.0.gem");
    let said = say("gem install --no-document lamp");
    assert!(said.contains("Successfully installed oil-1.0.0") && said.contains("2 gems installed"), "{said}");
    assert_eq!(say("ruby -e 'require \"lamp\"; puts Lamp::VERSION'"), "1.0.0\n");
}

fn gem_alone_lists_fetches_and_installs_without_the_upstream_too(client: Client) {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    gem_alone(client, &world.url(REMOTE));
    shelf.upstream.unplug();
    set_time(&world, AFTER_A_WEEK);
    gem_alone(client, &world.url(REMOTE));
}

/// A server with a cooldown of a week, before an upstream that published lamp 1.1.0 an hour ago.
fn with_cooldown(world: &World) {
    let cooldown = json!({"policy": {"cooldown_s": 7 * 86_400}});
    world.admin().patch_json(&format!("/api/v1/repositories/{REMOTE}"), &cooldown).expect(200);
}

fn a_young_version_is_not_chosen_and_cannot_be_had_by_number(client: Client) {
    let mut shelf = lamp_and_oil_of_long_ago();
    let world = before(&shelf.upstream);
    let url = world.url(REMOTE);
    with_cooldown(&world);
    world.anon().file(REMOTE, "versions").expect(200);
    shelf.push(&Gem::new("lamp", "1.1.0").needs("oil", "~> 1.0"));
    set_time(&world, LATER);
    assert_eq!(installed(client, &url), "lamp 1.0.0\n");
    let machine = Ruby::with(client);
    let alone = format!("gem install --no-document --clear-sources --source {url} lamp");
    machine.shell("", &format!("{alone} --version 1.1.0")).bad();
    let said = machine.shell("", &alone).good();
    assert!(said.contains("Successfully installed lamp-1.0.0"), "{said}");
    machine.app("app", &url, "gem 'lamp', '1.1.0'").bundle(&["install"]).bad();
    world.anon().file(REMOTE, "gems/lamp-1.1.0.gem").expect(403);
    assert_eq!(shelf.upstream.count("/gems/lamp-1.1.0.gem"), 0);

    set_time(&world, AFTER_A_WEEK);
    assert_eq!(installed(client, &url), "lamp 1.1.0\n");
}

#[test]
fn another_daylight_is_an_upstream_that_may_stop() {
    let mut scene = Scene::new();
    scene.upstream.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    scene.upstream.admin().push(FIRST, &Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")).expect(200);
    let url = scene.world.url(REMOTE);
    assert_eq!(installed(Client::chosen(), &url), "lamp 1.0.0\n");
    scene.upstream.stop();
    assert_eq!(installed(Client::chosen(), &url), "lamp 1.0.0\n");
}
