//! Which packages depend on another, and the lists of packages of a repository.

use super::text;
use crate::world::{FIRST, Gem, Person, World};
use serde_json::{Value, json};

/// All dependents, part by part, as the API tells them; the pages must tell the same.
fn dependents(person: &Person, repository: &str, package: &str, limit: usize) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let part = person
            .get(&format!("/api/v1/packages/{repository}/{package}/dependents?limit={limit}{after}"))
            .expect(200)
            .json();
        let page =
            person.get(&format!("/packages/{repository}/{package}?dependents=true&limit={limit}{after}")).expect(200);
        for one in part["dependents"].as_array().unwrap() {
            let told =
                format!("{} {} {}", text(one, "package"), text(one, "version"), text(&one["dependency"], "versions"));
            assert!(page.text().contains(&format!("/packages/{repository}/{}\"", text(one, "package"))), "{told}");
            all.push(told);
        }
        match part["next"].as_str() {
            Some(next) => {
                assert!(page.text().contains(&format!("?dependents=true&#38;after={next}")), "{}", page.text());
                after = format!("&after={next}");
            }
            None => {
                assert!(page.text().contains("All packages were examined."), "{}", page.text());
                return all;
            }
        }
    }
}

#[test]
fn the_dependents_of_a_gem_are_told_by_the_latest_version_that_clients_get() {
    let world = World::start();
    world.repository("more", false);
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST, "more"] }));
    for (repository, gem) in [
        (FIRST, Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")),
        (FIRST, Gem::new("lamp", "2.0.0").needs("oil", "~> 2.0")),
        (FIRST, Gem::new("lantern", "1.0.0").needs("oil", ">= 1.0")),
        (FIRST, Gem::new("lantern", "1.1.0")),
        (FIRST, Gem::new("oil", "2.5.0")),
        ("more", Gem::new("torch", "3.0.0").needs("oil", ">= 0")),
    ] {
        world.admin().push(repository, &gem).expect(200);
    }
    let told = |repository| dependents(&world.anon(), repository, "oil", 1);
    assert_eq!(told(FIRST), ["lamp 2.0.0 ~> 2.0"]);
    assert_eq!(told("all"), ["lamp 2.0.0 ~> 2.0", "torch 3.0.0 >= 0"]);
    world.change("all", &json!({ "include_hosted": true, "policy": { "deny": ["lantern:1.1.0", "lamp:2.0.0"] } }));
    assert_eq!(told("all"), ["lamp 1.0.0 ~> 1.0", "lantern 1.0.0 >= 1.0", "torch 3.0.0 >= 0"]);
    assert!(dependents(&world.anon(), FIRST, "unknown", 100).is_empty());
}

#[test]
fn the_dependents_of_an_artifact_are_told_by_stored_poms() {
    let world = World::start();
    world.tree("ours", "maven");
    let pom = |artifact: &str, version: &str, needs: &str| {
        let dependency = match needs {
            "" => String::new(),
            needs => format!(
                "<dependency><groupId>org.example</groupId><artifactId>{needs}</artifactId><version>7</version></dependency>"
            ),
        };
        let text = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>{artifact}</artifactId>\
             <version>{version}</version><dependencies>{dependency}</dependencies></project>"
        );
        let path = format!("org/example/{artifact}/{version}/{artifact}-{version}.pom");
        world.admin().put("ours", &path, text.as_bytes()).expect(201);
    };
    pom("lamp", "1.0", "oil");
    pom("lamp", "1.1", "");
    pom("lamp-post", "1.0", "oil");
    pom("torch", "2.0", "oil");
    assert_eq!(
        dependents(&world.anon(), "ours", "org.example:oil", 1),
        ["org.example:lamp-post 1.0 7", "org.example:torch 2.0 7"]
    );
}

/// The names of all packages, part by part.
fn packages(person: &Person, repository: &str, limit: usize) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let part: Value = person.get(&format!("/api/v1/packages/{repository}?limit={limit}{after}")).expect(200).json();
        let page = person.get(&format!("/packages/{repository}?limit={limit}{after}")).expect(200);
        for one in part["packages"].as_array().unwrap() {
            assert!(page.text().contains(text(one, "package")), "{}", page.text());
            all.push(text(one, "package").to_owned());
        }
        let Some(next) = part["next"].as_str() else { return all };
        assert!(page.text().contains("More packages"));
        after = format!("&after={next}");
    }
}

#[test]
fn all_packages_are_listed_part_by_part_and_linked_from_the_page_of_the_repository() {
    let world = World::start();
    let connection = &mut world.admin().connect().unwrap();
    let names: Vec<String> = (10..25).map(|at| format!("gem{at}")).collect();
    for name in &names {
        world.admin().push_on(connection, FIRST, &Gem::new(name, "1.0.0").bytes()).unwrap().expect(200);
    }
    for limit in [1, 4, 100] {
        assert_eq!(packages(&world.anon(), FIRST, limit), names);
    }
    let html = [("Accept", "text/html")];
    let page = world.anon().ask("GET", &format!("/repository/{FIRST}/"), &html, b"").expect(200);
    assert!(
        page.text().contains(&format!("/packages/{FIRST}/gem10")) && page.text().contains("5 more"),
        "{}",
        page.text()
    );
    world.tree("ours", "maven");
    let mut artifacts = Vec::new();
    for (group, artifact) in
        [("org.a", "lamp"), ("org.a", "lamp-post"), ("org.a.lamp", "bulb"), ("org.a-b", "lamp"), ("org", "a")]
    {
        let path = format!("{}/{artifact}/1.0/{artifact}-1.0.pom", group.replace('.', "/"));
        let pom = format!(
            "<project><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>1.0</version></project>"
        );
        world.admin().put("ours", &path, pom.as_bytes()).expect(201);
        artifacts.push(format!("{group}:{artifact}"));
    }
    artifacts.sort();
    for limit in [1, 2, 100] {
        let mut listed = packages(&world.anon(), "ours", limit);
        listed.sort();
        assert_eq!(listed, artifacts);
    }
    world.tree("tools", "raw");
    let refused = world.anon().get("/api/v1/packages/tools").expect(400);
    assert!(refused.text().contains("belong to no packages"), "{}", refused.text());
}
