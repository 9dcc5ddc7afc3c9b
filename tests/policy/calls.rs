//! Every call of the gem API, from the table that parses URLs: none reveals a version that the policy hides.

use super::{WEEK_S, set, set_day, world};
use crate::world::{FIRST, Gem, Index, Person, World};
use format::gem::call;
use serde_json::json;
use std::collections::BTreeMap;

/// The hidden gem, its owner, and its only version.
const GEM: &str = "zephyr";
const OWNER: &str = "mira-of-the-winds";
const NUMBER: &str = "2.5.77";
/// The query parameters of all calls together.
const QUERY: &str = "query=zeph&gems=zephyr,lamp&from=2026-11-09T00:00:00Z&to=2026-11-12T00:00:00Z";

/// The answers of each path that reveal the gem to one of these people. The owner's own profile reveals nothing about
/// the gem.
fn tellers(people: &[&Person]) -> BTreeMap<String, String> {
    let others = [
        "versions",
        "names",
        "info/zephyr",
        "specs.4.8.gz",
        "api/v1/attestations/zephyr.json",
        "api/v1/dependencies",
        "api/v1/dependencies.json",
    ];
    let calls = call::paths(GEM, NUMBER).into_iter().chain(others.map(str::to_owned));
    let mut told = BTreeMap::new();
    for path in calls.filter(|path| !path.contains("api_key") && !path.contains("profile/me")) {
        for who in people {
            let answer = who.get(&format!("/repository/{FIRST}/{path}?{QUERY}"));
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            // A name stands in `/versions` without a version, because clients that know it must learn of the removal.
            let text = text.replace(&gone(), "");
            let tells = text.contains(NUMBER) || text.contains(OWNER) || (answer.status == 200 && text.contains(GEM));
            if tells {
                told.insert(path.clone(), text);
            }
        }
    }
    told
}

/// The line of the removal, with the MD5 of an `/info` without versions.
fn gone() -> String {
    format!("{GEM} -0 6105347ebb9825ac754615ca55ff3b0c")
}

fn shop() -> World {
    let world = world();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    set_day(&world, 10);
    world
}

#[test]
fn no_call_tells_of_a_gem_that_is_denied_or_too_young() {
    let world = shop();
    let owner = world.person(OWNER, &["read", "write", "add_owner"], &[]);
    owner.push(FIRST, &Gem::new(GEM, NUMBER)).expect(200);
    set_day(&world, 11);
    let (anon, admin) = (world.anon(), world.admin());
    let people = [&anon, &owner, &admin];
    let told = tellers(&people);
    assert!(told.len() > 25, "what is not hidden is told of: {:?}", told.keys());
    for policy in [json!({ "deny": [GEM] }), json!({ "deny": null, "cooldown_s": WEEK_S })] {
        set(&world, FIRST, &policy).expect(200);
        for _ in 0..3 {
            assert_eq!(tellers(&people), BTreeMap::new(), "{policy}");
        }
        Index::read(&anon, FIRST);
    }
    set(&world, FIRST, &json!({ "cooldown_s": null })).expect(200);
    assert_eq!(tellers(&people).into_keys().collect::<Vec<_>>(), told.into_keys().collect::<Vec<_>>());
}
