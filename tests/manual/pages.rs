//! The stage of each page. To add a page: a function here that returns its stage, and its line in `mod.rs`.

use super::stage::Stage;
use crate::world::World;

const JAR: &str = "org/example/lamp/1.2/lamp-1.2.jar";

/// A server with three versions of an artifact.
fn lamps() -> World {
    let world = World::start();
    for version in ["1.0", "1.1", "1.2"] {
        let path = format!("org/example/lamp/{version}/lamp-{version}.jar");
        world.admin().put("maven-releases", &path, version.as_bytes()).expect(201);
    }
    world
}

pub(super) fn keeping_and_deleting() -> Stage {
    Stage::on(lamps()).after(|stage| {
        let listed = stage.world.admin().get("/api/v1/repositories/maven-releases").expect(200).json();
        assert_eq!(listed["holds"]["files"], 2, "1.0 was restored, and 1.1 purged: {listed}");
    })
}

pub(super) fn backup() -> Stage {
    Stage::on(lamps())
        .data("/srv/daylight")
        .folder("/mnt/backup")
        // From there on the page is about a server that was stopped.
        .before("mv /srv/daylight", |stage| stage.world.stop())
        .after(|stage| {
            stage.resume();
            assert_eq!(stage.world.anon().file("maven-releases", JAR).expect(200).text(), "1.2");
        })
}
