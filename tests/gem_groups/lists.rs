//! `/names` and the older index of a group: the content of its `/versions` in the formats of older clients.

use super::{FIRST, GROUP, Scene, scene};
use crate::world::{Gem, World};

/// Whole indexes.
const LISTS: [&str; 4] = ["names", "specs.4.8.gz", "latest_specs.4.8.gz", "prerelease_specs.4.8.gz"];
/// A hosted repository on the upstream's server with the gems that the group must have.
const MODEL: &str = "model";
/// A group of the group.
const OUTER: &str = "outer-gems";

fn is_as_the_model(scene: &Scene, when: &str) {
    for list in LISTS {
        let model = scene.upstream.anon().file(MODEL, list).expect(200).body;
        for group in [GROUP, OUTER] {
            let ours = scene.world.anon().file(group, list).expect(200).body;
            assert!(ours == model, "{list} of {group} {when}: {} bytes, and not {}", ours.len(), model.len());
        }
    }
}

fn everywhere(scene: &Scene, (world, repository): (&World, &str), gem: &Gem) {
    world.admin().push(repository, gem).expect(200);
    scene.upstream.admin().push(MODEL, gem).expect(200);
}

#[test]
fn the_lists_of_a_group_are_those_of_a_repository_that_holds_all_gems_of_its_members() {
    let mut scene = scene();
    scene.upstream.repository(MODEL, false);
    scene.world.gem_group(OUTER, &[GROUP]);
    let (theirs, ours) = ((&scene.upstream, FIRST), (&scene.world, FIRST));
    is_as_the_model(&scene, "of nothing");
    everywhere(&scene, theirs, &Gem::new("lamp", "1.0.0"));
    everywhere(&scene, theirs, &Gem::new("lamp", "1.1.0.pre"));
    everywhere(&scene, theirs, &Gem::new("wick", "1.0.0").platform("java"));
    everywhere(&scene, ours, &Gem::new("oil", "2.0.0").platform("x86_64-linux"));
    everywhere(&scene, ours, &Gem::new("can", "1.0.0"));
    scene.at("2026-11-02T13:00:00Z");
    is_as_the_model(&scene, "at first");
    // Another member does not show its versions of a name that it does not own.
    scene.upstream.admin().push(FIRST, &Gem::new("oil", "9.0.0")).expect(200);
    everywhere(&scene, ours, &Gem::new("can", "1.0.1"));
    let oil = Gem::new("oil", "2.0.1");
    everywhere(&scene, ours, &oil);
    is_as_the_model(&scene, "after pushes here");
    for (world, repository) in [theirs, (&scene.upstream, MODEL)] {
        world.admin().yank(repository, "lamp", "1.0.0").expect(200);
    }
    scene.at("2026-11-02T14:00:00Z");
    is_as_the_model(&scene, "after a yank there");
    for (world, repository) in [ours, (&scene.upstream, MODEL)] {
        world.admin().yank(repository, "can", "1.0.0").expect(200);
        world.admin().yank(repository, "can", "1.0.1").expect(200);
    }
    is_as_the_model(&scene, "after yanks here");
    scene.world.stop();
    scene.world.resume();
    is_as_the_model(&scene, "after a restart");
    everywhere(&scene, (&scene.world, FIRST), &Gem::new("can", "1.0.2"));
    is_as_the_model(&scene, "after a push behind the restart");
}
