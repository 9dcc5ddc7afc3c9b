//! One-time passwords against a stolen token: guessing locks out the thief, but neither blocks the owner's pushes nor
//! the revocation of the token.

use crate::signin::{codes, guarded};
use crate::world::{Answer, FIRST, Gem, Person, World};
use serde_json::json;

/// The server takes the client's address from a header, so that a test has many clients.
const MANY_CLIENTS: &[(&str, &str)] =
    &[("DAYLIGHT_SERVER_TRUSTED_PROXIES", "127.0.0.1"), ("DAYLIGHT_SERVER_CLIENT_FROM", "x-forwarded-for")];
const HOME: &str = "192.0.2.10";
const THIEF: &str = "192.0.2.66";

fn push(who: &Person, version: &str, from: &str, code: &str) -> Answer {
    let headers = [("X-Forwarded-For", from), ("OTP", code)];
    let gem = Gem::new("lamp", version).bytes();
    who.ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), &headers, &gem)
}

/// Sends as many wrong codes as are checked, and one more.
fn guess(who: &Person, from: &str) {
    for _ in 0..5 {
        push(who, "6.6.6", from, "nonsense").expect(401);
    }
    push(who, "6.6.6", from, "nonsense").expect(429);
}

fn revoke(who: &Person, name: &str) -> Answer {
    who.ask("DELETE", &format!("/api/v1/tokens/{name}"), &[("X-Forwarded-For", "192.0.2.11")], b"")
}

#[test]
fn a_thief_who_guesses_neither_stops_the_owners_pushes_nor_the_revocation() {
    let world = World::start_with(MANY_CLIENTS);
    let (mira, uri) = guarded(&world, "mira");
    let [now, next] = codes(&uri);
    push(&mira, "1.0.0", HOME, &now).expect(200);
    guess(&mira, THIEF);
    push(&mira, "6.6.6", "192.0.2.67", &next).expect(429);
    push(&mira, "1.1.0", HOME, &next).expect(200);
    // From a machine that never sent a right code, and without a code.
    revoke(&mira, "mira").expect(204);
    push(&mira, "1.2.0", HOME, &next).expect(401);
    world.anon().get(&format!("/repository/{FIRST}/gems/lamp-6.6.6.gem")).expect(404);
}

#[test]
fn a_restart_forgets_no_code_that_was_used_and_no_wrong_one() {
    let mut world = World::start_with(MANY_CLIENTS);
    let (mira, uri) = guarded(&world, "mira");
    let [now, next] = codes(&uri);
    push(&mira, "1.0.0", HOME, &now).expect(200);
    world.restart();
    push(&mira, "1.1.0", HOME, &now).expect(401);
    push(&mira, "1.1.0", HOME, &next).expect(200);
    guess(&mira, THIEF);
    world.restart();
    push(&mira, "6.6.6", THIEF, "nonsense").expect(429);
}

#[test]
fn a_token_revokes_itself_and_its_keys_and_no_other() {
    let world = World::start_with(MANY_CLIENTS);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let sign_in = |who: &Person, name: &str| {
        let wanted = format!("name={name}&push_rubygem=true");
        let made = who.ask("POST", &format!("/repository/{FIRST}/api/v1/api_key"), &form, wanted.as_bytes());
        world.holder(made.expect(200).text())
    };
    let (mira, olaf) = (world.person("mira", &["write"], &[]), world.person("olaf", &["write"], &[]));
    let (first, _second) = (sign_in(&mira, "first"), sign_in(&mira, "second"));
    let of_first = sign_in(&first, "of-first");
    // A token of another owner is answered like one that does not exist.
    let said = |answer: Answer| {
        let mut problem = answer.expect(403).json();
        problem.as_object_mut().unwrap().remove("event");
        problem
    };
    let unknown = said(revoke(&first, "nobody"));
    for name in ["mira", "second", "olaf", "admin"] {
        assert_eq!(said(revoke(&first, name)), unknown, "{name}");
    }
    revoke(&of_first, "first").expect(403);
    revoke(&world.anon(), "first").expect(401);
    let elsewhere = [("Sec-Fetch-Site", "cross-site")];
    mira.ask("DELETE", "/api/v1/tokens/mira", &elsewhere, b"").expect(403);
    revoke(&mira, "of-first").expect(204);
    revoke(&of_first, "of-first").expect(401);
    revoke(&first, "first").expect(204);
    revoke(&mira, "mira").expect(204);
    let all = world.admin().get("/api/v1/tokens").expect(200).json();
    let names: Vec<&str> = all["tokens"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["admin", "olaf"]);
    push(&olaf, "1.0.0", HOME, "").expect(200);
}

#[test]
fn an_administrator_whose_token_was_stolen_revokes_it_while_the_thief_guesses() {
    let world = World::start_with(MANY_CLIENTS);
    let wanted = json!({ "name": "root", "scopes": ["admin"], "otp": true });
    let made = world.admin().post_json("/api/v1/tokens", &wanted).expect(201).json();
    let root = world.holder(made["secret"].as_str().unwrap());
    world.person("ci", &["write"], &[]);
    guess(&root, THIEF);
    revoke(&root, "ci").expect(401);
    revoke(&root, "root").expect(204);
    revoke(&root, "root").expect(401);
}
