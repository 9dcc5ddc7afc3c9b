//! Start and stop: the output, the content that is kept, and an orderly stop at any time.

use crate::world::{FIRST, Gem, World};

#[test]
fn a_server_that_was_just_started_stops_in_order() {
    let mut world = World::start();
    for _ in 0..10 {
        world.stop();
        world.resume();
    }
}

#[test]
fn a_repository_is_shown_with_the_url_where_clients_reach_it() {
    let shown = |world: &World| {
        let repository = world.admin().get(&format!("/api/v1/repositories/{FIRST}")).expect(200).json();
        repository["url"].as_str().unwrap().to_owned()
    };
    let world = World::start();
    assert_eq!(shown(&world), world.url(FIRST));
    let world = World::start_with(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example/")]);
    assert_eq!(shown(&world), format!("https://gems.example/repository/{FIRST}/"));
}

#[test]
fn the_first_start_prints_an_admin_token_that_works_and_no_later_one_does() {
    let mut world = World::start_with(&[("DAYLIGHT_ADMIN_TOKEN", "")]);
    let token =
        |world: &World| world.said().iter().find_map(|line| line.strip_prefix("admin token: ").map(str::to_owned));
    let secret = token(&world).unwrap();
    assert_eq!(secret.len(), "daylight_".len() + 43, "{secret}");
    world.holder(&secret).push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    for path in world.files() {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "the secret is in {path:?}");
    }
    world.resume();
    assert_eq!(token(&world), None);
    world.holder(&secret).push(FIRST, &Gem::new("lamp", "1.0.1")).expect(200);
}
