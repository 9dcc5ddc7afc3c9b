//! With real clients: a project deployed as releases and twice as a snapshot by Maven 3.8, 3.9, 3.10 and 4, and used by another
//! through a range of versions, a snapshot and the prefix of its plugin: from each repository, and through the group of a new folder
//! as the only repository, at last without the upstream.

use crate::pages::events;
use crate::world::{Central, Machine, Person, Project, Release, Said, World};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

const CENTRAL: &str = "maven-central";
const GROUP: &str = "maven";
pub(crate) const HOSTED: [&str; 2] = ["maven-releases", "maven-snapshots"];
/// The names of the two for Maven.
const IDS: [&str; 2] = ["releases", "snapshots"];

/// The repositories of a new folder, of which the remote one is for this central repository.
pub(crate) fn shelf(world: World, central: &Central) -> World {
    world.change(CENTRAL, &json!({ "remote": { "urls": [central.url()] } }));
    world
}

/// Configures a machine with the three repositories and a token for two of them.
pub(crate) fn knows(machine: &Machine, world: &World, secret: &str) {
    knows_as(machine, world, HOSTED, secret);
}

/// The same with these names for the two.
pub(crate) fn knows_as(machine: &Machine, world: &World, names: [&str; 2], secret: &str) {
    let urls = names.map(|name| world.url(name));
    machine.settings(&world.url(CENTRAL), &[(IDS[0], &urls[0]), (IDS[1], &urls[1])], secret);
}

fn deploy(world: &World, project: &Project<'_>) -> Said {
    let [releases, snapshots] = [0, 1].map(|at| format!("-D{}={}", IDS[at], world.url(HOSTED[at])));
    project.maven(&["deploy", "-DskipTests", &releases, &snapshots])
}

/// The versions 1.0.0 (build 1) and 1.1.0 (build 2) of the project as Maven 3.8 deploys them. They are built once in a run.
pub(crate) fn built(central: &Central) -> &'static [(String, Vec<u8>)] {
    static BUILT: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let world = shelf(World::start(), central);
        let desk = central.machine(Release::Three8);
        knows(&desk, &world, world.admin().secret());
        for (version, build) in [("1.0.0", "1"), ("1.1.0", "2")] {
            deploy(&world, &desk.project("lantern", &[("version", version), ("build", build)])).good();
        }
        let paths = world.contents(&format!("{}/contents?limit=1000", HOSTED[0]));
        paths.into_iter().map(|path| (path.clone(), world.anon().file(HOSTED[0], &path).expect(200).body)).collect()
    })
}

/// Publishes a version of the project with the files that a deploy by Maven has.
pub(crate) fn publish(person: &Person, central: &Central, repository: &str, version: &str) {
    for (path, bytes) in built(central).iter().filter(|(path, _)| path.contains(&format!("/{version}/"))) {
        person.put(repository, path, bytes).expect(201);
    }
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

/// Runs the plugin by its prefix, which has to be of this version.
#[track_caller]
fn is_lit_by(machine: &Machine, version: &str) {
    let porch = machine.project("porch", &[("version", "1.0.0")]);
    let said = porch.maven(&["--update-snapshots", "lantern:light"]).good();
    assert!(said.contains(&format!("Lantern {version} is lit")), "the newest release of the plugin: {said}");
}

/// A machine with an empty local repository and the group's settings file, which uses a release by its range and its prefix,
/// and the last build of the snapshot.
#[track_caller]
fn uses_the_group(world: &World, like: &Machine, version: &str) {
    let machine = like.another();
    machine.saves(world.anon().file(GROUP, "settings.xml").expect(200).text());
    assert!(porch_says(&machine, "[1.0,1.9]").starts_with(&format!("Lantern {version} is lit")));
    assert_eq!(porch_says(&machine, "2.0-SNAPSHOT"), "Lantern 2.0-SNAPSHOT is lit, build 5\n");
    machine.settings(&world.url(GROUP), &[], "");
    is_lit_by(&machine, version);
}

fn is_deployed_and_used(release: Release) {
    let central = Central::open();
    let mut world = shelf(World::start(), &central);
    let writer = world.person("ci", &["read", "write"], &HOSTED);
    let (desk, group) = (central.machine(release), world.url(GROUP));
    // It builds with the files of the group.
    desk.settings(&group, &IDS.map(|id| (id, &*group)), writer.secret());
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
    is_lit_by(&user, "1.1.0");
    for build in ["4", "5"] {
        deploy(&world, &lantern("2.0-SNAPSHOT", build)).good();
        assert_eq!(porch_says(&user, "2.0-SNAPSHOT"), format!("Lantern 2.0-SNAPSHOT is lit, build {build}\n"));
    }
    let metadata = "example/lantern/lantern-core/2.0-SNAPSHOT/maven-metadata.xml";
    let metadata = world.anon().file(HOSTED[1], metadata).expect(200);
    assert!(metadata.text().contains("<buildNumber>2</buildNumber>"), "{}", metadata.text());
    // Into the wrong repository.
    let wrong = format!("-Dreleases={}", world.url(HOSTED[1]));
    let said = lantern("1.2.0", "6").maven(&["deploy", "-DskipTests", &wrong]).bad();
    assert!(said.contains("400"), "{said}");
    // Maven 3.10 and 4 keep a repository's list of path prefixes for a day, and refuse other paths.
    let pom = "<project><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>house</artifactId>\
               <version>1.0</version><packaging>pom</packaging></project>";
    world.admin().put(HOSTED[0], "com/acme/house/1.0/house-1.0.pom", pom.as_bytes()).expect(201);
    user.project("heir", &[("group", "com.acme")]).maven(&["validate"]).good();

    uses_the_group(&world, &desk, "1.1.0");
    // Nothing listens there any more, and the TTL of negative answers has not ended.
    drop(central);
    deploy(&world, &lantern("1.2.0", "7")).good();
    uses_the_group(&world, &desk, "1.2.0");
    world.stop();
    let events = events(&world);
    let through = events.iter().filter(|event| event["repository"] == GROUP);
    let failed = |event: &&serde_json::Value| event["status"].as_u64().is_some_and(|status| status >= 500);
    assert_eq!(through.clone().find(failed), None);
    assert!(through.count() > 100, "the builds asked the group");
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
    let world = shelf(World::start(), &central);
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
