//! Remote repositories of raw files, and groups of them: queries, and names that only some systems allow.

use crate::world::{Answer, Upstream, World};
use serde_json::{Value, json};

/// A server with a remote repository `tools` of raw files.
fn tools() -> (World, Upstream) {
    let (world, upstream) = (World::start(), Upstream::start());
    add(&world, "tools", &upstream, "refuse");
    (world, upstream)
}

fn add(world: &World, name: &str, upstream: &Upstream, query: &str) {
    let remote = json!({ "urls": [upstream.url()], "query": query });
    world.make(&json!({ "name": name, "format": "raw", "kind": "remote", "remote": remote }));
}

fn set(world: &World, query: &str) -> Value {
    let change = json!({ "remote": { "query": query } });
    world.change("tools", &change).json()["remote"]["query"].clone()
}

/// Asserts that a problem names its remedy.
#[track_caller]
fn refused(answer: Answer, word: &str) {
    let answer = answer.expect(400);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert!(answer.text().contains(word), "{}", answer.text());
}

#[test]
fn a_query_is_refused_or_each_query_is_a_file_of_its_own() {
    let (world, upstream) = tools();
    let get = |path: &str| world.anon().file("tools", path);
    const ALL: [(&str, &str); 4] = [
        ("app/latest", "any"),
        ("app/latest?platform=linux", "elf"),
        ("app/latest?platform=win32", "exe"),
        ("app/latest?to=a/b%2Fc&x=?", "odd"),
    ];
    for (path, text) in ALL {
        upstream.file(&format!("/{path}"), text);
    }
    for _ in 0..3 {
        assert_eq!(get("app/latest").expect(200).text(), "any");
        assert_eq!(get("app/latest?").expect(200).text(), "any");
        refused(get("app/latest?platform=linux"), "--query keep");
        world.anon().ask("HEAD", "/repository/tools/app/latest?platform=linux", &[], b"").expect(400);
    }
    assert_eq!(upstream.total(), 1);
    assert_eq!(set(&world, "keep"), "keep");
    for _ in 0..3 {
        for (path, text) in ALL {
            assert_eq!(get(path).expect(200).text(), text, "{path}");
        }
        get("app/none?to=/a/b").expect(404);
    }
    for path in ALL.map(|(path, _)| path).into_iter().chain(["app/none?to=/a/b"]) {
        assert_eq!(upstream.count(&format!("/{path}")), 1, "{path}: {:?}", upstream.asked());
    }
    let admin = world.admin();
    let contents = admin.get("/api/v1/repositories/tools/contents").expect(200).json();
    let paths: Vec<&str> =
        contents["contents"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ALL.map(|(path, _)| path));
    let explained = admin.get("/api/v1/explain?repository=tools&path=app/latest%3Fplatform%3Dlinux").expect(200);
    assert!(explained.text().contains("app/latest?platform=linux"), "{}", explained.text());
    let found = admin.get("/browse/tools/app").expect(200);
    assert!(found.text().contains("/repository/tools/app/latest?platform=linux\""), "{}", found.text());
    admin.ask("DELETE", "/api/v1/repositories/tools/contents/app/latest%3Fplatform=linux", &[], b"").expect(200);
    upstream.file("/app/latest?platform=linux", "new");
    assert_eq!(get("app/latest?platform=linux").expect(200).text(), "new");
    assert_eq!(get("app/latest?platform=win32").expect(200).text(), "exe");
    assert_eq!(set(&world, "refuse"), Value::Null);
    refused(get("app/latest?platform=linux"), "--query keep");
    admin.patch_json("/api/v1/repositories/tools", &json!({ "remote": { "query": "drop" } })).expect(400);
}

#[test]
fn a_query_with_a_secret_reaches_neither_the_upstream_nor_a_name() {
    let (world, upstream) = tools();
    set(&world, "keep");
    upstream.file("/lamp?page=2", "page");
    for query in
        ["token=s3cretValue1", "a=1&X-Amz-Signature=s3cretValue1", "sig=s3cretValue1", "x=%74oken%3ds3cretValue1"]
    {
        let answer = world.anon().file("tools", &format!("lamp?{query}"));
        assert!(!answer.text().contains("s3cretValue1"), "{}", answer.text());
        refused(answer, "credentials");
    }
    refused(world.anon().file("tools", &format!("lamp?{}", "a".repeat(1025))), "longer");
    assert_eq!(upstream.total(), 0);
    assert_eq!(world.anon().file("tools", "lamp?page=2").expect(200).text(), "page");
}

#[test]
fn a_group_passes_a_query_to_the_members_that_keep_it_and_hosted_members_ignore_it() {
    let (world, kept, plain) = (World::start(), Upstream::start(), Upstream::start());
    world.tree("ours", "raw");
    add(&world, "plain", &plain, "refuse");
    world.make(&json!({ "name": "all", "format": "raw", "members": ["ours", "plain"] }));
    world.admin().put("ours", "lamp", b"ours").expect(201);
    plain.file("/wick", "plain");
    let get = |path: &str| world.anon().file("all", path);
    assert_eq!(world.anon().file("ours", "lamp?a=b").expect(200).text(), "ours");
    refused(get("lamp?a=b"), "--query keep");

    add(&world, "kept", &kept, "keep");
    world.change("all", &json!({ "members": ["ours", "plain", "kept"] }));
    kept.file("/wick?a=b", "kept");
    kept.file("/oil?a=b", "oil");
    for _ in 0..2 {
        assert_eq!(get("lamp?a=b").expect(200).text(), "ours");
        assert_eq!(get("wick?a=b").expect(200).text(), "kept");
        assert_eq!(get("wick").expect(200).text(), "plain");
        get("none?a=b").expect(404);
    }
    assert_eq!((plain.count_of("?"), kept.count_of("lamp")), (0, 0));
    world.change("all", &json!({ "policy": { "deny": ["oil"] } }));
    get("oil?a=b").expect(403);
    assert_eq!(kept.count_of("oil"), 0);
}

#[test]
fn names_with_colons_are_fetched_as_pacman_and_apt_ask_for_them_and_may_be_published() {
    let (world, upstream) = tools();
    world.tree("ours", "raw");
    world.make(&json!({ "name": "all", "format": "raw", "members": ["ours", "tools"] }));
    let admin = world.admin();
    const PATHS: [&str; 3] = [
        "extra/os/x86_64/lamp-1:2.3-1-x86_64.pkg.tar.zst",
        "repositories/home:/jane:/lamp/Release",
        "core:/stable:/v1.30/deb/Packages",
    ];
    for path in PATHS {
        upstream.file(&format!("/{path}"), path);
        for asked in [path.to_owned(), path.replace(':', "%3A")] {
            assert_eq!(world.anon().file("tools", &asked).expect(200).text(), path);
            assert_eq!(world.anon().file("all", &asked).expect(200).text(), path);
        }
        assert_eq!(upstream.count(&format!("/{path}")), 1, "{:?}", upstream.asked());
        let own = format!("own/{path}");
        admin.put("ours", &own, b"ours").expect(201);
        assert_eq!(world.anon().file("all", &own.replace(':', "%3a")).expect(200).text(), "ours");
        admin.delete("ours", &own).expect(204);
    }
    for path in ["a?b", "a%3Fb", "a%00b", "a:/../b"] {
        assert_ne!(admin.put("ours", path, b"x").status, 201, "{path}");
    }
    // Maven's coordinates have no colons.
    admin.put("maven-releases", "org/lamp/1:0/lamp-1:0.jar", b"x").expect(404);

    // On NTFS this is the content of another file.
    admin.patch_json("/api/v1/repositories/tools", &json!({ "policy": { "deny": ["lamp.zip"] } })).expect(200);
    upstream.file("/lamp.zip::$DATA", "denied");
    world.anon().file("tools", "lamp.zip::$DATA").expect(403);
    assert_eq!(upstream.count_of("lamp.zip"), 0);
}
