//! Curves against real servers: what a cache would have answered with another size is what it answers after a restart with that size.

use super::load::{Load, Zipf};
use super::{findings, world};
use crate::world::{Upstream, World};
use serde_json::{Value, json};

/// The most that a share may differ from the promised one.
const POINTS: f64 = 0.03;

/// The curve of a cache, later than all requests.
fn curve(world: &World, name: &str) -> Value {
    findings(world, 27 * 24);
    let observer = world.person("observer", &["observe"], &[]);
    let answer = observer.get("/api/v1/curves").expect(200).json();
    let found = answer["curves"].as_array().unwrap().iter().find(|curve| curve["name"] == name).unwrap();
    found.clone()
}

/// The share of lookups that a cache of this size would answer, by its curve.
fn promised(curve: &Value, size: u64) -> f64 {
    let at = curve["sizes"].as_array().unwrap().iter().find(|at| at["size"] == size);
    at.unwrap_or_else(|| panic!("no size {size}: {curve}"))["hit_share"].as_f64().unwrap()
}

/// How many requests this layer answered.
fn answered_by(world: &World, layer: &str) -> f64 {
    // They have ended.
    findings(world, 1);
    let page = world.admin().get("/metrics").expect(200);
    let counts = page.text().lines().filter(|line| line.starts_with("daylight_requests_total{"));
    let of_layer = counts.filter(|line| line.contains(&format!("layer=\"{layer}\"")));
    of_layer.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
}

/// Runs a server with each size, and compares what it answered with what the curve of the first one promised.
fn compare(cache: &str, sizes: [u64; 3], run: &dyn Fn(u64) -> (World, f64)) {
    let [now, others @ ..] = sizes;
    let (server, share) = run(now);
    let curve = curve(&server, cache);
    drop(server);
    println!("{cache}: {share:.3} with {now}; {curve}");
    let there = curve["now"]["hit_share"].as_f64().unwrap();
    assert!((there - share).abs() < 0.005 && curve["now"]["size"] == now, "{share}, {curve}");
    let mut compared = vec![(now, promised(&curve, now), share)];
    compared.extend(others.map(|size| (size, promised(&curve, size), run(size).1)));
    for (size, promised, came) in &compared {
        assert!((promised - came).abs() <= POINTS, "{cache} with {size}: {compared:?}, {curve}");
    }
    let shares: Vec<f64> = compared.iter().map(|(.., came)| *came).collect();
    assert!(
        shares[1] + 2.0 * POINTS < shares[0] && shares[0] + 2.0 * POINTS < shares[2],
        "no size matters: {compared:?}"
    );
}

#[test]
fn pages_answer_what_their_curve_promised_after_a_restart_with_another_size() {
    compare("pages", [1 << 20, 1 << 19, 1 << 21], &|size| {
        let world = world(&format!("[server]\npages_bytes = {size}\n"));
        world.tree("files", "raw");
        let admin = world.admin();
        (0..60).for_each(|file| drop(admin.put("files", &format!("f/{file}"), &[file; 2000]).expect(201)));
        let groups: Vec<String> = (0..12).map(|number| format!("g{number}")).collect();
        for group in &groups {
            world.make(&json!({ "name": group, "format": "raw", "kind": "group", "members": ["files"] }));
        }
        let paths = groups.iter().flat_map(|group| (0..60).map(move |file| format!("/repository/{group}/f/{file}")));
        let paths: Vec<String> = paths.collect();
        // The copies know the size of the cache before the first page, and what a page takes soon after it.
        for requests in [0, 40, 2460] {
            Load::new(&world.anon(), 1).ask(&Zipf::new(&paths), requests);
            findings(&world, 0);
        }
        let share = answered_by(&world, "page") / 2500.0;
        (world, share)
    });
}

#[test]
fn open_files_answer_what_their_curve_promised_after_a_restart_with_another_size() {
    compare("files.open", [40, 20, 80], &|size| {
        let world = world(&format!("[server]\nopen_files = {size}\n"));
        world.tree("files", "raw");
        let admin = world.admin();
        let large = |file: u8| vec![file; 70 << 10];
        (0..200).for_each(|file| drop(admin.put("files", &format!("f/{file}"), &large(file)).expect(201)));
        let paths: Vec<String> = (0..200).map(|file| format!("/repository/files/f/{file}")).collect();
        findings(&world, 0);
        Load::new(&world.anon(), 1).ask(&Zipf::new(&paths), 1500);
        let share = answered_by(&world, "open") / 1500.0;
        (world, share)
    });
}

#[test]
fn cached_files_answer_what_their_curve_promised_after_a_restart_with_another_size() {
    compare("cached", [32 << 20, 16 << 20, 64 << 20], &|size| {
        let world = world(&format!("[server]\nopen_files = 2\n[store]\ncached_bytes = {size}\n"));
        let upstream = Upstream::start();
        world.remote_of("raw", "far", &upstream.url());
        let paths: Vec<String> = (0..200).map(|number| format!("/repository/far/{number}")).collect();
        (0..200).for_each(|number| upstream.file(&format!("/{number}"), vec![number as u8; 512 << 10]));
        findings(&world, 0);
        let zipf = Zipf::new(&paths);
        for number in 0..400_u64 {
            // The last use of a file is written down at most once in an hour.
            let minutes = 61 * number;
            let (day, hour, minute) = (3 + minutes / 1440, minutes / 60 % 24, minutes % 60);
            world.set_time(&format!("2026-11-{day:02}T{hour:02}:{minute:02}:00Z"));
            world.anon().get(zipf.path(number)).expect(200);
        }
        let share = 1.0 - upstream.total() as f64 / 400.0;
        (world, share)
    });
}
