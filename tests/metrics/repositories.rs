//! What was requested of each repository is counted exactly; a hundred repositories have lines of their own.

use super::Samples;
use crate::accounts::settled;
use crate::world::{Says, Upstream, World};

fn samples(world: &World) -> Samples {
    settled(world);
    Samples::of(world.admin().get("/metrics").expect(200).text())
}

#[test]
fn requests_bytes_hits_and_misses_of_a_repository_are_those_that_were_sent() {
    let (world, upstream) = (World::start(), Upstream::start());
    world.remote_of("raw", "far", &upstream.url());
    world.tree("files", "raw");
    upstream.file("/lamp", "0123456789");
    upstream.says("/broken", Says::status(500));
    let anon = world.anon();
    // Two misses, three hits: a proven absence is an answer from the cache too.
    for (path, status) in [("lamp", 200), ("lamp", 200), ("lamp", 200), ("none", 404), ("none", 404)] {
        anon.file("far", path).expect(status);
    }
    world.admin().put("files", "a", b"12345").expect(201);
    anon.file("files", "a").expect(200);
    anon.ask("HEAD", "/repository/files/a", &[], b"").expect(200);
    anon.ask("PUT", "/repository/files/b", &[], b"123").expect(401);
    let told = samples(&world);
    let all = |name| {
        ["requests", "received_bytes", "hits", "misses"]
            .map(|one| told.repository(&format!("repository_{one}_total"), name).unwrap())
    };
    assert_eq!(all("far"), [5.0, 0.0, 3.0, 2.0]);
    assert_eq!(all("files"), [3.0, 5.0, 2.0, 0.0], "the refused request is none of the repository's");
    assert_eq!(told.repository("repository_sent_bytes_total", "files"), Some(5.0));
    assert!(told.repository("repository_sent_bytes_total", "far").unwrap() >= 30.0);
    let info = |name, kind| format!("daylight_repository_info{{repository=\"{name}\",format=\"raw\",kind=\"{kind}\"}}");
    assert_eq!([told.find(&info("far", "remote")), told.find(&info("files", "hosted"))], [Some(1.0); 2]);

    // The calls to its upstream, and one more that fails.
    anon.file("far", "broken").expect(502);
    let (told, host) = (samples(&world), upstream.address());
    let calls = |status| told.find(&format!("daylight_upstream_requests_total{{host=\"{host}\",status=\"{status}\"}}"));
    let asked = |status| upstream.asked().iter().filter(|asked| asked.answered == status).count() as f64;
    assert_eq!([calls("2xx"), calls("4xx"), calls("5xx")], [200, 404, 500].map(|status| Some(asked(status))));
    let errors = format!("daylight_upstream_errors_total{{host=\"{host}\",reason=\"upstream_failed\"}}");
    assert_eq!(told.find(&errors), Some(asked(500)));
    let durations = told.find(&format!("daylight_upstream_request_duration_seconds_count{{host=\"{host}\"}}"));
    assert_eq!(durations, Some(upstream.asked().len() as f64));
    assert_eq!(told.find(&format!("daylight_upstream_circuit_open{{host=\"{host}\"}}")), Some(0.0));
}

#[test]
fn the_hundred_and_first_repository_shares_a_line_and_a_listed_one_keeps_its_own() {
    let world = World::start();
    let names: Vec<String> = (0..=100).map(|number| format!("z{number:03}")).collect();
    names.iter().for_each(|name| world.tree(name, "raw"));
    for name in names.iter().skip(1) {
        world.anon().file(name, "none").expect(404);
    }
    let requests = |told: &Samples, name: &str| told.repository("repository_requests_total", name);
    let told = samples(&world);
    assert_eq!(requests(&told, "(other)"), Some(0.0));
    assert_eq!([requests(&told, &names[0]), requests(&told, names.last().unwrap())], [None, Some(1.0)]);

    for _ in 0..3 {
        world.anon().file(&names[0], "none").expect(404);
    }
    let told = samples(&world);
    assert_eq!([requests(&told, &names[0]), requests(&told, "(other)")], [None, Some(3.0)]);
    assert_eq!(requests(&told, &names[1]), Some(1.0));
}
