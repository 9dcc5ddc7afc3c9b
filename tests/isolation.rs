//! Repositories are isolated from each other, and private bytes reach only callers who may read them, from any cache.

use crate::world::{FIRST, Gem, Index, Person, World};

#[test]
fn two_repositories_with_the_same_gem_names_do_not_see_each_other() {
    let world = World::start();
    world.repository("second", false);
    let (admin, anon) = (world.admin(), world.anon());
    for (repository, payload) in [(FIRST, b"one"), ("second", b"two")] {
        admin.push(repository, &Gem::new("lamp", "1.0.0").payload(payload)).expect(200);
    }
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    for _ in 0..3 {
        for (repository, payload) in [(FIRST, b"one"), ("second", b"two")] {
            let gem = anon.get(&format!("/repository/{repository}/gems/lamp-1.0.0.gem")).expect(200);
            assert_eq!(gem.body, Gem::new("lamp", "1.0.0").payload(payload).bytes());
        }
        anon.get("/repository/second/info/oil").expect(404);
        anon.get("/repository/second/gems/oil-1.0.0.gem").expect(404);
        assert_eq!(anon.get("/repository/second/names").expect(200).text(), "---\nlamp\n");
    }
    admin.yank("second", "lamp", "1.0.0").expect(200);
    assert!(Index::read(&anon, "second").offered.is_empty());
    Index::read(&anon, FIRST).download(&anon, FIRST);
    assert_eq!(Index::read(&anon, FIRST).offered.len(), 2);
}

#[test]
fn private_bytes_go_to_nobody_who_may_not_read_them_also_when_they_are_warm() {
    let world = World::start();
    world.repository("vault", true);
    let reader = world.person("reader", &["read"], &["vault"]);
    let admin = world.admin();
    admin.push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    admin.push("vault", &Gem::new("lamp", "1.1.0")).expect(200);
    let outsiders: [(Person, u16); 4] = [
        (world.anon(), 401),
        (world.holder("daylight_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"), 401),
        (world.person("neighbour", &["read", "write", "delete"], &[FIRST]), 403),
        (world.person("blind", &["write"], &["vault"]), 403),
    ];
    let mut paths = Index::read(&reader, "vault").paths("vault");
    paths.push("/repository/vault/".to_owned());
    for path in paths {
        for who in [&reader, &admin, &reader, &admin] {
            who.get(&path).expect(200);
        }
        let warm = reader.get(&path).expect(200);
        let tag = warm.header("etag").unwrap_or("*");
        for (outsider, status) in &outsiders {
            for headers in [&[][..], &[("Range", "bytes=0-9")], &[("If-None-Match", tag)], &[("If-None-Match", "*")]] {
                for method in ["GET", "HEAD"] {
                    let refused = outsider.ask(method, &path, headers, b"");
                    assert_eq!(refused.status, *status, "{method} {path} with {headers:?}");
                    assert_eq!(refused.header("etag").filter(|found| *found == tag), None, "{path}");
                    if *status == 401 {
                        assert!(refused.header("www-authenticate").is_some(), "{path}");
                    }
                }
            }
        }
        reader.get(&path).expect(200);
    }
    // Not even the existence of a name is revealed.
    let there = world.anon().get("/repository/vault/info/lamp").expect(401);
    let not_there = world.anon().get("/repository/vault/info/nothing").expect(401);
    assert_eq!(there.text().replace("lamp", ""), not_there.text().replace("nothing", ""));
}

#[test]
fn nobody_learns_which_private_repositories_there_are() {
    let world = World::start();
    world.anon().get("/repository/valut/versions").expect(404);
    world.repository("vault", true);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    let outsiders: [(Person, u16); 3] = [
        (world.anon(), 401),
        (world.holder("daylight_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"), 401),
        (world.person("neighbour", &["read", "write", "delete"], &[FIRST]), 403),
    ];
    let below = ["/", "/versions", "/info/lamp", "/gems/lamp-1.0.0.gem", "/api/v1/api_key", "/api/v1/gems/lamp/owners"];
    for (outsider, status) in &outsiders {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            for path in below.into_iter().chain(["@seq-1/versions"]) {
                // Names of the same length: the answers must be equal except for the names.
                let [there, not_there] = ["vault", "valut"].map(|name| {
                    let mut answer = outsider.ask(method, &format!("/repository/{name}{path}"), &[], b"");
                    answer.headers.retain(|(name, _)| {
                        !["date", "daylight-event"].iter().any(|own| name.eq_ignore_ascii_case(own))
                    });
                    answer.body = answer.text().replace(name, "").into_bytes();
                    answer
                });
                assert_eq!(there, not_there, "{method} {path}");
                if !path.starts_with('@') {
                    assert_eq!(there.status, *status, "{method} {path}: {there:?}");
                }
            }
        }
        // Public content is readable as before.
        outsider.get(&format!("/repository/{FIRST}/names")).expect(200);
    }
}

#[test]
fn a_repository_that_was_open_is_closed_to_everybody_once_removed_and_made_again() {
    let world = World::start();
    world.repository("second", false);
    world.admin().push("second", &Gem::new("lamp", "1.0.0")).expect(200);
    for _ in 0..3 {
        world.anon().get("/repository/second/info/lamp").expect(200);
    }
    world.admin().ask("DELETE", "/api/v1/repositories/second?confirm=second", &[], b"").expect(200);
    world.anon().get("/repository/second/info/lamp").expect(404);
    world.repository("second", true);
    world.anon().get("/repository/second/info/lamp").expect(401);
    world.admin().get("/repository/second/info/lamp").expect(404);
}
