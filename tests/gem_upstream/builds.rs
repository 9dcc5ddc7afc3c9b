//! Builds through a remote repository, with each of the real clients. JRuby prefers gems for the platform `java`.

use super::shelf::{before, lamp_and_oil, lamp_and_oil_of_long_ago};
use super::{AFTER_A_WEEK, LATER, REMOTE, Scene, WEEK_S, get, set};
use crate::world::{App, Client, FIRST, Gem, Ruby};
use serde_json::json;

crate::world::with_each_client!([
    what_was_built_once_is_built_again_without_the_upstream_and_as_of_a_moment_before_a_yank,
    gem_alone_lists_fetches_installs_and_updates_without_the_upstream_too,
    a_young_version_is_not_chosen_and_cannot_be_had_by_number,
]);
crate::world::with_each_client!([
    what_was_built_once_is_built_again_without_the_upstream_and_as_of_a_moment_before_a_yank,
    gem_alone_lists_fetches_installs_and_updates_without_the_upstream_too,
    a_young_version_is_not_chosen_and_cannot_be_had_by_number,
]; jruby: Jruby);

const TELL: &str = "require 'lamp'; puts \"#{Lamp::VERSION} #{Gem.loaded_specs['lamp'].platform}\"";

/// A version of lamp for every platform, and the one for Java.
fn lamps(version: &str) -> [Gem; 2] {
    let lamp = Gem::new("lamp", version).needs("oil", "~> 1.0");
    [lamp.clone(), lamp.platform("java").payload(b"classes")]
}

/// The version that a client chooses, as lock files and indexes have it.
fn of(client: Client, version: &str) -> String {
    if client == Client::Jruby { format!("{version}-java") } else { version.to_owned() }
}

#[track_caller]
fn assert_chosen(app: &App<'_>, version: &str) {
    let lock = app.lock();
    assert!(lock.contains(&format!("    lamp ({version})\n")) && lock.contains("    oil (1.0.0)\n"), "{lock}");
}

/// Installs a version of lamp on a new machine.
#[track_caller]
fn installs(client: Client, url: &str, wanted: &str, version: &str) {
    let machine = Ruby::with(client);
    let app = machine.app("app", url, wanted);
    app.bundle(&["install"]).good();
    assert_chosen(&app, &of(client, version));
}

fn what_was_built_once_is_built_again_without_the_upstream_and_as_of_a_moment_before_a_yank(client: Client) {
    let mut shelf = lamp_and_oil();
    shelf.push(&lamps("1.0.0")[1]);
    let world = before(&shelf.upstream);
    let url = world.url(REMOTE);
    let machine = Ruby::with(client);
    let app = machine.app("app", &url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), if client == Client::Jruby { "1.0.0 java\n" } else { "1.0.0 ruby\n" });
    let cold = shelf.upstream.total();
    let asked =
        ["/gems/lamp-1.0.0.gem", "/gems/lamp-1.0.0-java.gem", "/versions"].map(|path| shelf.upstream.count(path));
    assert_eq!(asked, if client == Client::Jruby { [0, 1, 1] } else { [1, 0, 1] });
    installs(client, &url, "gem 'lamp'", "1.0.0");
    assert_eq!(shelf.upstream.total(), cold, "{:?}", shelf.upstream.asked());

    lamps("1.1.0").iter().for_each(|lamp| shelf.push(lamp));
    world.set_time(LATER);
    app.bundle(&["update", "lamp"]).good();
    assert_chosen(&app, &of(client, "1.1.0"));

    shelf.upstream.unplug();
    world.set_time(AFTER_A_WEEK);
    installs(client, &url, "gem 'lamp'", "1.1.0");

    shelf.upstream.plug();
    lamps("1.1.0").iter().for_each(|lamp| shelf.yank("lamp", &lamp.number()));
    world.set_time("2026-11-11T13:00:00Z");
    get(&world, "versions").expect(200);
    let exactly = "gem 'lamp', '1.1.0'";
    installs(client, &world.url(&format!("{REMOTE}@{AFTER_A_WEEK}")), exactly, "1.1.0");
    Ruby::with(client).app("app", &url, exactly).bundle(&["install"]).bad();
}

/// Runs `gem` commands on a new machine with this URL as the only source.
fn gem_alone(client: Client, url: &str, version: &str) -> Ruby {
    let machine = Ruby::with(client);
    let say = |command: &str| machine.shell("", &format!("gem {command} --clear-sources --source {url}")).good();
    let listed = say("list --remote");
    assert!(listed.contains(&format!("lamp ({version} ruby java)")) && listed.contains("oil (1.0.0)"), "{listed}");
    let version = of(client, version);
    // Each command of JRuby takes seconds.
    if client != Client::Jruby {
        say("fetch lamp");
        assert!(machine.home().join(format!("lamp-{version}.gem")).exists());
    }
    let said = say("install --no-document lamp");
    let lamp = format!("Successfully installed lamp-{version}");
    assert!(said.contains(&lamp) && said.contains("oil-1.0.0") && said.contains("2 gems installed"), "{said}");
    machine
}

fn gem_alone_lists_fetches_installs_and_updates_without_the_upstream_too(client: Client) {
    let mut scene = Scene::new();
    let push = |gem: &Gem| drop(scene.upstream.admin().push(FIRST, gem).expect(200));
    push(&Gem::new("oil", "1.0.0"));
    lamps("1.0.0").iter().for_each(push);
    let (url, mut version) = (scene.world.url(REMOTE), "1.0.0");
    let machine = gem_alone(client, &url, version);
    if client != Client::Jruby {
        let say = |command: &str| machine.shell("", &format!("gem {command} --clear-sources --source {url}")).good();
        assert!(say("info --remote lamp").contains("lamp (1.0.0"));
        assert!(say("search lamp").contains("lamp (1.0.0"));
        assert!(say("specification --remote lamp version").contains("1.0.0"));
        version = "1.0.1";
        lamps(version).iter().for_each(push);
        scene.at(LATER);
        assert!(say("outdated").contains("lamp (1.0.0 < 1.0.1)"));
        assert!(say("update --no-document lamp").contains("Successfully installed lamp-1.0.1"));
    }
    scene.upstream.stop();
    scene.at(AFTER_A_WEEK);
    gem_alone(client, &url, version);
}

fn a_young_version_is_not_chosen_and_cannot_be_had_by_number(client: Client) {
    let mut shelf = lamp_and_oil_of_long_ago();
    shelf.push(&lamps("1.0.0")[1]);
    shelf.compact();
    let world = before(&shelf.upstream);
    let url = world.url(REMOTE);
    set(&world, &json!({ "cooldown_s": WEEK_S }));
    get(&world, "versions").expect(200);
    let old = shelf.info("lamp");
    lamps("1.1.0").iter().for_each(|lamp| shelf.push(lamp));
    world.set_time(LATER);
    assert_eq!(get(&world, "info/lamp").expect(200).text(), old, "none of the old versions is hidden");
    let machine = Ruby::with(client);
    let app = machine.app("app", &url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_chosen(&app, &of(client, "1.0.0"));
    Ruby::with(client).app("app", &url, "gem 'lamp', '1.1.0'").bundle(&["install"]).bad();
    if client != Client::Jruby {
        let alone = format!("gem install --no-document --clear-sources --source {url} lamp");
        machine.shell("", &format!("{alone} --version 1.1.0")).bad();
        let said = machine.shell("", &alone).good();
        assert!(said.contains("Successfully installed lamp-1.0.0"), "{said}");
    }
    let hidden = format!("gems/lamp-{}.gem", of(client, "1.1.0"));
    get(&world, &hidden).expect(403);
    assert_eq!(shelf.upstream.count(&format!("/{hidden}")), 0);

    world.set_time(AFTER_A_WEEK);
    app.bundle(&["update", "lamp"]).good();
    assert_chosen(&app, &of(client, "1.1.0"));
}
