//! With a real Maven: builds of a hub that Maven made, used by another project through a group. `scripts/koji` does the same with a real hub and
//! three releases of Maven.

use super::lamp;
use crate::maven_deploys::{built, porch_says, shelf};
use crate::world::{ADMIN, Central, KojiHub, Machine, Release, Trouble, World, await_true};
use serde_json::json;

const BUILDS: &str = "builds";
const GROUP: &str = "everything";
const METADATA: &str = "example/lantern/lantern-core/maven-metadata.xml";
const RANGE: &str = "[1.0,1.9]";

/// Imports a version of the project as one build.
fn import(hub: &KojiHub, central: &Central, version: &str) -> u64 {
    let files = built(central).iter().filter(|(path, _)| path.contains(&format!("/{version}/")));
    let files = files.filter(|(path, _)| path.ends_with(".jar") || path.ends_with(".pom"));
    files.fold(hub.build("lantern", version, "1"), |build, (path, bytes)| build.file(path, bytes)).make()
}

/// What a project says on a machine with an empty local repository that reads everything from this repository.
fn says(like: &Machine, world: &World, repository: &str) -> String {
    let machine = like.another();
    machine.settings(&world.url(repository), &[], "");
    porch_says(&machine, RANGE)
}

/// How many lists the hub was asked for, and facts of builds. The regular look asks for neither while nothing changes.
fn lists_read(hub: &KojiHub) -> u64 {
    let is = |method: &str| ["listTaggedArchives", "listTagged", "listArchives", "getBuild"].contains(&method);
    hub.said().iter().filter(|(method, _)| method.rsplit('/').next().is_some_and(is)).map(|(_, said)| said.calls).sum()
}

#[test]
fn maven_uses_the_builds_of_a_tag_through_a_group_and_no_build_costs_a_call_of_the_hub() {
    let (central, hub) = (Central::open(), KojiHub::start());
    let world = shelf(World::start(), &central);
    let tag = hub.tag("lantern-release");
    let [older, newer] = ["1.0.0", "1.1.0"].map(|version| import(&hub, &central, version));
    hub.tag_build(tag, older);
    world.koji(BUILDS, &hub, &["lantern-*"]);
    world.make(&json!({ "name": GROUP, "format": "maven", "members": ["maven-releases", BUILDS, "maven-central"] }));
    let lists = |version: &str| {
        let listed = world.anon().file(GROUP, METADATA);
        listed.status == 200 && listed.text().contains(&format!("<version>{version}</version>"))
    };
    await_true("the first look", || lists("1.0.0"));
    assert_eq!(lists_read(&hub), 1, "{:?}", hub.said());

    let machine = central.machine(Release::Three9);
    assert_eq!(says(&machine, &world, GROUP), "Lantern 1.0.0 is lit, build 1\n");
    let fetched = hub.file_gets();
    assert_eq!(says(&machine, &world, GROUP), "Lantern 1.0.0 is lit, build 1\n");
    assert_eq!(hub.file_gets(), fetched, "they are cached");
    assert_eq!(lists_read(&hub), 1, "no build asks the hub: {:?}", hub.said());

    // By now the group has the plugins of Central, which answers as of the time of the event.
    let event = hub.tag_build(tag, lamp(&hub));
    hub.tag_build(tag, newer);
    world.holder(ADMIN).ask("POST", &format!("/hooks/{BUILDS}"), &[], b"").expect(202);
    await_true("a look after the hook", || lists("1.1.0"));
    hub.trouble(Trouble::Offline);
    assert_eq!(says(&machine, &world, GROUP), "Lantern 1.1.0 is lit, build 2\n", "its files come without the hub");
    assert_eq!(says(&machine, &world, &format!("{GROUP}@koji-{event}")), "Lantern 1.0.0 is lit, build 1\n");
    assert_eq!(hub.logins(), 0);
}
