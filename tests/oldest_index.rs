//! `gem` with the oldest index alone, and with builds for platforms among what it chooses from: it takes a version from
//! whichever index is answered, reads its gemspec, then fetches the gem under the name that it makes of the platform.

use crate::world::{FIRST, Gem, Ruby, World};
use serde_json::json;

/// With a gem that has a build for this machine under the platform name of later RubyGems releases.
fn world() -> World {
    let world = World::start();
    let platform = Ruby::new().judge(b"", "puts Gem::Platform.local");
    let here = format!("{}-gnu", platform.trim_end());
    for gem in [
        Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0"),
        Gem::new("lamp", "1.1.0").needs("oil", "~> 1.0"),
        Gem::new("lamp", "2.0.0.rc1").needs("oil", "~> 1.0"),
        Gem::new("oil", "1.0.0"),
        Gem::new("oil", "1.0.1").platform(&here),
        Gem::new("oil", "1.0.2").platform("java"),
        Gem::new("oil", "2.0.0"),
    ] {
        world.admin().push(FIRST, &gem).expect(200);
    }
    world
}

fn gem(world: &World, desk: &Ruby, command: &str) -> String {
    desk.shell("", &format!("gem {command} --clear-sources --source {} 2>&1", world.url(FIRST))).good()
}

/// A machine that installed a gem, and the build for its platform of another one.
fn installed(world: &World) -> Ruby {
    let desk = Ruby::new();
    let said = gem(world, &desk, "install lamp --version 1.0.0 --no-document");
    assert!(said.contains("Successfully installed lamp-1.0.0"), "{said}");
    assert!(said.contains("Successfully installed oil-1.0.1-"), "the build for this platform: {said}");
    let run = |code: &str| desk.shell("", &format!("ruby -e \"{code}\"")).good();
    assert_eq!(run("require 'lamp'; require 'oil'; puts Lamp::VERSION + ' ' + Oil::VERSION"), "1.0.0 1.0.1\n");
    gem(world, &desk, "fetch oil --platform java --version 1.0.2");
    assert!(desk.home().join("oil-1.0.2-java.gem").exists());
    desk
}

/// `gem_commands` has the other commands with every index.
#[test]
fn gem_does_all_it_can_with_the_oldest_index_alone_and_chooses_the_same_builds_with_every_index() {
    let world = world();
    installed(&world);
    world.change(FIRST, &json!({ "protocols": { "compact_index": false, "dependencies": false } }));
    let desk = installed(&world);
    let gem = |command: &str| gem(&world, &desk, command);
    assert_eq!(gem("outdated"), "lamp (1.0.0 < 1.1.0)\noil (1.0.1 < 2.0.0)\n");
    let said = gem("list --remote");
    assert!(said.contains("lamp (1.1.0)") && said.contains("oil (2.0.0, 1.0.2 java, 1.0.1 "), "{said}");
    assert!(gem("list --remote --prerelease").contains("lamp (2.0.0.rc1)"));
    assert!(gem("search lam").contains("lamp (1.1.0)"));
    assert!(gem("specification lamp --remote").contains("summary: One of many"));
    assert!(gem("dependency lamp --remote --version 1.1.0").contains("oil (~> 1.0)"));
    let said = gem("fetch lamp");
    assert!(said.contains("Downloaded lamp-1.1.0"), "{said}");
    assert!(desk.home().join("lamp-1.1.0.gem").exists());
    let said = gem("install lamp --pre --remote --no-document");
    assert!(said.contains("Successfully installed lamp-2.0.0.rc1"), "{said}");
    world.admin().push(FIRST, &Gem::new("lamp", "1.10.0").needs("oil", "~> 1.0")).expect(200);
    assert!(gem("list --remote --all").contains("lamp (1.10.0, 1.1.0, 1.0.0)"), "the newest is the first");
    world.admin().yank(FIRST, "lamp", "1.10.0").expect(200);
    world.admin().push(FIRST, &Gem::new("wick", "0.1.0")).expect(200);
    let said = gem("list --remote");
    assert!(said.contains("lamp (1.1.0)") && said.contains("wick (0.1.0)"), "{said}");
}
