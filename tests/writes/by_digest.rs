//! `X-Checksum-Deploy: true`: an upload without a body, of bytes that are here already.

use super::{JAR, md5, put, sha1, sha256, world};
use crate::world::Gem;
use serde_json::json;

const DEPLOY: (&str, &str) = ("X-Checksum-Deploy", "true");

#[test]
fn bytes_that_are_here_are_published_by_their_digest_and_others_are_404() {
    let world = world();
    let (admin, anyone) = (world.admin(), world.anon());
    let (by_sha1, by_sha256) = (sha1(b"lamp"), sha256(b"lamp"));
    let by = |at: &str, header: &str, digest: &str| put(&admin, at, &[DEPLOY, (header, digest)], b"");
    by("tools/copy.zip", "X-Checksum-Sha1", &by_sha1).expect(404);
    anyone.file("tools", "copy.zip").expect(404);
    put(&admin, "tools/lamp.zip", &[], b"lamp").expect(201);
    // MD5 alone names nothing, and no digest at all is a mistake.
    by("tools/copy.zip", "X-Checksum-Md5", &md5(b"lamp")).expect(404);
    by("tools/copy.zip", "X-Checksum", &md5(b"lamp")).expect(404);
    put(&admin, "tools/copy.zip", &[DEPLOY], b"").expect(400);
    let both = [DEPLOY, ("X-Checksum-Sha1", by_sha1.as_str()), ("X-Checksum-Md5", &"0".repeat(32))];
    put(&admin, "tools/copy.zip", &both, b"").expect(404);
    for (path, header, digest) in [
        ("a.zip", "X-Checksum-Sha1", &by_sha1),
        ("b.zip", "X-Checksum-Sha256", &by_sha256),
        ("c.zip", "X-Checksum", &by_sha1),
        ("d.zip", "X-Checksum", &by_sha256),
    ] {
        by(&format!("tools/{path}"), header, digest).expect(201);
        assert_eq!(anyone.file("tools", path).expect(200).body, b"lamp");
        by(&format!("tools/{path}"), header, digest).expect(200);
    }
    // The rules of an upload hold.
    put(&admin, "tools/other", &[], b"other").expect(201);
    by("tools/a.zip", "X-Checksum-Sha1", &sha1(b"other")).expect(409);
    by("releases/lamp.jar", "X-Checksum-Sha1", &by_sha1).expect(400);
    by(&format!("releases/{JAR}"), "X-Checksum-Sha1", &by_sha1).expect(201);
    assert_eq!(anyone.file("releases", &format!("{JAR}.sha256")).expect(200).text(), by_sha256);
    by(&format!("releases/{JAR}.md5"), "X-Checksum-Sha1", &by_sha1).expect(400);
    // A POM that is published so is listed.
    let pom = b"<project><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version></project>";
    put(&admin, "tools/pom", &[], pom).expect(201);
    by("releases/org/example/lamp/1.0/lamp-1.0.pom", "X-Checksum-Sha1", &sha1(pom)).expect(201);
    let metadata = anyone.file("releases", "org/example/lamp/maven-metadata.xml").expect(200);
    assert!(metadata.text().contains("<version>1.0</version>"), "{}", metadata.text());
    // With a body it is an upload as any other.
    let with = [DEPLOY, ("X-Checksum-Sha1", by_sha1.as_str())];
    put(&admin, "tools/with", &with, b"lump").expect(400);
    put(&admin, "tools/with", &with, b"lamp").expect(201);
}

#[test]
fn bytes_that_a_token_may_not_read_are_as_unknown_as_others() {
    let world = world();
    let secret = json!({ "name": "vault", "format": "raw", "kind": "hosted", "private": true });
    world.admin().post_json("/api/v1/repositories", &secret).expect(201);
    world.admin().put("vault", "key", b"secret").expect(201);
    let digest = sha1(b"secret");
    let ask = |person: &crate::world::Person, digest: &str| {
        put(person, "tools/key", &[DEPLOY, ("X-Checksum-Sha1", digest)], b"")
    };
    let writer = world.person("writer", &["read", "write"], &["tools"]);
    let only_writes = world.person("only-writes", &["write"], &["tools", "vault"]);
    for person in [&writer, &only_writes] {
        let (refused, unknown) = (ask(person, &digest).expect(404), ask(person, &"0".repeat(40)).expect(404));
        let plain = |answer: crate::world::Answer| answer.text().lines().next().unwrap().to_owned();
        assert_eq!(plain(refused), plain(unknown));
    }
    ask(&world.anon(), &digest).expect(401);
    ask(&world.person("reader", &["read"], &[]), &digest).expect(403);
    // What was deleted is not there, and neither is what a policy hides.
    world.admin().put("tools", "gone", b"gone").expect(201);
    world.admin().delete("tools", "gone").expect(204);
    ask(&writer, &sha1(b"gone")).expect(404);
    ask(&world.person("both", &["read", "write"], &["tools", "vault"]), &digest).expect(201);
    assert_eq!(world.anon().file("tools", "key").expect(200).body, b"secret");
    // A purge of one leaves the other.
    let purge = json!({ "what": "key", "why": "test", "apply": true });
    world.admin().post_json("/api/v1/repositories/vault/purge", &purge).expect(200);
    assert_eq!(world.anon().file("tools", "key").expect(200).body, b"secret");
}

#[test]
fn a_gem_is_a_file_as_any_other_and_an_empty_push_is_none() {
    let world = world();
    let (admin, gem) = (world.admin(), Gem::new("lamp", "1.0"));
    admin.push("gems-private", &gem).expect(200);
    let by = [DEPLOY, ("X-Checksum-Sha256", &sha256(&gem.bytes()))];
    put(&admin, "tools/lamp-1.0.gem", &by, b"").expect(201);
    assert_eq!(world.anon().file("tools", "lamp-1.0.gem").expect(200).body, gem.bytes());
    admin.ask("POST", "/repository/gems-private/api/v1/gems", &by, b"").expect(200);
    let unknown =
        [DEPLOY, ("X-Checksum-Sha256", "0".repeat(64).as_str())].map(|(name, value)| (name, value.to_owned()));
    let unknown: Vec<_> = unknown.iter().map(|(name, value)| (*name, value.as_str())).collect();
    admin.ask("POST", "/repository/gems-private/api/v1/gems", &unknown, b"").expect(404);
}

#[test]
fn check_lists_files_of_0_bytes_with_the_command_that_purges_them() {
    let mut world = world();
    let admin = world.admin();
    admin.put("tools", "it's/.nojekyll", b"").expect(201);
    admin.put("releases", JAR, b"").expect(201);
    for (path, bytes) in [("full", &b"x"[..]), ("marked", b""), ("marked/deep/below", b"below")] {
        admin.put("tools", path, bytes).expect(201);
    }
    world.stop();
    let checked = world.run("check");
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success(), "{said}");
    assert!(said.contains("3 published files have 0 bytes"), "{said}");
    assert!(said.contains(&format!("daylight purge --why 0-bytes --yes -- releases {JAR}\n")), "{said}");
    assert!(said.contains("daylight purge --why 0-bytes --yes -- tools 'it'\\''s/.nojekyll'\n"), "{said}");
    // The marker of a folder goes, and the files below it stay.
    world.resume();
    let purge = json!({ "what": "marked", "why": "0-bytes", "apply": true });
    let purged = world.admin().post_json("/api/v1/repositories/tools/purge", &purge).expect(200);
    assert_eq!(purged.json()["files"], 1, "{}", purged.text());
    world.anon().file("tools", "marked").expect(404);
    assert_eq!(world.anon().file("tools", "marked/deep/below").expect(200).body, b"below");
}
