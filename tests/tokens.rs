//! The limits of a token: other repositories, pages of other sites, and rights that it no longer has.

use crate::world::{FIRST, Gem, World};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_token_is_not_good_for_another_repository_that_takes_the_name() {
    let world = World::start();
    let admin = world.admin();
    let vault = json!({"name": "vault", "format": "gem", "kind": "hosted", "private": true});
    admin.post_json("/api/v1/repositories", &vault).expect(201);
    let made = json!({"name": "team", "scopes": ["read", "write"], "repositories": ["vault"]});
    let made = admin.post_json("/api/v1/tokens", &made).expect(201).json();
    let team = world.holder(made["secret"].as_str().unwrap());
    team.push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    for _ in 0..2 {
        team.get("/repository/vault/info/lamp").expect(200);
    }
    admin.ask("DELETE", "/api/v1/repositories/vault?confirm=vault", &[], b"").expect(200);
    team.get("/repository/vault/info/lamp").expect(404);
    admin.post_json("/api/v1/repositories", &vault).expect(201);
    admin.push("vault", &Gem::new("secret", "1.0.0")).expect(200);
    team.get("/repository/vault/names").expect(403);
    team.push("vault", &Gem::new("lamp", "1.0.1")).expect(403);
}

#[test]
fn what_a_browser_sends_for_another_site_changes_nothing() {
    let world = World::start();
    let admin = world.admin();
    let gem = Gem::new("lamp", "1.0.0").bytes();
    let push = format!("/repository/{FIRST}/api/v1/gems");
    for header in [("Sec-Fetch-Site", "cross-site"), ("Origin", "http://evil.test")] {
        admin.ask("POST", &push, &[header], &gem).expect(403);
        admin.ask("GET", "/api/v1/tokens", &[header], b"").expect(403);
    }
    world.anon().get(&format!("/repository/{FIRST}/info/lamp")).expect(404);
    admin.ask("POST", &push, &[("Sec-Fetch-Site", "same-origin")], &gem).expect(200);
}

#[test]
fn when_the_last_admin_token_is_gone_the_next_start_makes_one() {
    let mut world = World::start_with(&[("DAYLIGHT_ADMIN_TOKEN", "")]);
    let token =
        |world: &World| world.said().iter().find_map(|line| line.strip_prefix("admin token: ").map(str::to_owned));
    let admin = world.holder(&token(&world).unwrap());
    admin.post_json("/api/v1/tokens", &json!({"name": "reader", "scopes": ["read"]})).expect(201);
    admin.ask("DELETE", "/api/v1/tokens/admin", &[], b"").expect(204);
    admin.get("/api/v1/tokens").expect(401);
    world.stop();
    world.resume();
    world.holder(&token(&world).unwrap()).get("/api/v1/tokens").expect(200);
}

#[test]
fn what_the_program_writes_is_for_its_owner_alone() {
    let mut world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    for path in world.files() {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{path:?} has {mode:o}");
    }
}

#[test]
fn a_refused_push_leaves_no_bytes_behind() {
    let world = World::start();
    let admin = world.admin();
    let blobs = |world: &World| {
        let files = world.files().into_iter();
        files.filter(|path| path.iter().any(|part| part == "sha256")).count()
    };
    admin.push(FIRST, &Gem::new("a", "1.0").platform("2")).expect(200);
    assert_eq!(blobs(&world), 1);
    // Another gem with the same full name: `a-1.0-2`.
    for payload in 0..5_u8 {
        admin.push(FIRST, &Gem::new("a-1.0", "2").payload(&[payload])).expect(409);
    }
    assert_eq!(blobs(&world), 1);
}

#[test]
fn no_name_passes_for_another_or_for_the_program_itself() {
    let world = World::start();
    let admin = world.admin();
    let make = |name: &str, owner: &str| {
        let wanted = json!({ "name": name, "owner": owner, "scopes": ["write"] });
        admin.post_json("/api/v1/tokens", &wanted)
    };
    for odd in [
        "admin ",
        " admin",
        "\u{202e}nimda",
        "ad\u{200b}min",
        "adm\u{ad}in",
        "a\u{a0}b",
        "daylight",
        "Daylight",
        "anyone",
    ] {
        make(odd, "").expect(400);
        assert_eq!(make("ci", odd).expect(400).header("content-type"), Some("application/problem+json"), "{odd:?}");
    }
    // No URL could revoke the first name; the second has a letter of another alphabet.
    for odd in ["a\\b", "\u{430}dmin"] {
        make(odd, "").expect(400);
    }
    make("ci", "J\u{fc}rgen (builds)").expect(201);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    for odd in ["daylight", "ci%20", "%E2%80%AEic"] {
        let wanted = format!("name={odd}&push_rubygem=true");
        admin.ask("POST", &format!("/repository/{FIRST}/api/v1/api_key"), &form, wanted.as_bytes()).expect(400);
    }
}

#[test]
fn the_event_of_an_expired_token_names_it_and_the_answer_does_not() {
    let world = World::start_in_conformance(&[]);
    crate::policy::set_day(&world, 1);
    let made = json!({ "name": "nightly", "scopes": ["observe"], "expires": "2026-11-02T12:00:00Z" });
    let made = world.admin().post_json("/api/v1/tokens", &made).expect(201).json();
    let nightly = world.holder(made["secret"].as_str().unwrap());
    nightly.get("/api/v1/requests").expect(200);
    crate::policy::set_day(&world, 3);
    let refused = nightly.get("/api/v1/requests").expect(401);
    assert!(!format!("{refused:?}").contains("nightly") && !refused.text().contains("nightly"), "{}", refused.text());
    let told = world.event(refused.header("daylight-event").unwrap());
    assert_eq!(told["detail"], "the token `nightly` expired on 2026-11-02T12:00:00.000Z", "{told:#}");
}
