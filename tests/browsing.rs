//! Browsing: one level of a repository at a time, the same from the API and on the page, and nothing that the caller may not read.

use crate::as_of::last_change;
use crate::world::{Answer, FIRST, Gem, Person, World, hex};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn level(person: &Person, path: &str) -> Value {
    person.get(&format!("/api/v1/browse/{path}")).expect(200).json()
}

fn names(level: &Value) -> Vec<String> {
    let name = |item: &Value| {
        let slash = if item["folder"] == json!(true) { "/" } else { "" };
        format!("{}{slash}", item["name"].as_str().unwrap())
    };
    level["items"].as_array().unwrap().iter().map(name).collect()
}

fn item(level: &Value, name: &str) -> Value {
    level["items"].as_array().unwrap().iter().find(|item| item["name"] == json!(name)).unwrap().clone()
}

fn page(person: &Person, path: &str) -> Answer {
    person.ask("GET", &format!("/browse/{path}"), &[("Accept", "text/html")], b"")
}

fn pom(version: &str) -> Vec<u8> {
    format!(
        "<project><groupId>org.example</groupId><artifactId>lamp</artifactId><version>{version}</version></project>"
    )
    .into_bytes()
}

fn publish(world: &World, repository: &str, version: &str) {
    for ending in ["pom", "jar"] {
        let path = format!("org/example/lamp/{version}/lamp-{version}.{ending}");
        world.admin().put(repository, &path, &pom(version)).expect(201);
    }
}

/// The present moment, as URLs have it: directly after the last change.
fn now(world: &World) -> String {
    format!("seq-{}", last_change(world))
}

#[test]
fn a_level_has_folders_and_files_and_its_parts_of_any_size_add_up() {
    let world = World::start();
    world.tree("tools", "raw");
    for path in ["a/1", "a/b/2", "a.txt", "a-b/1", "c", "d/x/y/z"] {
        world.admin().put("tools", path, path.as_bytes()).expect(201);
    }
    let anon = world.anon();
    assert_eq!(names(&level(&anon, "tools")), ["a-b/", "a.txt", "a/", "c", "d/"]);
    assert_eq!(names(&level(&anon, "tools/a")), ["1", "b/"]);
    assert_eq!(names(&level(&anon, "tools/d/x")), ["y/"]);
    let listed = item(&level(&anon, "tools/a"), "1");
    assert_eq!(json!([listed["size_bytes"], listed["sha256"]]), json!([3, hex(&Sha256::digest("a/1"))]));
    let file = level(&anon, "tools/a/b/2");
    let expected = json!(["2", false, "a/b/2", 5, "hosted", null]);
    let found = item(&file, "2");
    let keys = ["name", "folder", "path", "size_bytes", "state", "hidden"];
    assert_eq!(Value::Array(keys.iter().map(|key| found[key].clone()).collect()), expected);
    anon.get("/api/v1/browse/tools/no/where").expect(404);
    anon.get("/api/v1/browse/tools/a/b/2/3").expect(404);
    for limit in 1..=6 {
        let (mut together, mut after) = (Vec::new(), String::new());
        loop {
            let part = level(&anon, &format!("tools?limit={limit}&after={after}"));
            together.extend(names(&part));
            assert!(names(&part).len() <= limit);
            let Some(next) = part["next"].as_str() else { break };
            after = next.replace('/', "%2F");
        }
        assert_eq!(together, ["a-b/", "a.txt", "a/", "c", "d/"], "{limit}");
    }
    let html = page(&anon, "tools/?limit=2").expect(200);
    assert!(html.text().contains("href=\"/browse/tools/?after=a.txt\""), "{}", html.text());
    let html = page(&anon, "tools/").expect(200);
    let html = html.text();
    assert!(html.contains("href=\"/repository/tools/a.txt\"") && html.contains("href=\"/browse/tools/a-b\""), "{html}");
    assert!(html.find(">d/<").unwrap() < html.find(">a.txt<").unwrap(), "folders come first: {html}");
    assert_eq!(page(&anon, "nothing/").status, 404);
}

#[test]
fn a_hidden_version_is_shown_with_its_reason_and_a_member_that_may_not_be_read_is_not_named() {
    let world = World::start();
    world.tree("open", "maven");
    world.make(&json!({ "name": "quiet", "format": "maven", "kind": "hosted", "private": true }));
    let both = json!({ "name": "both", "format": "maven", "members": ["open", "quiet"], "private": true });
    world.make(&both);
    publish(&world, "open", "1.0");
    publish(&world, "open", "2.0");
    publish(&world, "quiet", "3.0");
    world.change("open", &json!({ "policy": { "deny": ["org.example:lamp:2.*"] } }));
    let anon = world.anon();
    let lamp = level(&anon, "open/org/example/lamp");
    assert_eq!(names(&lamp), ["1.0/", "2.0/"]);
    assert_eq!(item(&lamp, "1.0")["hidden"], Value::Null);
    let why = item(&lamp, "2.0")["hidden"]["reason"].as_str().unwrap().to_owned();
    assert!(why.contains("org.example:lamp:2.*"), "{why}");
    assert_eq!(
        (&item(&lamp, "2.0")["package"], &item(&lamp, "2.0")["version"]),
        (&json!("org.example:lamp"), &json!("2.0"))
    );
    assert_eq!(item(&level(&anon, "open/org/example"), "lamp")["package"], json!("org.example:lamp"));
    assert_eq!(item(&level(&anon, "open/org"), "example")["package"], Value::Null);
    let file = item(&level(&anon, "open/org/example/lamp/2.0"), "lamp-2.0.jar");
    assert_eq!(file["hidden"]["reason"], json!(why), "a file says the same");
    assert_eq!(world.anon().file("open", "org/example/lamp/2.0/lamp-2.0.jar").status, 403);
    assert!(page(&anon, "open/org/example/lamp").expect(200).text().contains("hidden: "));

    // A private repository is answered as one that does not exist.
    let (secret, none) = (anon.get("/api/v1/browse/quiet"), anon.get("/api/v1/browse/nothing"));
    assert_eq!(secret.status, none.status);
    let detail = |answer: &Answer| answer.json()["detail"].as_str().unwrap().replace("quiet", "nothing");
    assert_eq!(detail(&secret), detail(&none));
    let reader = world.person("reader", &["read"], &["quiet"]);
    assert_eq!(names(&level(&reader, "quiet/org/example/lamp")), ["3.0/"]);
    world.person("other", &["read"], &["open"]).get("/api/v1/browse/quiet").expect(403);
    let outer = world.person("outer", &["read"], &["both"]);
    let joined = level(&outer, "both/org/example/lamp");
    assert_eq!(names(&joined), ["1.0/", "2.0/", "3.0/"]);
    assert_eq!((&item(&joined, "1.0")["members"], &item(&joined, "3.0")["members"]), (&json!(["open"]), &json!([])));
    assert!(!page(&outer, "both/org/example/lamp").expect(200).text().contains(">quiet<"));
    let joined = level(&world.person("all", &["read"], &[]), "both/org/example/lamp");
    assert_eq!(item(&joined, "3.0")["members"], json!(["quiet"]));
}

#[test]
fn gems_are_names_and_then_versions_and_a_moment_shows_what_was_there() {
    let (world, far) = (World::start(), World::start());
    for (name, version) in [("lamp", "1.0"), ("lamp", "1.1"), ("oil", "2.0"), ("wick", "0.1")] {
        world.admin().push(FIRST, &Gem::new(name, version)).expect(200);
        far.admin().push(FIRST, &Gem::new(name, version)).expect(200);
    }
    let anon = world.anon();
    assert_eq!(names(&level(&anon, &format!("{FIRST}?limit=2"))), ["lamp/", "oil/"]);
    assert_eq!(names(&level(&anon, &format!("{FIRST}?after=lamp%2F"))), ["oil/", "wick/"]);
    assert_eq!(names(&level(&anon, &format!("{FIRST}/lamp"))), ["1.0", "1.1"]);
    assert_eq!(item(&level(&anon, &format!("{FIRST}/lamp")), "1.1")["path"], json!("gems/lamp-1.1.gem"));
    let then = now(&world);
    world.admin().yank(FIRST, "lamp", "1.0").expect(200);
    world.admin().yank(FIRST, "oil", "2.0").expect(200);
    assert_eq!(names(&level(&anon, FIRST)), ["lamp/", "wick/"]);
    assert_eq!(names(&level(&anon, &format!("{FIRST}/lamp"))), ["1.1"]);
    assert_eq!(names(&level(&anon, &format!("{FIRST}@{then}"))), ["lamp/", "oil/", "wick/"]);
    assert_eq!(names(&level(&anon, &format!("{FIRST}@{then}/lamp"))), ["1.0", "1.1"]);
    assert!(page(&anon, &format!("{FIRST}@{then}/lamp")).expect(200).text().contains(&then));
    anon.get(&format!("/api/v1/browse/{FIRST}/oil")).expect(404);

    let urls = json!({ "urls": [far.url(FIRST)] });
    world.make(
        &json!({ "name": "far", "format": "gem", "kind": "remote", "remote": urls, "policy": { "deny": ["wick"] } }),
    );
    assert_eq!(names(&level(&anon, "far")), [""; 0], "no upstream is called for a page");
    anon.file("far", "versions").expect(200);
    assert_eq!(names(&level(&anon, "far")), ["lamp/", "oil/", "wick/"]);
    assert!(item(&level(&anon, "far"), "wick")["hidden"]["reason"].as_str().unwrap().contains("wick"));
    anon.file("far", "gems/lamp-1.1.gem").expect(200);
    let lamp = level(&anon, "far/lamp");
    assert_eq!((&item(&lamp, "1.0")["state"], &item(&lamp, "1.1")["state"]), (&json!("known"), &json!("cached")));
    world.make(&json!({ "name": "all", "format": "gem", "members": ["far", FIRST] }));
    let lamp = level(&anon, "all/lamp");
    assert_eq!(names(&lamp), ["1.1"], "the owner of a name answers alone");
    assert_eq!(item(&lamp, "1.1")["members"], json!([FIRST]));
    // A hosted member had the name, so the upstream does not answer for it.
    anon.get("/api/v1/browse/all/oil").expect(404);
}

#[test]
fn a_tree_as_of_a_moment_and_an_upstreams_cache_have_their_own_levels() {
    let (world, far) = (World::start(), World::start());
    far.tree("trees", "maven");
    publish(&far, "trees", "1.0");
    world.tree("trees", "maven");
    publish(&world, "trees", "1.0");
    let then = now(&world);
    publish(&world, "trees", "1.1");
    let anon = world.anon();
    assert_eq!(names(&level(&anon, "trees/org/example/lamp")), ["1.0/", "1.1/"]);
    assert_eq!(names(&level(&anon, &format!("trees@{then}/org/example/lamp"))), ["1.0/"]);
    assert_eq!(names(&level(&anon, &format!("trees@{then}/org"))), ["example/"]);
    anon.get(&format!("/api/v1/browse/trees@{then}/org/example/lamp/1.1")).expect(404);
    anon.get("/api/v1/browse/trees@nonsense").expect(400);

    world.remote("far", &far.url("trees"));
    assert_eq!(names(&level(&anon, "far")), [""; 0]);
    anon.file("far", "org/example/lamp/1.0/lamp-1.0.jar").expect(200);
    assert_eq!(names(&level(&anon, "far")), ["org/"]);
    let kept = item(&level(&anon, "far/org/example/lamp/1.0"), "lamp-1.0.jar");
    assert_eq!((&kept["state"], &kept["size_bytes"]), (&json!("cached"), &json!(pom("1.0").len())));
    // A hosted member guards the name, so that the upstream's files of it are hidden in a group.
    world.make(&json!({ "name": "all", "format": "maven", "members": ["far", "trees"] }));
    let both = item(&level(&anon, "all/org/example/lamp"), "1.0");
    assert_eq!(both["members"], json!(["trees"]));
}
