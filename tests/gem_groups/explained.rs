//! The owner of a name and the reason: visible for admins only.

use super::{FIRST, GROUP, REMOTE, scene};
use crate::groups::{command, event, said};
use crate::world::{Gem, World};
use serde_json::{Value, json};

const OTHER: &str = "other-gems";

fn explain(world: &World, path: &str) -> Value {
    world.admin().get(&format!("/api/v1/explain?repository={GROUP}&path={path}")).expect(200).json()
}

/// Why a member is passed over.
fn why<'a>(told: &'a Value, member: &str) -> &'a str {
    let members = told["members"].as_array().unwrap();
    members.iter().find(|one| one["member"] == member).unwrap()["detail"].as_str().unwrap()
}

#[test]
fn an_answer_tells_whose_the_name_is_who_was_asked_and_who_was_passed_over() {
    let scene = scene();
    scene.publish("lamp", "1.0.0");
    scene.publish("oil", "9.0.0");
    scene.push("can", "1.0.0");
    scene.world.change(FIRST, &json!({ "claims": ["oil"] }));
    scene.push("oil", "2.0.0");
    let told = explain(&scene.world, "info/lamp");
    // A file that is not cached would be fetched.
    assert_eq!((&told["status"], said(&told)), (&json!(0), vec![(REMOTE, "unknown")]), "{told:#}");
    scene.get("versions").expect(200);
    let answer = scene.get("info/lamp").expect(200);
    assert_eq!(said(&event(&scene.world, &answer)), [(REMOTE, "hit")]);
    let told = explain(&scene.world, "info/lamp");
    assert_eq!((&told["status"], said(&told)), (&json!(200), vec![(REMOTE, "hit")]), "{told:#}");
    let detail = told["detail"].as_str().unwrap();
    let of_upstream = format!("`{REMOTE}`: `/versions` lists 1 versions of `lamp`");
    assert!(detail.contains("`lamp` belongs to `upstream-gems`, the only member that lists it"), "{detail}");
    assert!(detail.contains(&of_upstream), "{detail}");
    // First claimed, then published.
    for path in ["info/oil", "gems/oil-2.0.0.gem", "quick/Marshal.4.8/oil-2.0.0.gemspec.rz"] {
        let told = explain(&scene.world, path);
        assert_eq!(said(&told), [(FIRST, "hit"), (REMOTE, "blocked")], "{path}: {told:#}");
        assert_eq!(why(&told, REMOTE), format!("`oil` belongs to `{FIRST}`, which claims it"));
        assert_eq!(said(&event(&scene.world, &scene.get(path).expect(200))), said(&told), "{path}");
    }
    let theirs = explain(&scene.world, "gems/oil-9.0.0.gem");
    assert_eq!((&theirs["status"], said(&theirs)), (&json!(404), vec![(FIRST, "not_found"), (REMOTE, "blocked")]));
    scene.world.change(FIRST, &json!({ "claims": [] }));
    let told = explain(&scene.world, "info/oil");
    assert!(why(&told, REMOTE).ends_with("a hosted member that has or had it"), "{told:#}");
    for path in ["versions", "names", "specs.4.8.gz"] {
        let told = explain(&scene.world, path);
        assert_eq!((&told["status"], said(&told)), (&json!(200), vec![(FIRST, "hit"), (REMOTE, "hit")]), "{path}");
        assert!(told["detail"].as_str().unwrap().contains("was checked on"), "{told:#}");
    }
    let nobody = explain(&scene.world, "info/wick");
    assert!(nobody["detail"].as_str().unwrap().contains("no member has or ever had `wick`"), "{nobody:#}");
    let table = command(&scene.world, &["explain", GROUP, "info/oil"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("`oil` belongs to") && table.contains("blocked"), "{table}");
}

#[test]
fn a_member_that_began_to_have_a_name_later_is_told_with_what_gives_it_the_name() {
    let scene = scene();
    scene.upstream.repository("second", false);
    scene.world.remote_of("gem", OTHER, &scene.upstream.url("second"));
    scene.world.change(GROUP, &json!({ "members": [FIRST, REMOTE, OTHER] }));
    scene.upstream.admin().push("second", &Gem::new("lamp", "1.0.0")).expect(200);
    scene.get("versions").expect(200);
    scene.publish("lamp", "9.0.0");
    scene.at("2026-11-02T13:00:00Z");
    scene.get("versions").expect(200);
    scene.get("info/lamp").expect(200);
    let told = explain(&scene.world, "info/lamp");
    assert_eq!(said(&told), [(REMOTE, "blocked"), (OTHER, "hit")], "{told:#}");
    let why = why(&told, REMOTE);
    assert!(why.contains(&format!("`lamp` belongs to `{OTHER}`: this member listed it later")), "{why}");
    assert!(why.ends_with(&format!("`daylight repo set {REMOTE} --claim lamp` gives this member the name")), "{why}");
}

#[test]
fn a_refusal_names_no_member_and_its_event_is_for_observers() {
    let scene = scene();
    scene.publish("oil", "9.0.0");
    scene.world.change(FIRST, &json!({ "claims": ["oil"] }));
    scene.push("oil", "2.0.0");
    scene.get("versions").expect(200);
    // The members are public, so the readers of the group may know who has the name.
    let path = format!("/api/v1/explain?repository={GROUP}&path=gems/oil-9.0.0.gem");
    let told = scene.world.anon().get(&path).expect(200).json();
    assert!(told.to_string().contains("belongs") && told.get("ops").is_none(), "{told}");
    let refused = scene.get("gems/oil-9.0.0.gem").expect(404);
    let told = [refused.text(), &format!("{:?}", refused.headers)].concat();
    assert!(!told.contains(REMOTE) && !told.contains("belongs"), "{told}");
    let id = refused.header("daylight-event").unwrap();
    scene.world.anon().get(&format!("/api/v1/events/{id}")).expect(401);
}

#[test]
fn where_an_upstream_was_never_seen_it_is_told_that_it_would_be_asked() {
    let mut scene = scene();
    scene.upstream.stop();
    for path in ["info/lamp", "versions"] {
        let told = explain(&scene.world, path);
        assert_eq!((&told["status"], &told["reason"]), (&json!(0), &json!("upstream_unasked")), "{path}: {told:#}");
        assert_eq!(said(&told), [(REMOTE, "unknown")], "{path}");
    }
    let failed = scene.get("versions");
    assert_eq!(said(&event(&scene.world, &failed)), [(REMOTE, "failed")], "{}", failed.text());
}

#[test]
fn a_preview_shows_which_names_would_be_those_of_other_members() {
    let scene = scene();
    scene.publish("lamp", "1.0.0");
    scene.publish("wick", "1.0.0");
    for path in ["info/lamp", "info/wick"] {
        scene.get(path).expect(200);
    }
    let preview = |repository: &str, wanted: Value| {
        let ask = || {
            let path = format!("/api/v1/repositories/{repository}/preview");
            scene.world.admin().post_json(&path, &wanted).expect(200).json()
        };
        let told = (0..100).map(|_| ask()).find(|told| told["paths"] == 2);
        told.unwrap_or_else(|| panic!("{}", ask()))["changes"].clone()
    };
    let change = |path: &str, status: u16, member: Value| {
        json!([{
            "path": format!("/repository/{GROUP}/{path}"), "requests": 1,
            "before": { "status": 200, "member": REMOTE }, "after": { "status": status, "member": member },
        }])
    };
    assert_eq!(preview(GROUP, json!({ "members": [REMOTE, FIRST] })), json!([]));
    assert_eq!(preview(FIRST, json!({ "claims": ["lamp"] })), change("info/lamp", 200, Value::Null));
    let alone = preview(GROUP, json!({ "members": [FIRST] }));
    assert_eq!((alone.as_array().unwrap().len(), &alone[0]["after"]["status"]), (2, &json!(404)), "{alone:#}");
    // The preview changes nothing.
    assert!(scene.get("info/lamp").expect(200).text().contains("1.0.0"));
}
