//! The README's first minute of a Ruby team, with the `gem` and `bundle` of each release, and what the README says of a new data folder.

use crate::manual::page::blocks;
use crate::world::{Client, FIRST, Gem, Ruby, World};
use serde_json::json;

crate::world::with_each_client!([
    the_first_push_of_the_readme_works_as_it_is_written,
    the_first_minute_of_a_ruby_team_works_as_it_is_written,
]);

const PLACE: &str = "http://127.0.0.1:8080/repository/";

/// The blocks of commands of a section of a page, for this server.
pub(crate) fn scripts(page: &str, section: &str, world: &World) -> Vec<String> {
    let blocks = blocks(page).into_iter().filter(|block| block.section == section && block.language == "sh");
    let place = world.url("").trim_end_matches('/').to_owned() + "/";
    blocks.map(|block| block.text.replace(PLACE, &place).replace("daylight_...", world.admin().secret())).collect()
}

fn the_first_push_of_the_readme_works_as_it_is_written(client: Client) {
    let world = World::start();
    let first = scripts("README.md", "A Ruby team's first minute", &world);
    let yank = scripts("docs/publishing-gems.md", "Yank", &world).concat().replace("acme-wick", "acme-lamp");
    let token = format!("export DAYLIGHT_TOKEN={}\n", world.admin().secret());
    let said = Ruby::with(client).shell("", &(token + &first.concat() + &yank)).good();
    for expected in ["Successfully registered gem: acme-lamp", "\nlight\n", "Successfully deleted gem: acme-lamp"] {
        assert!(said.contains(expected), "{said}");
    }
}

fn the_first_minute_of_a_ruby_team_works_as_it_is_written(client: Client) {
    let (upstream, world) = (World::start(), World::start());
    upstream.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let change = json!({"remote": {"urls": [upstream.url(FIRST)]}});
    world.admin().patch_json("/api/v1/repositories/rubygems", &change).expect(200);
    let first = scripts("README.md", "A Ruby team's first minute", &world);
    let mirror = &first[0];
    assert!(mirror.starts_with("bundle config set --global \"mirror."), "{mirror}");
    // Private gems come from the same source.
    world.admin().push(FIRST, &Gem::new("acme-oil", "1.0.0")).expect(200);

    let machine = Ruby::with(client);
    machine.shell("", mirror).good();
    let app = machine.app("app", "", "gem 'lamp'");
    app.file("Gemfile", "source Gem.default_sources.first\ngem 'lamp'\ngem 'acme-oil'\n");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.0.0\n");
    assert!(app.lock().contains("    acme-oil (1.0.0)\n"), "{}", app.lock());
    assert!(!app.lock().contains(&world.address().to_string()), "{}", app.lock());
}

#[test]
fn every_repository_that_the_readme_names_is_in_a_new_folder() {
    let world = World::start();
    let readme = std::fs::read_to_string(crate::manual::page::root().join("README.md")).unwrap();
    let names: Vec<&str> =
        readme.split(PLACE).skip(1).map(|rest| rest.split(['/', '"', '\n', ' ']).next().unwrap()).collect();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        world.admin().get(&format!("/api/v1/repositories/{name}")).expect(200);
    }
}
