//! The lists of path prefixes that upstreams publish: a member whose list excludes a folder is asked last, and is asked
//! if no other member has the file.

use super::{Scene, group};
use crate::world::{Says, Upstream};
use serde_json::json;

const LIST: &str = "/.meta/prefixes.txt";
/// A list without `org`.
const COM: &str = "## repository-prefixes/2.0\n/com/near\n";
/// Maximum number of attempts until a list has an effect: it is read in the background.
const TRIES: usize = 10_000;

/// A scene in which the list of `near` is used and has this content.
fn scene(list: Says) -> Scene {
    let scene = Scene::new();
    scene.near.says(LIST, list);
    let change = json!({ "remote": { "prefixes": true } });
    scene.world.change("near", &change);
    scene
}

/// Requests a file that `far` has from the group. Returns whether `near` was asked too.
fn is_asked(scene: &Scene, (name, near): (&str, &Upstream), number: usize) -> bool {
    let path = format!("org/example/{name}/{number}/{name}-{number}.jar");
    scene.far.file(&format!("/{path}"), "far");
    assert_eq!(scene.world.anon().file(name, &path).expect(200).text(), "far");
    near.count(&format!("/{path}")) > 0
}

#[test]
fn who_says_that_it_has_nothing_there_is_not_asked_where_another_has_it() {
    let scene = scene(Says::file(COM));
    let near = ("all", &scene.near);
    let left_out = (0..TRIES).find(|number| !is_asked(&scene, near, *number));
    let number = left_out.expect("`near` is never left out");
    assert!((number..number + 5).all(|number| !is_asked(&scene, near, number + 1)));
    assert_eq!(scene.near.count(LIST), 1, "it is asked for once, however many files are");
    // Further files of a release come from the member that has it, although `near` was never asked.
    let pom = format!("org/example/all/{number}/all-{number}.pom");
    scene.far.file(&format!("/{pom}"), "pom");
    assert_eq!(scene.get(&pom).expect(200).text(), "pom");
    assert_eq!((scene.near.count(&format!("/{pom}")), scene.far.count(&format!("/{pom}"))), (0, 1));
    // Paths with a listed prefix are requested as before.
    let its = "com/near/lamp/1.0/lamp-1.0.jar";
    scene.near.file(&format!("/{its}"), "near");
    assert_eq!(scene.get(its).expect(200).text(), "near");
}

#[test]
fn what_nobody_else_has_is_asked_of_those_who_say_that_they_do_not_have_it() {
    let scene = scene(Says::file(COM));
    assert!((0..TRIES).any(|number| !is_asked(&scene, ("all", &scene.near), number)));
    let (new, none) = ("org/new/lamp/1.0/lamp-1.0.jar", "org/none/lamp/1.0/lamp-1.0.jar");
    scene.near.file(&format!("/{new}"), "near");
    assert_eq!(scene.get(new).expect(200).text(), "near", "its list is older than what it has");
    scene.get(none).expect(404);
    assert_eq!(scene.near.count(&format!("/{none}")), 1);
    // If it fails, the state is unknown.
    scene.near.unplug();
    scene.get("org/none/lamp/2.0/lamp-2.0.jar").expect(502);
}

#[test]
fn a_list_that_nobody_asked_to_use_that_is_none_or_no_proof_any_more_has_no_effect() {
    let scene = Scene::new();
    scene.near.file(LIST, COM);
    assert!((0..9).all(|number| is_asked(&scene, ("all", &scene.near), number)));
    assert_eq!((scene.near.count(LIST), scene.far.count(LIST)), (0, 0));
    let cases = [
        (Says::file("/com/near\n"), 300),
        (Says::file("## repository-prefixes/2.0\n"), 300),
        (Says::file("## repository-prefixes/2.0\n@ unsupported\n"), 300),
        (Says::file("## repository-prefixes/2.0\n/com\n/a//b\n"), 300),
        (Says::file("<html></html>"), 300),
        (Says::status(404), 300),
        (Says::status(500), 300),
        (Says::file(COM), 0),
    ];
    for (case, (list, missing_s)) in cases.into_iter().enumerate() {
        let (near, name) = (Upstream::start(), format!("all-{case}"));
        near.says(LIST, list);
        let remote = json!({ "urls": [near.url()], "prefixes": true, "missing_s": missing_s });
        let member = format!("near-{case}");
        scene.world.make(&json!({ "name": member, "format": "maven", "kind": "remote", "remote": remote }));
        group(&scene.world, &name, &[&member, "far"]);
        assert!(is_asked(&scene, (&name, &near), 0));
        near.await_count(LIST, 1);
        assert!((1..20).all(|number| is_asked(&scene, (&name, &near), number)), "{case}");
    }
}
