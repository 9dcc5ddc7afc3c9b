//! A change of a repository's upstream URL: the files of the former upstream are deleted only on request.

use crate::world::{Ruby, Said, Says, Upstream, World};
use serde_json::{Value, json};
use std::path::Path;

const VERIFIED: &str = "org/example/lamp/1/lamp-1.jar";
const UNVERIFIED: &str = "org/example/lamp/2/lamp-2.jar";
const METADATA: &str = "org/example/lamp/maven-metadata.xml";

/// An upstream with one release with a checksum, one without, and metadata.
fn upstream() -> Upstream {
    let upstream = Upstream::start();
    let sum = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"; // of `hello`
    upstream.says(&format!("/{VERIFIED}"), Says::file("hello").header("X-Checksum-SHA1", sum));
    upstream.file(&format!("/{UNVERIFIED}"), "world");
    upstream.file(
        &format!("/{METADATA}"),
        "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId></metadata>",
    );
    upstream
}

fn fill(world: &World) {
    for path in [VERIFIED, UNVERIFIED, METADATA] {
        world.anon().file("far", path).expect(200);
    }
}

fn files(world: &World) -> Vec<String> {
    let said = world.admin().get("/api/v1/repositories/far/contents").expect(200).json();
    said["contents"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

/// Runs the commands of an operator, with a token.
fn shell(world: &World, script: &str) -> Said {
    let program = Path::new(env!("CARGO_BIN_EXE_daylight")).parent().unwrap().display();
    let (server, secret) = (world.address(), world.admin().secret().to_owned());
    let head = format!("export PATH=\"{program}:$PATH\" DAYLIGHT_SERVER=http://{server} DAYLIGHT_TOKEN={secret}\n");
    Ruby::here().shell("", &format!("{head}{script}"))
}

fn turn(world: &World, to: &Upstream, more: Value) -> crate::world::Answer {
    let mut body = json!({ "remote": { "urls": [to.url()] } });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.admin().patch_json("/api/v1/repositories/far", &body)
}

#[test]
fn the_api_drops_what_is_kept_only_where_it_is_told_and_keeps_verified_releases_where_it_is() {
    let (world, one, other) = (World::start(), upstream(), Upstream::start());
    world.remote("far", &one.url());
    fill(&world);
    let refused = turn(&world, &other, json!({})).expect(409).json();
    assert!(refused["detail"].as_str().unwrap().contains("3 files"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("keep_cached"), "{refused}");
    assert_eq!(files(&world).len(), 3, "nothing was changed");
    assert_eq!(
        world.admin().get("/api/v1/repositories/far").json()["remote"]["urls"],
        json!([one.url().trim_end_matches('/')])
    );
    // A mirror after the first URL is not another upstream.
    world.change("far", &json!({ "remote": { "urls": [one.url(), other.url()] } }));
    assert_eq!(files(&world).len(), 3);
    turn(&world, &other, json!({ "keep_cached": true })).expect(200);
    assert_eq!(files(&world), [VERIFIED]);
    assert_eq!(world.anon().file("far", VERIFIED).expect(200).text(), "hello");
    world.anon().file("far", UNVERIFIED).expect(404);
    assert_eq!((other.count(&format!("/{VERIFIED}")), other.count(&format!("/{UNVERIFIED}"))), (0, 1));
    turn(&world, &one, json!({ "keep_cached": false })).expect(200);
    assert_eq!(files(&world), [""; 0]);
    // With an empty cache there is nothing to decide.
    turn(&world, &other, json!({})).expect(200);
}

#[test]
fn the_command_line_tells_what_would_be_lost_and_changes_nothing_until_somebody_decides() {
    let (world, one, other) = (World::start(), upstream(), Upstream::start());
    world.remote("far", &one.url());
    fill(&world);
    let run = |flags: &str| shell(&world, &format!("daylight repo set far --remote {} {flags}", other.url()));
    let told = run("--preview").good();
    assert!(told.contains("3 files") && told.contains("the answers of 3 would change"), "{told}");
    // The kept files are answered as before.
    let told = run("--keep-cached --preview").good();
    assert!(told.contains("2 files of") && told.contains("the answers of 2 would change"), "{told}");
    assert!(!told.contains(VERIFIED) && told.contains(UNVERIFIED), "{told}");
    let refused = run("").bad();
    assert!(refused.contains("--keep-cached") && refused.contains("--yes"), "{refused}");
    let code = run("|| echo code $?").good();
    assert!(code.contains("code 2"), "{code}");
    assert_eq!(files(&world).len(), 3);
    let told = run("--keep-cached").good();
    assert!(told.contains("dropped 2 cached files of") && told.contains("and kept 1 of 5 bytes"), "{told}");
    assert_eq!(files(&world), [VERIFIED]);
    let told = shell(&world, &format!("daylight repo set far --remote {} --yes", one.url())).good();
    assert!(told.contains("dropped 1 cached files of 5 bytes of the former upstream, and kept 0 of 0 bytes"), "{told}");
    assert_eq!(files(&world), [""; 0]);
}

#[test]
fn a_file_of_settings_that_names_another_upstream_keeps_verified_releases_and_the_log_says_so() {
    let (one, other) = (upstream(), Upstream::start());
    let declared = |to: &Upstream| {
        format!("[[repository]]\nname = \"far\"\nformat = \"maven\"\nremote = {{ urls = [\"{}\"] }}\n", to.url())
    };
    let mut world = World::start_with_file(&declared(&one));
    fill(&world);
    world.stop();
    world.configure(&declared(&other));
    world.resume();
    assert_eq!(files(&world), [VERIFIED]);
    let log = world.log();
    assert!(
        log.contains("another upstream") && log.contains("repository=far") && log.contains("lost_files=2"),
        "{log}"
    );
}
