//! Parameters come one by one or as a named struct, and the store has no words of formats and protocols.

use super::{nothing_wrong, sources};

/// Crates that still have pairs in parameters.
const PAIRS: &[&str] = &["crates/repository/", "crates/daylight/", "bench/"];

/// The parameters of each function in a text, as written.
fn parameters(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    for (at, _) in text.match_indices("fn ") {
        let rest = &text[at + 3..];
        let Some(open) = rest.find('(').filter(|open| !rest[..*open].contains(['{', ';', '='])) else { continue };
        let (mut depth, mut start) = (0, open + 1);
        for (offset, c) in rest[open..].char_indices() {
            depth += match c {
                '(' | '[' | '{' | '<' => 1,
                ')' | ']' | '}' => -1,
                '>' if !rest[..open + offset].ends_with(['-', '=']) => -1,
                _ => 0,
            };
            if depth == 0 || (depth == 1 && c == ',') {
                all.push(rest[start..open + offset].trim());
                start = open + offset + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    all
}

#[test]
fn no_parameter_is_a_pattern_of_a_tuple() {
    let mut wrong = Vec::new();
    for source in sources(&["crates", "bench"], "rs") {
        let in_tests = source.path.contains("/tests");
        if in_tests || PAIRS.iter().any(|path| source.path.starts_with(path)) {
            continue;
        }
        let pairs = parameters(&source.text).into_iter().filter(|parameter| parameter.starts_with('('));
        wrong.extend(pairs.map(|pair| format!("{}: `{pair}`", source.path)));
    }
    nothing_wrong(wrong);
}

/// Words of formats and protocols.
const FOREIGN: &[&str] = &[
    "gem",
    "gems",
    "rubygems",
    "bundler",
    "maven",
    "pom",
    "poms",
    "jar",
    "jars",
    "artifact",
    "artifacts",
    "http",
    "https",
    "etag",
    "header",
    "headers",
    "yank",
    "yanked",
];

/// Where such a word may stand, and why.
const FOREIGN_ALLOWED: &[(&str, &str, &str)] = &[
    ("crates/store/src/cache/schema.rs", "etag", "the name of a column on disk"),
    ("crates/store/src/cache/rows.rs", "etag", "the name of a column on disk"),
];

#[test]
fn the_store_has_no_words_of_formats_and_protocols() {
    let mut wrong = Vec::new();
    for source in sources(&["crates/store/src"], "rs") {
        for (number, line) in source.text.lines().enumerate() {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
            for word in words.filter(|word| FOREIGN.contains(&word.as_str())) {
                if !FOREIGN_ALLOWED.iter().any(|(path, allowed, _)| *path == source.path && *allowed == word) {
                    wrong.push(format!("{}:{}: `{word}`", source.path, number + 1));
                }
            }
        }
    }
    nothing_wrong(wrong);
}
