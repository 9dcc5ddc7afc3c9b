//! Findings about what the program tells: certificates, the disk, names, indexes, hooks, settings, held versions. Each is made by a real
//! fault.

mod indexes;
mod mutes;

use crate::tls::Certificate;
use crate::world::{Upstream, World, await_true};
use serde_json::{Value, json};

/// Sets the clock to a time on 2 November 2026.
fn at(world: &World, time: &str) {
    world.set_time(&format!("2026-11-02T{time}Z"));
}

/// The finding with this id, in any shown state.
fn finding(world: &World, id: &str) -> Option<Value> {
    world.findings().into_iter().find(|finding| finding["id"] == id)
}

/// The open finding with this id. It is awaited: what it is about is found by a job.
#[track_caller]
fn open(world: &World, id: &str) -> Value {
    await_true(&format!("{id} is open"), || world.open_findings().contains(&id.to_owned()));
    finding(world, id).unwrap()
}

/// The question of a finding has rows.
#[track_caller]
fn is_proven(world: &World, finding: &Value) {
    let asked = world.admin().post_json("/api/v1/ask", &finding["evidence"]).expect(200).json();
    assert!(!asked["rows"].as_array().unwrap().is_empty(), "{finding:#}\n{asked:#}");
}

fn sentence(finding: &Value) -> &str {
    finding["sentence"].as_str().unwrap()
}

#[test]
fn a_certificate_that_ends_within_two_weeks_is_told_and_a_fresh_one_is_not() {
    let certificate = Certificate::new();
    certificate.renew(60);
    let told = |certificate: &Certificate| {
        let world = World::start_with_file(&certificate.settings());
        let trusted = certificate.file();
        let token = format!("Authorization: {}", world.admin().secret());
        let get = |path: &str| {
            let answer = crate::tls::curl(&world, &trusted, path, &["--insecure", "-H", &token]);
            serde_json::from_slice::<Value>(&answer.stdout).unwrap()
        };
        // The start looks once.
        await_true("the checks have looked", || get("/api/v1/checks")["able"] != 0);
        get("/api/v1/findings?state=pending,open")["findings"].clone()
    };
    let of_certificates = |found: &Value| -> Vec<Value> {
        let all = found.as_array().unwrap().iter();
        all.filter(|finding| finding["key"] == "certificate-ends").cloned().collect()
    };
    assert_eq!(of_certificates(&told(&certificate)), Vec::<Value>::new());
    certificate.renew(10);
    // Its lifetime is as short, so a third of it counts.
    assert_eq!(of_certificates(&told(&certificate)), Vec::<Value>::new());
    certificate.expire();
    let found = of_certificates(&told(&certificate));
    assert_eq!(found[0]["id"], "certificate-ends@certificate:server", "{found:?}");
    assert!(sentence(&found[0]).ends_with(": clients refuse the server"), "{found:?}");
}

#[test]
fn a_setting_without_effect_is_told_with_its_name() {
    let world = World::start_in_conformance(&[("DAYLIGHT_TELEMETRY_ACCESS_LOG_FILE", "access.log")]);
    at(&world, "12:00:00");
    at(&world, "12:06:00");
    let told = open(&world, "contradictory-settings@setting:telemetry.access_log_file");
    assert_eq!(sentence(&told), "`telemetry.access_log_file` has no effect while `telemetry.access_log` is `off`");
    let world = World::start_in_conformance(&[]);
    at(&world, "12:00:00");
    at(&world, "12:06:00");
    assert_eq!(world.findings(), Vec::<Value>::new(), "a server without content and without traffic has no fault");
}

#[test]
fn somebody_who_asks_for_a_young_version_is_told_when_it_is_shown() {
    let world = World::start_in_conformance(&[]);
    at(&world, "12:00:00");
    world.tree("ours", "maven");
    let path = "org/example/lamp/1.1/lamp-1.1.jar";
    world.admin().put("ours", path, b"lamp").expect(201);
    let denied = "org/example/oil/1/oil-1.jar";
    world.admin().put("ours", denied, b"oil").expect(201);
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ours"] }));
    let policy = json!({ "policy": { "cooldown_s": 7 * 86_400, "deny": ["org.example:oil"] }, "include_hosted": true });
    world.change("all", &policy);
    // A name that is denied stays so, and nobody waits for it.
    world.anon().file("all", denied).expect(403);
    at(&world, "12:06:00");
    assert_eq!(finding(&world, "versions-held-back@repository:all"), None);
    world.anon().file("all", path).expect(403);
    at(&world, "12:06:30");
    at(&world, "12:12:00");
    let told = open(&world, "versions-held-back@repository:all");
    assert!(sentence(&told).contains("shown from 2026-11-09T12:00:00.000Z"), "{told:#}");
    assert_eq!(
        told["changes"][0]["command"], "daylight policy allow all org.example:lamp:1.1 --why REASON",
        "{told:#}"
    );
    is_proven(&world, &told);
    assert_eq!(world.event(told["event"].as_str().unwrap())["status"], 403);
}

#[test]
fn a_disk_that_fills_is_told_before_its_floor_and_that_nothing_is_written_below_it() {
    const MIB: usize = 1 << 20;
    let text = format!("[store]\nfree_space_floor_bytes = {}\n", 8 * MIB);
    let world = World::start_on_small_disk(64 * MIB as u64, &text);
    world.tree("files", "raw");
    let free = || {
        let metrics = world.admin().get("/metrics").expect(200);
        let line =
            metrics.text().lines().find_map(|line| line.strip_prefix("daylight_disk_free_bytes ")?.parse::<f64>().ok());
        line.unwrap() as usize
    };
    await_true("the disk was looked at", || world.admin().get("/api/v1/checks").expect(200).json()["able"] != 0);
    let room = free() - 8 * MIB;
    let put = |name: &str, bytes: usize| world.admin().put("files", name, &vec![name.len() as u8; bytes]).status;
    assert_eq!(put("a", room * 3 / 4), 201);
    await_true("the growth is told", || finding(&world, "disk-fills@disk").is_some());
    let told = finding(&world, "disk-fills@disk").unwrap();
    assert!(sentence(&told).contains("the floor of 8 MiB, below which nothing is written, is reached in "), "{told:#}");
    is_proven(&world, &told);
    let below = (1..40).map(|number| put(&"b".repeat(number), MIB)).find(|status| *status != 201);
    assert_eq!(below, Some(507), "the disk is never full");
    let told = open(&world, "read-only@disk");
    assert!(sentence(&told).contains("free space on the disk is below `store.free_space_floor_bytes`"), "{told:#}");
}

#[test]
fn an_upstream_that_is_not_called_any_more_refuses_nothing_when_its_time_is_over() {
    let (world, upstream) = (World::start_in_conformance(&[]), Upstream::start());
    at(&world, "12:00:00");
    world.remote_of("raw", "far", &upstream.url());
    upstream.unplug();
    let ready = || world.anon().get("/health/ready").expect(200).text().to_owned();
    await_true("its circuit is open", || {
        world.anon().file("far", "tool");
        ready().contains("their circuits are open")
    });
    at(&world, "12:02:00");
    assert_eq!(ready(), "ready\n", "nobody called it since");
}
