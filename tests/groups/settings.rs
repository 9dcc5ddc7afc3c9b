//! Valid and invalid members of groups.

use super::{JAR, detail, group};
use crate::world::World;
use serde_json::json;

const REPOSITORIES: &str = "/api/v1/repositories";

#[test]
fn groups_may_hold_groups_and_not_themselves() {
    let world = World::start();
    world.tree("ours", "maven");
    group(&world, "inner", &["ours"]);
    group(&world, "outer", &["inner", "maven"]);
    world.admin().put("ours", JAR, b"jar").expect(201);
    assert_eq!(world.anon().file("outer", JAR).expect(200).text(), "jar");
    let change = json!({"members": ["ours", "outer"]});
    let problem = world.admin().patch_json(&format!("{REPOSITORIES}/inner"), &change).expect(400).json();
    assert!(detail(&problem).contains("`inner` -> `outer` -> `inner`"), "{problem}");
}

#[test]
fn members_are_there_once_and_of_the_group_s_format() {
    let world = World::start();
    world.tree("files", "raw");
    for (members, said) in [
        (json!([]), "1 to 300"),
        (json!(["nobody"]), "no repository `nobody`"),
        (json!(["files"]), "format raw"),
        (json!(["maven", "maven"]), "twice"),
        (json!(["odd"]), "`odd` -> `odd`"),
    ] {
        let wanted = json!({"name": "odd", "format": "maven", "kind": "group", "members": members});
        let problem = world.admin().post_json(REPOSITORIES, &wanted).expect(400).json();
        assert!(detail(&problem).contains(said), "{problem}");
    }
    let wanted = json!({"name": "odd", "format": "maven", "kind": "hosted", "members": ["maven"]});
    world.admin().post_json(REPOSITORIES, &wanted).expect(400);
}

#[test]
fn a_group_shows_nobody_what_a_member_does_not() {
    let world = World::start();
    world.make(&json!({"name": "vault", "format": "maven", "kind": "hosted", "private": true}));
    let wanted = json!({"name": "all", "format": "maven", "members": ["vault"]});
    let problem = world.admin().post_json(REPOSITORIES, &wanted).expect(400).json();
    assert!(detail(&problem).contains("`vault`, which needs a token"), "{problem}");
    world.make(&json!({"name": "all", "format": "maven", "members": ["vault"], "private": true}));
    world.admin().put("vault", JAR, b"jar").expect(201);
    world.anon().file("all", JAR).expect(401);
    assert_eq!(world.admin().file("all", JAR).expect(200).text(), "jar");
    // Nor later.
    let problem =
        world.admin().patch_json(&format!("{REPOSITORIES}/all"), &json!({"private": false})).expect(400).json();
    assert!(detail(&problem).contains("`vault`"), "{problem}");
    let releases = format!("{REPOSITORIES}/maven-releases");
    let problem = world.admin().patch_json(&releases, &json!({"private": true})).expect(400).json();
    assert!(detail(&problem).contains("anybody reads `maven`"), "{problem}");
}
