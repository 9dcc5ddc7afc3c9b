//! The settings files of Bundler and `gem`, saved as they come: a Gemfile that names another source is installed through Daylight.

use crate::world::{Client, FIRST, Gem, Ruby, World, write};
use serde_json::json;

crate::world::with_each_client!([
    bundler_asks_the_group_in_place_of_the_sources_of_a_gemfile,
    gem_asks_the_group_and_no_other_source,
]);

/// The source that Gemfiles name. Nobody answers there.
const ELSEWHERE: &str = "http://127.0.0.1:1/";

/// A server with groups of a hosted and a remote repository, one of them private, and the server that is the upstream.
fn worlds() -> (World, World) {
    let (world, upstream) = (World::start(), World::start());
    upstream.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")).expect(200);
    let remote = json!({ "urls": [upstream.url(FIRST)] });
    world.make(&json!({ "name": "far", "format": "gem", "kind": "remote", "remote": remote }));
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST, "far"] }));
    world.make(&json!({ "name": "vault", "format": "gem", "members": [FIRST, "far"], "private": true }));
    (world, upstream)
}

fn bundler_asks_the_group_in_place_of_the_sources_of_a_gemfile(client: Client) {
    let (world, _upstream) = worlds();
    let config = world.anon().file("all", "bundle-config").expect(200);
    assert_eq!(config.header("content-type"), Some("application/yaml"));
    let machine = Ruby::with(client);
    let app = machine.app("app", ELSEWHERE, "gem 'lamp'");
    app.bundle(&["install"]).bad();
    app.file(".bundle/config", config.text());
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.0.0\n");
    assert!(app.lock().contains(&format!("remote: {ELSEWHERE}")), "{}", app.lock());
    assert_eq!(app.bundle(&["config", "get", "mirror.all"]).good().matches(&world.url("all")).count(), 1);

    // The token of a private one comes from where the file says.
    world.anon().file("vault", "bundle-config").expect(401);
    let reader = world.person("reader", &["read"], &[]);
    let config = reader.file("vault", "bundle-config").expect(200);
    assert!(config.text().contains("\n#   export BUNDLE_127__0__0__1=TOKEN\n"), "{}", config.text());
    assert!(!config.text().contains(reader.secret()));
    let app = machine.app("other", ELSEWHERE, "gem 'lamp'");
    app.file(".bundle/config", config.text());
    let said = app.bundle(&["lock"]).bad();
    assert!(said.contains("Authentication is required"), "{said}");
    let (token, config) = (reader.secret(), "BUNDLE_APP_CONFIG=$PWD/.bundle");
    let lock = format!("cd other; export BUNDLE_127__0__0__1={token} {config}; bundle lock");
    machine.shell("", &lock).good();
    assert!(app.lock().contains("lamp (1.0.0)"), "{}", app.lock());
}

fn gem_asks_the_group_and_no_other_source(client: Client) {
    let (world, _upstream) = worlds();
    let reader = world.person("reader", &["read"], &[]);
    let saved =
        reader.file("vault", "gemrc").expect(200).text().replace("//TOKEN@", &format!("//{}@", reader.secret()));
    for text in [world.anon().file("all", "gemrc").expect(200).text(), &*saved] {
        let machine = Ruby::with(client);
        write(&machine.home().join(".gemrc"), text);
        let said = machine.shell("", "gem sources --list").good();
        assert_eq!(said.matches("http://").count(), 1, "{said}");
        assert!(machine.shell("", "gem list --remote").good().contains("lamp (1.0.0)"));
        let said = machine.shell("", "gem install --no-document lamp").good();
        assert!(said.contains("2 gems installed"), "{said}");
    }
}

#[test]
fn a_hosted_repository_replaces_no_source_and_a_remote_one_all_of_them() {
    let world = World::start();
    let remote = json!({ "urls": ["http://127.0.0.1:1/"] });
    world.make(&json!({ "name": "far", "format": "gem", "kind": "remote", "remote": remote }));
    let text = |repository: &str, file: &str| world.anon().file(repository, file).expect(200).text().to_owned();
    assert!(!text(FIRST, "bundle-config").contains("MIRROR"));
    assert!(text("far", "bundle-config").contains(&format!("BUNDLE_MIRROR__ALL: \"{}\"", world.url("far"))));
    assert!(text(FIRST, "gemrc").contains(&format!("gem sources --add {}", world.url(FIRST))));
    // One of a moment leads back to it.
    let name = format!("{FIRST}@seq-{}", crate::as_of::last_change(&world));
    assert!(text(&name, "gemrc").ends_with(&format!("\n- {}\n", world.url(&name))));
    world.tree("tools", "raw");
    world.anon().file("tools", "bundle-config").expect(404);
}
