//! A policy of a group also hides the releases of its hosted members. So it is confirmed, and a push tells until when it hides them.

use super::{WEEK_S, set, set_day, world};
use crate::removal::{alone, on_terminal};
use crate::world::{Answer, FIRST, Gem, Ruby, Upstream, World};
use serde_json::{Value, json};

/// `all` has the hosted `ours`, with lamp 1.0 (day 1) and 1.1 (day 10), and the remote `far`. It is day 11.
fn house() -> (World, Upstream) {
    let (world, upstream) = (world(), Upstream::start());
    world.tree("ours", "maven");
    world.remote("far", &upstream.url());
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "far"] }));
    deploy(&world, "1.0");
    set_day(&world, 10);
    deploy(&world, "1.1");
    set_day(&world, 11);
    (world, upstream)
}

fn path(version: &str, ending: &str) -> String {
    format!("org/example/lamp/{version}/lamp-{version}.{ending}")
}

fn deploy(world: &World, version: &str) -> Answer {
    world.admin().put("ours", &path(version, "pom"), b"<project/>").expect(201);
    world.admin().put("ours", &path(version, "jar"), b"jar").expect(201)
}

/// Changes settings without a confirmation.
fn change(world: &World, name: &str, settings: &Value) -> Answer {
    world.admin().patch_json(&format!("/api/v1/repositories/{name}"), settings)
}

fn shown(world: &World, name: &str) -> Value {
    world.admin().get(&format!("/api/v1/repositories/{name}")).expect(200).json()
}

#[test]
fn what_would_hide_releases_of_hosted_members_is_refused_until_it_is_confirmed() {
    let (world, _far) = house();
    let week = json!({ "policy": { "cooldown_s": WEEK_S } });
    let refused = change(&world, "all", &week).expect(409).json();
    let (detail, hint) = (refused["detail"].as_str().unwrap(), refused["hint"].as_str().unwrap());
    assert!(detail.contains("`ours`: 1 version of") && detail.contains("(org.example:lamp:1.1)"), "{detail}");
    assert!(detail.contains("until it is 7 days old"), "{detail}");
    assert!(hint.contains("set it on `far` instead") && hint.contains("`include_hosted`"), "{hint}");
    let preview = world.admin().post_json("/api/v1/repositories/all/preview", &week).expect(200).json();
    assert_eq!((&preview["hosted"]["versions"], &preview["hosted"]["members"]), (&json!(1), &json!(["ours"])));
    // A cooldown hides later releases, also where it hides none now.
    set_day(&world, 20);
    let refused = change(&world, "all", &week).expect(409).json();
    assert!(refused["detail"].as_str().unwrap().contains("0 versions of"), "{refused}");
    // Other rules only count.
    for rule in [json!({ "deny": ["*:lamp:1.1"] }), json!({ "allow": ["org.other"] })] {
        change(&world, "all", &json!({ "policy": rule })).expect(409);
    }
    assert_eq!(shown(&world, "all")["policy"], Value::Null);
    change(&world, "all", &json!({ "policy": { "deny": ["org.other"] } })).expect(200);
    change(&world, "all", &json!({ "policy": { "deny": null, "allow": ["org.example"] } })).expect(200);
    // Who names the hosted or the remote repository itself means it.
    for name in ["ours", "far"] {
        change(&world, name, &week).expect(200);
    }
    change(&world, "ours", &json!({ "policy": { "cooldown_s": null } })).expect(200);

    let confirmed = json!({ "include_hosted": true, "policy": { "cooldown_s": WEEK_S, "allow": null } });
    let told = change(&world, "all", &confirmed).expect(200).json();
    assert_eq!((&told["hosted"]["versions"], &told["include_hosted"]), (&json!(0), &Value::Null), "{told}");
    // The confirmation was for that change. Less is not confirmed, more is.
    change(&world, "all", &json!({ "policy": { "cooldown_s": WEEK_S - 1 } })).expect(200);
    change(&world, "all", &json!({ "members": ["far", "ours"] })).expect(200);
    change(&world, "all", &week).expect(409);
}

#[test]
fn a_hosted_member_and_a_new_group_are_not_put_under_a_cooldown_unawares_either() {
    let (world, _far) = house();
    world.make(&json!({ "name": "careful", "format": "maven", "members": ["far"] }));
    world.make(&json!({ "name": "outer", "format": "maven", "members": ["careful"] }));
    change(&world, "outer", &json!({ "policy": { "cooldown_s": WEEK_S } })).expect(200);
    for (group, members) in [("outer", ["careful", "ours"]), ("careful", ["far", "ours"])] {
        let refused = change(&world, group, &json!({ "members": members })).expect(409).json();
        assert!(refused["detail"].as_str().unwrap().contains("org.example:lamp:1.1"), "{group}: {refused}");
    }
    let mut new = json!({ "name": "new", "format": "maven", "members": ["all"], "policy": { "cooldown_s": WEEK_S } });
    let make = |new: &Value| world.admin().post_json("/api/v1/repositories", new);
    make(&new).expect(409);
    new["include_hosted"] = true.into();
    make(&new).expect(201);
    assert_eq!(shown(&world, "new")["include_hosted"], Value::Null);
}

#[test]
fn a_terminal_is_asked_with_the_figures_of_the_preview_and_others_say_include_hosted() {
    let (world, _far) = house();
    let command = ["repo", "set", "all", "--cooldown", "7d"];
    let (said, code) = alone(&world, &command.join(" "));
    assert!(code == Some(1) && said.contains("--include-hosted") && said.contains("nothing was changed"), "{said}");
    let said = on_terminal(&world, &command, &[("same:", "no")]).bad();
    assert!(said.contains("org.example:lamp:1.1") && said.contains("nothing was changed"), "{said}");
    assert_eq!(shown(&world, "all")["policy"], Value::Null);
    let said = on_terminal(&world, &command, &[("same:", "yes")]).good();
    assert!(said.contains("paths requested since") && said.contains("changed `all`"), "{said}");
    assert_eq!(shown(&world, "all")["policy"]["cooldown_s"], WEEK_S);
    let (said, code) = alone(&world, "repo set all --cooldown 8d --include-hosted");
    assert!(code == Some(0) && said.contains("it applies to `ours`: 0 versions"), "{said}");
    // Nobody is asked about a rule that hides no release.
    on_terminal(&world, &["repo", "set", "all", "--deny", "org.other"], &[]).good();
}

#[test]
fn the_former_name_of_only_is_taken_with_a_warning() {
    let (world, _far) = house();
    for (flag, warned) in [("--only", false), ("--allow", true)] {
        let (said, code) = alone(&world, &format!("repo set far {flag} org.example"));
        assert!(code == Some(0) && said.contains("warning: `--allow` is `--only` now") == warned, "{said}");
        assert_eq!(shown(&world, "far")["policy"]["allow"], json!(["org.example"]), "{flag}");
        change(&world, "far", &json!({ "policy": { "allow": null } })).expect(200);
    }
}

#[test]
fn tables_of_the_configuration_are_applied_and_the_log_tells_what_they_hide() {
    let table = |policy: &str| {
        format!(
            "[[repository]]\nname = \"ours\"\nformat = \"gem\"\n\n\
             [[repository]]\nname = \"all\"\nformat = \"gem\"\nmembers = [\"ours\"]\n{policy}"
        )
    };
    let mut world = World::start_with_file(&table(""));
    world.admin().push("ours", &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    world.configure(&table("policy = { cooldown_s = 604800 }\n"));
    world.resume();
    assert_eq!(shown(&world, "all")["policy"]["cooldown_s"], WEEK_S);
    let log = world.log();
    let told =
        log.lines().find(|line| line.contains("applies to its hosted members")).unwrap_or_else(|| panic!("{log}"));
    assert!(told.contains("repository=all") && told.contains("versions=1") && told.contains("lamp:1.0.0"), "{told}");
}

#[test]
fn who_publishes_what_a_group_hides_is_told_through_which_group_and_until_when() {
    let (world, _far) = house();
    let week = json!({ "cooldown_s": WEEK_S });
    set(&world, "all", &week).expect(200);
    let deployed = deploy(&world, "1.2");
    let notice = deployed.header("daylight-notice").unwrap();
    let expected = "Clients of `all` do not see it yet: `org.example:lamp:1.2` is hidden by the policy of `all`";
    assert!(notice.contains(expected) && notice.contains("is shown from 2026-11-18T12:00:00"), "{notice}");
    assert!(deployed.text().contains(expected), "{}", deployed.text());

    for (name, format, member) in [("gems-all", "gem", FIRST), ("files-all", "raw", "files")] {
        if format == "raw" {
            world.tree(member, format);
        }
        world.make(&json!({ "name": name, "format": format, "members": [member] }));
        set(&world, name, &week).expect(200);
    }
    let pushed = world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200).text().to_owned();
    assert!(pushed.starts_with("Successfully registered gem: lamp (1.0.0)\nClients of `gems-all`"), "{pushed}");
    assert!(pushed.contains("is shown from 2026-11-18T12:00:00"), "{pushed}");
    let put = world.admin().put("files", "bin/lamp.zip", b"zip").expect(201);
    assert!(put.header("daylight-notice").unwrap().contains("`bin/lamp.zip` is hidden"), "{}", put.text());
    // A private group is named to administrators alone.
    change(&world, "gems-all", &json!({ "private": true })).expect(200);
    let writer = world.person("writer", &["write"], &[FIRST]);
    let pushed = writer.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200).text().to_owned();
    assert!(pushed.contains("Clients of a group do not see it yet") && !pushed.contains("gems-all"), "{pushed}");
}

#[test]
fn bundler_installs_what_it_has_locked_after_a_cooldown_was_meant_for_others() {
    let (world, ruby) = (world(), Ruby::new());
    world.make(&json!({ "name": "team", "format": "gem", "members": [FIRST] }));
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let app = ruby.app("app", &world.url("team"), "gem 'lamp'");
    app.bundle(&["install"]).good();
    change(&world, "team", &json!({ "policy": { "cooldown_s": WEEK_S } })).expect(409);
    std::fs::remove_dir_all(ruby.home().join("installed")).unwrap();
    app.bundle(&["install"]).good();
}
