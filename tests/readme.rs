//! The commands of the README, and what it says of a new data folder.

use crate::manual::page::blocks;
use crate::world::World;

const PLACE: &str = "http://127.0.0.1:8080/repository/";

/// The blocks of commands of a section of a page, for this server.
pub(crate) fn scripts(page: &str, section: &str, world: &World) -> Vec<String> {
    let blocks = blocks(page).into_iter().filter(|block| block.section == section && block.language == "sh");
    let place = world.url("").trim_end_matches('/').to_owned() + "/";
    blocks.map(|block| block.text.replace(PLACE, &place).replace("daylight_...", world.admin().secret())).collect()
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
