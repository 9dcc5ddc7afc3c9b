//! `gem` without Bundler, and Bundler without the compact index.

use crate::world::{Client, FIRST, Gem, Ruby, World};
use serde_json::json;

crate::world::with_each_client!([
    gem_alone_finds_fetches_installs_and_updates,
    bundler_takes_the_next_index_where_one_is_switched_off,
    gem_installs_and_updates_without_the_older_index,
]);

/// A machine whose only gem source is this URL, added with `gem sources`.
fn machine(client: Client, url: &str) -> Ruby {
    let machine = Ruby::with(client);
    let said = machine.shell("", &format!("gem sources --add {url}")).good();
    assert!(said.contains(url) && said.contains(" added to sources"), "{said}");
    machine.shell("", "gem sources --remove \"$(ruby -e 'puts Gem.default_sources')\"").good();
    machine
}

fn gem_alone_finds_fetches_installs_and_updates(client: Client) {
    let world = World::start();
    let admin = world.admin();
    let lamp = Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0");
    for gem in [&Gem::new("oil", "1.0.0"), &lamp, &Gem::new("lamp", "2.0.0.pre1"), &Gem::new("wick", "0.1")] {
        admin.push(FIRST, gem).expect(200);
    }
    let machine = machine(client, &world.url(FIRST));
    let say = |command: &str| machine.shell("", command).good();

    let listed = say("gem list --remote");
    assert!(["lamp (1.0.0)", "oil (1.0.0)", "wick (0.1)"].iter().all(|gem| listed.contains(gem)), "{listed}");
    let found = say("gem search --remote --prerelease --all '^la'");
    assert!(found.contains("lamp (2.0.0.pre1, 1.0.0)") && !found.contains("oil"), "{found}");
    say("mkdir fetched; cd fetched; gem fetch lamp");
    let sum = |bytes: &[u8]| crate::world::hex(&<sha2::Sha256 as sha2::Digest>::digest(bytes));
    assert!(say("sha256sum fetched/lamp-1.0.0.gem").contains(&sum(&lamp.bytes())));

    let said = say("gem install --no-document lamp");
    assert!(said.contains("Successfully installed oil-1.0.0") && said.contains("2 gems installed"), "{said}");
    assert_eq!(say("ruby -e 'require \"lamp\"; puts Lamp::VERSION'"), "1.0.0\n");
    assert!(!say("gem outdated").contains("lamp"));

    admin.push(FIRST, &Gem::new("lamp", "1.0.1").needs("oil", "~> 1.0")).expect(200);
    assert!(say("gem outdated").contains("lamp (1.0.0 < 1.0.1)"));
    assert!(say("gem update --no-document lamp").contains("Successfully installed lamp-1.0.1"));
    let said = say("gem install --no-document --prerelease lamp");
    assert!(said.contains("Successfully installed lamp-2.0.0.pre1"), "{said}");

    admin.yank(FIRST, "wick", "0.1").expect(200);
    assert!(machine.shell("", "gem install --no-document wick").bad().contains("Could not find a valid gem 'wick'"));
}

fn bundler_takes_the_next_index_where_one_is_switched_off(client: Client) {
    let world = World::start();
    for gem in [Gem::new("oil", "1.0.0"), Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")] {
        world.admin().push(FIRST, &gem).expect(200);
    }
    let install = || {
        let machine = Ruby::with(client);
        let app = machine.app("app", &world.url(FIRST), "gem 'lamp'");
        app.bundle(&["install", "--verbose"])
    };
    let off = |protocol: &str| {
        world.change(FIRST, &json!({ "protocols": { protocol: false } }));
    };
    let asked = |said: &str, what: &str| said.contains(&format!("HTTP 200 OK {}{what}", world.url(FIRST)));

    let said = install().good();
    assert!(asked(&said, "info/lamp") && !asked(&said, "api/v1/dependencies"), "{said}");
    off("compact_index");
    let said = install().good();
    assert!(asked(&said, "api/v1/dependencies?gems=lamp") && !said.contains("specs.4.8"), "{said}");
    off("dependencies");
    let said = install().good();
    assert!(said.contains("Installing lamp 1.0.0") && said.contains("source index"), "{said}");
    for none in ["", "?gems=lamp"] {
        world.anon().file(FIRST, &format!("api/v1/dependencies{none}")).expect(404);
    }
    off("full_index");
    install().bad();
}

fn gem_installs_and_updates_without_the_older_index(client: Client) {
    let world = World::start();
    let admin = world.admin();
    for gem in [Gem::new("oil", "1.0.0"), Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")] {
        admin.push(FIRST, &gem).expect(200);
    }
    world.change(FIRST, &json!({ "protocols": { "full_index": false } }));
    let machine = Ruby::with(client);
    let install = format!("gem install --no-document --clear-sources --source {} lamp", world.url(FIRST));
    let said = machine.shell("", &install).good();
    assert!(said.contains("Successfully installed oil-1.0.0") && said.contains("2 gems installed"), "{said}");
    admin.push(FIRST, &Gem::new("lamp", "1.0.1").needs("oil", "~> 1.0")).expect(200);
    let said = machine.shell("", &install).good();
    assert!(said.contains("Successfully installed lamp-1.0.1"), "{said}");
}
