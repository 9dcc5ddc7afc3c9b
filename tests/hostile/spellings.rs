//! Paths that servers read in different ways: no spelling avoids a policy, or leaves an upstream's folder.

use super::healthy;
use crate::policy::{set, world};
use crate::world::{Says, Upstream, World};
use serde_json::json;

/// Spellings of the folder `com/acme` that some servers accept: path parameters (`;`), escapes that are decoded twice,
/// by the server or by a proxy before it, and URLs made from a decoded path.
const SPELLINGS: [&str; 12] = [
    "com/acme;y",
    "com;a=b/acme",
    "com/acme%3By",
    "com/acme%253By",
    "com/%2561cme",
    "com/%252561cme",
    "com/acm%2565",
    "com/acme%23",
    "com/acme%2523",
    "com/other/%252e%252e/acme",
    "com/other/..;/acme",
    "com/other/%252E./acme",
];

/// An upstream that answers any path, as the Maven repository `far` and the raw repository `files`.
fn shore() -> (World, Upstream) {
    let (world, far) = (world(), Upstream::start());
    far.says_otherwise(Says::bytes("evil"));
    world.remote("far", &far.url());
    world.remote_of("raw", "files", &far.url());
    (world, far)
}

#[test]
fn no_spelling_of_a_name_of_maven_s_leads_around_a_policy_or_a_hosted_name() {
    let (world, far) = shore();
    world.tree("ours", "maven");
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "far"] }));
    world.admin().put("ours", "com/acme/x/1/x-1.jar", b"ours").expect(201);
    let nowhere = |repository: &str| {
        for spelling in SPELLINGS {
            for path in ["x/2/x-2.jar", "x/2/x-2.jar.sha1", "x/maven-metadata.xml", "x/2/odd.txt"] {
                let answer = world.anon().file(repository, &format!("{spelling}/{path}"));
                assert!(matches!(answer.status, 403 | 404), "{repository} {spelling}/{path}: {}", answer.status);
            }
        }
        assert_eq!(far.asked(), [], "{repository}");
        healthy(&world);
    };
    nowhere("all");
    set(&world, "far", &json!({ "deny": ["com.acme"] })).expect(200);
    nowhere("far");
    set(&world, "far", &json!({ "deny": null, "private_prefixes": ["com.acme"] })).expect(200);
    nowhere("far");
    // Names with other odd characters are requested, and each of these characters is escaped.
    set(&world, "far", &json!({ "private_prefixes": null })).expect(200);
    let sent = "/com/acme/x/1%2Bb~1/x-1%2Bb~1-%24%28a%29%2Cb%3D%27c%27.jar";
    far.says(&format!("{sent}.sha1"), Says::status(404));
    world.anon().file("far", "com/acme/x/1+b~1/x-1+b~1-$(a),b='c'.jar").expect(200);
    assert_eq!(far.asked()[0].path, sent);
}

/// Some file systems of upstreams and of clients take capital and small letters for the same.
#[test]
fn a_name_in_capital_letters_is_as_private_and_as_denied_as_in_small_ones() {
    let (world, far) = shore();
    let nowhere = |repository: &str, paths: &[&str]| {
        for path in paths {
            let answer = world.anon().file(repository, path);
            assert!(matches!(answer.status, 403 | 404), "{repository} {path}: {}", answer.status);
        }
        assert_eq!(far.asked(), [], "{repository}");
    };
    let maven =
        ["COM/ACME/x/2/x-2.jar", "com/Acme/x/maven-metadata.xml", "Com/aCME/x/2/x-2.jar.sha1", "COM/ACME/x/2/odd"];
    set(&world, "far", &json!({ "private_prefixes": ["com.acme"] })).expect(200);
    nowhere("far", &maven);
    set(&world, "far", &json!({ "private_prefixes": null, "deny": ["Com.Acme:*:2*"] })).expect(200);
    nowhere("far", &[maven[0], maven[2], maven[3], "com/acme/x/2/x-2.jar"]);
    let raw = ["Secret/Oil.zip", "SECRET/oil.zip.SHA256", "secret/oil.zip"];
    set(&world, "files", &json!({ "private_prefixes": ["secret/oil.zip"] })).expect(200);
    nowhere("files", &[raw[0], raw[2]]);
    set(&world, "files", &json!({ "private_prefixes": null, "deny": ["secret/*"] })).expect(200);
    nowhere("files", &raw);
    // What makes something visible is about the one spelling.
    set(&world, "far", &json!({ "deny": null, "allow": ["com.acme"] })).expect(200);
    nowhere("far", &maven[..1]);
    world.anon().file("far", "com/acme/x/2/x-2.jar");
    assert_eq!(far.asked()[0].path, "/com/acme/x/2/x-2.jar");
}

#[test]
fn what_no_policy_can_classify_is_refused_where_there_is_one() {
    let (world, far) = shore();
    for path in ["x.jar", "com/x.jar", "com/acme/x.jar", "com/acme/x/1/notes.txt"] {
        world.anon().file("far", path).expect(200);
    }
    let before = far.total();
    set(&world, "far", &json!({ "deny": ["com.acme:x:2"] })).expect(200);
    for path in ["x.jar", "com/x.jar", "com/acme/x.jar", "com/acme/x-1.jar"] {
        let refused = world.anon().file("far", path).expect(403).json();
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("cannot be told of which artifact it is"), "{path}: {refused}");
    }
    for path in ["com/acme/x/2/odd.txt", "com/acme/x/2/deep/odd.txt", "com/acme/x/2"] {
        world.anon().file("far", path).expect(403);
    }
    assert_eq!(far.total(), before);
    world.anon().file("far", "com/acme/x/1/notes.txt").expect(200);
}

#[test]
fn no_spelling_of_a_raw_file_leads_around_a_policy_or_out_of_the_upstream_s_folder() {
    let (world, far) = shore();
    for path in
        ["a/..;/b", "a/%252e%252e/b", "a/%25252e./b", "a/..%23/b", "a/b%252f..%252fc", "a/%255c../b", "a/b%2500"]
    {
        world.anon().file("files", path).expect(404);
    }
    assert_eq!(far.asked(), []);
    // Without a policy a name may have any character, which is escaped.
    world.anon().file("files", "bin/a;b%20c%23%2525@!.zip").expect(200);
    assert_eq!(far.asked()[0].path, "/bin/a%3Bb%20c%23%2525%40%21.zip");
    set(&world, "files", &json!({ "deny": ["bin/lamp.zip", "secret/*"] })).expect(200);
    for path in ["bin/lamp.zip;x", "bin/lamp.zip%23x", "bin/%256camp.zip", "b;in/lamp.zip", "secret"] {
        let refused = world.anon().file("files", path).expect(403);
        assert!(refused.text().contains("policy"), "{}", refused.text());
    }
    world.anon().file("files", "secret/").expect(404);
    assert_eq!(far.total(), 1);
    world.anon().file("files", "bin/oil.zip").expect(200);
    healthy(&world);
}
