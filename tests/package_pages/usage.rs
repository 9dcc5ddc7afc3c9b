//! The lines of pages, typed by hand: real clients take exactly the version of the page, from the repository of the page.

use super::{call, text};
use crate::world::{FIRST, Gem, Ruby, World, write};
use serde_json::Value;

/// The lines of a page with this title.
fn lines<'a>(shown: &'a Value, title: &str) -> &'a str {
    let all = shown["snippets"].as_array().unwrap();
    let found = all.iter().find(|snippet| snippet["title"] == title);
    text(found.unwrap_or_else(|| panic!("no {title}: {shown:#}")), "lines")
}

#[test]
fn bundle_and_gem_install_the_version_of_the_page_with_its_lines() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0").needs("oil", "~> 2.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("oil", "2.5.0")).expect(200);
    let shown = world.anon().get(&call(FIRST, "lamp/1.0.0")).expect(200).json();
    let ruby = Ruby::new();
    write(&ruby.home().join("app/Gemfile"), lines(&shown, "Gemfile"));
    let locked = ruby.shell("", "cd app && bundle install >/dev/null && cat Gemfile.lock").good();
    assert!(locked.contains("lamp (1.0.0)") && locked.contains("oil (2.5.0)"), "{locked}");
    ruby.shell("", lines(&shown, "gem")).good();
    let list = ruby.shell("", "gem list --local").good();
    assert!(list.contains("lamp (1.0.0)") && list.contains("oil (2.5.0)"), "{list}");
}

#[test]
fn a_private_gem_is_installed_with_the_token_in_the_place_of_the_word() {
    let world = World::start();
    world.repository("vault", true);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    let reader = world.person("reader", &["read"], &["vault"]);
    let shown = reader.get(&call("vault", "lamp/1.0.0")).expect(200).json();
    let ruby = Ruby::new();
    write(&ruby.home().join("app/Gemfile"), lines(&shown, "Gemfile"));
    let token = lines(&shown, "The token, for Bundler, once on each machine").replace("TOKEN", reader.secret());
    let locked = ruby.shell("", &format!("cd app && {token} && bundle install >/dev/null && cat Gemfile.lock")).good();
    assert!(locked.contains("lamp (1.0.0)"), "{locked}");
    ruby.shell("", &lines(&shown, "gem").replace("TOKEN", reader.secret())).good();
}
