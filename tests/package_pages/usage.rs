//! The lines of pages, typed by hand: real clients take exactly the version of the page, from the repository of the page.

use super::{call, text};
use crate::maven_deploys::{HOSTED, publish, shelf};
use crate::world::{Central, FIRST, Gem, Release, Ruby, World, write};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

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

#[test]
fn maven_builds_with_the_version_of_the_page_and_the_lines_of_the_page_alone() {
    let central = Central::open();
    let world = shelf(World::start(), &central);
    let ci = world.person("ci", &["read", "write"], &HOSTED);
    for version in ["1.0.0", "1.1.0"] {
        publish(&ci, &central, HOSTED[0], version);
    }
    let shown = world.anon().get(&call(HOSTED[0], "example.lantern:lantern-app/1.0.0")).expect(200).json();
    assert_eq!((&shown["latest"], &shown["by"]), (&json!("1.1.0"), &json!("ci")));
    let (dependency, repositories) = lines(&shown, "pom.xml").split_once("\n\n").unwrap();
    // This machine knows the central repository and nothing else.
    let user = central.machine(Release::Three8);
    user.settings(&world.url("maven-central"), &[], "");
    let porch = user.project("porch", &[("version", "1.0.0")]);
    let pom = porch.file(Path::new("pom.xml"));
    let before = fs::read_to_string(&pom).unwrap();
    let (head, rest) = before.split_once("<dependencies>").unwrap();
    let (_, tail) = rest.split_once("</dependencies>").unwrap();
    fs::write(&pom, format!("{head}{repositories}\n<dependencies>\n{dependency}\n</dependencies>{tail}")).unwrap();
    porch.maven(&["compile"]).good();
    let fetched: Vec<String> = user.fetched().keys().map(|path| path.display().to_string()).collect();
    assert!(fetched.iter().any(|path| path.ends_with("lantern-app-1.0.0.jar")), "{fetched:?}");
    // What the page calls declared is what Maven fetched with it.
    for needs in shown["dependencies"].as_array().unwrap().iter().filter(|one| text(one, "scope") == "compile") {
        let (_, artifact) = text(needs, "package").split_once(':').unwrap();
        let jar = format!("{artifact}-{}.jar", text(needs, "versions"));
        assert!(fetched.iter().any(|path| path.ends_with(&jar)), "{jar}: {fetched:?}");
    }
    assert!(!fetched.iter().any(|path| path.contains("lantern-app/1.1.0")), "{fetched:?}");
}
