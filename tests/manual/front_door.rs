//! What README.md must be: short, and with the figures that were measured.

use super::page::root;
use std::fs;

fn text(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// The first words of the cells of the table row that begins with this cell, after that cell.
fn row(text: &str, name: &str) -> Vec<String> {
    let line =
        text.lines().find(|line| line.starts_with(&format!("| {name} | "))).unwrap_or_else(|| panic!("no row {name}"));
    let cells = line.trim_matches('|').split('|').skip(1);
    cells.map(|cell| cell.split_whitespace().next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let lines = text("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines, more than 150: the manual is in `docs`");
}

#[test]
fn the_figures_of_the_readme_are_those_of_the_page_about_performance() {
    let (readme, performance) = (text("README.md"), text("docs/performance.md"));
    let (_, measured) = performance.split_once("**A real build with Maven 3.8**").unwrap();
    for server in ["Daylight", "Nexus 3.71"] {
        assert_eq!(row(&readme, server), row(measured, server), "{server}");
    }
}
