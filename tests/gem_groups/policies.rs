//! Commands about the policy of a remote member, from the side of who uses the group with Bundler: the versions of a lock, exceptions
//! without an effect, and changed lists.

use super::{GROUP, REMOTE, Scene, scene};
use crate::removal::alone;
use crate::world::Answer;
use serde_json::{Value, json};

fn set(scene: &Scene, repository: &str, policy: &Value) -> Answer {
    scene.world.change(repository, &json!({ "policy": policy }))
}

/// The output of a command that succeeds.
fn good(scene: &Scene, command: &str) -> String {
    let (said, code) = alone(&scene.world, command);
    assert_eq!(code, Some(0), "{command}: {said}");
    said
}

fn exceptions(scene: &Scene) -> Vec<String> {
    let told = scene.world.admin().get(&format!("/api/v1/repositories/{REMOTE}")).expect(200).json();
    let all = told["policy"]["exceptions"].as_array().cloned().unwrap_or_default();
    all.iter().map(|one| one["package"].as_str().unwrap().to_owned()).collect()
}

/// Young versions of three gems upstream, of which only `lamp` was requested, and a cooldown and a denial of the remote member.
fn young() -> Scene {
    let scene = scene();
    for (name, version) in [("lamp", "1.1.0"), ("oil", "2.0"), ("wick", "3.0")] {
        scene.publish(name, version);
    }
    scene.get("info/lamp").expect(200);
    set(&scene, REMOTE, &json!({ "cooldown_s": 7 * 86_400, "deny": ["wick"] }));
    scene
}

#[test]
fn the_versions_of_a_lock_are_let_through_although_bundler_requests_no_hidden_file() {
    let scene = young();
    assert!(!scene.get("info/lamp").expect(200).text().contains("1.1.0"));
    let said = good(&scene, &format!("policy allow {GROUP} --refused 15m --why old"));
    assert!(said.contains("nothing was changed") && said.contains("--lock Gemfile.lock"), "{said}");
    let (said, code) = alone(&scene.world, &format!("policy allow {GROUP} --refused 15m --by nobody --why old"));
    assert!(code == Some(2) && said.contains("there is no token `nobody`"), "{said}");

    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("Gemfile.lock");
    let versions = "    lamp (1.1.0)\n      oil\n    moth (1.0-java)\n    oil (2.0)\n    wick (3.0)\n";
    let lock = format!("GEM\n  remote: https://rubygems.org/\n  specs:\n{versions}\nPLATFORMS\n  ruby\n");
    let command = format!("policy allow {GROUP} --lock {} --why locked", path.display());
    for (unusable, why) in
        [("gem 'lamp'\n".to_owned(), "no version"), (lock.replace("GEM", "<<<<<<< HEAD\nGEM"), "merge conflicts")]
    {
        std::fs::write(&path, unusable).unwrap();
        let (said, code) = alone(&scene.world, &command);
        assert!(code == Some(2) && said.contains(why), "{said}");
    }
    std::fs::write(&path, vec![b'\n'; 5 << 20]).unwrap();
    assert!(alone(&scene.world, &command).0.contains("it is longer than"));

    std::fs::write(&path, lock).unwrap();
    let said = good(&scene, &command);
    let row = |what: &str| said.lines().find(|line| line.starts_with(what)).unwrap().to_owned();
    assert!(row("lamp:1.1.0").contains("is let through") && row("oil:2.0").contains(REMOTE), "{said}");
    assert!(
        row("wick:3.0").contains("stays hidden") && said.contains("1 version of the lock: moth:1.0-java"),
        "{said}"
    );
    assert_eq!(exceptions(&scene), ["lamp:1.1.0", "oil:2.0"]);
    // Nobody has downloaded them yet.
    let said = good(&scene, &command);
    assert!(said.contains("no cooldown hides a version of the lock"), "{said}");
    assert!(said.contains("does not know 1 version of the lock: moth:1.0-java"), "{said}");
    for (name, version) in [("lamp", "1.1.0"), ("oil", "2.0")] {
        assert!(scene.get(&format!("info/{name}")).expect(200).text().contains(version), "{name}");
        scene.get(&format!("gems/{name}-{version}.gem")).expect(200);
    }
}

#[test]
fn an_exception_without_an_effect_says_which_policy_hides_the_version_or_that_none_is_known() {
    let scene = young();
    let allow = |repository: &str, what: &str| good(&scene, &format!("policy allow {repository} {what} --why old"));
    let said = allow(GROUP, "lamp:1.1.0");
    let command = format!("`daylight policy allow {REMOTE} lamp:1.1.0 --why REASON`");
    assert!(said.contains("is still hidden by the policy of `upstream-gems`") && said.contains(&command), "{said}");
    assert!(said.contains("`all-gems` has no cooldown") && said.contains("that of `upstream-gems`"), "{said}");
    let said = allow(REMOTE, "lamp-1.1.0");
    assert!(said.contains("is still hidden") && said.contains(&command), "{said}");
    let said = allow(REMOTE, "wick:3.0");
    assert!(said.contains("is still hidden") && said.contains("`wick` is denied"), "{said}");
    for unknown in ["lampe:1.1.0", "lamp:9.9"] {
        let said = allow(REMOTE, unknown);
        assert!(said.contains("knows no version") && said.contains("when it appears"), "{said}");
    }
    let said = allow(REMOTE, "lamp:1.1.0");
    assert!(said.contains("`lamp:1.1.0` is let through") && !said.contains("warning"), "{said}");
    assert!(scene.get("info/lamp").expect(200).text().contains("1.1.0"));
    // The list of a group names the policies of its members.
    let said = good(&scene, &format!("policy list {GROUP}"));
    assert!(said.contains("the policy of its member `upstream-gems` applies, too"), "{said}");
    assert!(!good(&scene, &format!("policy list {REMOTE}")).contains("note"));
}

#[test]
fn a_changed_list_shows_what_came_and_what_went_and_which_pattern_names_nothing() {
    let scene = young();
    let said =
        good(&scene, &format!("repo set {REMOTE} --deny lamp:1.1.0 --deny lampe:1 --deny moth* --cooldown none"));
    assert!(said.contains("policy.deny: +lamp:1.1.0 +lampe:1 +moth* -wick"), "{said}");
    assert!(said.contains("policy.cooldown_s: none"), "{said}");
    assert!(
        said.contains("knows no version that `lampe:1` names") && said.matches("knows no version").count() == 1,
        "{said}"
    );
    let again = set(&scene, REMOTE, &json!({ "deny": ["wick"] })).json();
    assert_eq!(again["difference"], "policy.deny: +wick -lamp:1.1.0 -lampe:1 -moth*");
    assert_eq!(set(&scene, REMOTE, &json!({ "deny": ["wick"] })).json()["difference"], "");
    // `--private` of both verbs is the same as `--read token`.
    for flag in ["--private", "--read anyone", "--read token"] {
        let said = good(&scene, &format!("repo set {GROUP} {flag}"));
        assert!(said.contains(&format!("private: {}", flag != "--read anyone")), "{flag}: {said}");
    }
    let told = good(&scene, "journal --kind repository --repository upstream-gems --limit 1");
    assert!(told.contains("policy.deny: +wick"), "{told}");
}
