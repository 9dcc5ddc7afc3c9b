//! Undoing a yank, as `gem yank --undo` of RubyGems before 3 does: within `store.undo`, with a token that may yank.

use crate::world::{Answer, Client, FIRST, Gem, Index, Person, Ruby, World};
use serde_json::json;

crate::world::with_each_client!([bundler_updates_to_a_version_whose_yank_was_undone]; here: Here, newest: Newest);

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// The request that RubyGems 2.7 sends.
fn unyank(who: &Person, repository: &str, form: &str) -> Answer {
    who.ask("PUT", &format!("/repository/{repository}/api/v1/gems/unyank"), &[FORM], form.as_bytes())
}

fn bundler_updates_to_a_version_whose_yank_was_undone(client: Client) {
    let world = World::start();
    let admin = world.admin();
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST] }));
    for version in ["1.0.0", "2.0.0"] {
        admin.push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    let ruby = Ruby::with(client);
    let app = ruby.app("app", &world.url("all"), "gem 'lamp'");
    app.bundle(&["lock"]).good();
    admin.yank(FIRST, "lamp", "2.0.0").expect(200);
    app.unlock();
    app.bundle(&["lock"]).good();
    assert!(app.lock().contains("lamp (1.0.0)"), "{}", app.lock());
    let said = unyank(&admin, FIRST, "gem_name=lamp&version=2.0.0").expect(200);
    assert_eq!(said.text(), "Successfully unyanked gem: lamp (2.0.0)");
    app.bundle(&["lock", "--update"]).good();
    assert!(app.lock().contains("lamp (2.0.0)"), "{}", app.lock());
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "2.0.0\n");
}

#[test]
fn a_version_whose_yank_was_undone_is_everywhere_again_and_the_journal_says_so() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST] }));
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let java = Gem::new("lamp", "1.0.0").platform("java");
    admin.push(FIRST, &java).expect(200);
    let paths = ["info/lamp", "names", "gems/lamp-1.0.0-java.gem", "quick/Marshal.4.8/lamp-1.0.0-java.gemspec.rz"];
    let read = || [FIRST, "all"].map(|from| paths.map(|path| anon.file(from, path).expect(200).body));
    let before = read();
    let log = anon.file(FIRST, "versions").expect(200).text().to_owned();
    for (platform, form) in [("", "platform=ruby"), ("-java", "platform=java")] {
        let form = format!("gem_name=lamp&version=1.0.0&{form}");
        admin.ask("DELETE", &format!("/repository/{FIRST}/api/v1/gems/yank"), &[FORM], form.as_bytes()).expect(200);
        anon.file(FIRST, &format!("gems/lamp-1.0.0{platform}.gem")).expect(404);
    }
    assert_eq!(anon.file("all", "names").expect(200).text(), "---\n\n");
    let said = unyank(&admin, FIRST, "gem_name=lamp&version=1.0.0&platform=java").expect(200);
    assert_eq!(said.text(), "Successfully unyanked gem: lamp (1.0.0-java)");
    unyank(&admin, FIRST, "gem_name=lamp&version=1.0.0").expect(200);
    assert!(read() == before);
    let gained = anon.file(FIRST, "versions").expect(200).text().strip_prefix(&log).unwrap().to_owned();
    let changes: Vec<&str> = gained.lines().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(changes, ["lamp -1.0.0", "lamp -1.0.0-java", "lamp 1.0.0-java", "lamp 1.0.0"]);
    for repository in [FIRST, "all"] {
        Index::read(&anon, repository).download(&anon, repository);
    }
    let rows = admin.get(&format!("/api/v1/journal?repository={FIRST}&limit=2")).expect(200).json();
    let last = rows["rows"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&last["kind"], &last["package"], &last["version"]),
        (&json!("change"), &json!("lamp"), &json!("1.0.0"))
    );
}

#[test]
fn what_cannot_be_undone_is_refused_with_the_reason() {
    let world = World::start_in_conformance(&[]);
    world.set_time("2026-11-01T12:00:00Z");
    let (admin, form) = (world.admin(), "gem_name=lamp&version=1.0.0");
    assert_eq!(unyank(&admin, FIRST, form).expect(404).text(), "This rubygem could not be found.\n");
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let said = unyank(&admin, FIRST, "gem_name=lamp&version=2.0.0").expect(404);
    assert_eq!(said.text(), "The version 2.0.0 does not exist.\n");
    unyank(&admin, FIRST, "gem_name=lamp&version=1.0.0&platform=java").expect(404);
    unyank(&admin, FIRST, "version=1.0.0").expect(400);
    let said = unyank(&admin, FIRST, form).expect(409);
    assert_eq!(said.text(), "The version lamp-1.0.0 is already indexed.\n");
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);

    // Only who may yank: not with a token that publishes, nor without one.
    unyank(&world.anon(), FIRST, form).expect(401);
    unyank(&world.person("writer", &["read", "write"], &[]), FIRST, form).expect(403);

    // A week by default, to the millisecond.
    world.set_time("2026-11-08T12:00:00.001Z");
    let said = unyank(&admin, FIRST, form).expect(404);
    assert!(said.text().starts_with("`lamp-1.0.0` was yanked longer ago than `store.undo`"), "{}", said.text());
    world.set_time("2026-11-08T12:00:00Z");
    unyank(&world.person("tidy", &["read", "delete"], &[]), FIRST, form).expect(200);

    // A repository that holds nothing itself takes no changes.
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST] }));
    assert!(unyank(&admin, "all", form).expect(405).text().contains(FIRST));
    let said = admin.ask("POST", &format!("/repository/{FIRST}/api/v1/gems/unyank"), &[FORM], form.as_bytes());
    assert_eq!(said.expect(405).header("allow"), Some("PUT"));
}

#[test]
fn a_yank_is_not_undone_under_a_name_that_was_spelt_another_way_since_nor_what_an_operator_removed() {
    let world = World::start();
    let admin = world.admin();
    for (name, version) in [("Lamp", "1.0.0"), ("lamp", "2.0.0")] {
        admin.push(FIRST, &Gem::new(name, version)).expect(200);
        admin.yank(FIRST, name, version).expect(200);
    }
    unyank(&admin, FIRST, "gem_name=lamp&version=2.0.0").expect(200);
    admin.push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    let said = unyank(&admin, FIRST, "gem_name=Lamp&version=1.0.0").expect(409);
    assert!(said.text().contains("`Lamp` differs only in case from `lamp`"), "{}", said.text());
    admin.patch_json(&format!("/api/v1/repositories/{FIRST}"), &json!({ "keep_versions": 1 })).expect(200);
    let cleanup = json!({ "repositories": [FIRST], "apply": true });
    admin.post_json("/api/v1/cleanup", &cleanup).expect(200);
    let said = unyank(&admin, FIRST, "gem_name=lamp&version=2.0.0").expect(404);
    assert!(said.text().contains("a cleanup removed it"), "{}", said.text());
    let purge = json!({ "what": "lamp:2.0.0", "why": "a key was in it", "apply": true });
    admin.post_json(&format!("/api/v1/repositories/{FIRST}/purge"), &purge).expect(200);
    unyank(&admin, FIRST, "gem_name=lamp&version=2.0.0").expect(409);
}
