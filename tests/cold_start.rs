//! A new server before it has reached the public index: the gems of the house are there, and the others come later. And the upstream that a
//! data folder has by default.

use crate::readme::scripts;
use crate::world::{Client, FIRST, Gem, Passed, Ruby, World};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};

crate::world::with_each_client!([
    the_first_minute_of_a_ruby_team_needs_no_network_and_public_gems_come_when_there_is_one,
]);

/// The default of the setting holds, which no other test may use, or what the configuration file says.
const NOT_NONE: &[(&str, &str)] = &[("DAYLIGHT_UPSTREAM_RUBYGEMS", "")];

/// An address of this test alone, on which nothing listens yet.
pub(crate) fn address() -> SocketAddr {
    let id = std::process::id();
    let host = format!("127.{}.{}.{}:0", 128 + (id >> 16) % 64, (id >> 8) & 255, id & 255);
    TcpListener::bind(host).unwrap().local_addr().unwrap()
}

fn the_first_minute_of_a_ruby_team_needs_no_network_and_public_gems_come_when_there_is_one(client: Client) {
    let upstream = address();
    let url: &'static str = format!("http://{upstream}/repository/{FIRST}").leak();
    let world = World::start_in_conformance(vec![("DAYLIGHT_UPSTREAM_RUBYGEMS", url)].leak());
    let get = |path: &str| world.anon().file("gems", path);
    world.set_time("2026-11-02T08:00:00Z");

    let nothing = get("versions");
    assert!((502..=504).contains(&nothing.status), "Bundler would say that no gem exists: {}", nothing.status);

    let machine = Ruby::with(client);
    let token = format!("export DAYLIGHT_TOKEN={}\n", world.admin().secret());
    let first = scripts("README.md", "A Ruby team's first minute", &world).concat();
    let said = machine.shell("", &(token + &first)).good();
    assert!(said.contains("Successfully registered gem: acme-lamp") && said.contains("\nlight\n"), "{said}");

    for list in ["versions", "names", "specs.4.8.gz", "latest_specs.4.8.gz", "prerelease_specs.4.8.gz"] {
        let listed = get(list).expect(200);
        let stale = listed.header("daylight-stale").unwrap_or_default();
        assert!(stale.starts_with("upstream_"), "{list}: {stale}");
        let known = String::from_utf8_lossy(&listed.body);
        assert!(list.ends_with("gz") || known.contains("\nacme-lamp"), "{list}: {known}");
    }
    assert_eq!(get("info/acme-lamp").expect(200).header("daylight-stale"), None);
    for unknown in ["info/lamp", "gems/lamp-1.0.0.gem", "api/v1/dependencies?gems=lamp"] {
        let answer = get(unknown);
        assert!((502..=504).contains(&answer.status), "{unknown}: {}", answer.status);
    }
    // Through the mirror that the README sets. Private gems come from the same source.
    let (source, app) = (world.url("gems"), machine.app("app", "", ""));
    app.file("Gemfile", "source Gem.default_sources.first\ngem 'acme-lamp'\ngem 'lamp'\n");
    app.bundle(&["install"]).bad();

    let near = World::start_on(TcpListener::bind(upstream).unwrap(), Passed::AsInput);
    near.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.set_time("2026-11-02T08:10:00Z"); // its circuit may be open
    for list in ["versions", "names", "specs.4.8.gz"] {
        let listed = get(list).expect(200);
        assert_eq!(listed.header("daylight-stale"), None, "{list}");
        let whole = String::from_utf8_lossy(&listed.body);
        assert!(list.ends_with("gz") || whole.contains("\nacme-lamp") && whole.contains("\nlamp"), "{list}: {whole}");
    }
    get("info/wick").expect(404);
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'acme-lamp'; require 'lamp'; puts Lamp::VERSION"), "1.0.0\n");
    assert!(
        app.lock().contains("    acme-lamp (") && !app.lock().contains(&world.address().to_string()),
        "{}",
        app.lock()
    );
    let folder = machine.home().join("by-gem");
    let install = "gem install --no-document --clear-sources --install-dir";
    machine.shell("", &format!("{install} '{}' --source {source}/ lamp acme-lamp", folder.display())).good();
    let yank = scripts("docs/publishing-gems.md", "Yank", &world).concat().replace("acme-wick", "acme-lamp");
    let said = machine.shell(world.admin().secret(), &yank).good();
    assert!(said.contains("Successfully deleted gem: acme-lamp"), "{said}");
}

#[test]
fn a_new_folder_asks_the_public_index_and_no_default_changes_an_existing_one() {
    fn urls(world: &World) -> Value {
        world.admin().get("/api/v1/repositories/rubygems").expect(200).json()["remote"]["urls"].clone()
    }
    fn again(world: &mut World, upstream: &str) -> Value {
        world.stop();
        world.configure(upstream);
        world.resume();
        urls(world)
    }
    let none = "[upstream]\nrubygems = \"none\"\n";
    let (public, ours, others) =
        (json!(["https://rubygems.org"]), json!(["http://127.0.0.1:9/a"]), "http://127.0.0.1:9/b");

    let mut new = World::start_with_file_and("", NOT_NONE);
    assert_eq!(urls(&new), public);
    assert_eq!(again(&mut new, none), public, "`none` is about new folders");
    let mut old = World::start_with_file_and(none, NOT_NONE);
    assert_eq!(urls(&old), json!([]));
    assert_eq!(again(&mut old, ""), json!([]));
    old.change("rubygems", &json!({"remote": {"urls": ours}}));
    assert_eq!(again(&mut old, ""), ours);
    assert_eq!(again(&mut old, none), ours);
    assert_eq!(again(&mut old, &format!("[upstream]\nrubygems = \"{others}\"\n")), json!([others]));
    assert_eq!(again(&mut old, ""), json!([others]));
}
