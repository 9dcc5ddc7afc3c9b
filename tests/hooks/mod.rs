//! Hooks: an announced change is looked for until the upstream confirms it, and changes without a hook are found too.

mod forms;
mod groups;
mod looks;
mod lost;
mod refused;
mod trees;

use crate::world::{Answer, Parts, Says, Upstream, World, await_true, hex};
use format::gem::info::md5_hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The remote repository.
const REMOTE: &str = "upstream-gems";
/// Its hooks.
const HOOK: &str = "/hooks/upstream-gems";
/// The secret of its hooks, if it has one, and where the server finds it.
const SECRET: &str = "hush";
const REFERENCE: &str = "env:UPSTREAM_HOOKS";
const SETTINGS: &[(&str, &str)] = &[("UPSTREAM_HOOKS", SECRET), ("OTHER_HOOKS", SECRET)];

/// A server with a settable clock and a remote repository of a stand-in, which clients have read.
struct Scene {
    upstream: Upstream,
    world: World,
}

impl Scene {
    fn new() -> Self {
        Self::with(&json!({}))
    }

    /// Its hooks are signed.
    fn signed() -> Self {
        Self::with(&json!({ "hook_secret": REFERENCE }))
    }

    fn with(settings: &Value) -> Self {
        let scene = Self { upstream: Upstream::start(), world: World::start_in_conformance(SETTINGS) };
        let remote = json!({ "urls": [scene.upstream.url()] });
        let mut wanted = json!({ "name": REMOTE, "format": "gem", "kind": "remote", "remote": remote });
        wanted.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        scene.world.make(&wanted);
        scene.at("12:00:00");
        scene.lists(&["1.0.0"]);
        scene.world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200);
        scene
    }

    /// Makes the upstream list these versions of `lamp`.
    fn lists(&self, versions: &[&str]) {
        self.upstream.says("/versions", listing(versions));
    }

    fn at(&self, time: &str) {
        at(&self.world, time);
    }

    /// Sends a hook from the server's own machine.
    fn hook(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.world.anon().ask("POST", HOOK, headers, body.as_bytes())
    }

    /// Waits until clients get a version of `lamp`. No client causes a look while the clock stands still.
    fn await_version(&self, version: &str) {
        let listed = || self.lists_now(version);
        await_true(&format!("{version} is listed"), listed);
    }

    fn lists_now(&self, version: &str) -> bool {
        let versions = self.world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200);
        versions.text().lines().any(|line| line.starts_with(&format!("lamp {version} ")))
    }

    /// The number of looks at the upstream.
    fn looks(&self) -> usize {
        self.upstream.count("/versions")
    }

    /// The repository in the API.
    fn told(&self) -> Value {
        self.world.admin().get(&format!("/api/v1/repositories/{REMOTE}")).expect(200).json()
    }

    /// A figure of hooks in the API.
    fn figure(&self, name: &str) -> Value {
        self.told()["hooks"][name].clone()
    }

    /// Waits until no look is running: a request for a name that is not listed waits for one more look.
    fn settle(&self) {
        self.world.admin().get(&format!("/repository/{REMOTE}/info/nobody")).expect(404);
    }
}

/// `/versions` with these versions of `lamp`, as gem servers send it: with digests and ranges.
fn listing(versions: &[&str]) -> Says {
    let lines: String =
        versions.iter().map(|version| format!("lamp {version} {}\n", md5_hex(version.as_bytes()))).collect();
    let text = format!("created_at: 2026-11-01T00:00:00Z\n---\noil 1.0.0 {}\n{lines}", md5_hex(b"---\n"));
    Says::bytes(text.as_str()).header("ETag", &format!("\"{}\"", md5_hex(text.as_bytes()))).parts(Parts::Right)
}

/// Sets the clock to a time on 2 November 2026.
fn at(world: &World, time: &str) {
    world.set_time(&format!("2026-11-02T{time}Z"));
}

/// The body that RubyGems sends about a version.
fn payload(version: &str) -> String {
    json!({ "name": "lamp", "version": version, "platform": "ruby", "yanked": false, "downloads": 1, "authors": "A" })
        .to_string()
}

/// The signature of RubyGems for a version of `lamp`.
fn signature(version: &str, key: &str) -> String {
    hex(&Sha256::digest(format!("lamp{version}{key}")))
}
