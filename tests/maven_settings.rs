//! The settings file for Maven: it has the URL by which clients reach the repository, and no secret.

use crate::world::World;
use serde_json::json;

#[test]
fn a_hosted_repository_stands_beside_others_and_a_remote_one_instead_of_them() {
    let world = World::start();
    world.tree("private", "maven");
    let remote =
        json!({ "name": "all", "format": "maven", "kind": "remote", "remote": { "urls": ["http://127.0.0.1:1/"] } });
    world.admin().post_json("/api/v1/repositories", &remote).expect(201);
    for (repository, mirrored) in [("private", false), ("all", true)] {
        let settings = world.anon().file(repository, "settings.xml").expect(200);
        let text = settings.text();
        assert_eq!(settings.header("content-type"), Some("application/xml"));
        assert!(text.contains(&format!("<url>{}</url>", world.url(repository))), "{text}");
        assert_eq!(text.contains("<mirrorOf>*</mirrorOf>"), mirrored, "{text}");
        assert!(text.contains(&format!("<id>{repository}</id>")) && text.contains("<password>${env.DAYLIGHT_TOKEN}<"));
        assert!(!text.contains(world.admin().secret()), "{text}");
        let head = world.anon().ask("HEAD", &format!("/repository/{repository}/settings.xml"), &[], b"").expect(200);
        assert_eq!(head.header("etag"), settings.header("etag"));
    }
    world.tree("tools", "raw");
    world.anon().file("tools", "settings.xml").expect(404);
}

#[test]
fn behind_a_public_address_the_settings_name_that() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://builds.example")]);
    world.tree("private", "maven");
    let settings = world.anon().file("private", "settings.xml").expect(200);
    assert!(settings.text().contains("<url>https://builds.example/repository/private/</url>"), "{}", settings.text());
}
