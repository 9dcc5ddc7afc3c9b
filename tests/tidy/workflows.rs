//! Workflows of the code host call make and upload. What they use of others is named by commit, as a tag can move.

use super::{Source, nothing_wrong, root, sources};
use std::fs;

/// The faults of a workflow, by the targets of the Makefile.
fn wrong(workflow: &Source, makefile: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in workflow.text.lines().enumerate() {
        let mut say = |what: String| wrong.push(format!("{}:{}: {what}", workflow.path, number + 1));
        let line = line.trim_start().trim_start_matches("- ");
        if let Some(used) = line.strip_prefix("uses: ") {
            let commit = used.split_whitespace().next().and_then(|action| action.split_once('@')).map(|(_, at)| at);
            if !commit.is_some_and(|at| at.len() == 40 && at.chars().all(|c| c.is_ascii_hexdigit())) {
                say(format!("`{used}` is named by no commit"));
            }
        }
        let called = line.trim_start_matches("run: ").strip_prefix("make ");
        for target in called.into_iter().flat_map(str::split_whitespace) {
            if !makefile.lines().any(|line| line.starts_with(&format!("{target}:"))) {
                say(format!("the Makefile has no target `{target}`"));
            }
        }
    }
    wrong
}

#[test]
fn workflows_call_targets_of_the_makefile_and_name_actions_by_commit() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let workflows = sources(&[".github/workflows"], "yml");
    assert!(workflows.iter().any(|workflow| workflow.text.contains(" make dist\n")), "none makes a release");
    nothing_wrong(workflows.iter().flat_map(|workflow| wrong(workflow, &makefile)).collect());
}

#[test]
fn a_tag_and_a_missing_target_are_found() {
    let found = |text: &str| {
        let workflow = Source { path: "a.yml".to_owned(), text: text.to_owned() };
        wrong(&workflow, "dist: build\n").len()
    };
    assert_eq!(found("- uses: actions/checkout@v7\n- run: make dist disk\n"), 2);
    let commit = "3d3c42e5aac5ba805825da76410c181273ba90b1";
    assert_eq!(found(&format!("- uses: actions/checkout@{commit}  # v7.0.1\n  make dist\n")), 0);
}
