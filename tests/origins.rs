//! A version with an original publication elsewhere keeps its age: on every list, for every cooldown, and for clients.

use crate::policy::{set, world};
use crate::world::{Answer, Client, FIRST, Gem, Index, Person, Ruby, World};
use serde_json::json;
use store::{JournalReads as _, Sqlite};

const PUBLISHED: &str = "Daylight-Published";
const BY: &str = "Daylight-Published-By";
const OLD: &str = "2024-05-01T12:00:00Z";
const WEEK_S: u64 = 7 * 86_400;
const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";
const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";

/// Pushes a gem with these headers.
fn push(person: &Person, gem: &Gem, claimed: &[(&str, &str)]) -> Answer {
    person.ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), claimed, &gem.bytes())
}

fn put(person: &Person, path: &str, text: &str, claimed: &[(&str, &str)]) -> Answer {
    person.ask("PUT", &format!("/repository/trees/{path}"), claimed, text.as_bytes())
}

fn read(world: &World, what: &str) -> Answer {
    world.anon().file(FIRST, what).expect(200)
}

fn detail(world: &World, repository: &str, path: &str) -> String {
    let explained = world.admin().get(&format!("/api/v1/explain?repository={repository}&path={path}")).expect(200);
    explained.json()["detail"].as_str().unwrap_or_default().to_owned()
}

fn lines(world: &World) -> usize {
    read(world, "versions").text().lines().count()
}

#[test]
fn a_gem_is_as_old_as_at_its_origin_everywhere() {
    let world = world();
    world.change(FIRST, &json!({ "info_format": "v2" }));
    push(&world.admin(), &Gem::new("lamp", "1.0"), &[(PUBLISHED, OLD), (BY, "Ann Example")]).expect(200);
    push(&world.admin(), &Gem::new("lamp", "1.1"), &[]).expect(200);
    let info = read(&world, "info/lamp");
    let created: Vec<_> = info.text().lines().skip(1).map(|line| line.rsplit_once("created_at:").unwrap().1).collect();
    assert_eq!(created[0], OLD);
    assert!(created[1].starts_with("2026-11-01T"), "{created:?}");
    let versions = read(&world, "api/v1/versions/lamp.json").json();
    assert_eq!(versions[1]["created_at"], "2024-05-01T12:00:00.000Z");
    let one = read(&world, "api/v2/rubygems/lamp/versions/1.0.json").json();
    assert_eq!(one["version_created_at"], "2024-05-01T12:00:00.000Z");
    let told = detail(&world, FIRST, "gems/lamp-1.0.gem");
    assert!(told.starts_with("published here at 2026-11-01T"), "{told}");
    assert!(told.ends_with(", at its origin at 2024-05-01T12:00:00.000Z by Ann Example, as `admin` claimed"), "{told}");

    set(&world, FIRST, &json!({ "cooldown_s": WEEK_S })).expect(200);
    let offered: Vec<_> = Index::read(&world.anon(), FIRST).offered.into_keys().map(|(_, version)| version).collect();
    assert_eq!(offered, ["1.0"]);
    read(&world, "gems/lamp-1.0.gem");
    let hidden = detail(&world, FIRST, "gems/lamp-1.1.gem");
    assert!(
        hidden.contains("until they are 7 days old") && hidden.contains("; published here at 2026-11-01T"),
        "{hidden}"
    );
    for list in ["api/v1/dependencies.json?gems=lamp", "api/v1/gems/lamp.json", "info/lamp"] {
        let said = read(&world, list);
        assert!(said.text().contains("1.0") && !said.text().contains("1.1"), "{list}: {}", said.text());
    }
}

#[test]
fn only_an_admin_may_claim_an_origin_and_never_one_in_the_future() {
    let world = World::start();
    world.tree("trees", "maven");
    let writer = world.person("writer", &["read", "write"], &[]);
    for answer in
        [push(&writer, &Gem::new("lamp", "1.0"), &[(PUBLISHED, OLD)]), put(&writer, JAR, "jar", &[(PUBLISHED, OLD)])]
    {
        let text = answer.expect(403).text().to_owned();
        assert!(text.contains("token `writer` may not say when") && text.contains("hint: "), "{text}");
    }
    let wrong: [(&[(&str, &str)], &str); 7] = [
        (&[(PUBLISHED, "2190-01-01T00:00:00Z")], "in the future"),
        (&[(PUBLISHED, "yesterday")], "neither a moment of RFC 3339"),
        (&[(PUBLISHED, "2024-05-01T12:00:00")], "neither a moment of RFC 3339"),
        (&[(PUBLISHED, OLD), (PUBLISHED, OLD)], "comes twice"),
        (&[(BY, "Ann")], "needs `Daylight-Published`"),
        (&[(PUBLISHED, OLD), (BY, "")], "is empty"),
        (&[(PUBLISHED, OLD), (BY, "a\u{85}b")], "control character"),
    ];
    for (headers, says) in wrong {
        for answer in
            [push(&world.admin(), &Gem::new("lamp", "1.0"), headers), put(&world.admin(), JAR, "jar", headers)]
        {
            let answer = answer.expect(400);
            assert!(answer.text().contains(says), "{headers:?}: {}", answer.text());
        }
    }
    world.anon().file("trees", JAR).expect(404);
    world.anon().file(FIRST, "info/lamp").expect(404);
    put(&world.admin(), JAR, "jar", &[(PUBLISHED, "Wed, 01 May 2024 12:00:00 GMT")]).expect(201);
    assert_eq!(
        world.anon().file("trees", JAR).header("last-modified"),
        Some("Wed, 01 May 2024 12:00:00 GMT"),
        "an HTTP date is a moment, too"
    );
}

#[test]
fn the_same_bytes_again_bring_their_origin_once_and_what_is_pushed_later_is_appended() {
    let world = World::start();
    let admin = world.admin();
    for version in ["1.0", "1.1"] {
        push(&admin, &Gem::new("lamp", version), &[]).expect(200);
    }
    let count = lines(&world);
    let said = push(&admin, &Gem::new("lamp", "1.0"), &[(PUBLISHED, OLD)]).expect(200);
    assert_eq!(said.text(), "Gem was already pushed: lamp (1.0); its origin was set");
    let mended = read(&world, "info/lamp").text().to_owned();
    assert!(mended.lines().nth(1).unwrap().ends_with(&format!("created_at:{OLD}")), "{mended}");
    assert_eq!(lines(&world), count + 1);
    Index::read(&world.anon(), FIRST);

    // The claim is not new, so nothing is written.
    let all = read(&world, "versions").text().to_owned();
    for claimed in [&[(PUBLISHED, OLD)][..], &[]] {
        let said = push(&admin, &Gem::new("lamp", "1.0"), claimed).expect(200);
        assert_eq!(said.text(), "Gem was already pushed: lamp (1.0)");
    }
    assert_eq!(read(&world, "versions").text(), all);

    for (version, claimed) in [("1.2", &[][..]), ("1.3", &[(PUBLISHED, OLD)]), ("1.4", &[])] {
        let before = read(&world, "info/lamp").text().to_owned();
        push(&admin, &Gem::new("lamp", version), claimed).expect(200);
        let after = read(&world, "info/lamp").text().to_owned();
        assert!(after.starts_with(&before), "{version} was not appended:\n{after}");
    }
    Index::read(&world.anon(), FIRST).download(&world.anon(), FIRST);
    assert!(read(&world, "versions").text().starts_with(&all));
}

#[test]
fn an_info_without_moments_says_nothing_of_an_origin() {
    let world = World::start();
    let old = json!({ "name": "old", "format": "gem", "kind": "hosted", "info_format": "v1" });
    world.admin().post_json("/api/v1/repositories", &old).expect(201);
    world.admin().push("old", &Gem::new("lamp", "1.0")).expect(200);
    let versions = || world.anon().file("old", "versions").expect(200).text().to_owned();
    let before = versions();
    let path = "/repository/old/api/v1/gems";
    world.admin().ask("POST", path, &[(PUBLISHED, OLD)], &Gem::new("lamp", "1.0").bytes()).expect(200);
    assert_eq!(versions(), before, "its `/info` is the same");
    let told = world.anon().file("old", "api/v1/versions/lamp.json").expect(200).json();
    assert_eq!(told[0]["created_at"], "2024-05-01T12:00:00.000Z");
    Index::read(&world.anon(), "old");
    world.change("old", &json!({ "info_format": "v2" }));
    let info = world.anon().file("old", "info/lamp").expect(200);
    assert!(info.text().ends_with(&format!("created_at:{OLD}\n")), "{}", info.text());
    Index::read(&world.anon(), "old");
}

#[test]
fn files_are_as_old_as_at_their_origin_and_a_version_as_its_pom() {
    let mut world = world();
    world.tree("trees", "maven");
    let group = json!({ "name": "all", "format": "maven", "kind": "group", "members": ["trees"] });
    world.admin().post_json("/api/v1/repositories", &group).expect(201);
    set(&world, "all", &json!({ "cooldown_s": WEEK_S })).expect(200);
    let (pom, admin) = ("<project><artifactId>lamp</artifactId></project>", world.admin());
    put(&admin, JAR, "jar", &[]).expect(201);
    put(&admin, POM, pom, &[]).expect(201);
    let seen = |path: &str| world.anon().file("all", path);
    for path in [JAR, POM] {
        seen(path).expect(403);
    }
    let contents = || {
        let told = world.admin().get(&format!("/api/v1/repositories/trees/contents/{JAR}")).expect(200).json();
        told["contents"][0]["origin"].clone()
    };
    assert_eq!(contents(), json!(null));

    // A push of the same bytes adds the missing origin.
    for (path, text) in [(JAR, "jar"), (POM, pom)] {
        put(&admin, path, text, &[(PUBLISHED, OLD), (BY, "ci")]).expect(200);
        let file = seen(path).expect(200);
        assert_eq!(file.header("last-modified"), Some("Wed, 01 May 2024 12:00:00 GMT"), "{path}");
        let told = detail(&world, "all", path);
        assert!(told.contains("at its origin at 2024-05-01T12:00:00.000Z by ci, as `admin` claimed"), "{told}");
    }
    assert_eq!(contents(), json!({ "at": "2024-05-01T12:00:00.000Z", "by": "ci", "claimed_by": "admin" }));
    let sum = world.anon().file("trees", &format!("{JAR}.sha1")).expect(200);
    assert_eq!(sum.header("last-modified"), Some("Wed, 01 May 2024 12:00:00 GMT"));
    let metadata = seen("org/example/lamp/maven-metadata.xml").expect(200);
    assert!(metadata.text().contains("<version>1.0</version>"), "{}", metadata.text());
    assert!(metadata.text().contains("<lastUpdated>2026"), "the list changed here: {}", metadata.text());

    // The claim is not new, so nothing is written.
    let last = |world: &World| Sqlite::writer(&world.data().join("truth.sqlite")).unwrap().last().unwrap();
    world.stop();
    let before = last(&world);
    world.resume();
    for (path, text) in [(JAR, "jar"), (POM, pom)] {
        put(&world.admin(), path, text, &[(PUBLISHED, OLD)]).expect(200);
        put(&world.admin(), path, text, &[]).expect(200);
    }
    world.stop();
    assert_eq!(last(&world), before);
}

#[test]
fn a_file_that_may_be_replaced_is_dated_by_its_arrival_for_who_asks_whether_it_changed() {
    let world = world();
    let loose = json!({ "name": "trees", "format": "raw", "kind": "hosted", "replaceable": true });
    world.admin().post_json("/api/v1/repositories", &loose).expect(201);
    put(&world.admin(), "a.txt", "one", &[]).expect(201);
    let before = world.anon().file("trees", "a.txt").expect(200);
    crate::policy::set_day(&world, 2);
    put(&world.admin(), "a.txt", "two", &[(PUBLISHED, OLD)]).expect(200);
    let since = [("If-Modified-Since", before.header("last-modified").unwrap())];
    let again = world.anon().ask("GET", "/repository/trees/a.txt", &since, b"").expect(200);
    assert_eq!(again.text(), "two");
}

#[test]
fn a_cooldown_of_bundler_counts_from_the_origin() {
    let (world, ruby) = (World::start(), Ruby::with(Client::Newest));
    push(&world.admin(), &Gem::new("lamp", "1.0"), &[(PUBLISHED, OLD)]).expect(200);
    push(&world.admin(), &Gem::new("lamp", "1.1"), &[]).expect(200);
    let app = ruby.app("app", &world.url(FIRST), "gem 'lamp'");
    app.bundle(&["lock", "--cooldown", "7"]).good();
    assert!(app.lock().contains("lamp (1.0)"), "{}", app.lock());
    // The list in memory is updated by the changes of the claim.
    push(&world.admin(), &Gem::new("lamp", "1.1"), &[(PUBLISHED, OLD)]).expect(200);
    app.unlock();
    app.bundle(&["lock", "--cooldown", "7"]).good();
    assert!(app.lock().contains("lamp (1.1)"), "{}", app.lock());
    app.bundle(&["install"]).good();
}
