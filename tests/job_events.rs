//! The events of jobs: each has an outcome, a duration, and the memory of the process while it ran.

use crate::pages::events;
use crate::world::{FIRST, Gem, Upstream, World};
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn every_job_has_an_outcome_a_duration_and_the_memory_of_the_process() {
    let mut world = World::start_with_file("[[repository]]\nname = \"trees\"\nformat = \"raw\"\n");
    let upstream = Upstream::start();
    upstream.file("/a/b", "bytes");
    let remote = json!({"name": "far", "format": "raw", "kind": "remote", "remote": {"urls": [upstream.url()]}});
    world.admin().post_json("/api/v1/repositories", &remote).expect(201);
    world.anon().get("/repository/far/a/b").expect(200);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.reload("the repositories of the configuration file are in force");
    world.stop();
    let events = events(&world);
    let jobs: Vec<_> = events.iter().filter(|event| event["kind"] == "job").collect();
    for job in &jobs {
        assert!(job["duration_ms"].as_f64().unwrap() > 0.0 && job["outcome"].is_string(), "{job}");
        let [before, highest, after] =
            ["before_bytes", "highest_bytes", "after_bytes"].map(|key| job["memory"][key].as_u64().unwrap_or_default());
        assert!(before > 1 << 20 && after > 1 << 20 && highest >= before.max(after), "{job}");
    }
    let names: BTreeSet<&str> = jobs.iter().map(|job| job["method"].as_str().unwrap()).collect();
    for name in ["start", "reload", "fetch", "segment.ship"] {
        assert!(names.contains(name), "{names:?}");
    }
}
