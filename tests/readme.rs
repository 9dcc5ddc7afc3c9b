//! The README's first push, word for word: what a newcomer types is what this runs.

use crate::world::{Client, FIRST, Gem, Ruby, World};
use serde_json::json;
use std::path::Path;

crate::world::with_each_client!([
    the_first_push_of_the_readme_works_as_it_is_written,
    the_first_minute_of_a_ruby_team_works_as_it_is_written,
]);

/// The shell of a section, all its blocks in one.
fn script(section: &str) -> String {
    let readme = include_str!("../README.md");
    let section = readme.split("\n## ").find(|found| found.starts_with(section)).unwrap();
    section.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect()
}

fn the_first_push_of_the_readme_works_as_it_is_written(client: Client) {
    let world = World::start();
    let script = script("First push\n");
    assert_eq!(script.matches("http://127.0.0.1:8080/repository").count(), 1, "{script}");
    assert_eq!(script.matches("daylight_...").count(), 1, "{script}");
    let script = script
        .replace("http://127.0.0.1:8080/repository", world.url("").trim_end_matches('/'))
        .replace("daylight_...", world.admin().secret());

    let said = Ruby::with(client).shell("", &script).good();
    for expected in ["Successfully registered gem: acme-lamp", "\nlight\n", "Successfully deleted gem: acme-lamp"] {
        assert!(said.contains(expected), "{said}");
    }
}

fn the_first_minute_of_a_ruby_team_works_as_it_is_written(client: Client) {
    let (upstream, world) = (World::start(), World::start());
    upstream.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let change = json!({"remote": {"urls": [upstream.url(FIRST)]}});
    world.admin().patch_json("/api/v1/repositories/rubygems", &change).expect(200);
    let script = script("A Ruby team's first minute\n");
    assert_eq!(script.matches("http://127.0.0.1:8080/repository/gems").count(), 1, "{script}");
    assert_eq!(script.lines().count(), 1, "{script}");
    let script = script.replace("http://127.0.0.1:8080/repository/gems", world.url("gems").trim_end_matches('/'));
    // Private gems come from the same source.
    world.admin().push(FIRST, &Gem::new("acme-oil", "1.0.0")).expect(200);

    let machine = Ruby::with(client);
    machine.shell("", &script).good();
    let app = machine.app("app", "", "gem 'lamp'");
    app.file("Gemfile", "source Gem.default_sources.first\ngem 'lamp'\ngem 'acme-oil'\n");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.0.0\n");
    assert!(app.lock().contains("    acme-oil (1.0.0)\n"), "{}", app.lock());
    assert!(!app.lock().contains(&world.address().to_string()), "{}", app.lock());
}

#[test]
fn the_readme_commands_for_repositories_and_tokens_work_as_they_are_written() {
    let world = World::start();
    let server = world.url("").replace("/repository//", "");
    let program = Path::new(env!("CARGO_BIN_EXE_daylight")).parent().unwrap().display();
    let head = format!("export PATH=\"{program}:$PATH\" DAYLIGHT_SERVER={server}\n");
    let said = Ruby::here().shell(world.admin().secret(), &(head + &script("Repositories, tokens, privacy\n"))).good();
    assert!(said.contains("vault") && said.contains("laptop") && said.contains("daylight_"), "{said}");
    let tokens = world.admin().get("/api/v1/tokens").expect(200);
    assert!(tokens.text().contains("laptop") && !tokens.text().contains("\"ci\""), "{}", tokens.text());
}

#[test]
fn every_repository_that_the_readme_names_for_maven_is_in_a_new_folder() {
    let world = World::start();
    let readme = include_str!("../README.md");
    let section = readme.split("\n## ").find(|found| found.starts_with("Maven\n")).unwrap();
    let names: Vec<&str> = section
        .split("http://127.0.0.1:8080/repository/")
        .skip(1)
        .map(|rest| rest.split('/').next().unwrap())
        .collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        world.anon().get(&format!("/repository/{name}/")).expect(200);
        world.anon().get(&format!("/repository/{name}/settings.xml")).expect(200);
    }
}
