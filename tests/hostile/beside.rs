//! Normal clients during an attack: none of their requests may fail.

use crate::accounts::sum;
use crate::world::{FIRST, Gem, World, await_true};
use serde_json::json;

/// How often each request is made during an attack.
const ROUNDS: usize = 3;
/// The path of a public file in a hosted repository.
const FILE: &str = "tools/lamp.zip";

/// Normal clients: a gem and a file that they read, and a person who publishes.
pub(super) struct Others<'a> {
    world: &'a World,
    pushed: usize,
}

impl<'a> Others<'a> {
    /// Publishes the gem and the file, and reads the index until it is a page.
    pub(super) fn new(world: &'a World) -> Self {
        let admin = world.admin();
        admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
        world.tree("tools", "raw");
        admin.put("tools", FILE, &[7; 200_000]).expect(201);
        let others = Self { world, pushed: 0 };
        (0..3).for_each(|_| others.reads());
        others
    }

    /// Makes all their requests a few times: health, metrics, a page, hosted downloads, and publishing.
    pub(super) fn go_on(&mut self) {
        let admin = self.world.admin();
        for _ in 0..ROUNDS {
            self.reads();
            self.pushed += 1;
            admin.push(FIRST, &Gem::new("wick", &format!("1.0.{}", self.pushed))).expect(200);
            admin.put("tools", &format!("wick/{}.zip", self.pushed), b"wick").expect(201);
            admin.get("/api/v1/repositories").expect(200);
            // This is no page: the file does not exist, and is requested once.
            self.world.anon().get(&format!("/repository/{FIRST}/info/absent-{}", self.pushed)).expect(404);
        }
    }

    fn reads(&self) {
        let anon = self.world.anon();
        healthy(self.world);
        anon.get(&format!("/repository/{FIRST}/info/lamp")).expect(200);
        anon.get(&format!("/repository/{FIRST}/gems/lamp-1.0.0.gem")).expect(200);
        anon.get(&format!("/repository/{FIRST}/api/v1/versions/lamp.json")).expect(200);
        anon.file("tools", FILE).expect(200);
    }
}

/// The requests of probes and monitoring systems are answered.
pub(super) fn healthy(world: &World) {
    for path in ["/health/live", "/health/ready", "/metrics"] {
        world.anon().get(path).expect(200);
    }
}

/// Creates a remote repository whose upstream answers at its own pace.
pub(super) fn remote(world: &World, (name, format): (&str, &str), url: &str) {
    world.make(
        &json!({ "name": name, "format": format, "kind": "remote", "private": false, "remote": { "urls": [url] } }),
    );
}

/// Waits until the metrics satisfy the condition.
pub(crate) fn await_metrics(world: &World, what: &str, so: impl Fn(&str) -> bool) {
    await_true(what, || so(world.anon().get("/metrics").expect(200).text()));
}

/// The value of a bound's metric, summed over all its labels.
pub(crate) fn bound(metrics: &str, metric: &str, bound: &str) -> u64 {
    let lines = metrics.lines().filter(|line| line.contains(&format!("{{bound=\"{bound}\",")));
    let lines: Vec<&str> = lines.collect();
    let lines = lines.join("\n");
    ["", "_bytes"].iter().map(|unit| sum(&lines, &format!("daylight_bound_{metric}{unit}"))).sum()
}
