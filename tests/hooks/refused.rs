//! Refused hooks, and what each sender learns.

use super::{HOOK, REFERENCE, REMOTE, SECRET, Scene, payload, signature};
use crate::groups::command;
use crate::world::{Connection, FIRST, Person, World};
use serde_json::json;

/// The server takes the client's address from a header.
const BEHIND_A_PROXY: &[(&str, &str)] =
    &[("DAYLIGHT_SERVER_TRUSTED_PROXIES", "127.0.0.1"), ("DAYLIGHT_SERVER_CLIENT_FROM", "x-forwarded-for")];
const ELSEWHERE: (&str, &str) = ("X-Forwarded-For", "192.0.2.10");

/// A remote repository that no client reads.
fn remote(world: &World, private: bool) {
    let remote = json!({ "urls": ["http://127.0.0.1:9"] });
    world.make(&json!({ "name": REMOTE, "format": "gem", "kind": "remote", "private": private, "remote": remote }));
}

fn post(who: &Person, headers: &[(&str, &str)], body: &str) -> u16 {
    who.ask("POST", HOOK, headers, body.as_bytes()).status
}

#[test]
fn a_forged_hook_is_refused_counted_and_has_nothing_looked_at() {
    let scene = Scene::signed();
    let body = payload("2.0.0");
    let right = signature("2.0.0", SECRET);
    let forged = [
        vec![],
        vec![("Authorization", signature("2.0.0", "hash"))],
        vec![("Authorization", signature("2.0.1", SECRET))],
        vec![("Authorization", SECRET.to_owned())],
        vec![("Authorization", format!("Bearer {SECRET}x"))],
        vec![("Authorization", format!("Basic {right}"))],
        vec![("X-Hub-Signature-256", format!("sha256={right}"))],
        vec![("X-Gitlab-Token", String::new())],
    ];
    for headers in &forged {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let refused = scene.hook(&headers, &body).expect(403);
        assert!(!refused.text().contains(SECRET), "{}", refused.text());
    }
    // A token with the scope write is no signature.
    assert_eq!(post(&scene.world.admin(), &[], &body), 403);
    assert_eq!((scene.figure("refused"), scene.figure("taken")), (json!(forged.len() + 1), json!(0)));
    assert_eq!(scene.looks(), 1);
    assert_eq!(post(&scene.world.anon(), &[("Authorization", &right)], &body), 202);
    let told = scene.told();
    assert_eq!(told["hook_secret"], REFERENCE);
    assert!(!told.to_string().contains("hush") && !scene.world.log().contains("hush"));
}

#[test]
fn without_a_secret_hooks_come_from_the_machine_itself_or_with_a_token_that_may_write() {
    let world = World::start_with(BEHIND_A_PROXY);
    remote(&world, false);
    assert_eq!(post(&world.anon(), &[], ""), 202);
    assert_eq!(post(&world.anon(), &[ELSEWHERE], ""), 401);
    assert_eq!(post(&world.anon(), &[ELSEWHERE, ("Authorization", "Bearer hush")], ""), 401);
    let writer = world.person("writer", &["write"], &[REMOTE]);
    assert_eq!(post(&writer, &[ELSEWHERE], ""), 202);
    for (name, scopes, repository) in [("reader", "read", REMOTE), ("other", "write", FIRST)] {
        assert_eq!(post(&world.person(name, &[scopes], &[repository]), &[ELSEWHERE], ""), 401, "{name}");
    }
    // A page of another site in a browser on that machine.
    assert_eq!(post(&world.anon(), &[("Origin", "http://evil.test")], ""), 403);
}

#[test]
fn who_comes_through_a_proxy_that_is_not_trusted_does_not_come_from_the_machine_itself() {
    let world = World::start();
    remote(&world, false);
    assert_eq!(post(&world.anon(), &[], ""), 202);
    for passed_on in [ELSEWHERE, ("Forwarded", "for=192.0.2.10"), ("Via", "1.1 proxy")] {
        assert_eq!(post(&world.anon(), &[passed_on], ""), 401, "{passed_on:?}");
    }
}

#[test]
fn nobody_learns_by_a_hook_which_private_repositories_there_are() {
    let scene = Scene::with(&json!({ "hook_secret": REFERENCE, "private": true }));
    let (anon, body) = (scene.world.anon(), payload("2.0.0"));
    let large = "x".repeat(65_537);
    for path in [HOOK, "/hooks/nobody"] {
        let refused = anon.ask("POST", path, &[], large.as_bytes()).expect(413);
        assert_eq!(refused.text(), anon.ask("POST", HOOK, &[], large.as_bytes()).text());
        for (headers, body) in [(vec![], &body), (vec![("Authorization", "Bearer x")], &body)] {
            let answer = anon.ask("POST", path, &headers, body.as_bytes()).expect(404);
            assert_eq!(answer.text().replace("nobody", REMOTE), anon.ask("POST", HOOK, &[], b"").text());
        }
    }
    assert_eq!(post(&scene.world.person("reader", &["read"], &[REMOTE]), &[], &body), 403);
    assert_eq!(post(&scene.world.person("other", &["write"], &[FIRST]), &[], &body), 404);
    // A sender with the secret needs no token.
    assert_eq!(post(&anon, &[("Authorization", &signature("2.0.0", SECRET))], &body), 202);
    // Without a secret, only the holder of a token learns that the repository exists.
    scene.world.change(REMOTE, &json!({ "hook_secret": null }));
    assert_eq!(post(&anon, &[], ""), 404);
    assert_eq!(post(&scene.world.person("writer", &["write"], &[REMOTE]), &[], ""), 202);
}

#[test]
fn nobody_learns_by_how_soon_a_hook_is_refused_which_private_repositories_there_are() {
    let scene = Scene::with(&json!({ "hook_secret": REFERENCE, "private": true }));
    for path in [HOOK, "/hooks/nobody"] {
        let mut connection = Connection::open(scene.world.address()).unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n");
        connection.send(head.as_bytes()).unwrap();
        // A sender of a complete body is answered meanwhile.
        scene.world.anon().ask("POST", path, &[], b"{}").expect(404);
        connection.stream().set_nonblocking(true).unwrap();
        assert!(connection.stream().peek(&mut [0]).is_err(), "{path} is answered before the body is there");
        connection.stream().set_nonblocking(false).unwrap();
        connection.send(b"{}").unwrap();
        assert_eq!(connection.answer(false).unwrap().status, 404, "{path}");
    }
}

#[test]
fn what_is_no_hook_is_refused() {
    let scene = Scene::new();
    let anon = scene.world.anon();
    assert_eq!(post(&anon, &[], &format!("{{\"name\": \"{}\"}}", "x".repeat(65_536))), 413);
    assert_eq!(post(&anon, &[], &" ".repeat(65_536)), 202);
    assert_eq!(anon.get(HOOK).expect(405).header("allow"), Some("POST"));
    assert_eq!(anon.ask("POST", &format!("{HOOK}/other.json"), &[], b"").status, 404);
    let hosted = anon.ask("POST", &format!("/hooks/{FIRST}"), &[], b"").expect(400);
    assert!(hosted.text().contains("is hosted"), "{}", hosted.text());
}

#[test]
fn the_secret_is_named_and_never_given() {
    let scene = Scene::new();
    let admin = scene.world.admin();
    let path = format!("/api/v1/repositories/{REMOTE}");
    let set = |reference: &str| admin.patch_json(&path, &json!({ "hook_secret": reference }));
    let given = set("hunter2").expect(400);
    assert!(!given.text().contains("hunter2"), "{}", given.text());
    // The API accepts only allowed references that exist.
    assert!(set("env:OTHER_HOOKS").expect(400).text().contains("begin with `UPSTREAM_`"));
    assert!(set("env:UPSTREAM_NOWHERE").expect(400).text().contains("is not set or empty"));
    assert_eq!(set(REFERENCE).expect(200).json()["hook_secret"], REFERENCE);
    let hosted = format!("/api/v1/repositories/{FIRST}");
    let refused = admin.patch_json(&hosted, &json!({ "hook_secret": REFERENCE })).expect(400);
    assert!(refused.text().contains("remote repositories and groups"), "{}", refused.text());
}

#[test]
fn the_command_line_and_the_configuration_file_name_the_secret() {
    let scene = Scene::new();
    let run = |arguments: &[&str]| {
        let output = command(&scene.world, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["repo", "set", REMOTE, "--hook-secret", REFERENCE]);
    assert_eq!(post(&scene.world.anon(), &[], ""), 403);
    assert_eq!(
        post(&scene.world.anon(), &[("X-Gitlab-Token", SECRET)], r#"{"name": "lamp", "version": "1.0.0"}"#),
        202
    );
    let shown = run(&["repo", "show", REMOTE]);
    for line in ["hook secret: env:UPSTREAM_HOOKS", "hooks accepted: 1", "hooks refused: 1", "last hook: 2026-11-02"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(!shown.contains(SECRET), "{shown}");
    run(&["repo", "set", REMOTE, "--hook-secret", "none"]);
    assert!(!run(&["repo", "show", REMOTE]).contains("secret of hooks"));
    let file = "[[repository]]\nname = \"tools\"\nformat = \"raw\"\nhook_secret = \"env:HOME_SECRET\"\n\
        remote = { urls = [\"http://127.0.0.1:9\"] }\n";
    let scene = World::start_with_file_and(file, &[("HOME_SECRET", SECRET)]);
    scene.anon().ask("POST", "/hooks/tools", &[], b"").expect(403);
    scene.anon().ask("POST", "/hooks/tools", &[("Authorization", "Bearer hush")], b"").expect(202);
}

#[test]
fn a_secret_that_cannot_be_read_is_the_servers_fault_and_nobody_is_told_where_it_should_be() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("hooks");
    std::fs::write(&secret, "hush").unwrap();
    let world = World::start_with_file(&format!("upstream.credentials_folder = {:?}\n", folder.path()));
    remote(&world, false);
    world.change(REMOTE, &json!({ "hook_secret": format!("file:{}", secret.display()) }));
    let proof = [("X-Gitlab-Token", "hush")];
    assert_eq!(post(&world.anon(), &proof, ""), 202);
    std::fs::remove_file(&secret).unwrap();
    let refused = world.anon().ask("POST", HOOK, &proof, b"").expect(502);
    assert!(!refused.text().contains(folder.path().to_str().unwrap()), "{}", refused.text());
    std::fs::write(&secret, "hush").unwrap();
    assert_eq!(post(&world.anon(), &proof, ""), 202);
}
