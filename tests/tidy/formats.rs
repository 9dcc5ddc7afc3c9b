//! Parts that serve all formats have no word of one.

use super::{Source, nothing_wrong, rust, sources};

/// Folders of files that know no format.
const FOLDERS: &[&str] = &["crates/repository/src/upstream", "crates/repository/src/group"];

/// Words that only a format, or the list of formats, has. `Format` is the type; the word is allowed.
const WORDS: &[&str] = &["maven", "Maven", "MAVEN", "gem", "gems", "Gem", "Gems", "RubyGems", "Format"];

/// Files with a word all the same, and why. The list only shrinks.
const KNOWN: &[(&str, &str, &str)] = &[
    ("crates/repository/src/upstream/past.rs", "Format", "a row is named for the format of the policy that asks"),
    ("crates/repository/src/upstream/row.rs", "Format", "a row is named for the format of the policy that asks"),
];

/// Parts that serve every format, so that a word of one format there means that something stands in the wrong place.
const BLIND: &[&str] = &[
    "crates/daylight/src/route/",
    "crates/daylight/src/class.rs",
    "crates/daylight/src/answer.rs",
    "crates/front/src/",
];

/// Words of formats, as they would stand in a part of a name or in a literal.
const PARTS: &[&str] = &["gem", "maven", "pom", "rubygems", "bundler"];

/// The lines of a file that are code and no test, with their numbers.
fn code(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let end = source.text.find("#[cfg(test)]").unwrap_or(source.text.len());
    let lines = source.text[..end].lines().enumerate();
    lines.map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// A line without its comment and without sentences in quotes, which are for people.
fn without_prose(line: &str) -> String {
    let line = line.split("// ").next().unwrap_or(line);
    let quoted = line.split('"').enumerate();
    quoted.filter(|(at, part)| at % 2 == 0 || !part.contains(' ')).map(|(_, part)| part).collect::<Vec<_>>().join(" ")
}

fn is_test(source: &Source) -> bool {
    source.path.starts_with("tests/") || source.path.contains("/tests") || !source.path.starts_with("crates/")
}

/// Whether `word` stands in a line as a word of its own or as a part of a name, as in `of_gem` and `GemFound`.
fn has(line: &str, word: &str) -> bool {
    let mut parts = Vec::new();
    for name in line.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut from = 0;
        for (at, _) in name.char_indices().skip(1).filter(|(_, c)| c.is_ascii_uppercase()) {
            parts.push(name[from..at].to_ascii_lowercase());
            from = at;
        }
        parts.push(name[from..].to_ascii_lowercase());
    }
    parts.iter().any(|part| part == word || part.strip_suffix('s') == Some(word))
}

/// The part of a file that is no test: a test needs a repository, and that has a format.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {").map_or(text, |at| &text[..at])
}

#[test]
fn groups_and_upstreams_know_no_format() {
    let mut wrong = Vec::new();
    let sources = sources(FOLDERS, "rs");
    let has = |path: &str, word: &str| {
        let source = sources.iter().find(|source| source.path == path);
        source.is_some_and(|source| words(&source.text).any(|found| found == word))
    };
    for source in sources.iter().filter(|source| !source.path.ends_with("/tests.rs")) {
        for (number, line) in without_tests(&source.text).lines().enumerate() {
            for word in words(line).filter(|word| WORDS.contains(word)) {
                if !KNOWN.iter().any(|(path, known, _)| *path == source.path && *known == word) {
                    wrong.push(format!("{}:{}: `{word}` is of one format", source.path, number + 1));
                }
            }
        }
    }
    let gone = KNOWN.iter().filter(|(path, word, _)| !has(path, word));
    wrong.extend(gone.map(|(path, word, _)| format!("{path}: `{word}` is listed, and is there no more")));
    nothing_wrong(wrong);
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
}

#[test]
fn parts_that_serve_every_format_have_no_word_of_one() {
    let mut wrong = Vec::new();
    for source in rust().iter().filter(|source| !is_test(source)) {
        if !BLIND.iter().any(|path| source.path.starts_with(path)) {
            continue;
        }
        for (at, line) in code(source) {
            let line = without_prose(line);
            wrong.extend(
                PARTS.iter().filter(|word| has(&line, word)).map(|word| format!("{}:{at}: `{word}`", source.path)),
            );
        }
    }
    nothing_wrong(wrong);
}
