//! Names that several members of a group have: the owner of each, the names that wait for an administrator, and the
//! effect of a change.

use super::{LATER, Shelf, add_remotes, still};
use crate::groups::command;
use crate::world::{FIRST, Gem, World};
use serde_json::{Value, json};

const GROUP: &str = "everything";
const LATER_STILL: &str = "2026-11-02T13:00:10Z";

fn collisions(world: &World, query: &str) -> Value {
    world.admin().get(&format!("/api/v1/repositories/{GROUP}/collisions{query}")).expect(200).json()
}

/// Each name with its owner, the reason, and the members that have it.
fn rows(told: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = |value: &Value| value.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join("+");
    let rows = told["collisions"].as_array().unwrap().iter();
    rows.map(|row| {
        format!("{} {} {} {}", text(&row["name"]), text(&row["owner"]), text(&row["because"]), all(&row["members"]))
    })
    .collect()
}

/// The output of `daylight` on both streams.
fn said(world: &World, arguments: &[&str]) -> (String, String) {
    let output = command(world, arguments);
    assert!(output.status.success(), "{output:?}");
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).into()
}

/// Makes the server check the indexes of all members.
fn read(world: &World) {
    world.anon().file(GROUP, "versions").expect(200);
}

fn waiting_names(world: &World) -> String {
    let metrics = world.anon().get("/metrics").expect(200);
    let line = metrics.text().lines().find(|line| line.starts_with("daylight_group_waiting_names{")).unwrap();
    line.to_owned()
}

#[test]
fn each_name_of_several_members_has_an_owner_and_a_reason() {
    let near = Shelf::with(&["rack 1.0", "lamp 1.0", "wick 1.0", "oil 9.0"]);
    let far = Shelf::with(&["lamp 9.0", "wick 9.0", "glass 1.0", "shade 1.0", "only-far 1.0"]);
    let world = World::start();
    add_remotes(&world, &[("near", &near), ("far", &far)]);
    for name in ["oil", "glass", "only-here"] {
        world.admin().push(FIRST, &Gem::new(name, "1.0.0")).expect(200);
    }
    world.admin().yank(FIRST, "glass", "1.0.0").expect(200);
    world.gem_group(GROUP, &["near", FIRST, "far"]);
    let told = collisions(&world, "");
    assert_eq!((rows(&told).len(), &told["unknown"]), (0, &json!(["near", "far"])));
    // No upstream was called.
    assert_eq!((near.asked().len(), far.asked().len()), (0, 0));

    read(&world);
    world.change(GROUP, &json!({"policy": {"shared": ["wick"]}}));
    // The member never had the name.
    world.change(FIRST, &json!({"claims": ["shade", "nowhere"]}));
    let told = collisions(&world, "");
    let all = [
        "glass gems-private hosted gems-private+far",
        "lamp near order near+far",
        "oil gems-private hosted near+gems-private",
        "shade gems-private claimed far",
        "wick near shared near+far",
    ];
    assert_eq!(rows(&told), all);
    // These two were published before the upstreams were first seen.
    assert_eq!((&told["names"], &told["waiting"], &told["unknown"]), (&json!(5), &json!(2), &json!([])));

    let first = collisions(&world, "?limit=2");
    assert_eq!(
        (rows(&first), &first["names"], &first["next"]),
        (all[..2].iter().map(ToString::to_string).collect(), &json!(5), &json!("lamp"))
    );
    let rest = collisions(&world, "?after=lamp");
    assert_eq!((rows(&rest), &rest["next"]), (all[2..].iter().map(ToString::to_string).collect(), &Value::Null));
    assert_eq!(rows(&collisions(&world, "?waiting=true")), [all[0], all[2]]);
    for (name, query, status) in
        [(FIRST, "", 400), ("maven", "", 400), (GROUP, "?waiting=maybe", 400), ("nobody", "", 404)]
    {
        world.admin().get(&format!("/api/v1/repositories/{name}/collisions{query}")).expect(status);
    }
    let (shown, _) = said(&world, &["repo", "show", GROUP]);
    assert!(
        shown.contains("names in several members: 5\n") && shown.contains("shade  gems-private  claimed"),
        "{shown}"
    );
    let (shown, _) = said(&world, &["repo", "show", GROUP, "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((rows(&shown["collisions"]), &shown["collisions"]["names"]), (rows(&told), &json!(5)));
}

#[test]
fn an_upstream_that_begins_to_list_a_name_waits_for_an_administrator() {
    let (mut near, mut far) = (Shelf::with(&["rack 1.0"]), Shelf::with(&["lamp 1.0", "oil 1.0"]));
    let world = still();
    add_remotes(&world, &[("near", &near), ("far", &far)]);
    world.gem_group(GROUP, &[FIRST, "near", "far"]);
    read(&world);
    near.lists(&["lamp 9.0"]);
    // A name that a later member lists waits for nothing.
    far.lists(&["rack 9.0"]);
    world.set_time(LATER);
    read(&world);
    assert!(world.anon().file(GROUP, "versions").expect(200).text().contains("\nlamp 1.0 "));
    let told = collisions(&world, "?waiting=true");
    assert_eq!(rows(&told), ["lamp far first_seen near+far"]);
    assert_eq!(
        (&told["names"], &told["waiting"], &told["collisions"][0]["waiting"]),
        (&json!(2), &json!(1), &json!(["near"]))
    );
    world.set_time(LATER_STILL);
    world.await_log("`lamp` of `far` is listed by `near`, too");
    assert_eq!(waiting_names(&world), r#"daylight_group_waiting_names{repository="everything"} 1"#);
    let (shown, _) = said(&world, &["repo", "show", GROUP]);
    assert!(shown.contains("names that wait for a decision: 1\n"), "{shown}");
    assert!(shown.contains("`daylight repo set near --claim lamp` gives it to `near`"), "{shown}");

    world.change("near", &json!({"claim": ["lamp"]}));
    assert_eq!(rows(&collisions(&world, "")), ["lamp near claimed near+far", "rack near order near+far"]);
    read(&world);
    let versions = world.anon().file(GROUP, "versions").expect(200).text().to_owned();
    assert!(versions.lines().rfind(|line| line.starts_with("lamp ")).unwrap().contains("9.0"), "{versions}");
    // A private group has no name here, because everybody can read the metrics.
    world.change(GROUP, &json!({"private": true}));
    world.set_time(LATER);
    let none = r#"daylight_group_waiting_names{repository="(other)"} 0"#;
    crate::world::await_true("no name waits", || waiting_names(&world) == none);
}

#[test]
fn whoever_sets_the_order_of_members_decides_and_a_preview_says_what() {
    let (mut near, far) = (Shelf::with(&["rack 1.0", "lamp 1.0"]), Shelf::with(&["lamp 1.0", "oil 1.0"]));
    let world = still();
    add_remotes(&world, &[("near", &near), ("far", &far)]);
    world.gem_group(GROUP, &[FIRST, "near", "far"]);
    read(&world);
    near.lists(&["oil 9.0"]);
    world.set_time(LATER);
    read(&world);
    let preview = |name: &str, settings: Value| {
        world.admin().post_json(&format!("/api/v1/repositories/{name}/preview"), &settings).expect(200).json()["owners"]
            .clone()
    };
    let change = |name: &str, before: &str, after: Value| json!({"group": GROUP, "name": name, "before": before, "after": after});
    assert_eq!(preview(GROUP, json!({"members": [FIRST, "near", "far"]}))["count"], 0);
    let turned = preview(GROUP, json!({"members": [FIRST, "far", "near"]}));
    assert_eq!(turned, json!({"count": 1, "names": [change("lamp", "near", json!("far"))]}));
    // After the members are set again, it comes first with all names that it lists by now.
    let alone = preview(GROUP, json!({"members": [FIRST, "near"]}));
    let gone = json!({"count": 1, "names": [change("oil", "far", json!("near"))]});
    assert_eq!(alone, gone);
    let without = preview(GROUP, json!({"members": [FIRST, "far"]}));
    assert_eq!(without["names"], json!([change("lamp", "near", json!("far")), change("rack", "near", Value::Null)]));
    let claimed = preview("near", json!({"claim": ["oil"]}));
    assert_eq!(claimed, json!({"count": 1, "names": [change("oil", "far", json!("near"))]}));
    assert_eq!(preview("near", json!({"remote": {"urls": ["http://127.0.0.1:9"]}, "keep_cached": false})), Value::Null);
    assert_eq!(rows(&collisions(&world, "")), ["lamp near order near+far", "oil far first_seen near+far"]);

    let arguments = ["repo", "set", GROUP, "--member", FIRST, "--member", "far", "--member", "near", "--preview"];
    let (out, err) = said(&world, &arguments);
    let row = out.lines().find(|line| line.starts_with("lamp ")).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row, ["lamp", GROUP, "near", "far"]);
    assert!(err.contains("gem names that would belong to another member: 1\n"), "{err}");
    said(&world, &arguments[..arguments.len() - 1]);
    assert_eq!(rows(&collisions(&world, "")), ["lamp far order far+near", "oil far order far+near"]);
    // And the other way round: both members list both names when the order is set.
    world.change(GROUP, &json!({"members": [FIRST, "near", "far"]}));
    assert_eq!(rows(&collisions(&world, "")), ["lamp near order near+far", "oil near order near+far"]);
}

#[test]
fn another_order_of_members_that_moves_no_name_changes_no_index_in_a_preview() {
    let (near, far) = (Shelf::with(&["rack 1.0"]), Shelf::with(&["oil 1.0"]));
    let world = still();
    add_remotes(&world, &[("near", &near), ("far", &far)]);
    world.gem_group(GROUP, &[FIRST, "near", "far"]);
    read(&world);
    let preview = |members: &[&str]| -> Value {
        let path = format!("/api/v1/repositories/{GROUP}/preview");
        let call = || world.admin().post_json(&path, &json!({ "members": members })).expect(200).json();
        // Requested paths are counted after the reply.
        std::iter::repeat_with(call).take(100).find(|told| told["paths"] != 0).unwrap()
    };
    assert_eq!(preview(&[FIRST, "far", "near"])["changes"], json!([]));
    let without = preview(&[FIRST, "near"]);
    let paths: Vec<&str> =
        without["changes"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&format!("/repository/{GROUP}/versions").as_str()), "{without}");
}
