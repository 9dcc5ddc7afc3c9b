//! A hosted repository of raw files: a published file never changes.

use crate::world::{World, hex};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

/// Larger than a file that is read into memory.
const LARGE: usize = 300_000;

fn world() -> World {
    let world = World::start();
    world.tree("tools", "raw");
    world
}

#[test]
fn a_file_comes_back_as_it_was_put_with_every_digest() {
    let world = world();
    let admin = world.admin();
    let large: Vec<u8> = (0..LARGE).map(|at| (at % 251) as u8).collect();
    for (path, bytes) in [("dist/lamp.zip", &b"small"[..]), ("dist/v2/lamp v2~1.tar.gz", &large), ("root", b"r")] {
        let path = path.replace(' ', "%20");
        admin.put("tools", &path, bytes).expect(201);
        for _ in 0..3 {
            let got = world.anon().file("tools", &path).expect(200);
            assert!(got.body == bytes, "{path}");
            let sha1 = hex(&Sha1::digest(bytes));
            assert_eq!(got.header("etag"), Some(format!("\"{sha1}\"").as_str()));
            assert_eq!(got.header("x-checksum-sha1"), Some(sha1.as_str()));
            assert_eq!(got.header("x-checksum-md5"), Some(hex(&Md5::digest(bytes)).as_str()));
            assert_eq!(got.header("x-checksum-sha256"), Some(hex(&Sha256::digest(bytes)).as_str()));
            assert_eq!(got.header("x-checksum-sha512"), Some(hex(&Sha512::digest(bytes)).as_str()));
            assert_eq!(got.header("cache-control"), Some("public, max-age=31536000, immutable"));
            let names = ["etag", "content-type", "content-length", "last-modified", "accept-ranges", "x-checksum-sha1"];
            let head = world.anon().ask("HEAD", &format!("/repository/tools/{path}"), &[], b"").expect(200);
            assert_eq!(head.only(&names).header("last-modified"), got.header("last-modified"));
        }
        for (ending, digest) in [("md5", hex(&Md5::digest(bytes))), ("sha512", hex(&Sha512::digest(bytes)))] {
            assert_eq!(world.anon().file("tools", &format!("{path}.{ending}")).expect(200).text(), digest);
        }
    }
    let part = world.anon().ask("GET", "/repository/tools/dist/lamp.zip", &[("Range", "bytes=1-2")], b"");
    assert_eq!(part.expect(206).body, b"ma");
}

#[test]
fn files_are_replaced_where_their_repository_says_so_and_nobody_is_given_what_was_before() {
    let world = world();
    let admin = world.admin();
    admin.put("tools", "latest.txt", b"one").expect(201);
    let get = || world.anon().file("tools", "latest.txt").expect(200);
    let first = get();
    let set = |replaceable: bool| {
        let change = serde_json::json!({ "replaceable": replaceable });
        admin.patch_json("/api/v1/repositories/tools", &change).expect(200).json()["replaceable"].clone()
    };
    assert_eq!(set(true), true);
    assert_ne!(get().header("cache-control"), first.header("cache-control"), "it may become another from now on");
    admin.put("tools", "latest.txt", b"two").expect(200);
    for _ in 0..3 {
        assert_eq!(get().body, b"two");
    }
    let etag = first.header("etag").unwrap();
    world.anon().ask("GET", "/repository/tools/latest.txt", &[("If-None-Match", etag)], b"").expect(200);
    admin.delete("tools", "latest.txt").expect(204);
    world.anon().file("tools", "latest.txt").expect(404);
    admin.put("tools", "latest.txt", b"three").expect(201);
    assert_eq!(set(false), false);
    admin.put("tools", "latest.txt", b"four").expect(409);
    assert_eq!(get().body, b"three");
}

#[test]
fn published_files_never_change_and_a_deletion_leaves_the_path_taken_until_the_same_bytes_return() {
    let world = world();
    let admin = world.admin();
    for path in ["a/lamp", "a/b/lamp", "a/b/oil", "ab/lamp"] {
        // Also what was missing until then.
        (0..3).for_each(|_| drop(world.anon().file("tools", path).expect(404)));
        admin.put("tools", path, path.as_bytes()).expect(201);
        world.anon().file("tools", path).expect(200);
        world.anon().file("tools", path).expect(200);
    }
    admin.put("tools", "a/lamp", b"a/lamp").expect(200);
    let refused = admin.put("tools", "a/lamp", b"two").expect(409);
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("`a/lamp`"), "{}", refused.text());
    admin.put("tools", "A/Lamp", b"two").expect(409);
    admin.delete("tools", "a/b/oil").expect(204);
    world.anon().file("tools", "a/b/oil").expect(404);
    admin.delete("tools", "a/b/oil").expect(404);
    admin.delete("tools", "a").expect(204);
    for path in ["a/lamp", "a/b/lamp", "a/b/oil", "a/lamp.sha1"] {
        world.anon().file("tools", path).expect(404);
    }
    world.anon().file("tools", "ab/lamp").expect(200);
    admin.put("tools", "a/lamp", b"other").expect(409);
    admin.put("tools", "a/lamp", b"a/lamp").expect(201);
    assert_eq!(world.anon().file("tools", "a/lamp").expect(200).body, b"a/lamp");
}

#[test]
fn a_wrong_checksum_beside_a_file_is_refused_and_what_tools_write_is_kept() {
    let world = world();
    let admin = world.admin();
    admin.put("tools", "lamp.zip", b"lamp").expect(201);
    let right = hex(&Sha256::digest(b"lamp"));
    let refused = admin.put("tools", "lamp.zip.sha256", format!("{}\n", "0".repeat(64)).as_bytes()).expect(400);
    assert!(refused.text().contains(&right) && refused.text().contains(&"0".repeat(64)), "{}", refused.text());
    let line = format!("{right}  lamp.zip\n");
    admin.put("tools", "lamp.zip.sha256", line.as_bytes()).expect(201);
    assert_eq!(world.anon().file("tools", "lamp.zip.sha256").expect(200).text(), line);
    admin.put("tools", "later.sha1", b"nothing that it could be of").expect(201);
    for body in ["", "<html>", "0000", "lamp.zip"] {
        let refused = admin.put("tools", "lamp.zip.sha512", body.as_bytes()).expect(400);
        assert!(refused.text().contains("lamp.zip.sha512"), "{}", refused.text());
    }
    // As `gpg --print-md SHA512` writes it.
    let groups: Vec<String> = hex(&Sha512::digest(b"lamp"))
        .to_uppercase()
        .as_bytes()
        .chunks(8)
        .map(|at| String::from_utf8_lossy(at).into_owned())
        .collect();
    let printed = format!("lamp.zip: {}\n          {}\n", groups[..8].join(" "), groups[8..].join(" "));
    admin.put("tools", "lamp.zip.sha512", printed.as_bytes()).expect(201);
    assert_eq!(world.anon().file("tools", "lamp.zip.sha512").expect(200).text(), printed);
}

#[test]
fn who_may_not_write_writes_nothing_and_names_that_hurt_are_refused() {
    let world = world();
    world.anon().put("tools", "a", b"x").expect(401);
    world.person("reader", &["read"], &[]).put("tools", "a", b"x").expect(403);
    world.person("writer", &["read", "write"], &[]).put("tools", "a", b"x").expect(201);
    world.person("writer-2", &["read", "write"], &[]).delete("tools", "a").expect(403);
    for path in ["a/%2e%2e/b", "a%00", "a%5cb", "a/b.", "a/%20b", "c%7c/x", &"x".repeat(256), &"y/".repeat(600)] {
        world.admin().put("tools", path, b"x").expect(404);
    }
    world.admin().put("tools", "two//slashes", b"x").expect(201);
    assert_eq!(world.anon().file("tools", "two/slashes").expect(200).body, b"x");
    world.anon().ask("POST", "/repository/tools/a", &[], b"").expect(401);
    world.admin().ask("POST", "/repository/tools/a", &[], b"").expect(405);
}

#[test]
fn no_uploaded_file_is_a_page_of_the_servers_own() {
    let world = world();
    let script = b"<html xmlns='http://www.w3.org/1999/xhtml'><script>1</script></html>";
    for name in ["page.html", "page.xhtml", "page.svg", "page", "page.xml"] {
        world.admin().put("tools", name, script).expect(201);
        let got = world.anon().file("tools", name).expect(200);
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
        match name {
            "page.xml" => assert_eq!(got.header("content-security-policy"), Some("sandbox")),
            _ => assert_eq!(got.header("content-type"), Some("application/octet-stream"), "{name}"),
        }
    }
}
