//! With the real client: `mvn archetype:generate` through a mirror finds archetypes that are hosted and those of an
//! upstream.

use crate::world::{Central, Release, Upstream, World};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

const PLUGIN: &str = "org.apache.maven.plugins:maven-archetype-plugin:3.4.1:generate";

/// The POM of version 1.0 of an archetype.
fn pom(name: &str) -> String {
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example.{name}</groupId><artifactId>{name}-archetype</artifactId>\
         <version>1.0</version><packaging>maven-archetype</packaging></project>"
    )
}

#[test]
fn archetypes_that_are_hosted_and_those_of_an_upstream_are_found_through_a_mirror() {
    let central = Central::open();
    let (world, upstream) = (World::start(), Upstream::start());
    world.remote("central-there", &central.url());
    world.remote("far", &upstream.url());
    world.change("maven", &json!({ "members": ["maven-releases", "far", "central-there"] }));
    let desk = central.machine(Release::Three9);
    desk.settings(&world.url("maven"), &[], "");
    let path =
        |name: &str, ending: &str| format!("org/example/{name}/{name}-archetype/1.0/{name}-archetype-1.0.{ending}");
    for name in ["lamp", "oil"] {
        // The project is packed as it is: it has no build of its own.
        let archetype = desk.project("archetype", &[("name", name)]);
        let jar = archetype.file(Path::new("packed.jar"));
        let mut command = Command::new("jar");
        command.arg("-cf").arg(&jar).args(["META-INF", "archetype-resources"]);
        assert!(command.current_dir(archetype.file(Path::new("."))).status().unwrap().success());
        let jar = fs::read(jar).unwrap();
        if name == "lamp" {
            world.admin().put("maven-releases", &path(name, "jar"), &jar).expect(201);
            world.admin().put("maven-releases", &path(name, "pom"), pom(name).as_bytes()).expect(201);
        } else {
            upstream.file(&format!("/{}", path(name, "jar")), jar);
            upstream.file(&format!("/{}", path(name, "pom")), pom(name));
        }
    }
    let catalog = "<archetype-catalog><archetypes><archetype><groupId>org.example.oil</groupId>\
                   <artifactId>oil-archetype</artifactId><version>1.0</version></archetype></archetypes></archetype-catalog>";
    upstream.file("/archetype-catalog.xml", catalog);
    for name in ["lamp", "oil"] {
        // Without a version, the catalog has to tell it.
        let archetype = [
            format!("-DarchetypeGroupId=org.example.{name}"),
            format!("-DarchetypeArtifactId={name}-archetype"),
            format!("-DartifactId=from-{name}"),
        ];
        let user = desk.another();
        user.settings(&world.url("maven"), &[], "");
        let place = user.project("archetype", &[]);
        let arguments = ["-DarchetypeCatalog=remote", "-DgroupId=com.acme", "-Dversion=1", "-Dpackage=com.acme"];
        let arguments: Vec<&str> =
            [PLUGIN].into_iter().chain(arguments).chain(archetype.iter().map(String::as_str)).collect();
        place.maven(&arguments).good();
        let made = fs::read_to_string(place.file(Path::new(&format!("from-{name}/pom.xml")))).unwrap();
        assert!(made.contains(&format!("made of {name}")), "{made}");
    }
}
