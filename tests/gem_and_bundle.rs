//! Build, push, install, run, update and yank with each of the real clients: the first week of a team.

use crate::world::{Client, FIRST, Gem, Index, Ruby, World};

crate::world::with_each_client!([
    a_pushed_gem_is_installed_run_updated_and_turned_away_after_its_yank,
    a_locked_version_that_was_yanked_is_named_and_an_update_falls_back_or_names_what_there_is,
    a_private_repository_serves_who_shows_a_token_and_nobody_else,
]);

const TELL: &str = "require 'lamp'; require 'oil'; puts \"lamp #{Lamp::VERSION} oil #{Oil::VERSION}\"";

fn a_pushed_gem_is_installed_run_updated_and_turned_away_after_its_yank(client: Client) {
    let world = World::start();
    let admin = world.admin();
    let url = world.url(FIRST);
    let desk = Ruby::with(client);

    let said = desk.push(&url, admin.secret(), &Gem::new("oil", "1.0.0")).good();
    assert!(said.contains("Successfully registered gem: oil (1.0.0)"), "{said}");
    desk.push(&url, admin.secret(), &Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")).good();

    let app = desk.app("app", &url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "lamp 1.0.0 oil 1.0.0\n");

    desk.push(&url, admin.secret(), &Gem::new("lamp", "1.1.0").needs("oil", "~> 1.0")).good();
    desk.push(&url, admin.secret(), &Gem::new("oil", "1.0.1")).good();
    app.bundle(&["update"]).good();
    assert_eq!(app.ruby(TELL), "lamp 1.1.0 oil 1.0.1\n");

    let said = desk.yank(&url, admin.secret(), "lamp", "1.1.0").good();
    assert!(said.contains("Successfully deleted gem: lamp (1.1.0)"), "{said}");

    // A new machine: `gem` would use a gem that is already installed.
    let other = Ruby::with(client);
    let app = other.app("app", &url, "gem 'lamp', '1.1.0'");
    let said = app.bundle(&["install"]).bad();
    assert!(said.contains("Could not find gem 'lamp (= 1.1.0)"), "{said}");
    // Since 2.3 Bundler names the available versions.
    assert!(client == Client::Bullseye || said.contains("lamp-1.0.0"), "{said}");
    app.gemfile(&url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "lamp 1.0.0 oil 1.0.1\n");

    Index::read(&world.anon(), FIRST).download(&world.anon(), FIRST);
}

fn a_locked_version_that_was_yanked_is_named_and_an_update_falls_back_or_names_what_there_is(client: Client) {
    let world = World::start();
    let admin = world.admin();
    for version in ["1.0.0", "2.0.0"] {
        admin.push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    let first = Ruby::with(client);
    let app = first.app("app", &world.url(FIRST), "gem 'lamp'");
    app.bundle(&["lock"]).good();
    assert!(app.lock().contains("lamp (2.0.0)"), "{}", app.lock());
    admin.yank(FIRST, "lamp", "2.0.0").expect(200);
    let said = app.bundle(&["install"]).bad();
    // Bundler 2.3.27 names the available versions, other releases name the missing one.
    assert!(said.contains("lamp") && (said.contains("2.0.0") || said.contains("lamp-1.0.0")), "{said}");
    match app.bundle(&["update", "lamp"]).either() {
        Ok(_) => assert!(app.lock().contains("lamp (1.0.0)"), "{}", app.lock()),
        // Bundler 2.3.27 never chooses a version below the locked one.
        Err(said) => assert!(said.contains("lamp-1.0.0"), "{said}"),
    }
    app.unlock();
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.0.0\n");
}

fn a_private_repository_serves_who_shows_a_token_and_nobody_else(client: Client) {
    let world = World::start();
    world.repository("vault", true);
    let url = world.url("vault");
    let writer = world.person("writer", &["read", "write"], &["vault"]);
    let reader = world.person("reader", &["read"], &["vault"]);
    let desk = Ruby::with(client);
    desk.push(&url, writer.secret(), &Gem::new("lamp", "1.0.0")).good();

    let app = desk.app("app", &url, "gem 'lamp'");
    let said = app.bundle(&["install"]).bad();
    assert!(said.contains("Authentication is required"), "{said}");

    app.bundle(&["config", "set", "--local", "127.0.0.1", "x:wrong"]).good();
    let said = app.bundle(&["install"]).bad();
    assert!(said.contains("Bad username or password"), "{said}");

    // A token that is good, and for another repository: the next installation with a good one succeeds at once.
    let other = world.person("other", &["read"], &[FIRST]);
    app.bundle(&["config", "set", "--local", "127.0.0.1", &format!("x:{}", other.secret())]).good();
    app.bundle(&["install"]).bad();
    let source = |secret: &str| url.replace("http://", &format!("http://x:{secret}@"));
    // `gem fetch` ends with 0 in some releases, whatever happened.
    let fetches = |secret: &str| {
        let script = format!("gem fetch lamp --clear-sources --source {}; test -e lamp-1.0.0.gem", source(secret));
        desk.shell("", &script)
    };
    fetches(other.secret()).bad();
    fetches(reader.secret()).good();

    // The token as a password, as a user name, and in the source itself. All three are common.
    app.bundle(&["config", "set", "--local", "127.0.0.1", &format!("reader:{}", reader.secret())]).good();
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.0.0\n");
    let second = Ruby::with(client);
    let app = second.app("app", &url, "gem 'lamp'");
    app.bundle(&["config", "set", "--local", "127.0.0.1", reader.secret()]).good();
    app.bundle(&["install"]).good();
    let third = Ruby::with(client);
    let source = url.replace("http://", &format!("http://{}@", reader.secret()));
    third.app("app", &source, "gem 'lamp'").bundle(&["install"]).good();
}

#[test]
fn the_gems_that_the_other_tests_write_are_what_ruby_installs() {
    let desk = Ruby::new();
    let gem = Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0").payload(b"light");
    let installed = desk.install_file(&gem).good();
    assert!(installed.contains("Successfully installed lamp-1.0.0"), "{installed}");
    assert!(desk.install_file(&gem.claims("la mp")).bad().contains("name"), "a false name is refused by Ruby too");
}
