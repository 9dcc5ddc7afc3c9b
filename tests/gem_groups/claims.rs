//! A push does not take a name from an upstream by mistake. An administrator can decide that it does.

use super::Shelf;
use crate::groups::command;
use crate::world::{FIRST, Gem, Ruby, Says, World};
use serde_json::json;

const GROUP: &str = "everything";
const REMOTE: &str = "far";

/// A server with a group of the default hosted repository and a remote repository for the upstream.
fn with_group(upstream: &Shelf) -> World {
    let world = World::start();
    world.remote_of("gem", REMOTE, &upstream.upstream.url());
    world.gem_group(GROUP, &[FIRST, REMOTE]);
    world
}

/// Runs `daylight` with these arguments. Returns whether it succeeded, and its output.
fn said(world: &World, arguments: &[&str]) -> (bool, String) {
    let output = command(world, arguments);
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (output.status.success(), text)
}

#[test]
fn gem_push_says_whose_the_name_is_and_how_an_administrator_claims_it() {
    let upstream = Shelf::with(&["rack 3.0.0", "rack 3.0.1"]);
    let (world, desk) = (with_group(&upstream), Ruby::new());
    let (person, url) = (world.person("mira", &["write"], &[]), world.url(FIRST));
    let push = |version: &str| desk.push_file(&url, person.secret(), &desk.build(&Gem::new("rack", version)));
    let refused = push("2.0.0").bad();
    assert!(refused.contains("`rack` is a gem of the upstream `far` in the group `everything`"), "{refused}");
    assert!(refused.contains("`daylight repo set gems-private --claim rack`"), "{refused}");
    assert!(refused.contains("`daylight repo set everything --shared rack`"), "{refused}");
    assert!(world.anon().file(FIRST, "versions").expect(200).text().ends_with("---\n"));
    // The upstream was asked for its index and for nothing else.
    assert_eq!(upstream.asked(), ["/versions"]);

    let (good, told) = said(&world, &["repo", "set", FIRST, "--claim", "rack"]);
    assert!(good && told.contains("`rack`: the 2 versions of `far` are not in `everything` any more"), "{told}");
    push("2.0.0").good();
    let (_, told) = said(&world, &["repo", "set", FIRST, "--claim", "lamp", "--unclaim", "rack"]);
    assert!(told.contains("changed"), "{told}");
    let (_, shown) = said(&world, &["repo", "show", FIRST]);
    assert!(shown.contains("\nclaims: lamp\n"), "{shown}");
    // The hosted repository has the name by now.
    push("2.0.1").good();
    assert_eq!(upstream.asked(), ["/versions"]);
}

#[test]
fn a_patched_build_of_a_public_gem_is_published_beside_the_public_versions_with_the_command_of_the_refusal() {
    let upstream = Shelf::with(&["rack 3.0.0", "rack 3.0.1"]);
    let world = with_group(&upstream);
    let patched = Gem::new("rack", "3.0.1.1");
    let refused = world.admin().push(FIRST, &patched).expect(409).text().to_owned();
    let command = refused.split('`').find(|part| part.contains("--shared")).unwrap();
    let (good, told) = said(&world, &command.split(' ').skip(1).collect::<Vec<_>>());
    assert!(good, "{told}");
    world.admin().push(FIRST, &patched).expect(200);
    let versions = world.anon().file(GROUP, "versions").expect(200).text().to_owned();
    let line = versions.lines().rfind(|line| line.starts_with("rack ")).unwrap();
    assert!(["3.0.0", "3.0.1", "3.0.1.1"].iter().all(|version| line.contains(version)), "{versions}");
    // A claim of a shared name hides nothing.
    let (good, told) = said(&world, &["repo", "set", FIRST, "--claim", "rack"]);
    assert!(good && !told.contains("any more"), "{told}");
}

#[test]
fn claims_are_names_of_gems_and_each_change_says_what_is_wrong_with_it() {
    let world = World::start();
    for (arguments, words) in [
        (&["--claim", "rack:1.0"][..], "no gem can have the name `rack:1.0`"),
        (&["--unclaim", "rack"], "`gems-private` does not claim `rack`"),
    ] {
        let (good, told) = said(&world, &[&["repo", "set", FIRST], arguments].concat());
        assert!(!good && told.contains(words) && told.contains("hint: "), "{told}");
    }
    let (good, told) = said(&world, &["repo", "add", "more", "--claim", "oil", "--claim", "lamp"]);
    assert!(good, "{told}");
    assert_eq!(world.change("more", &json!({"claim": ["rack"]})).json()["claims"], json!(["lamp", "oil", "rack"]));
    assert_eq!(world.change("more", &json!({"claims": []})).json().get("claims"), None);
    let tree = json!({"name": "trees", "format": "raw", "claims": ["lamp"]});
    let refused = world.admin().post_json("/api/v1/repositories", &tree).expect(400);
    assert!(refused.text().contains("repositories of gems"), "{}", refused.text());
}

#[test]
fn a_name_is_free_where_no_group_has_it_from_an_upstream() {
    let upstream = Shelf::with(&["rack 3.0.0", "acme-oil 1.0", "glass 1.0", "glass -1.0"]);
    let world = with_group(&upstream);
    world.repository("apart", false);
    world.repository("second", false);
    let push = |repository: &str, name: &str, status| {
        world.admin().push(repository, &Gem::new(name, "1.0.0")).expect(status).text().to_owned()
    };
    push(FIRST, "lamp", 200);
    // The repository is in no group.
    push("apart", "rack", 200);
    push(FIRST, "rack", 409);
    // All its versions were yanked, but clients may have it.
    push(FIRST, "glass", 409);
    // The group shares the name, or its private prefix keeps the name from upstreams.
    world.change(GROUP, &json!({"policy": {"shared": ["glass"], "private_prefixes": ["acme-"]}}));
    push(FIRST, "glass", 200);
    push(FIRST, "acme-oil", 200);
    // Another hosted member has the name, or claims it.
    world.change(GROUP, &json!({"members": ["second", "apart", FIRST, REMOTE]}));
    push("second", "rack", 200);
    world.gem_group("inner", &["second", REMOTE]);
    world.change("second", &json!({"claims": ["acme-oil"]}));
    world.repository("third", false);
    world.gem_group("outer", &["third", "inner"]);
    push("third", "acme-oil", 200);
    // A nested group has it.
    let refused = push("third", "glass", 409);
    assert!(refused.contains("`glass` is a gem of the upstream `far` in the group `outer`"), "{refused}");
}

#[test]
fn an_upstream_that_fails_refuses_nobody_and_what_it_said_before_a_restart_counts() {
    let upstream = Shelf::with(&["rack 3.0.0"]);
    upstream.upstream.says("/versions", Says::status(500));
    let mut world = with_group(&upstream);
    world.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("rack", "1.0.0")).expect(200);
    let upstream = Shelf::with(&["lamp 3.0.0"]);
    world.remote_of("gem", "near", &upstream.upstream.url());
    world.change(GROUP, &json!({"members": [FIRST, "near", REMOTE]}));
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(409);
    upstream.upstream.says("/versions", Says::status(500));
    world.restart();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(409);
    world.admin().push(FIRST, &Gem::new("glass", "1.0.0")).expect(200);
}

#[test]
fn who_may_not_know_of_a_private_group_is_not_told_its_name() {
    let upstream = Shelf::with(&["rack 3.0.0"]);
    let world = with_group(&upstream);
    world.change(GROUP, &json!({"private": true}));
    let person = world.person("mira", &["write"], &[FIRST]);
    let refused = person.push(FIRST, &Gem::new("rack", "1.0.0")).expect(409);
    assert!(!refused.text().contains(GROUP) && !refused.text().contains("far"), "{}", refused.text());
    assert!(refused.text().contains("`rack` is a gem of an upstream in a group"), "{}", refused.text());
    let event = world.event(refused.header("Daylight-Event").unwrap());
    assert_eq!(event["detail"], "`far` has the name in the group `everything`");
}

#[test]
fn a_yank_of_the_last_version_keeps_the_name_and_says_which_commands_give_it_back() {
    let upstream = Shelf::with(&["rack 3.0.0"]);
    let world = with_group(&upstream);
    assert!(said(&world, &["repo", "set", FIRST, "--claim", "rack"]).0);
    for version in ["2.0.0", "2.0.1"] {
        world.admin().push(FIRST, &Gem::new("rack", version)).expect(200);
    }
    assert!(!world.admin().yank(FIRST, "rack", "2.0.0").expect(200).text().contains("--claim"));
    let yanked = world.admin().yank(FIRST, "rack", "2.0.1").expect(200);
    let told = yanked.text();
    let [ours, theirs] = ["repo set gems-private --unclaim rack", "repo set far --claim rack"];
    assert!(told.contains(&format!("`daylight {ours}` and `daylight {theirs}` give the name back")), "{told}");
    let names = |world: &World| world.anon().file(GROUP, "versions").text().to_owned();
    assert!(!names(&world).contains("rack 3.0.0"), "{}", names(&world));
    for command in [ours, theirs] {
        assert!(said(&world, &command.split(' ').collect::<Vec<_>>()).0, "{command}");
    }
    assert!(names(&world).contains("rack 3.0.0"), "{}", names(&world));
}
