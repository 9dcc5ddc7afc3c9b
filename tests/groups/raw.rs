//! Groups of raw files: no documents, and no names except paths.

use crate::world::{Upstream, World, hex};
use serde_json::json;
use sha1::{Digest, Sha1};

/// A group `files` of `ours` (hosted) and one remote repository.
fn files() -> (World, Upstream) {
    let (world, upstream) = (World::start(), Upstream::start());
    world.tree("ours", "raw");
    let remote = json!({ "urls": [upstream.url()] });
    world.make(&json!({ "name": "theirs", "format": "raw", "kind": "remote", "remote": remote }));
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
}

#[test]
fn what_maven_would_merge_is_a_file_like_others_there() {
    let (world, upstream) = files();
    let path = "org/example/lamp/maven-metadata.xml";
    upstream.file(&format!("/{path}"), "theirs");
    assert_eq!(world.anon().file("files", path).expect(200).text(), "theirs");
    world.admin().put("ours", path, b"ours").expect(201);
    assert_eq!(world.anon().file("files", path).expect(200).text(), "ours");
    world.anon().file("files", "settings.xml").expect(404);
}
