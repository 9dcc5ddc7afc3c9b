//! An upstream's listing of a folder reveals names, so policies and the guard of names apply to it as to files.

use super::{set, world};
use crate::world::{Says, Upstream, World};
use serde_json::json;

/// A group `all` of `ours` (hosted, with `org.example:lamp`) and `far` (remote), whose upstream lists any folder as an
/// HTML page.
fn shore() -> (World, Upstream) {
    let (world, far) = (world(), Upstream::start());
    let listing = "<html><body><a href=\"9/\">9/</a></body></html>";
    far.says_otherwise(Says::bytes(listing).header("Content-Type", "text/html"));
    world.remote("far", &far.url());
    world.tree("ours", "maven");
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "far"] }));
    world.admin().put("ours", "org/example/lamp/1/lamp-1.jar", b"ours").expect(201);
    (world, far)
}

#[test]
fn no_upstream_is_asked_for_the_folder_of_a_name_that_is_ours() {
    let (world, far) = shore();
    for path in ["org/example/lamp", "org/example/lamp/9", "org/example/lamp/9/", "org/example/lamp/9/deep"] {
        world.anon().file("all", path).expect(404);
    }
    let own = world.anon().file("all", "org/example/lamp/").expect(200);
    assert!(own.text().contains("\"1/\"") && !own.text().contains("\"9/\""), "{}", own.text());
    assert_eq!(far.asked(), []);
}

#[test]
fn no_upstream_is_asked_for_a_folder_that_is_denied_or_below_a_private_prefix() {
    let (world, far) = shore();
    set(&world, "far", &json!({ "deny": ["org.other:oil"] })).expect(200);
    set(&world, "all", &json!({ "private_prefixes": ["com.acme"] })).expect(200);
    for path in ["org/other/oil", "org/other/oil/", "org/other/oil/9", "org/other/oil/9/"] {
        for repository in ["far", "all"] {
            let refused = world.anon().file(repository, path).expect(403);
            assert!(refused.text().contains("`org.other:oil` is denied"), "{path}: {}", refused.text());
        }
    }
    for path in ["com/acme", "com/acme/", "com/acme/x", "com/acme/x/9/", "com/acme/x/9/deep/er"] {
        let refused = world.anon().file("all", path).expect(403);
        assert!(refused.text().contains("names that begin with `com.acme` are private"), "{path}: {}", refused.text());
    }
    assert_eq!(far.asked(), []);
}

#[test]
fn a_listing_of_a_folder_is_no_file_of_a_repository_of_maven_s() {
    let (world, far) = shore();
    for repository in ["far", "all"] {
        let answer = world.anon().file(repository, "org/other").expect(502);
        assert!(!answer.text().contains("9/"), "{}", answer.text());
    }
    // A server that redirects to the same path with a slash at its end reveals that this is a folder.
    far.says("/org/other/oil", Says::redirect("/org/other/oil/"));
    for repository in ["far", "all"] {
        world.anon().file(repository, "org/other/oil").expect(404);
    }
    // In a raw repository an HTML page may be the requested file.
    world.remote_of("raw", "files", &far.url());
    world.anon().file("files", "org/other/oil").expect(200);
}
