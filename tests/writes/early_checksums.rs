//! A checksum that came before its file is held against it.

use super::{JAR, md5, put, sha1, world};
use serde_json::json;
use std::thread;

#[test]
fn a_file_that_differs_from_its_earlier_checksum_is_refused_until_one_of_them_is_right() {
    let world = world();
    let (admin, anyone) = (world.admin(), world.anon());
    for (repository, path) in [("releases", JAR), ("tools", "dist/lamp.zip")] {
        let at = format!("{repository}/{path}");
        put(&admin, &format!("{at}.sha1"), &[], sha1(b"lamp").as_bytes()).expect(201);
        let refused = put(&admin, &at, &[], b"lump").expect(400).json();
        assert_eq!(refused["type"], "about:blank#checksum_differs");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(&sha1(b"lamp")) && detail.contains(&sha1(b"lump")), "{detail}");
        anyone.file(repository, path).expect(404);
        put(&admin, &at, &[], b"lamp").expect(201);
        assert_eq!(anyone.file(repository, path).expect(200).body, b"lamp");
        assert_eq!(anyone.file(repository, &format!("{path}.sha1")).expect(200).text(), sha1(b"lamp"));
        // By digest as well, and each algorithm counts.
        let second = at.replace("lamp.zip", "second.zip").replace("1.0", "2.0");
        put(&admin, &format!("{second}.sha1"), &[], sha1(b"lamp").as_bytes()).expect(201);
        put(&admin, &format!("{second}.md5"), &[], md5(b"lump").as_bytes()).expect(201);
        put(&admin, &second, &[], b"lamp").expect(400);
        let by = [("X-Checksum-Deploy", "true"), ("X-Checksum-Sha1", &sha1(b"lamp"))];
        put(&admin, &second, &by, b"").expect(400);
    }
    // A later checksum replaces the earlier one, where it is no file of its own. There it is deleted.
    let second = JAR.replace("1.0", "2.0");
    put(&admin, &format!("releases/{second}.md5"), &[], md5(b"lamp").as_bytes()).expect(201);
    admin.put("releases", &second, b"lamp").expect(201);
    admin.delete("tools", "dist/second.zip.md5").expect(204);
    admin.put("tools", "dist/second.zip", b"lamp").expect(201);
}

#[test]
fn an_earlier_checksum_outlives_a_restart_and_a_rebuild_and_is_in_no_list() {
    let mut world = world();
    let admin = world.admin();
    put(&admin, &format!("releases/{JAR}.sha256"), &[], super::sha256(b"lamp").as_bytes()).expect(201);
    world.anon().file("releases", JAR).expect(404);
    world.anon().file("releases", &format!("{JAR}.sha256")).expect(404);
    world.anon().file("releases", "org/example/lamp/maven-metadata.xml").expect(404);
    let listed = admin.get("/api/v1/packages?repository=releases");
    assert!(!listed.text().contains("lamp"), "{}", listed.text());
    world.stop();
    std::fs::remove_file(world.data().join("truth.sqlite")).unwrap();
    let rebuilt = world.run("rebuild");
    assert!(rebuilt.status.success(), "{}", String::from_utf8_lossy(&rebuilt.stderr));
    world.resume();
    let admin = world.admin();
    admin.put("releases", JAR, b"lump").expect(400);
    admin.put("releases", JAR, b"lamp").expect(201);
    // It was for that upload alone.
    admin.delete("releases", JAR).expect(204);
    admin.put("releases", JAR, b"lamp").expect(201);
}

#[test]
fn files_that_may_be_replaced_are_not_held_against_the_checksum_of_what_they_replace() {
    let world = world();
    world.make(&json!({ "name": "drafts", "format": "raw", "kind": "hosted", "replaceable": true }));
    let admin = world.admin();
    for bytes in [&b"first"[..], b"second"] {
        admin.put("drafts", "lamp", bytes);
        admin.put("drafts", "lamp.sha1", sha1(bytes).as_bytes());
        assert_eq!(world.anon().file("drafts", "lamp").expect(200).body, bytes);
        assert_eq!(world.anon().file("drafts", "lamp.sha1").expect(200).text(), sha1(bytes));
    }
    // A checksum file in a form that is not read here says nothing of the file.
    admin.put("tools", "notes.sha1", b"about notes").expect(201);
    admin.put("tools", "notes", b"notes").expect(201);
}

#[test]
fn of_a_file_and_a_wrong_checksum_at_once_only_one_is_taken() {
    let world = world();
    let admin = world.admin();
    for round in 0..20 {
        for at in [format!("tools/{round}/lamp"), format!("releases/org/example/lamp/{round}/lamp-{round}.jar")] {
            let statuses = thread::scope(|scope| {
                let file = scope.spawn(|| put(&admin, &at, &[], b"lamp").status);
                let checksum = scope.spawn(|| put(&admin, &format!("{at}.sha1"), &[], sha1(b"lump").as_bytes()).status);
                [file.join().unwrap(), checksum.join().unwrap()]
            });
            assert!(statuses == [201, 400] || statuses == [400, 201], "{at}: {statuses:?}");
        }
    }
}
