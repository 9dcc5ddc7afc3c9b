//! A hosted repository of Maven that takes paths outside of Maven's layout, as Ivy's patterns have them.

use crate::world::{Upstream, World, hex};
use serde_json::json;
use sha1::{Digest, Sha1};

/// A file of Ivy's own layout.
const IVY: &str = "org.example/lamp/1.0/ivys/ivy.xml";

fn world() -> World {
    let world = World::start();
    world.tree("trees", "maven");
    world
}

fn set(world: &World, layout: &str) {
    let change = json!({ "layout": layout });
    let shown = world.change("trees", &change).json();
    assert_eq!(shown["layout"], layout);
}

#[test]
fn only_a_repository_that_says_so_takes_paths_outside_of_the_layout_and_what_it_took_stays() {
    let world = world();
    let admin = world.admin();
    assert_eq!(admin.get("/api/v1/repositories/trees").json()["layout"], "maven");
    let refused = admin.put("trees", IVY, b"ivy").expect(400);
    assert!(refused.text().contains("--layout any"), "{}", refused.text());
    set(&world, "any");
    for path in [IVY, "org.example/lamp/1.0/jars/lamp.jar", "p2.index", "org/example/lamp/1.0/ivy-1.0.xml"] {
        admin.put("trees", path, path.as_bytes()).expect(201);
        let sha1 = hex(&Sha1::digest(path));
        // As Ivy asks, right after it has put the file.
        let head = world.anon().ask("HEAD", &format!("/repository/trees/{path}.sha1"), &[], b"").expect(200);
        assert_eq!(head.header("content-length"), Some("40"));
        assert_eq!(world.anon().file("trees", &format!("{path}.sha1")).expect(200).text(), sha1);
        admin.put("trees", &format!("{path}.sha1"), sha1.as_bytes()).expect(201);
        admin.put("trees", &format!("{path}.sha1"), &[b'0'; 40]).expect(400);
        let got = world.anon().file("trees", path).expect(200);
        assert_eq!((got.text(), got.header("x-checksum-sha1")), (path, Some(&*sha1)));
        assert_eq!(got.header("cache-control"), Some("public, max-age=31536000, immutable"));
    }
    for path in ["org;x/lamp.jar", "a.xml.sha1.md5", ".index/nexus.gz"] {
        admin.put("trees", path, b"x").expect(400);
    }
    set(&world, "maven");
    admin.put("trees", "org.example/lamp/1.1/ivys/ivy.xml", b"ivy").expect(400);
    assert_eq!(world.anon().file("trees", IVY).expect(200).text(), IVY);
    world.anon().file("trees", &format!("{IVY}.md5")).expect(200);
    admin.delete("trees", IVY).expect(204);
    world.anon().file("trees", IVY).expect(404);
}

#[test]
fn plain_files_never_change_unless_they_are_named_after_a_snapshot_and_no_metadata_lists_them() {
    let world = world();
    let admin = world.admin();
    set(&world, "any");
    admin.put("trees", IVY, b"one").expect(201);
    admin.put("trees", IVY, b"one").expect(200);
    admin.put("trees", IVY, b"two").expect(409);
    for path in ["org.example/lamp/2-SNAPSHOT/ivys/ivy.xml", "org.example/lamp/ivys/ivy-2-SNAPSHOT.xml"] {
        admin.put("trees", path, b"one").expect(201);
        admin.put("trees", path, b"two").expect(200);
        assert_eq!(world.anon().file("trees", path).expect(200).text(), "two");
    }
    for folder in ["org.example/lamp", "org.example/lamp/1.0", "org.example"] {
        world.anon().file("trees", &format!("{folder}/maven-metadata.xml")).expect(404);
    }
    let listed = admin.get("/api/v1/repositories/trees/contents").expect(200).json();
    assert_eq!(listed["contents"].as_array().unwrap().len(), 3, "{listed}");
    admin.patch_json("/api/v1/repositories/trees", &json!({ "versions": "releases" })).expect(200);
    admin.put("trees", "org.example/lamp/3-SNAPSHOT/ivys/ivy.xml", b"x").expect(400);
    admin.put("trees", "org.example/lamp/3/ivys/ivy.xml", b"x").expect(201);
}

#[test]
fn a_group_answers_with_plain_files_of_its_members_and_asks_no_upstream_for_what_is_beside_them() {
    let (world, upstream) = (world(), Upstream::start());
    set(&world, "any");
    world.remote("central", &upstream.url());
    world.make(&json!({ "name": "all", "format": "maven", "kind": "group", "members": ["trees", "central"] }));
    let (theirs, beside) = ("net.example/oil/1.0/ivys/ivy.xml", "org.example/lamp/1.0/ivys/other.xml");
    for path in [theirs, beside, IVY] {
        upstream.file(&format!("/{path}"), "theirs");
    }
    assert_eq!(world.anon().file("all", theirs).expect(200).text(), "theirs");
    assert_eq!(world.anon().file("all", beside).expect(200).text(), "theirs");
    world.admin().put("trees", IVY, b"ours").expect(201);
    assert_eq!(world.anon().file("all", IVY).expect(200).text(), "ours");
    assert_eq!(world.anon().file("all", &format!("{IVY}.sha1")).expect(200).text(), hex(&Sha1::digest("ours")));
    world.anon().file("all", "org.example/lamp/1.0/ivys/third.xml").expect(404);
    assert_eq!(upstream.count("/org.example/lamp/1.0/ivys/third.xml"), 0, "the folder is a hosted member's");
    assert_eq!(world.anon().file("all", theirs).expect(200).text(), "theirs");
}

#[test]
fn cleanup_keeps_folders_of_plain_files_and_takes_those_of_versions_with_all_that_is_in_them() {
    let world = world();
    let admin = world.admin();
    set(&world, "any");
    for version in ["1.0", "2.0"] {
        for file in [format!("lamp-{version}.jar"), format!("ivy-{version}.xml"), format!("lamp-{version}.pom")] {
            admin.put("trees", &format!("org/example/lamp/{version}/{file}"), b"x").expect(201);
        }
        admin.put("trees", &format!("org.example/oil/{version}/jars/oil.jar"), b"x").expect(201);
        admin.put("trees", &format!("org.example/oil/{version}/ivys/ivy.xml"), b"x").expect(201);
    }
    admin.patch_json("/api/v1/repositories/trees", &json!({ "keep_versions": 1 })).expect(200);
    admin.post_json("/api/v1/cleanup", &json!({ "repositories": ["trees"], "apply": true })).expect(200);
    let listed = admin.get("/api/v1/repositories/trees/contents").expect(200).json();
    let listed: Vec<_> =
        listed["contents"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect();
    assert_eq!(listed.iter().filter(|path| path.starts_with("org.example/")).count(), 4, "{listed:?}");
    let lamp: Vec<_> = listed.iter().filter(|path| path.starts_with("org/")).collect();
    assert!(lamp.len() == 3 && lamp.iter().all(|path| path.contains("/2.0/")), "{listed:?}");
}

#[test]
fn ivy_is_told_for_a_minute_that_nobody_uploaded_a_checksum_and_others_are_given_it() {
    let world = World::start_in_conformance(&[]);
    world.tree("trees", "maven");
    let jar = "org/example/lamp/1.0/lamp-1.0.jar";
    world.set_time("2026-11-01T12:00:00Z");
    world.admin().put("trees", jar, b"jar").expect(201);
    let head = |agent: &str, path: &str| {
        world.anon().ask("HEAD", &format!("/repository/trees/{path}"), &[("User-Agent", agent)], b"").status
    };
    let (ivy, sha1) = ("Apache Ivy/2.5.1", format!("{jar}.sha1"));
    for _ in 0..3 {
        assert_eq!(head(ivy, &sha1), 404);
    }
    assert_eq!((head(ivy, jar), head("Gradle/9.0", &sha1)), (200, 200));
    world.set_time("2026-11-01T12:01:01Z");
    assert_eq!(head(ivy, &sha1), 200);
    assert_eq!(world.anon().file("trees", &sha1).expect(200).text(), hex(&Sha1::digest("jar")));
}
