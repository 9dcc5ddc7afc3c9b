//! Which parts of `repository` know no package format: what all formats share must not depend on one of them.

use super::{nothing_wrong, sources};

/// Folders of files that know no format.
const FOLDERS: &[&str] = &["crates/repository/src/upstream", "crates/repository/src/group"];

/// Words that only a format, or the list of formats, has. `Format` is the type; the word is allowed.
const WORDS: &[&str] = &["maven", "Maven", "MAVEN", "gem", "gems", "Gem", "Gems", "RubyGems", "Format"];

/// Files with a word all the same, and why. The list only shrinks.
const KNOWN: &[(&str, &str, &str)] = &[
    ("crates/repository/src/upstream/past.rs", "Format", "a row is named for the format of the policy that asks"),
    ("crates/repository/src/upstream/row.rs", "Format", "a row is named for the format of the policy that asks"),
];

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
