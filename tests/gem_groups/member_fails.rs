//! The answers of a gem group while the upstream of a member fails. `docs/groups-of-gems.md` has them as a table, which
//! this test compares.

use crate::world::{Answer, FIRST, Gem, World};
use std::cell::Cell;
use std::fs;
use std::path::Path;

/// The requested paths and their meanings.
const ASKED: &[(&str, &str)] = &[
    ("versions", "the index"),
    ("names", "the names"),
    ("specs.4.8.gz", "the older index"),
    ("info/desk", "a gem of `ours`"),
    ("gems/desk-1.0.0.gem", "its file"),
    ("info/lamp", "a gem of `near`"),
    ("gems/lamp-1.0.0.gem", "its file"),
    ("quick/Marshal.4.8/lamp-1.0.0.gemspec.rz", "its gemspec"),
    ("api/v1/dependencies?gems=lamp", "what it needs"),
    ("info/oil", "a gem of `far`"),
    ("gems/oil-1.0.0.gem", "its file"),
    ("api/v1/dependencies?gems=oil", "what it needs"),
    ("info/wick", "a gem that nobody has"),
];
/// The cached state of the member `near`: nothing, only its index, or everything.
const GROUPS: [&str; 3] = ["never", "index", "all"];

/// A server with a group for each of these states, and a clock that advances by two minutes with each step.
struct Scene {
    world: World,
    far: World,
    minutes: Cell<u32>,
}

impl Scene {
    fn new(near: &World) -> Self {
        let scene = Self { world: World::start_in_conformance(&[]), far: World::start(), minutes: Cell::default() };
        scene.later();
        scene.far.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
        scene.world.admin().push(FIRST, &Gem::new("desk", "1.0.0")).expect(200);
        scene.world.remote_of("gem", "far", &scene.far.url(FIRST));
        for name in GROUPS {
            let member = format!("near-{name}");
            scene.world.remote_of("gem", &member, &near.url(FIRST));
            scene.world.gem_group(name, &[FIRST, &member, "far"]);
        }
        scene
    }

    fn later(&self) {
        self.minutes.set(self.minutes.get() + 2);
        let minutes = self.minutes.get();
        self.world.set_time(&format!("2026-11-02T{:02}:{:02}:00Z", 8 + minutes / 60, minutes % 60));
    }

    fn ask(&self, group: &str, path: &str) -> Answer {
        self.world.anon().file(group, path)
    }
}

/// The exact 5xx, and the reason for a stale answer, depend on the host alone: its circuit may be open after some
/// failures.
fn told(answer: &Answer) -> String {
    let status = if (502..=504).contains(&answer.status) { "5xx".to_owned() } else { answer.status.to_string() };
    let stale = answer.header("daylight-stale").map_or("", |_| ", `Daylight-Stale`");
    status + stale
}

#[test]
fn the_table_in_the_docs_tells_what_a_group_of_gems_answers_while_a_member_fails() {
    let mut near = World::start();
    near.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let scene = Scene::new(&near);
    scene.ask("index", "versions").expect(200);
    for (path, _) in ASKED {
        let status = if path.ends_with("wick") { 404 } else { 200 };
        scene.ask("all", path).expect(status);
    }
    near.stop();
    let mut table = "| asked for | path | never seen | index kept | all kept |\n|---|---|---|---|---|\n".to_owned();
    for (path, what) in ASKED {
        let cells = GROUPS.map(|group| {
            scene.later();
            told(&scene.ask(group, path))
        });
        table += &format!("| {what} | `{path}` | {} |\n", cells.join(" | "));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/groups-of-gems.md");
    let docs = fs::read_to_string(file).unwrap_or_default();
    assert!(
        docs.contains(&format!("\n\n{table}\n")),
        "docs/groups-of-gems.md has another table than is seen:\n{table}"
    );
}
