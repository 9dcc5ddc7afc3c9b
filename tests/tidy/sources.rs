//! What a source file looks like: short, introduced, without sleeps, skips, vague names or traces of one machine.

use super::{nothing_wrong, root, rust};
use std::fs;
use std::path::Path;

/// The ceiling for a Rust file, in lines. Most are a third of it.
const LINES: usize = 400;

/// Files over the ceiling, how long they may be, and why. The list only shrinks: an entry that is no longer
/// needed, or longer than needed, fails.
const LONG: &[(&str, usize, &str)] = &[];

#[test]
fn files_are_short() {
    let mut wrong = Vec::new();
    let sources = rust();
    for source in &sources {
        let lines = source.text.lines().count();
        let long = LONG.iter().find(|(path, ..)| *path == source.path);
        match long {
            None if lines > LINES => wrong.push(format!("{}: {lines} lines, more than {LINES}", source.path)),
            Some((_, allowed, _)) if lines > *allowed => {
                wrong.push(format!("{}: {lines} lines, more than its {allowed}", source.path));
            }
            Some((_, allowed, _)) if lines < *allowed => {
                wrong.push(format!("{}: {lines} lines now, take down its {allowed}", source.path));
            }
            _ => {}
        }
    }
    let gone = LONG.iter().filter(|(path, ..)| !sources.iter().any(|source| source.path == *path));
    wrong.extend(gone.map(|(path, ..)| format!("{path}: listed as long, but it is gone")));
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default().lines().count();
    if architecture > 200 {
        wrong.push(format!("ARCHITECTURE.md: {architecture} lines, more than 200"));
    }
    nothing_wrong(wrong);
}

/// The Rust files that a text names between backticks: `a/{b,c}.rs` names two.
fn named_files(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2).filter(|span| span.ends_with(".rs") && !span.contains(' '));
    let expanded = spans.flat_map(|span| match span.split_once('{').and_then(|(a, b)| Some((a, b.split_once('}')?))) {
        Some((before, (names, after))) => {
            names.split(',').map(|name| format!("{before}{}{after}", name.trim())).collect()
        }
        None => vec![span.to_owned()],
    });
    expanded.collect()
}

#[test]
fn every_file_that_the_page_about_the_architecture_names_is_there() {
    let (page, sources) = (fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap(), rust());
    let named = named_files(&page);
    assert!(named.len() > 50, "{named:?}");
    let is_there = |file: &String| sources.iter().any(|source| Path::new(&source.path).ends_with(file));
    let gone = named.iter().filter(|file| !is_there(file));
    nothing_wrong(gone.map(|file| format!("ARCHITECTURE.md: `{file}` does not exist")).collect());
}

#[test]
fn every_file_begins_by_saying_why_it_exists() {
    let silent = rust().into_iter().filter(|source| !source.text.starts_with("//! "));
    nothing_wrong(silent.map(|source| format!("{}: does not begin with `//! `", source.path)).collect());
}

#[test]
fn names_say_what_is_inside() {
    let vague = ["utils", "util", "common", "helpers", "helper", "misc", "manager"];
    let mut wrong = Vec::new();
    for source in rust() {
        for part in Path::new(&source.path).with_extension("").iter().filter_map(|part| part.to_str()) {
            if vague.contains(&part) {
                wrong.push(format!("{}: `{part}` says nothing", source.path));
            }
        }
        for name in vague.iter().filter(|name| source.text.contains(&format!("mod {name} {{"))) {
            wrong.push(format!("{}: `mod {name}` says nothing", source.path));
        }
    }
    nothing_wrong(wrong);
}

#[test]
fn no_test_is_skipped_and_none_sleeps() {
    // In pieces, so that this file does not accuse itself.
    let skip = concat!("#[", "ignore");
    let sleep = concat!("sleep", "(");
    let mut wrong = Vec::new();
    for source in rust().into_iter().filter(|source| !source.path.starts_with("bench/")) {
        let in_tests = source.path.starts_with("tests/") || source.path.contains("/tests");
        let tests = if in_tests { 0 } else { source.text.find("#[cfg(test)]").unwrap_or(source.text.len()) };
        if source.text.contains(skip) {
            wrong.push(format!("{}: skips a test", source.path));
        }
        if source.text[tests..].contains(sleep) {
            wrong.push(format!("{}: a test sleeps; wait for what you wait for", source.path));
        }
    }
    nothing_wrong(wrong);
}

#[test]
fn the_tree_knows_nobodys_home() {
    let homes = [concat!("/ho", "me/"), concat!("/Use", "rs/"), concat!("/ro", "ot/")];
    let mut wrong = Vec::new();
    for source in rust().into_iter().chain(super::sources(&["docs"], "md")) {
        for home in homes.iter().filter(|home| source.text.contains(**home)) {
            wrong.push(format!("{}: a path that begins with `{home}`", source.path));
        }
    }
    nothing_wrong(wrong);
}

/// The public index of gems may be named: it is the key of a mirror in the settings of Bundler, and no build or test asks it.
#[test]
fn the_tree_names_no_registry_that_builds_use() {
    let hosts = [concat!("repo1.maven", ".org"), concat!("repo.maven.apache", ".org")];
    let mut wrong = Vec::new();
    for source in rust().into_iter().chain(super::sources(&["docs"], "md")) {
        for host in hosts.iter().filter(|host| source.text.contains(**host)) {
            wrong.push(format!("{}: `{host}`", source.path));
        }
    }
    nothing_wrong(wrong);
}
