//! What README.md must be: short, and with the figures that were measured.

use super::page::root;
use std::collections::HashMap;
use std::fs;

fn text(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let lines = text("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines, more than 150: the manual is in `docs`");
}

/// The cells of rows, by the state of the server.
type Builds<'t> = HashMap<&'t str, Vec<&'t str>>;

/// The rows of a build through a server.
fn builds<'t>(table: &'t str, build: &str, server: &str) -> Builds<'t> {
    let rows = table.lines().filter_map(|line| line.strip_prefix(&format!("| {build} | {server} | ")));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .map(|cells: Vec<_>| (cells[0], cells[1..].to_vec()))
        .collect()
}

#[test]
fn the_figures_of_the_readme_are_those_of_the_page_about_performance() {
    let (readme, performance) = (text("README.md"), text("docs/performance.md"));
    let (_, measured) = performance.split_once("**Real projects on empty machines**").unwrap();
    for build in ["Maven 3.8", "Maven 3.9", "Maven 3.10", "Maven 4", "Bundler, Redmine"] {
        let servers = ["Daylight", "Nexus"].map(|server| builds(measured, build, server));
        let both = |figure: &dyn Fn(&Builds<'_>) -> String| {
            servers.iter().filter(|rows| !rows.is_empty()).map(figure).collect::<Vec<_>>().join(" / ")
        };
        let [seconds, cpu, memory] = [0, 1, 4];
        let of = |state: &'static str, at: usize| both(&move |rows| rows[state][at].to_owned());
        let most =
            both(&|rows| rows.values().map(|row| row[memory].parse::<u64>().unwrap()).max().unwrap().to_string());
        let row = format!(
            "| {build} | {} s | {} s | {} s | {} s | {} s | {most} MB |",
            of("nothing cached", cpu),
            of("again", cpu),
            of("upstream stopped", cpu),
            of("nothing cached", seconds),
            of("again", seconds),
        );
        assert!(readme.lines().any(|line| line == row), "README.md has no row {row}");
    }
}
