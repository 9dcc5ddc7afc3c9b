//! Removing repositories: only after a confirmation, and with an undo window of seven days.

use crate::world::{Answer, Gem, Ruby, Upstream, World};
use serde_json::json;

fn path(name: &str) -> String {
    format!("/api/v1/repositories/{name}")
}

fn remove(world: &World, name: &str) -> Answer {
    world.admin().ask("DELETE", &format!("{}?confirm={name}", path(name)), &[], b"")
}

fn restore(world: &World, name: &str, body: &serde_json::Value) -> Answer {
    world.admin().post_json(&format!("{}/restore", path(name)), body)
}

/// Runs a command of the program on a terminal, with these answers to its prompts.
pub(crate) fn on_terminal(world: &World, command: &[&str], answers: &[(&str, &str)]) -> crate::world::Said {
    let [server, token] = surroundings(world);
    let head = ["env", &server, &token, env!("CARGO_BIN_EXE_daylight")];
    Ruby::here().asked(&[&head[..], command].concat(), answers)
}

/// Runs the same command without a terminal. Returns the output and the exit code.
pub(crate) fn alone(world: &World, command: &str) -> (String, Option<i32>) {
    world.says(command)
}

fn surroundings(world: &World) -> [String; 2] {
    let server = world.root();
    [format!("DAYLIGHT_SERVER={server}"), format!("DAYLIGHT_TOKEN={}", world.admin().secret())]
}

/// A server with a repository `vault` that has two gems, and a token for it alone.
fn vault() -> (World, crate::world::Person) {
    let world = World::start();
    world.repository("vault", true);
    for name in ["lamp", "oil"] {
        world.admin().push("vault", &Gem::new(name, "1.0.0")).expect(200);
    }
    let reader = world.person("reader", &["read"], &["vault"]);
    reader.get("/repository/vault/info/lamp").expect(200);
    (world, reader)
}

#[test]
fn a_removal_that_names_nothing_twice_is_refused_and_tells_what_would_go() {
    let (world, reader) = vault();
    for wrong in ["", "?confirm=", "?confirm=Vault", "?confirm=other"] {
        let refused = world.admin().ask("DELETE", &format!("{}{wrong}", path("vault")), &[], b"").expect(400);
        assert!(refused.text().contains("2 files") && refused.text().contains("confirm=vault"), "{}", refused.text());
    }
    reader.get("/repository/vault/info/lamp").expect(200);
    let told = remove(&world, "vault").expect(200).json();
    assert_eq!((&told["removed"], &told["files"]), (&json!("vault"), &json!(2)), "{told}");
    assert!(told["size_bytes"].as_u64().unwrap() > 100 && told["restorable_until"].is_string(), "{told}");
    reader.get("/repository/vault/info/lamp").expect(404);
    world.admin().ask("DELETE", &path("nothing"), &[], b"").expect(404);
}

#[test]
fn a_removal_of_a_hosted_repository_says_that_upstreams_are_asked_for_its_names_again() {
    let (world, _) = vault();
    let upstream = Upstream::start();
    world.remote("far", &upstream.url());
    let holding = |name: &str| world.admin().get(&format!("{}/holding", path(name))).expect(200).json();
    assert_eq!((&holding("vault")["keeps_names"], &holding("far")["keeps_names"]), (&json!(true), &json!(false)));
    let refused = world.admin().ask("DELETE", &path("vault"), &[], b"").expect(400);
    assert!(refused.text().contains("upstreams"), "{}", refused.text());
    let (said, _) = alone(&world, "repo remove vault");
    assert!(said.contains("--private-prefix") && said.contains("nothing was removed"), "{said}");
    let (said, code) = alone(&world, "repo remove vault --yes");
    assert!(code == Some(0) && said.contains("--private-prefix"), "{said}");
    assert_eq!(remove(&world, "far").expect(200).json()["keeps_names"], false);
}

#[test]
fn on_a_terminal_the_name_is_typed_again_and_elsewhere_yes_is_said() {
    let (world, reader) = vault();
    let (said, code) = alone(&world, "repo remove vault");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("2 files") && said.contains("--yes"), "{said}");
    let said = on_terminal(&world, &["repo", "remove", "vault"], &[("again:", "vualt")]).bad();
    assert!(said.contains("2 files") && said.contains("nothing was removed"), "{said}");
    reader.get("/repository/vault/info/lamp").expect(200);

    let said = on_terminal(&world, &["repo", "remove", "vault"], &[("again:", "vault")]).good();
    assert!(said.contains("removed `vault`: 2 files") && said.contains("daylight repo restore vault"), "{said}");
    reader.get("/repository/vault/info/lamp").expect(404);
    let (said, code) = alone(&world, "repo restore vault");
    assert!(code == Some(0) && said.contains("restored `vault`"), "{said}");
    reader.get("/repository/vault/info/lamp").expect(200);
    assert_eq!(alone(&world, "repo remove vault --yes").1, Some(0));
    reader.get("/repository/vault/info/lamp").expect(404);
}

#[test]
fn what_is_restored_is_as_it_was_with_its_tokens_and_goes_on() {
    let (mut world, reader) = vault();
    let before = reader.get("/repository/vault/versions").expect(200).text().to_owned();
    remove(&world, "vault").expect(200);
    // Another repository gets the name meanwhile, with other bytes of the same versions.
    world.repository("vault", false);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0").payload(b"other")).expect(200);
    let refused = restore(&world, "vault", &json!({})).expect(409);
    assert!(refused.text().contains("--as"), "{}", refused.text());
    let restored = restore(&world, "vault", &json!({"as": "vault-2"})).expect(200).json();
    assert_eq!((&restored["name"], &restored["private"]), (&json!("vault-2"), &json!(true)));
    // Tokens are listed with the present names of their repositories.
    let tokens = world.admin().get("/api/v1/tokens").expect(200).text().to_owned();
    assert!(tokens.contains("[\"vault-2\"]"), "{tokens}");
    assert_eq!(reader.get("/repository/vault-2/versions").expect(200).text(), before);
    world.anon().get("/repository/vault-2/info/lamp").expect(401);
    world.admin().push("vault-2", &Gem::new("wick", "1.0.0")).expect(200);
    world.admin().push("vault-2", &Gem::new("lamp", "1.0.0").payload(b"other")).expect(409);
    restore(&world, "vault", &json!({})).expect(404);

    // A rebuild from the journal gives the same.
    let after = reader.get("/repository/vault-2/versions").expect(200).text().to_owned();
    world.stop();
    let checked = world.run("check");
    assert!(checked.status.success(), "{checked:?}");
    assert!(world.run("rebuild").status.success());
    world.resume();
    let reader = world.holder(reader.secret());
    assert_eq!(reader.get("/repository/vault-2/versions").expect(200).text(), after);
}

#[test]
fn the_last_that_was_removed_under_a_name_comes_back_first() {
    let world = World::start();
    for version in ["1.0.0", "2.0.0"] {
        world.repository("shelf", false);
        world.admin().push("shelf", &Gem::new("lamp", version)).expect(200);
        remove(&world, "shelf").expect(200);
    }
    restore(&world, "shelf", &json!({"as": "a/b"})).expect(400);
    restore(&world, "shelf", &json!({"like": "newer"})).expect(400);
    restore(&world, "shelf", &json!({"as": "newer"})).expect(200);
    restore(&world, "shelf", &json!({"as": "older"})).expect(200);
    for (name, version) in [("newer", "2.0.0"), ("older", "1.0.0")] {
        let info = world.anon().get(&format!("/repository/{name}/info/lamp")).expect(200);
        assert!(info.text().contains(version), "{name}: {}", info.text());
    }
    restore(&world, "never", &json!({})).expect(404);
}

#[test]
fn after_seven_days_a_removal_is_final() {
    let world = World::start_in_conformance(&[]);
    world.set_time("2026-11-01T12:00:00Z");
    world.repository("shelf", false);
    let told = remove(&world, "shelf").expect(200).json();
    assert_eq!(told["restorable_until"], "2026-11-08T12:00:00.000Z");
    world.set_time("2026-11-08T12:00:00Z");
    restore(&world, "shelf", &json!({})).expect(200);
    remove(&world, "shelf").expect(200);
    world.set_time("2026-11-15T12:00:01Z");
    let refused = restore(&world, "shelf", &json!({})).expect(404);
    assert!(refused.text().contains("was removed within `store.undo`"), "{}", refused.text());
}

#[test]
fn a_group_and_a_remote_repository_come_back_and_a_member_is_not_removed_under_its_group() {
    let upstream = Upstream::start();
    upstream.file("/org/x/1/x-1.jar", "far");
    let world = World::start();
    world.remote("far", &upstream.url());
    world.tree("near", "maven");
    let group = json!({"name": "all", "format": "maven", "kind": "group", "members": ["near", "far"]});
    world.admin().post_json("/api/v1/repositories", &group).expect(201);
    world.anon().file("all", "org/x/1/x-1.jar").expect(200);

    assert!(remove(&world, "far").expect(400).text().contains("is a member of `all`"));
    let told = remove(&world, "all").expect(200).json();
    assert_eq!(told["files"], 0, "what its members hold stays: {told}");
    let told = remove(&world, "far").expect(200).json();
    assert_eq!(told["files"], 1, "{told}");
    let refused = restore(&world, "all", &json!({})).expect(400);
    assert!(refused.text().contains("`far`"), "a member is missing: {}", refused.text());
    restore(&world, "far", &json!({})).expect(200);
    restore(&world, "all", &json!({})).expect(200);
    assert_eq!(world.anon().file("all", "org/x/1/x-1.jar").expect(200).text(), "far");
    // The cached files were deleted with it, and are fetched again.
    let asked = upstream.asked().len();
    assert_eq!(world.anon().file("far", "org/x/1/x-1.jar").expect(200).text(), "far");
    assert_eq!(upstream.asked().len(), asked);
}
