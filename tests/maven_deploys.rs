//! With real clients: a project deployed as releases and twice as a snapshot by Maven 3.8, 3.9, 3.10 and 4, and used by another
//! through a range of versions, a snapshot and the prefix of its plugin.

use crate::world::{Central, Machine, Project, Release, Said, World};
use std::path::Path;
use std::process::Command;

const CENTRAL: &str = "central-there";
const HOSTED: [&str; 2] = ["releases", "snapshots"];

/// A server with a repository for releases, one for snapshots, and a remote one for the central repository.
pub(crate) fn shelf(central: &Central) -> World {
    let world = World::start();
    world.remote(CENTRAL, &central.url());
    for name in HOSTED {
        world.make(&serde_json::json!({ "name": name, "format": "maven", "kind": "hosted", "versions": name }));
    }
    world
}

/// Configures a machine with the three repositories and a token for two of them.
pub(crate) fn knows(machine: &Machine, world: &World, secret: &str) {
    knows_as(machine, world, HOSTED, secret);
}

/// The same with these names for the two.
pub(crate) fn knows_as(machine: &Machine, world: &World, names: [&str; 2], secret: &str) {
    let urls = names.map(|name| world.url(name));
    machine.settings(&world.url(CENTRAL), &[(HOSTED[0], &urls[0]), (HOSTED[1], &urls[1])], secret);
}

pub(crate) fn deploy(world: &World, project: &Project<'_>) -> Said {
    let [releases, snapshots] = HOSTED.map(|name| format!("-D{name}={}", world.url(name)));
    project.maven(&["deploy", "-DskipTests", &releases, &snapshots])
}

/// The output of `porch` with the version of the project that its machine fetched.
pub(crate) fn porch_says(machine: &Machine, version: &str) -> String {
    let porch = machine.project("porch", &[("version", version)]);
    porch.maven(&["--update-snapshots", "compile"]).good();
    let fetched = machine.fetched();
    let jar = |part: &str| {
        let mut jars = fetched.keys().filter(|path| path.extension().is_some_and(|ending| ending == "jar"));
        // The newest version is the last one.
        let jar = jars.rfind(|path| path.iter().any(|name| name == part));
        machine.local(jar.unwrap_or_else(|| panic!("no jar of {part}: {fetched:?}")))
    };
    let path = [porch.file(Path::new("target/classes")), jar("lantern-core"), jar("commons-lang3")];
    let path = std::env::join_paths(path).unwrap();
    let said = Command::new("java").arg("-cp").arg(path).arg("example.porch.Porch").output().unwrap();
    Said::from(said).good()
}

fn is_deployed_and_used(release: Release) {
    let central = Central::open();
    let world = shelf(&central);
    let writer = world.person("ci", &["read", "write"], &HOSTED);
    let desk = central.machine(release);
    knows(&desk, &world, writer.secret());
    let lantern = |version, build| desk.project("lantern", &[("version", version), ("build", build)]);
    deploy(&world, &lantern("1.0.0", "1")).good();
    // A deploy of the same bytes again, as after a lost reply.
    deploy(&world, &lantern("1.0.0", "1")).good();
    let said = deploy(&world, &lantern("1.0.0", "2")).bad();
    assert!(said.contains("409"), "a release never changes: {said}");
    deploy(&world, &lantern("1.1.0", "3")).good();

    let user = desk.another();
    knows(&user, &world, "");
    assert_eq!(porch_says(&user, "[1.0,1.9]"), "Lantern 1.1.0 is lit, build 3\n");
    let said = user.project("porch", &[("version", "1.0.0")]).maven(&["lantern:light"]).good();
    assert!(said.contains("Lantern 1.1.0 is lit, build 3"), "the newest release of the plugin: {said}");

    for build in ["4", "5"] {
        deploy(&world, &lantern("2.0-SNAPSHOT", build)).good();
        assert_eq!(porch_says(&user, "2.0-SNAPSHOT"), format!("Lantern 2.0-SNAPSHOT is lit, build {build}\n"));
    }
    let metadata = "example/lantern/lantern-core/2.0-SNAPSHOT/maven-metadata.xml";
    let metadata = world.anon().get(&format!("/repository/snapshots/{metadata}")).expect(200);
    assert!(metadata.text().contains("<buildNumber>2</buildNumber>"), "{}", metadata.text());
    // Into the wrong repository.
    let wrong = format!("-Dreleases={}", world.url(HOSTED[1]));
    let said = lantern("1.2.0", "6").maven(&["deploy", "-DskipTests", &wrong]).bad();
    assert!(said.contains("400"), "{said}");
}

#[test]
fn what_maven_3_8_deploys_is_used_by_version_range_snapshot_and_plugin_prefix() {
    is_deployed_and_used(Release::Three8);
}

#[test]
fn what_maven_3_9_deploys_is_used_by_version_range_snapshot_and_plugin_prefix() {
    is_deployed_and_used(Release::Three9);
}

#[test]
fn what_maven_3_10_deploys_is_used_by_version_range_snapshot_and_plugin_prefix() {
    is_deployed_and_used(Release::Three10);
}

#[test]
fn what_maven_4_deploys_is_used_by_version_range_snapshot_and_plugin_prefix() {
    is_deployed_and_used(Release::Four);
}

#[test]
fn who_shows_no_token_or_a_wrong_one_is_told_so_by_each_maven() {
    let central = Central::open();
    let world = shelf(&central);
    let releases = format!("-Dreleases={}", world.url(HOSTED[0]));
    for release in Release::ALL {
        let desk = central.machine(release);
        for secret in ["", "wrong"] {
            knows(&desk, &world, secret);
            let project = desk.project("lantern", &[("version", "1.0.0"), ("build", "1")]);
            // Only the parent, which is deployed first.
            let said = project.maven(&["deploy", "--non-recursive", &releases]).bad();
            // Without a password Maven 3.8 sends nothing, and 3.9 the user name. The client of Java gives up after the third answer, and
            // shows none.
            let words = [
                "a token is needed",
                "the token is empty",
                "the token is unknown",
                "does not know the token",
                "too many authentication attempts",
            ];
            assert!(words.iter().any(|words| said.contains(words)), "{release:?}: {said}");
            // Maven 3.9 and later show the whole reason, with what to do.
            assert!(release != Release::Three9 || said.contains("settings.xml"), "{said}");
        }
    }
}
