//! Calls for programs, and `gem` without Bundler, through a remote repository of gems.

use super::{REMOTE, Scene};
use crate::world::{Client, FIRST, Gem, Ruby};
use serde_json::{Value, json};

crate::world::with_each_client!([
    gem_alone_lists_fetches_and_updates_through_a_remote_repository,
    gem_and_bundler_print_why_there_is_no_answer,
]);

/// Two lamps, one of them for Java.
fn scene() -> Scene {
    let scene = Scene::new();
    let admin = scene.upstream.admin();
    for gem in [
        Gem::new("oil", "1.0.0"),
        Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0"),
        Gem::new("lamp", "1.1.0").platform("java"),
    ] {
        admin.push(FIRST, &gem).expect(200);
    }
    scene
}

/// The facts that the lines of `/info` do not have.
const UNKNOWN: [&str; 7] = ["authors", "info", "licenses", "description", "summary", "built_at", "requirements"];

fn without_unknown(mut told: Value) -> Value {
    let leave_out = |one: &mut Value| {
        let Value::Object(one) = one else { return };
        for key in UNKNOWN.iter().filter(|key| one.contains_key(**key)).copied().collect::<Vec<_>>() {
            one[key] = Value::Null;
        }
        one.remove("gem_uri");
        if one.contains_key("metadata") {
            one["metadata"] = json!({});
        }
        if one.contains_key("homepage_uri") {
            one["homepage_uri"] = Value::Null;
        }
    };
    match &mut told {
        Value::Array(all) => all.iter_mut().for_each(leave_out),
        one => leave_out(one),
    }
    told
}

#[test]
fn calls_about_one_gem_say_what_the_upstream_says_as_far_as_its_index_tells() {
    let scene = scene();
    for path in [
        "api/v1/versions/lamp.json",
        "api/v1/gems/lamp.json",
        "api/v1/versions/lamp/latest.json",
        "api/v2/rubygems/lamp/versions/1.0.0.json",
        "api/v2/rubygems/lamp/versions/1.1.0.json?platform=java",
    ] {
        let here = scene.world.anon().file(REMOTE, path).expect(200).json();
        let there = scene.upstream.anon().file(FIRST, path).expect(200).json();
        // The line has whole seconds.
        let seconds = |value: Value| {
            let text = value.to_string();
            let mut at = 0;
            let mut out = String::new();
            while let Some(dot) = text[at..].find("Z\"").map(|z| at + z) {
                let from = text[at..dot].rfind('.').map_or(dot, |found| at + found);
                let is_fraction = dot - from == 4;
                out.push_str(&text[at..if is_fraction { from } else { dot }]);
                out.push_str("Z\"");
                at = dot + 2;
            }
            out + &text[at..]
        };
        assert_eq!(seconds(without_unknown(here.clone())), seconds(without_unknown(there)), "{path}");
        let one = if here.is_array() { &here[0] } else { &here };
        for key in UNKNOWN.iter().filter(|key| one.get(**key).is_some()) {
            assert!(one[*key].is_null(), "{path}: {key}");
        }
    }
    let gem = scene.world.anon().file(REMOTE, "api/v1/gems/lamp.json").expect(200).json();
    assert_eq!(gem["gem_uri"], format!("{}gems/lamp-1.1.0-java.gem", scene.world.url(REMOTE)));
    for path in ["api/v1/versions/nothing.json", "api/v2/rubygems/lamp/versions/9.json"] {
        scene.world.anon().file(REMOTE, path).expect(404);
    }
    for (path, sentence) in [
        ("api/v1/gems/lamp/owners.json", "do not know who owns a gem: ask its upstream"),
        ("api/v1/activity/latest.json", "do not list new gems"),
    ] {
        let refused = scene.world.anon().file(REMOTE, path).expect(501);
        assert!(refused.text().contains(sentence), "{}", refused.text());
    }
}

#[test]
fn a_search_is_answered_from_the_names_of_the_index_with_the_newest_versions_that_may_be_seen() {
    let scene = scene();
    for name in ["lamp-oil", "street-LAMP", "wick"] {
        scene.upstream.admin().push(FIRST, &Gem::new(name, "0.9")).expect(200);
    }
    scene.upstream.admin().push(FIRST, &Gem::new("lamp", "2.0.0.rc1")).expect(200);
    let ask = |path: &str| scene.world.anon().file(REMOTE, path).expect(200).json();
    let found = |query: &str| -> Vec<(String, String)> {
        let found = ask(&format!("api/v1/search.json?query={query}"));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(|gem| (text(&gem["name"]), text(&gem["version"]))).collect()
    };
    let is = |names: &[(&str, &str)]| -> Vec<(String, String)> {
        names.iter().map(|(name, version)| ((*name).into(), (*version).into())).collect()
    };
    assert_eq!(found("Lamp"), is(&[("lamp", "1.1.0"), ("lamp-oil", "0.9"), ("street-LAMP", "0.9")]));
    assert_eq!(found("oil+lamp"), is(&[("lamp-oil", "0.9")]));
    assert_eq!((found("nothing"), found("lamp&page=2")), (is(&[]), is(&[])));
    assert_eq!(ask("api/v1/search/autocomplete.json?query=lam"), json!(["lamp", "lamp-oil"]));
    let lamp = &ask("api/v1/search.json?query=lamp")[0];
    assert_eq!(lamp["gem_uri"], format!("{}gems/lamp-1.1.0-java.gem", scene.world.url(REMOTE)));
    for unknown in ["sha", "dependencies", "info", "licenses", "version_created_at"] {
        assert_eq!(lamp[unknown], Value::Null, "{unknown}");
    }
    scene.world.anon().file(REMOTE, "api/v1/search.json").expect(400);
    let policy = json!({ "policy": { "deny": ["lamp:1.1.0", "lamp:2.0.0.rc1", "lamp-oil"] } });
    scene.world.admin().patch_json(&format!("/api/v1/repositories/{REMOTE}"), &policy).expect(200);
    assert_eq!(found("lamp"), is(&[("lamp", "1.0.0"), ("street-LAMP", "0.9")]));
}

fn gem_alone_lists_fetches_and_updates_through_a_remote_repository(client: Client) {
    let scene = Scene::at_any_time();
    let admin = scene.upstream.admin();
    for gem in [Gem::new("oil", "1.0.0"), Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")] {
        admin.push(FIRST, &gem).expect(200);
    }
    let (machine, url) = (Ruby::with(client), scene.world.url(REMOTE));
    let say = |command: &str| machine.shell("", &format!("{command} --clear-sources --source {url}")).good();
    let listed = say("gem list --remote");
    assert!(listed.contains("lamp (1.0.0)") && listed.contains("oil (1.0.0)"), "{listed}");
    assert!(say("gem info --remote lamp").contains("lamp (1.0.0)"));
    assert!(say("gem search lamp").contains("lamp (1.0.0)"));
    assert!(say("gem specification --remote lamp version").contains("1.0.0"));
    say("gem fetch lamp");
    let said = say("gem install --no-document lamp");
    assert!(said.contains("Successfully installed oil-1.0.0") && said.contains("2 gems installed"), "{said}");
    admin.push(FIRST, &Gem::new("lamp", "1.0.1").needs("oil", "~> 1.0")).expect(200);
    scene.later();
    assert!(say("gem outdated").contains("lamp (1.0.0 < 1.0.1)"));
}

/// The same on a port whose digits contain no status. Bundler takes such digits for a status anywhere in an error.
fn beside_statuses() -> Scene {
    loop {
        let scene = scene();
        let port = scene.world.address().port().to_string();
        if !["401", "403"].iter().any(|status| port.contains(status)) {
            return scene;
        }
    }
}

fn gem_and_bundler_print_why_there_is_no_answer(client: Client) {
    let mut scene = beside_statuses();
    let (machine, url) = (Ruby::with(client), scene.world.url(REMOTE));
    let gem = |url: &str| machine.shell("", &format!("gem install lamp --clear-sources --source {url}")).bad();
    let bundle = |url: &str| machine.app("app", url, "gem 'lamp'").bundle(&["install"]).bad();
    let unset = scene.world.url("rubygems");
    for said in [gem(&unset), bundle(&unset)] {
        let said = said.replace('\n', " ");
        assert!(said.contains("this repository has no upstream yet"), "{said}");
    }
    scene.upstream.stop();
    for said in [gem(&url), bundle(&url)] {
        let said = said.replace('\n', " ");
        // After a few retries the circuit opens.
        assert!(["the upstream cannot be reached", "circuit open"].iter().any(|why| said.contains(why)), "{said}");
    }
}
