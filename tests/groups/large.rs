//! Groups of as many members as there may be: 300.

use super::{JAR, detail, event};
use crate::world::{Upstream, World};
use serde_json::{Value, json};

const MEMBERS: usize = 300;
const REPOSITORIES: &str = "/api/v1/repositories";

/// Makes many repositories, on one connection.
pub(crate) fn make_all(world: &World, all: impl Iterator<Item = Value>) {
    let (admin, headers) = (world.admin(), [("Content-Type", "application/json")]);
    let connection = &mut admin.connect().unwrap();
    for one in all {
        let made = admin.on(connection, "POST", REPOSITORIES, &headers, one.to_string().as_bytes());
        made.unwrap().expect(201);
    }
}

/// The names `PREFIX-0` and so on.
pub(crate) fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}-{number}")).collect()
}

/// A server with a group `all` of 300 remote repositories, whose upstreams are folders of one.
fn world() -> (World, Upstream) {
    let (world, upstream) = (World::start(), Upstream::start());
    let members = names("far", MEMBERS);
    let remote = |name: &String| {
        let urls = [format!("{}{name}/", upstream.url())];
        json!({ "name": name, "format": "maven", "remote": { "urls": urls } })
    };
    make_all(&world, members.iter().map(remote));
    world.make(&json!({ "name": "all", "format": "maven", "members": members }));
    (world, upstream)
}

#[test]
fn of_300_remote_members_all_are_asked_once_and_then_the_one_that_has_the_release() {
    let (world, upstream) = world();
    let pom = "org/example/lamp/1.0/lamp-1.0.pom";
    for path in [JAR, pom] {
        upstream.file(&format!("/far-{}/{path}", MEMBERS - 1), path);
    }
    let get = |path: &str| world.anon().file("all", path);
    let asked = |path: &str| upstream.asked().iter().filter(|asked| asked.path.ends_with(path)).count();
    let first = get(JAR).expect(200);
    assert_eq!((first.text(), asked(JAR)), (JAR, MEMBERS));
    // It is kept now, and the other file of the release is asked of one.
    get(JAR).expect(200);
    assert_eq!(get(pom).expect(200).text(), pom);
    assert_eq!((asked(JAR), asked(pom)), (MEMBERS, 1));
    assert_eq!(event(&world, &first)["members"].as_array().unwrap().len(), MEMBERS);
    // What nobody has is asked of each once, and of nobody while that is believed.
    let oil = "org/example/oil/1.0/oil-1.0.jar";
    get(oil).expect(404);
    get(oil).expect(404);
    assert_eq!(asked(oil), MEMBERS);
}

#[test]
fn a_list_of_packages_of_300_members_reads_of_each_package_what_its_members_have() {
    let world = World::start();
    let members = names("team", MEMBERS);
    make_all(&world, members.iter().map(|name| json!({ "name": name, "format": "maven", "kind": "hosted" })));
    world.make(&json!({ "name": "all", "format": "maven", "members": members }));
    for (at, version) in [(0, "1.0"), (1, "1.0"), (MEMBERS - 1, "1.1")] {
        for number in 0..20 {
            let pom = format!(
                "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp{number}\
                 </artifactId><version>{version}</version></project>"
            );
            let path = format!("org/example/lamp{number}/{version}/lamp{number}-{version}.pom");
            world.admin().put(&members[at], &path, pom.as_bytes()).expect(201);
        }
    }
    let listed = world.anon().get("/api/v1/packages/all").expect(200);
    let list = listed.json();
    let lamp = list["packages"].as_array().unwrap().iter().find(|one| one["package"] == "org.example:lamp7").unwrap();
    assert_eq!((&lamp["latest"], &lamp["visible"]), (&json!("1.1"), &json!(2)), "{lamp}");
    // A read of each member for its names, of each package a few: not one of each member.
    let told = event(&world, &listed);
    let reads: u64 = told["ops"].as_object().unwrap().values().map(|op| op["count"].as_u64().unwrap()).sum();
    assert!(reads < 20 * MEMBERS as u64, "{reads}");
}

#[test]
fn a_group_has_300_members_and_comes_to_300_repositories_and_no_more() {
    let world = World::start();
    let names = names("ours", MEMBERS + 1);
    make_all(&world, names.iter().map(|name| json!({ "name": name, "format": "raw", "kind": "hosted" })));
    let (some, others) = names.split_at(MEMBERS / 2);
    let group = |name: &str, members: &[String]| json!({ "name": name, "format": "raw", "members": members });
    let refused = |wanted: &Value| {
        let problem = world.admin().post_json(REPOSITORIES, wanted).expect(400).json();
        detail(&problem).to_owned()
    };
    assert!(refused(&group("all", &names)).contains("a group has 1 to 300 members, not 301"));
    world.make(&group("all", &names[..MEMBERS]));
    world.make(&group("some", some));
    world.make(&group("others", others));
    assert!(refused(&group("nested", &["some".into(), "others".into()])).contains("`nested` would come to 301"));
    // A repository that comes twice counts once.
    world.make(&group("nested", &["some".into(), "all".into()]));
    for (at, name) in [(0, "first"), (MEMBERS - 1, "last")] {
        world.admin().put(&names[at], &format!("tools/{name}"), name.as_bytes()).expect(201);
        for group in ["all", "nested"] {
            assert_eq!(world.anon().file(group, &format!("tools/{name}")).expect(200).text(), name, "{group}");
        }
    }
    world.anon().file("nested", "tools/none").expect(404);
    assert!(world.admin().get(&format!("{REPOSITORIES}/nested")).expect(200).json()["members"].is_array());
}

#[test]
fn groups_that_hold_one_another_many_times_are_still_checked_at_once() {
    let world = World::start();
    world.tree("ours", "raw");
    let mut below = vec!["ours".to_owned()];
    // Each level holds both groups of the level below: 2 to the 30th ways lead to the one repository.
    for level in 0..30 {
        let pair = [format!("left-{level}"), format!("right-{level}")];
        make_all(&world, pair.iter().map(|name| json!({ "name": name, "format": "raw", "members": below })));
        below = pair.to_vec();
    }
    world.admin().put("ours", "tools/one", b"one").expect(201);
    assert_eq!(world.anon().file("left-29", "tools/one").expect(200).text(), "one");
}
