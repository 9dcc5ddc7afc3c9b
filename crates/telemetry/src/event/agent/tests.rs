//! The agents of real clients, and every other text.

use super::*;
use proptest::prelude::*;

const BUNDLER: &str = "bundler/2.5.22 rubygems/3.5.22 ruby/3.3.5 (x86_64-linux) command/install options/path,without";

fn read(text: &str) -> (&str, &str, &str, &str) {
    let Agent { product, version, ci, run } = Agent::read(text);
    (product, version, ci, run)
}

#[test]
fn the_agents_of_clients_are_taken_apart() {
    for (text, product, version) in [
        ("Ruby, RubyGems/3.3.15 x86_64-linux Ruby/3.1.7 (2025-03-26 patchlevel 261)", "rubygems", "3.3.15"),
        ("RubyGems/3.3.5 x86_64-linux Ruby/3.1.2 (2022-04-12 patchlevel 20)", "rubygems", "3.3.5"),
        ("Apache-Maven/3.8.7 (Java 17.0.21.1; Linux 6.1.0)", "maven", "3.8.7"),
        ("Apache-Maven/4.0.0-rc-3 (Java 17; Linux)", "maven", "4.0.0-rc-3"),
        ("Gradle/8.10 (Linux;6.1.0;amd64) (Debian;17.0.12;17.0.12+7)", "gradle", "8.10"),
        ("Coursier/2.0", "coursier", "2.0"),
        ("Apache Ivy/2.5.1", "ivy", "2.5.1"),
        ("sbt/1.10.2", "sbt", "1.10.2"),
        ("curl/7.88.1", "curl", "7.88.1"),
        ("Wget/1.21.3", "wget", "1.21.3"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "browser", ""),
        ("Nexus/3.70.1-02 (OSS; Linux)", "Nexus", "3.70.1-02"),
        ("Ruby", "Ruby", ""),
        ("  curl/8  ", "curl", "8"),
        ("", "", ""),
        ("(a comment)", "", ""),
        ("/1", "", "1"),
    ] {
        assert_eq!(read(text), (product, version, "", ""), "{text}");
    }
}

#[test]
fn bundler_names_its_ci_system_and_its_run() {
    for (rest, ci, run) in [
        (" ci/github,ci 84e45c55655977e0", "github", "84e45c55655977e0"),
        (" ci/ci,jenkins 84e45c55655977e0", "jenkins", "84e45c55655977e0"),
        (" ci/ci 84e45c55655977e0", "ci", "84e45c55655977e0"),
        (" 84e45c55655977e0 built by the team", "", "84e45c55655977e0"),
        (" 84E45C55655977E0", "", ""),
        (" ci/", "", ""),
        (" ci/,", "", ""),
        ("", "", ""),
    ] {
        let text = format!("{BUNDLER}{rest}");
        assert_eq!(read(&text), ("bundler", "2.5.22", ci, run), "{text}");
    }
    // Other programs send digits that are no run.
    assert_eq!(read("curl/8 ci/github 84e45c55655977e0").3, "");
}

#[test]
fn agents_of_different_runs_are_equal_without_their_runs() {
    let of = |run: &str| Agent::without_run(&format!("{BUNDLER} ci/ci {run} ours")).into_owned();
    assert_eq!(of("84e45c55655977e0"), of("0123456789abcdef"));
    assert_eq!(of("84e45c55655977e0"), format!("{BUNDLER} ci/ci ours"));
    assert_eq!(Agent::without_run("curl/8"), "curl/8");
}

proptest! {
    #[test]
    fn every_text_is_an_agent_whose_parts_are_short(text in "\\PC{0,200}", rest in "[ -~]{0,200}") {
        for text in [text, format!("bundler/{rest}")] {
            let (product, version, ci, run) = read(&text);
            prop_assert!([product, version, ci, run].iter().all(|part| part.len() <= PART_MAX));
            prop_assert!(run.is_empty() || run.len() == RUN_DIGITS);
            prop_assert!(Agent::without_run(&text).len() <= text.len());
        }
    }
}
