//! Groups of raw files: no documents, and no names except paths.

use crate::world::{Upstream, World, hex};
use serde_json::json;
use sha1::{Digest, Sha1};

/// A group `files` of `ours` (hosted) and one remote repository.
fn files() -> (World, Upstream) {
    let (world, upstream) = (World::start(), Upstream::start());
    world.tree("ours", "raw");
    world.remote_of("raw", "theirs", &upstream.url());
    world.make(&json!({ "name": "files", "format": "raw", "members": ["theirs", "ours"] }));
    (world, upstream)
}

#[test]
fn a_path_that_is_hosted_is_nobody_else_s_also_when_it_is_deleted() {
    let (world, upstream) = files();
    let get = |path: &str| world.anon().file("files", path);
    upstream.file("/tools/lamp.zip", "theirs");
    upstream.file("/tools/oil.zip", "theirs");
    world.admin().put("ours", "tools/lamp.zip", b"ours").expect(201);
    for _ in 0..3 {
        assert_eq!(get("tools/lamp.zip").expect(200).text(), "ours");
        assert_eq!(get("tools/oil.zip").expect(200).text(), "theirs");
    }
    assert_eq!(get("tools/lamp.zip.sha1").expect(200).text(), hex(&Sha1::digest("ours")));
    get("tools/wick.zip").expect(404);
    world.admin().delete("ours", "tools/lamp.zip").expect(204);
    get("tools/lamp.zip").expect(404);
    assert_eq!(upstream.count("/tools/lamp.zip"), 0);
    // What Maven would merge is a file like others.
    let path = "org/example/lamp/maven-metadata.xml";
    upstream.file(&format!("/{path}"), "theirs");
    assert_eq!(get(path).expect(200).text(), "theirs");
    world.admin().put("ours", path, b"ours").expect(201);
    assert_eq!(get(path).expect(200).text(), "ours");
    get("settings.xml").expect(404);
}

#[test]
fn of_members_of_one_kind_the_first_in_order_that_has_the_path_answers() {
    let (world, near, far) = (World::start(), Upstream::start(), Upstream::start());
    for (name, upstream) in [("near", &near), ("far", &far)] {
        let remote = json!({ "urls": [upstream.url()] });
        world.make(&json!({ "name": name, "format": "raw", "kind": "remote", "remote": remote }));
        upstream.file("/oil.zip", name);
    }
    far.file("/wick.zip", "far");
    for name in ["shop", "ours"] {
        world.tree(name, "raw");
        world.admin().put(name, "lamp.zip", name.as_bytes()).expect(201);
    }
    world.admin().put("shop", "shade.zip", b"shop").expect(201);
    world.make(&json!({ "name": "files", "format": "raw", "members": ["near", "ours", "far", "shop"] }));
    for (path, member) in [("lamp.zip", "ours"), ("shade.zip", "shop"), ("oil.zip", "near"), ("wick.zip", "far")] {
        assert_eq!(world.anon().file("files", path).expect(200).text(), member, "{path}");
    }
}

#[test]
fn an_upload_that_hides_a_fetched_file_of_an_upstream_says_so_and_its_deletion_says_what_shows_it_again() {
    let (world, upstream) = files();
    upstream.file("/tools/lamp.zip", "theirs");
    assert_eq!(world.anon().file("files", "tools/lamp.zip").expect(200).text(), "theirs");
    let put = world.admin().put("ours", "tools/lamp.zip", b"ours").expect(201);
    let notice = put.header("daylight-notice").unwrap();
    assert!(notice.ends_with("and hides the file at that path that `theirs` has"), "{notice}");
    assert_eq!(world.admin().put("ours", "tools/oil.zip", b"ours").expect(201).header("daylight-notice"), None);
    let deleted = world.admin().delete("ours", "tools/lamp.zip").expect(204);
    let gives_back = "daylight repo set files --shared tools/lamp.zip";
    assert!(deleted.header("daylight-notice").unwrap().contains(gives_back), "{:?}", deleted.header("daylight-notice"));
    world.anon().file("files", "tools/lamp.zip").expect(404);
    let arguments: Vec<&str> = gives_back.split(' ').skip(1).collect();
    assert!(super::command(&world, &arguments).status.success());
    assert_eq!(world.anon().file("files", "tools/lamp.zip").expect(200).text(), "theirs");
}
