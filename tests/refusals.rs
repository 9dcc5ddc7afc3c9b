//! The output of `gem` after a refusal: the server's message, which the client shows unchanged.

use crate::world::{FIRST, Gem, Ruby, World};

#[test]
fn gem_push_tells_what_is_wrong_with_a_token() {
    let world = World::start();
    let reader = world.person("reader", &["read"], &[]);
    world.repository("elsewhere", false);
    let stranger = world.person("stranger", &["read", "write"], &["elsewhere"]);
    let (url, desk, gem) = (world.url(FIRST), Ruby::new(), Gem::new("lamp", "1.0.0"));

    let unknown = "daylight_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA";
    let said = desk.push(&url, unknown, &gem).bad();
    assert!(said.contains("token"), "an unknown token: {said}");
    let said = desk.push(&url, reader.secret(), &gem).bad();
    // The client prompts for a password to add the scope, and there is no terminal.
    assert!(said.contains("push_rubygem") && said.contains("nobody is signed in"), "a missing scope is named: {said}");
    let said = desk.push(&url, stranger.secret(), &gem).bad();
    assert!(said.contains(FIRST), "the repository is named: {said}");
    let said = desk.yank(&url, reader.secret(), "lamp", "1.0.0").bad();
    assert!(said.contains("yank_rubygem"), "{said}");
    // `gem yank` prints the reply, and its exit code is 0 for any status.
    let said = desk.yank(&url, unknown, "lamp", "1.0.0").good();
    assert!(said.contains("token"), "{said}");
    world.anon().get(&format!("/repository/{FIRST}/info/lamp")).expect(404);
}

#[test]
fn gem_push_tells_that_a_version_is_taken_and_stays_taken() {
    let world = World::start();
    let (admin, gem) = (world.admin(), Gem::new("lamp", "1.0.0"));
    admin.push(FIRST, &gem).expect(200);
    let again = admin.push(FIRST, &gem).expect(200);
    assert!(again.text().contains("already pushed"), "{}", again.text());
    let other = gem.clone().payload(b"other");
    let said = admin.push(FIRST, &other).expect(409);
    assert!(said.text().contains("Repushing of gem versions is not allowed"), "{}", said.text());

    let desk = Ruby::new();
    let said = desk.push(&world.url(FIRST), admin.secret(), &gem.clone().needs("oil", ">= 0")).bad();
    assert!(said.contains("Repushing of gem versions is not allowed"), "{said}");

    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    for gem in [&gem, &other] {
        let said = admin.push(FIRST, gem).expect(409);
        assert!(said.text().contains("yanked"), "{}", said.text());
    }
    admin.yank(FIRST, "lamp", "1.0.0").expect(404);
    admin.yank(FIRST, "lamp", "3.0.0").expect(404);
    admin.yank(FIRST, "nothing", "1.0.0").expect(404);
}

#[test]
fn a_revoked_token_and_a_removed_repository_stop_working_at_once() {
    let world = World::start();
    world.repository("vault", true);
    let reader = world.person("reader", &["read"], &["vault"]);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    for _ in 0..3 {
        reader.get("/repository/vault/info/lamp").expect(200);
    }
    world.admin().ask("DELETE", "/api/v1/tokens/reader", &[], b"").expect(204);
    reader.get("/repository/vault/info/lamp").expect(401);
    world.admin().get("/repository/vault/info/lamp").expect(200);
    world.admin().ask("DELETE", "/api/v1/repositories/vault?confirm=vault", &[], b"").expect(200);
    world.admin().get("/repository/vault/info/lamp").expect(404);
}
