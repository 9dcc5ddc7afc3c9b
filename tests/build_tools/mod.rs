//! With real clients: sbt, Coursier, Ivy and Gradle publish to a hosted repository and resolve through a group, from an empty home each
//! time, with the settings that stand on the page about them.

mod coursier;
mod gradle;
mod ivy;
mod sbt;
mod tool;

use crate::manual::page::{Block, blocks};
use crate::world::{Central, Person, World};
use serde_json::json;

/// The page with the settings.
const PAGE: &str = "docs/build-tools.md";

/// The server of the page, with its repositories.
struct Scene {
    world: World,
    writer: Person,
}

impl Scene {
    fn new(central: &Central) -> Self {
        let world = World::start();
        world.change("maven-central", &json!({ "remote": { "urls": [central.url()] } }));
        world.make(&json!({ "name": "ivy", "format": "maven", "kind": "hosted", "layout": "any" }));
        world.make(&json!({ "name": "vault", "format": "maven", "kind": "hosted", "private": true }));
        let writer = world.person("ci", &["read", "write"], &["maven-releases", "ivy", "maven", "vault"]);
        Self { world, writer }
    }

    /// A block of the page by its section and its place there, with the server's URL.
    fn block(&self, section: &str, at: usize) -> String {
        let mut of_section = blocks(PAGE).into_iter().filter(|block: &Block| block.section == section);
        let text = of_section.nth(at).unwrap_or_else(|| panic!("{PAGE} has no block {at} about {section}")).text;
        text.replace("127.0.0.1:8080", &self.world.address().to_string())
    }

    fn has(&self, repository: &str, path: &str) {
        self.world.anon().file(repository, path).expect(200);
    }
}
