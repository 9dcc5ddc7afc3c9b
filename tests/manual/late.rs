//! A member of a group that is slow, and the requests that waited for it.

use crate::world::{FIRST, Says, Upstream, World};
use serde_json::json;
use std::time::Duration;

/// Adds a member to the group `maven` that takes more than a second for each file. Forty requests have waited for it, and more have not.
pub(super) fn member(world: &World) -> Upstream {
    let late = Upstream::start();
    world.remote("company", &late.url());
    world.change("maven", &json!({"members": ["maven-releases", "maven-snapshots", "company"]}));
    let anon = &world.anon();
    std::thread::scope(|scope| {
        for number in 0..40 {
            let path = format!("org/example/oil{number}/1.0/oil{number}-1.0.jar");
            late.says(&format!("/{path}"), Says::bytes("oily").drips(1, Duration::from_millis(400)));
            scope.spawn(move || anon.file("maven", &path).expect(200));
        }
    });
    for _ in 0..40 {
        anon.file("maven", "org/example/lamp/1.0/lamp-1.0.jar").expect(200);
        anon.file(FIRST, "info/acme-lamp").expect(200);
    }
    late
}
