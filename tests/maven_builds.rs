//! With real clients: a real project built through Daylight by Maven 3.8, 3.9, 3.10 and 4, again without the upstream, and
//! deployed and used by another.

use crate::pages::events;
use crate::world::{Central, Release, World};
use serde_json::Value;
use std::path::Path;

const CENTRAL: &str = "central-there";

/// The requests of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Requests {
    files: usize,
    checksums: usize,
}

/// The requests for files of the central repository before the event of this id, and those after it.
fn requests(events: &[Value], id: &str) -> [Requests; 2] {
    let at = |event: &Value| event["at"].as_str().unwrap().to_owned();
    let between = at(events.iter().find(|event| event["id"] == id).unwrap());
    let builds: (Vec<&Value>, Vec<&Value>) = events.iter().partition(|event| at(event) < between);
    [builds.0, builds.1].map(|build| {
        let prefix = format!("/repository/{CENTRAL}/");
        let paths = build.iter().filter_map(|event| event["path"].as_str()?.strip_prefix(&*prefix));
        let (checksums, files): (Vec<_>, Vec<_>) =
            paths.partition(|path| path.ends_with(".sha1") || path.ends_with(".md5"));
        Requests { files: files.len(), checksums: checksums.len() }
    })
}

/// The number of calls to upstreams so far.
fn calls(world: &World) -> usize {
    let metrics = world.admin().get("/metrics").expect(200);
    let counts = metrics.text().lines().filter(|line| line.starts_with("daylight_upstream_requests_total{"));
    counts.map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap()).sum()
}

/// Builds the project from an empty local repository, disconnects the upstream, and builds it again from an empty one.
/// Returns the requests of the two builds.
#[track_caller]
fn builds_with_and_without_the_upstream(release: Release) -> [Requests; 2] {
    let central = Central::open();
    let mut world = World::start();
    world.remote(CENTRAL, &central.url());
    let values = [("version", "1.0.0"), ("build", "1")];
    let first = central.machine(release);
    first.settings(&world.url(CENTRAL), &[], "");
    let built = first.project("lantern", &values);
    let said = built.maven(&["package"]).good();
    assert_eq!(said.matches("Tests run: 1, Failures: 0").count(), 4, "two, each told twice: {said}");
    for (folder, name) in [("core", "core"), ("app", "app"), ("lantern-maven-plugin", "maven-plugin")] {
        let jar = format!("{folder}/target/lantern-{name}-1.0.0.jar");
        assert!(built.jars().contains_key(Path::new(&jar)), "{jar}");
    }

    let called = calls(&world);
    // Nothing listens there any more.
    drop(central);
    let between = world.anon().get("/health/live").expect(200);
    let second = first.another();
    second.settings(&world.url(CENTRAL), &[], "");
    let again = second.project("lantern", &values);
    again.maven(&["package"]).good();
    assert!(built.jars() == again.jars(), "both builds are the same, byte for byte");
    let (fetched, before) = (second.fetched(), first.fetched());
    assert_eq!(fetched.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(fetched == before, "and what was fetched for it");

    world.stop();
    let events = events(&world);
    // Maven 3.10 and 4 ask for it, and do without where it fails. Its TTL is short.
    let of_files = |event: &&Value| !event["path"].as_str().unwrap_or_default().ends_with(".meta/prefixes.txt");
    for event in events.iter().filter(of_files) {
        let of_upstream = event["reason"].as_str().is_some_and(|reason| reason.starts_with("upstream"));
        assert!(!of_upstream, "nobody noticed that the upstream was gone: {event}");
    }
    let requests = requests(&events, between.header("daylight-event").unwrap());
    println!("Maven {release:?}, with the upstream and without: {requests:?}");
    assert_eq!(requests[0].files, requests[1].files);
    let files = requests[0].files;
    assert!(called * 100 <= files * 105, "{called} calls for {files} files, whose digests are in headers");
    requests
}

#[test]
fn maven_3_8_builds_a_project_and_again_with_the_upstream_unplugged() {
    for Requests { files, checksums } in builds_with_and_without_the_upstream(Release::Three8) {
        assert_eq!(files, checksums, "it asks for the checksum of each file");
    }
}

#[test]
fn maven_3_9_builds_a_project_and_again_with_the_upstream_unplugged_and_asks_for_no_checksum() {
    let [_, without] = builds_with_and_without_the_upstream(Release::Three9);
    assert_eq!(without.checksums, 0, "each is in a header");
}

#[test]
fn maven_3_10_builds_a_project_and_again_with_the_upstream_unplugged_and_asks_for_no_checksum() {
    let [_, without] = builds_with_and_without_the_upstream(Release::Three10);
    assert_eq!(without.checksums, 0, "each is in a header");
}

#[test]
fn maven_4_builds_a_project_and_again_with_the_upstream_unplugged_and_asks_for_no_checksum() {
    let [_, without] = builds_with_and_without_the_upstream(Release::Four);
    assert_eq!(without.checksums, 0, "each is in a header");
}
