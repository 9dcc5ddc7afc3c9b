//! A token that is good, and not for the repository: the refusal says so, and the next build with a good token succeeds at once.

use crate::maven_settings::publishes_house;
use crate::world::{Central, FIRST, Release, World};
use serde_json::{Value, json};

/// Maven caches a 404 in its local repository, and no 403. The settings file of the repository has Maven 3.8 send its token at once, and
/// later releases take the file without a warning.
#[test]
fn the_next_build_of_each_maven_with_a_good_token_succeeds() {
    let central = Central::open();
    let world = World::start();
    world.make(&json!({ "name": "vault", "format": "maven", "kind": "hosted", "private": true }));
    publishes_house(&world, "vault");
    let other = world.person("other", &["read"], &["maven-releases"]);
    let reader = world.person("reader", &["read"], &["vault"]);
    let settings = world.admin().file("vault", "settings.xml").expect(200);
    for release in Release::ALL {
        let desk = central.machine(release);
        let heir = desk.project("heir", &[("group", "com.acme")]);
        let build = |secret: &str| {
            desk.saves(&settings.text().replace("${env.DAYLIGHT_TOKEN}", secret));
            heir.maven(&["validate"])
        };
        build(other.secret()).bad();
        let said = build(reader.secret()).good();
        assert!(!said.contains("httpConfiguration") && !said.contains("usePreemptive"), "{release:?}: {said}");
        if release == Release::Three8 {
            let of_maven = json!([["client_product", "=", "maven"]]);
            let question = json!({ "measures": ["count"], "by": ["status"], "where": of_maven });
            let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
            let statuses: Vec<_> = answer["rows"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
            assert!(!statuses.is_empty() && statuses.iter().all(|status| **status != 401), "{answer}");
        }
    }
}

#[test]
fn it_is_told_that_it_is_for_others_and_which_token_would_do_and_not_whether_the_name_exists() {
    let world = World::start();
    world.repository("vault", true);
    let other = world.person("other", &["read", "write"], &[FIRST]);
    let told = |name: &str| {
        let refused =
            other.ask("GET", &format!("/repository/{name}/names"), &[("Accept", "application/problem+json")], b"");
        assert_eq!(refused.phrase, "the token is for other repositories");
        refused.expect(403).json()
    };
    let text = |problem: &Value, field: &str| problem[field].as_str().unwrap().to_owned();
    let (there, not_there) = (told("vault"), told("valut"));
    for field in ["detail", "hint"] {
        assert_eq!(text(&there, field).replace("vault", "valut"), text(&not_there, field));
    }
    assert!(text(&there, "detail").contains("`other` is limited to certain repositories"), "{there}");
    let command = format!("--scope read,write --repository {FIRST} --repository vault`");
    assert!(text(&there, "hint").contains(&command), "what it can do now is lost: {there}");
}

#[test]
fn a_token_without_a_scope_is_told_of_one_that_keeps_its_scopes() {
    let world = World::start();
    world.repository("vault", true);
    let publisher = world.person("publisher", &["write", "delete"], &["vault"]);
    let refused = publisher.get("/repository/vault/names").expect(403);
    assert!(refused.text().contains("--scope read,write,delete --repository vault`"), "{}", refused.text());
}

#[test]
fn an_empty_token_is_told_so() {
    let world = World::start();
    world.repository("vault", true);
    let empty = world.anon();
    // `ci:`, as `curl --user ci:$DAYLIGHT_TOKEN` sends, and no text at all, as `gem push` sends with an empty GEM_HOST_API_KEY.
    for header in ["Basic Y2k6", "Bearer"] {
        for (method, path, variable) in [
            ("GET", "/repository/vault/names", "DAYLIGHT_TOKEN"),
            ("POST", "/repository/gems-private/api/v1/gems", "GEM_HOST_API_KEY"),
        ] {
            let refused = empty.ask(method, path, &[("Authorization", header)], b"").expect(401);
            assert!(refused.text().contains("the token is empty"), "{}", refused.text());
            assert!(refused.text().contains(&format!("is {variable} set")), "{}", refused.text());
        }
        empty.ask("GET", "/repository/gems-private/names", &[("Authorization", header)], b"").expect(200);
    }
}

#[test]
fn who_closes_a_group_is_told_which_members_stay_open() {
    let world = World::start();
    let run = |arguments: &[&str]| crate::world::Said::from(world.command(arguments).output().unwrap()).good();
    let said = run(&["repo", "set", "maven", "--read", "token"]);
    for member in ["`maven-releases`", "`maven-snapshots`", "`maven-central`"] {
        assert!(said.contains("warning: ") && said.contains(member), "{said}");
    }
    for name in ["maven-releases", "maven-snapshots", "maven-central"] {
        world.change(name, &json!({ "private": true }));
    }
    assert!(!run(&["repo", "set", "maven", "--read", "token"]).contains("warning"));
}
