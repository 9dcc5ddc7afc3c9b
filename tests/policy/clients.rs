//! Real clients choose the older version during the cooldown of the newer one, and the newer one after an exception.

use super::{WEEK_S, allow, set, set_day, world};
use crate::world::{FIRST, Gem, Ruby, Said, World};
use serde_json::json;
use std::path::Path;

/// Runs a script of the program's commands, with the server and the token of its operator.
fn run(world: &World, script: &str) -> Said {
    let server = world.root();
    let program = Path::new(env!("CARGO_BIN_EXE_daylight")).parent().unwrap().display();
    let secret = world.admin().secret().to_owned();
    let head = format!("set -e; export PATH=\"{program}:$PATH\" DAYLIGHT_SERVER={server} DAYLIGHT_TOKEN={secret}\n");
    Ruby::here().shell("", &format!("{head}{script}"))
}

#[test]
fn bundler_chooses_the_older_version_until_the_newer_is_old_enough_or_let_through() {
    let (world, ruby) = (world(), Ruby::new());
    let publish = |day, version| {
        set_day(&world, day);
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    };
    publish(1, "1.0.0");
    publish(10, "1.1.0");
    set(&world, FIRST, &json!({ "cooldown_s": WEEK_S })).expect(200);
    let url = world.url(FIRST);
    let app = ruby.app("app", &url, "gem 'lamp'");
    let chooses = |day, version: &str| {
        set_day(&world, day);
        app.bundle(&["update", "--all"]).good();
        assert!(app.lock().contains(&format!("lamp ({version})")), "on day {day}: {}", app.lock());
        // On a machine without a cached list: Bundler would skip the update by its own clock, which the test does not
        // set.
        let script = format!("gem list --remote --all lamp --clear-sources --source {url}");
        let listed = Ruby::new().shell("", &script).good();
        let newest = listed.split_once('(').and_then(|(_, rest)| rest.split([',', ')']).next());
        assert_eq!(newest, Some(version), "on day {day}: {listed}");
    };
    chooses(10, "1.0.0");
    chooses(16, "1.0.0");
    chooses(17, "1.1.0");

    publish(18, "1.2.0");
    chooses(19, "1.1.0");
    allow(&world, FIRST, "lamp:1.2.0", None).expect(201);
    chooses(19, "1.2.0");
    let said = run(&world, &format!("daylight explain {FIRST} gems/lamp-1.2.0.gem")).good();
    let why = "admin said so at 2026-11-19T12:00:00.000Z, because: it closes a hole";
    assert!(said.contains("`lamp:1.2.0` is let through") && said.contains(why), "{said}");
}

#[test]
fn operators_set_policies_and_let_versions_through_on_the_command_line() {
    let world = world();
    let run = |script: &str| run(&world, script);
    let said = run("daylight repo set gems-private --cooldown 7d --deny oil --deny 'lamp:0.*'
        daylight policy allow gems-private lamp:1.1.0 --why 'closes a hole' --until 2026-12-01
        daylight policy list gems-private
        daylight repo show gems-private")
    .good();
    for expected in ["lamp:1.1.0", "closes a hole", "2026-12-01T00:00:00.000Z", "cooldown: 7d", "denies: oil, lamp:0.*"]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let said = run("daylight policy withdraw gems-private lamp:1.1.0
        daylight repo set gems-private --cooldown none --deny none
        daylight repo show gems-private")
    .good();
    let mut shown = said.lines().filter(|line| !line.starts_with("changed "));
    assert!(!shown.any(|line| line.contains("cooldown") || line.contains("denies")), "{said}");
    assert!(run("daylight policy allow gems-private lamp --why x --until soon").bad().contains("such as `30d`"));
    assert!(run("daylight policy withdraw gems-private lamp:1.1.0").bad().contains("nothing lets"));
}

/// Bundler keeps an `/info` until `/versions` has another MD5, so a name must not just disappear from `/versions`.
#[test]
fn bundler_learns_that_a_gem_is_hidden_whole_and_does_not_ask_for_what_it_may_not_have() {
    let (world, ruby) = (world(), Ruby::new());
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    let url = world.url(FIRST);
    let app = ruby.app("app", &url, "gem 'lamp'\ngem 'oil'");
    for policy in [json!({ "deny": ["lamp"] }), json!({ "deny": null, "cooldown_s": WEEK_S })] {
        app.bundle(&["install"]).good();
        set(&world, FIRST, &policy).expect(200);
        std::fs::remove_dir_all(ruby.home().join("installed")).unwrap();
        app.unlock();
        let said = app.bundle(&["install"]).bad();
        assert!(said.contains("ould not find gem 'lamp'") && !said.contains("403"), "{policy}: {said}");
        set(&world, FIRST, &json!({ "deny": null, "cooldown_s": null })).expect(200);
    }
    // A version that becomes visible again is found again.
    app.bundle(&["install"]).good();
}
