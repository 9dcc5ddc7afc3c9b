//! The output of `gem` after a refusal: the server's message, which the client shows unchanged.

use crate::world::{FIRST, Gem, Person, Ruby, World};

#[test]
fn a_push_to_a_group_or_to_a_remote_repository_is_told_where_it_is_taken() {
    let world = World::start();
    world.repository("vault", true);
    let (gem, url) = (Gem::new("lamp", "1.0.0"), |name: &str| world.url(name).trim_end_matches('/').to_owned());
    let line = format!("gem push --host {}", url(FIRST));
    let publisher = world.person("publisher", &["write"], &[FIRST]);
    for place in ["gems", "rubygems"] {
        let said = Ruby::new().push(&world.url(place), publisher.secret(), &gem).bad();
        assert!(said.contains("takes no changes") && said.contains(&line), "{place}: {said}");
        let refused = publisher.push(place, &gem).expect(405);
        assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    }
    // Without a token, too: no token helps there. A repository that they may not publish to is named in a group alone.
    assert!(world.anon().push("gems", &gem).expect(405).text().contains(&line));
    let elsewhere = world.anon().push("rubygems", &gem).expect(405);
    assert!(!elsewhere.text().contains(FIRST) && !elsewhere.text().contains("vault"), "{}", elsewhere.text());
    // A private member is named to those alone who may know it.
    let members = serde_json::json!({ "members": ["vault"], "private": true });
    world.change("gems", &members);
    let told = |person: &Person| person.push("gems", &gem).expect(405).text().contains("`vault`");
    assert!(told(&world.admin()) && !told(&world.person("guest", &["read", "write"], &["gems"])));
}

#[test]
fn a_deploy_to_a_group_is_told_which_member_takes_that_version() {
    let world = World::start();
    let asks = |agent: &str, path: &str| {
        let answer = world.admin().ask("PUT", &format!("/repository/maven/{path}"), &[("User-Agent", agent)], b"x");
        assert_eq!(answer.phrase, "a group takes no uploads; publish to one of its hosted members");
        answer.expect(405).text().to_owned()
    };
    for (path, member) in [
        ("org/example/lamp/1.0/lamp-1.0.jar", "maven-releases"),
        ("org/example/lamp/1-SNAPSHOT/lamp-1-SNAPSHOT.jar", "maven-snapshots"),
    ] {
        let (said, curl) = (asks("Apache-Maven/3.9.16 (Java 17)", path), asks("curl/8.0", path));
        let url = world.url(member);
        assert!(said.contains("<distributionManagement>") && said.contains(&url), "{said}");
        assert!(curl.contains(&format!("{url}{path}")), "{curl}");
    }
}

#[test]
fn a_version_that_a_repository_does_not_take_is_told_which_one_takes_it() {
    let world = World::start();
    let snapshot = "org/example/lamp/1-SNAPSHOT/lamp-1-SNAPSHOT.jar";
    let told = |person: &Person| {
        let answer = person.put("maven-releases", snapshot, b"x").expect(400);
        assert_eq!(answer.phrase, "this repository takes no snapshots");
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    let said = told(&world.admin());
    assert!(said.contains("takes releases only") && said.contains("`maven-snapshots`"), "{said}");
    assert!(said.contains(&world.url("maven-snapshots")), "{said}");
    let said = told(&world.person("releaser", &["write"], &["maven-releases"]));
    assert!(!said.contains("maven-snapshots"), "they may not publish there: {said}");
}

#[test]
fn a_hint_names_the_settings_of_the_client_that_reads_it() {
    let world = World::start();
    let asks = |agent: &str, path: &str| {
        let answer = world.anon().ask("PUT", path, &[("User-Agent", agent)], b"x").expect(401);
        let kind = answer.header("content-type").unwrap().to_owned();
        (kind, answer.text().to_owned())
    };
    let (jar, gem) = ("/repository/maven-releases/a/b/1/b-1.jar", "/repository/gems-private/api/v1/gems");
    for agent in ["Apache-Maven/3.9.16 (Java 17)", "Gradle/8.5"] {
        let (kind, said) = asks(agent, jar);
        assert_eq!(kind, "application/problem+json");
        assert!(said.contains("settings.xml") && said.contains("<repositoryOrigins>"), "{said}");
        assert!(!said.contains("GEM_HOST_API_KEY"), "{said}");
    }
    for agent in ["RubyGems/3.3.15 x86_64-linux", "bundler/2.3.15", "a-tool/1"] {
        let (kind, said) = asks(agent, gem);
        assert_eq!(kind, "text/plain; charset=utf-8");
        assert!(said.contains("GEM_HOST_API_KEY") && !said.contains("settings.xml"), "{said}");
    }
}

#[test]
fn a_refusal_names_the_setting_that_is_the_limit() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_MAX_UPLOAD_BYTES", "20000")]);
    let large = vec![b'x'; 40_000];
    let path = "/repository/maven-releases/org/example/lamp/1.0/lamp-1.0.jar";
    let refused = world.admin().ask("PUT", path, &[], &large).expect(413);
    assert!(refused.json()["hint"].as_str().unwrap().contains("`server.max_upload_bytes`"), "{}", refused.text());
    assert_eq!(refused.json()["event"].as_str(), refused.header("daylight-event"));
}

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
    assert!(said.contains("lacks the scope `write`") && said.contains("--scope read,write"), "{said}");
    assert!(!said.contains("sign in"), "no password adds a scope to this token: {said}");
    let said = desk.push(&url, stranger.secret(), &gem).bad();
    assert!(said.contains(FIRST), "the repository is named: {said}");
    let said = desk.yank(&url, reader.secret(), "lamp", "1.0.0").good();
    assert!(said.contains("lacks the scope `delete`"), "{said}");
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
