//! Policies of hosted repositories of gems: every index, the gem and its gemspec.

use super::{WEEK_S, allow, set, set_day, world};
use crate::world::{Answer, FIRST, Gem, Index, World};
use serde_json::json;

/// A repository of lamp 1.0.0 (day 1) and 1.1.0 (day 10), and of oil (day 10), on day 11.
fn shop() -> World {
    let world = world();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    set_day(&world, 10);
    world.admin().push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("oil", "2.5.0")).expect(200);
    set_day(&world, 11);
    world
}

fn get(world: &World, what: &str) -> Answer {
    world.anon().file(FIRST, what)
}

/// Everything that lists versions, unpacked.
const LISTS: [&str; 8] = [
    "versions",
    "names",
    "info/lamp",
    "info/oil",
    "api/v1/dependencies.json?gems=lamp,oil",
    "api/v1/versions/lamp.json",
    "api/v1/gems/lamp.json",
    "api/v1/search.json?query=l",
];

fn offered(world: &World) -> Vec<String> {
    let index = Index::read(&world.anon(), FIRST);
    index.offered.keys().map(|(name, version)| format!("{name} {version}")).collect()
}

#[test]
fn what_is_young_is_on_no_list_and_appears_by_itself_once_it_is_old_enough() {
    let world = shop();
    assert_eq!(offered(&world), ["lamp 1.0.0", "lamp 1.1.0", "oil 2.5.0"]);
    set(&world, FIRST, &json!({ "cooldown_s": WEEK_S })).expect(200);
    for list in LISTS {
        let said = get(&world, list);
        assert!(!said.text().contains("1.1.0") && !said.text().contains("2.5.0"), "{list}: {}", said.text());
    }
    assert_eq!(offered(&world), ["lamp 1.0.0"]);
    for young in ["gems/lamp-1.1.0.gem", "quick/Marshal.4.8/lamp-1.1.0.gemspec.rz"] {
        let refused = get(&world, young).expect(403);
        let said =
            "`lamp:1.1.0` is hidden by the policy of `gems-private`: versions are hidden until they are 7 days old";
        assert!(refused.text().starts_with(said), "{}", refused.text());
        assert!(
            refused.text().contains("hint: ") && refused.text().contains("2026-11-17T12:00:00"),
            "{}",
            refused.text()
        );
    }
    get(&world, "gems/lamp-1.0.0.gem").expect(200);

    // After several requests the answer is a page, which ends with the cooldown.
    for _ in 0..5 {
        LISTS.iter().for_each(|list| drop(get(&world, list)));
    }
    set_day(&world, 16);
    assert_eq!(offered(&world), ["lamp 1.0.0"]);
    set_day(&world, 17);
    assert_eq!(offered(&world), ["lamp 1.0.0", "lamp 1.1.0", "oil 2.5.0"]);
    for list in LISTS.into_iter().filter(|list| !list.starts_with("info/oil") && *list != "names") {
        assert!(get(&world, list).text().contains("1.1.0"), "{list}");
    }
    get(&world, "gems/lamp-1.1.0.gem").expect(200);
}

#[test]
fn an_exception_lets_one_version_through_until_it_ends_and_tells_by_whose_word() {
    let world = shop();
    set(&world, FIRST, &json!({ "cooldown_s": WEEK_S })).expect(200);
    let made = allow(&world, FIRST, "lamp:1.1.0", Some("2026-11-12T12:00:00Z")).expect(201).json();
    assert_eq!((&made["who"], &made["why"]), (&json!("admin"), &json!("it closes a hole")));
    let shown = world.admin().get(&format!("/api/v1/repositories/{FIRST}")).expect(200).json();
    assert_eq!(shown["policy"]["exceptions"], json!([made]));
    for _ in 0..3 {
        assert_eq!(offered(&world), ["lamp 1.0.0", "lamp 1.1.0"]);
        get(&world, "gems/lamp-1.1.0.gem").expect(200);
    }
    set_day(&world, 12);
    assert_eq!(offered(&world), ["lamp 1.0.0"]);
    get(&world, "gems/lamp-1.1.0.gem").expect(403);
    // The exception covered no other version, and can be made and withdrawn again.
    allow(&world, FIRST, "lamp:1.1.0", None).expect(201);
    assert_eq!(offered(&world), ["lamp 1.0.0", "lamp 1.1.0"]);
    let path = format!("/api/v1/repositories/{FIRST}/exceptions/lamp:1.1.0");
    world.admin().ask("DELETE", &path, &[], b"").expect(204);
    assert_eq!(offered(&world), ["lamp 1.0.0"]);
    assert!(world.admin().ask("DELETE", &path, &[], b"").expect(400).text().contains("nothing lets"));
}

#[test]
fn who_pushes_what_is_too_young_to_be_seen_is_told_until_when() {
    let world = shop();
    set(&world, FIRST, &json!({ "cooldown_s": WEEK_S })).expect(200);
    let said = world.admin().push(FIRST, &Gem::new("lamp", "1.2.0")).expect(200).text().to_owned();
    let (first, then) = said.split_once('\n').unwrap();
    assert_eq!(first, "Successfully registered gem: lamp (1.2.0)");
    assert!(then.starts_with("Nobody sees it yet: `lamp:1.2.0` is hidden by the policy of `gems-private`"), "{said}");
    assert!(then.contains("is shown from 2026-11-18T12:00:00"), "{said}");
    // An exception that is not needed is not mentioned.
    set(&world, FIRST, &json!({ "cooldown_s": null })).expect(200);
    let said = world.admin().push(FIRST, &Gem::new("lamp", "1.3.0")).expect(200).text().to_owned();
    assert_eq!(said, "Successfully registered gem: lamp (1.3.0)");
}

#[test]
fn what_is_denied_is_neither_seen_nor_published_and_pushes_go_on_beside_it() {
    let world = shop();
    set(&world, FIRST, &json!({ "deny": ["oil", "lamp:1.1.*"] })).expect(200);
    assert_eq!(offered(&world), ["lamp 1.0.0"]);
    let refused = world.admin().push(FIRST, &Gem::new("lamp", "1.1.5")).expect(403);
    assert!(refused.text().contains("`lamp:1.1.*` is denied"), "{}", refused.text());
    world.admin().push(FIRST, &Gem::new("lamp", "1.2.0")).expect(200);
    world.admin().yank(FIRST, "lamp", "1.0.0").expect(200);
    assert_eq!(offered(&world), ["lamp 1.2.0"]);
    // The journal's dates apply without the policy, too.
    set(&world, FIRST, &json!({ "deny": null })).expect(200);
    assert_eq!(offered(&world), ["lamp 1.1.0", "lamp 1.2.0", "oil 2.5.0"]);
}
