//! With real clients: a build with Maven 3.10 and 4 finds a group id that was published after its first request. These
//! releases keep a repository's list of path prefixes for a day and refuse other paths.

use crate::maven_deploys::{knows, shelf};
use crate::world::{Central, Release};

/// Resolves a parent by a range of versions. Then publishes another one under a new group id, and resolves that.
fn finds_what_is_published_after_its_first_request(release: Release) {
    let central = Central::open();
    let world = shelf(&central);
    let desk = central.machine(release);
    knows(&desk, &world, "");
    for group in ["com.acme", "org.example"] {
        let pom = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>{group}</groupId><artifactId>house</artifactId>\
             <version>1.0</version><packaging>pom</packaging></project>"
        );
        let path = format!("{}/house/1.0/house-1.0.pom", group.replace('.', "/"));
        world.admin().put("releases", &path, pom.as_bytes()).expect(201);
        desk.project("heir", &[("group", group)]).maven(&["validate"]).good();
    }
}

#[test]
fn maven_3_10_finds_a_group_id_that_was_published_after_its_first_request() {
    finds_what_is_published_after_its_first_request(Release::Three10);
}

#[test]
fn maven_4_finds_a_group_id_that_was_published_after_its_first_request() {
    finds_what_is_published_after_its_first_request(Release::Four);
}
