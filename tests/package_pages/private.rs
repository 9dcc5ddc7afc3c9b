//! What a caller may not read: no page and no call tells that it exists.

use super::{call, page, text};
use crate::world::{FIRST, Gem, World};
use serde_json::json;

#[test]
fn a_private_repository_is_answered_as_one_that_does_not_exist() {
    let world = World::start();
    world.repository("vault", true);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    let reader = world.person("reader", &["read"], &["vault"]);
    let others = [world.anon(), world.holder("wrong"), world.person("other", &["read"], &[FIRST])];
    for path in [
        call("vault", "lamp"),
        call("vault", "lamp/1.0.0"),
        "/api/v1/packages/vault".into(),
        page("vault", "lamp"),
        call("vault", "lamp/downloads"),
        call("vault", "lamp/difference?from=1.0.0&to=1.0.0"),
        call("vault", "lamp/1.0.0/readme"),
        page("vault", "lamp?downloads=true"),
        page("vault", "lamp?from=1.0.0&to=1.0.0"),
        page("vault", "lamp/1.0.0?readme=true"),
    ] {
        reader.get(&path).expect(200);
        for other in &others {
            let (there, nowhere) = (other.get(&path), other.get(&path.replace("vault", "vaulx")));
            assert_eq!(there.status, nowhere.status, "{path}");
            assert!([401, 403].contains(&there.status), "{}", there.text());
            let normal = |text: &str| text.replace("vaulx", "vault").split("\"event\"").next().unwrap().to_owned();
            assert_eq!(normal(there.text()), normal(nowhere.text()));
        }
    }
    let snippet = reader.get(&call("vault", "lamp")).expect(200).json()["snippets"].to_string();
    assert!(snippet.contains("x:TOKEN") && !snippet.contains(reader.secret()), "{snippet}");
    let writer = world.person("writer", &["write"], &["vault"]);
    writer.get(&call("vault", "lamp")).expect(403);
}

#[test]
fn a_group_names_no_member_that_the_caller_may_not_read_and_lists_no_versions_that_only_it_has() {
    let world = World::start();
    world.repository("vault", true);
    world.repository("other", true);
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST, "vault", "other"], "private": true }));
    world.admin().push(FIRST, &Gem::new("lamp", "2.0.0")).expect(200);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    world.admin().push("other", &Gem::new("oil", "1.0.0")).expect(200);
    world.change("other", &json!({ "include_hosted": true, "policy": { "deny": ["oil:1.*"] } }));
    let guest = world.person("guest", &["read"], &["all"]);
    let seen = guest.get(&call("all", "lamp")).expect(200);
    assert!(!seen.text().contains("vault") && !seen.text().contains("1.0.0"), "{}", seen.text());
    assert_eq!(seen.json()["total"], 1);
    let html = guest.get(&page("all", "lamp")).expect(200);
    assert!(!html.text().contains("vault") && !html.text().contains("1.0.0"), "{}", html.text());
    let whole = world.admin().get(&call("all", "lamp")).expect(200).json();
    assert_eq!((&whole["total"], &whole["versions"][1]["hidden"]["rule"]), (&json!(2), &json!("origin")));
    let oil = guest.get(&call("all", "oil")).expect(200);
    assert!(!oil.text().contains("other"), "{}", oil.text());
    let hidden = &oil.json()["versions"][0]["hidden"];
    assert_eq!(hidden["repository"], json!(null));
    assert!(text(hidden, "why").contains("is hidden by a policy: `oil:1.*` is denied"), "{hidden}");
}

#[test]
fn a_group_inside_a_group_that_the_caller_may_not_read_is_not_named_by_its_policy() {
    let world = World::start();
    world.make(&json!({ "name": "inner", "format": "gem", "members": [FIRST], "private": true }));
    world.make(&json!({ "name": "outer", "format": "gem", "members": ["inner"], "private": false }));
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.change("inner", &json!({ "include_hosted": true, "policy": { "deny": ["lamp"] } }));
    for path in [call("outer", "lamp"), call("outer", "lamp/1.0.0"), page("outer", "lamp")] {
        let seen = world.anon().get(&path).expect(200);
        assert!(!seen.text().contains("inner") && seen.text().contains("is denied"), "{}", seen.text());
    }
    assert!(world.admin().get(&call("outer", "lamp")).expect(200).text().contains("inner"));
}
