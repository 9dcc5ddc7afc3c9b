//! Retired words: phrases of earlier prose that a reader had to guess, each with the field's word to use instead.

use super::{Source, nothing_wrong, root};
use std::fs;
use std::path::Path;

/// The retired phrases, in lower case, and the words to use instead. Only words in comments, messages, documentation and scripts
/// count: code, and spans between backticks, do not.
const RETIRED: &[(&str, &str)] = &[
    ("whoever", "name the client, caller or user"),
    ("whomever", "name the client, caller or user"),
    ("those who", "name the clients, callers or users"),
    ("all who", "name the clients, callers or users"),
    ("who asks", "name the client or caller"),
    ("who ask", "name the clients or callers"),
    ("those that", "repeat the noun"),
    ("what is", "name the thing"),
    ("as it was", "`unchanged`, or name the earlier state"),
    ("anew", "`again`"),
    ("for ever", "`permanently`, `without limit`"),
    ("left alone", "`its circuit is open`, `unchanged`"),
    ("stands before", "`is in front of`, `caches`"),
    ("stand before", "`are in front of`, `cache`"),
    ("defect of ours", "`bug`"),
    ("further inside", "`in a more private network`"),
    ("see through", "`can tell, for every request, why the client got this file, a 404 or a refusal`"),
    ("holds no truth", "`no Daylight database in DIR`"),
    ("answered so", "`why did I get this answer`"),
    ("be answered otherwise", "`would change`"),
    ("what a proxy does not set", "`clients can forge this header unless a proxy sets it`"),
    ("sighting", "`first-seen record`"),
    ("sightings", "`first-seen records`"),
    ("beginnings", "`prefixes`"),
    ("ledger", "`connection state`"),
    ("desk", "`committer`, `sink worker`"),
    ("shelf", "`file cache`, `page cache`"),
    ("patience", "`timeout`"),
];

/// The files and folders that are free of retired words.
const COVERED: &[&str] = &[
    "crates",
    "bench",
    "fuzz/src",
    "docs",
    "scripts",
    "tests",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "README.md",
];

/// A word or a punctuation mark of a text, with its line.
#[derive(Debug, PartialEq)]
struct Word {
    line: usize,
    text: String,
}

#[test]
fn prose_uses_the_words_of_the_field() {
    nothing_wrong(covered().iter().flat_map(retired_in).collect());
}

#[test]
fn a_retired_phrase_is_found_across_lines_and_in_messages_but_not_in_code() {
    let found = |path: &str, text: &str| retired_in(&Source { path: path.to_owned(), text: text.to_owned() });
    let wrong = |path: &str, text: &str, line: usize| {
        let found = found(path, text);
        assert!(found.len() == 1 && found[0].starts_with(&format!("{path}:{line}: ")), "{text}: {found:?}");
    };
    wrong("a.rs", "fn a() {}\n/// Returns what\n/// is cached.\n", 2);
    wrong("a.rs", "bail!(\"the host is left alone\");\n", 1);
    wrong("a.rs", "let a = 1; // Made anew.\n", 1);
    wrong("a.md", "# A\n\nIt is kept for\never.\n", 3);
    wrong("a", "#!/bin/sh\necho anew # those who wait\n", 2);
    for (path, text) in [
        ("a.rs", "let (what, is) = for_ever(anew);\n"),
        ("a.rs", "// `anew` is a column. For this, ever so often.\n"),
        ("a.rs", "// What is it?\nlet sql = \"anew\";\n"),
        ("a.md", "    daylight anew\n\n```\nwhoever\n```\n"),
        ("a", "echo anew\n"),
    ] {
        assert!(found(path, text).is_empty(), "{text}: {:?}", found(path, text));
    }
}

/// Each retired phrase in a file, with its line and the words to use instead.
fn retired_in(source: &Source) -> Vec<String> {
    let mut wrong = Vec::new();
    for words in prose(source) {
        for (at, word) in words.iter().enumerate() {
            for (phrase, instead) in RETIRED {
                let begins =
                    phrase.split(' ').enumerate().all(|(n, part)| words.get(at + n).is_some_and(|w| w.text == part));
                if begins && !(*phrase == "what is" && is_question(&words[at..])) {
                    wrong.push(format!("{}:{}: \"{phrase}\" is retired: {instead}", source.path, word.line));
                }
            }
        }
    }
    wrong
}

fn is_question(words: &[Word]) -> bool {
    words.iter().find(|word| [".", "?", "!", ";"].contains(&word.text.as_str())).is_some_and(|end| end.text == "?")
}

/// The texts of a file that people read, each as its words.
fn prose(source: &Source) -> Vec<Vec<Word>> {
    let ending = Path::new(&source.path).extension().unwrap_or_default().to_str().unwrap_or_default();
    let mut texts = vec![Vec::new()];
    let mut fenced = false;
    for (number, line) in source.text.lines().enumerate() {
        let trimmed = line.trim_start();
        let (text, alone) = match ending {
            "rs" => match trimmed.strip_prefix("//") {
                Some(comment) => (Some(comment.trim_start_matches(['/', '!']).to_owned()), false),
                None => (Some(messages(line)).filter(|text| !text.is_empty()), true),
            },
            "md" => {
                fenced ^= trimmed.starts_with("```");
                let shown = !fenced && !line.starts_with("    ") && !trimmed.is_empty();
                (shown.then(|| line.to_owned()), false)
            }
            _ => (comment(line).map(str::to_owned), false),
        };
        if alone || text.is_none() {
            texts.push(Vec::new());
        }
        let words = text.map(|text| words(&text, number + 1)).unwrap_or_default();
        texts.last_mut().unwrap().extend(words);
        if alone {
            texts.push(Vec::new());
        }
    }
    texts
}

/// The strings with spaces in a line of Rust, except SQL and Ruby, and a comment at its end.
fn messages(line: &str) -> String {
    let (code, comment) = line.split_once(" // ").unwrap_or((line, ""));
    let is_code = |text: &&str| ["SELECT ", "require '"].iter().any(|code| text.contains(code));
    let strings = code.split('"').skip(1).step_by(2).filter(|text| text.contains(' ') && !is_code(text));
    let mut parts: Vec<&str> = strings.collect();
    parts.push(comment);
    parts.join(" | ").trim_matches([' ', '|']).to_owned()
}

/// The comment in a line of a script or makefile.
fn comment(line: &str) -> Option<&str> {
    line.strip_prefix("# ").or_else(|| line.split_once(" # ").map(|(_, comment)| comment))
}

/// The words and punctuation marks of a text, in lower case, without spans between backticks.
fn words(text: &str, line: usize) -> Vec<Word> {
    let plain: Vec<&str> = text.split('`').step_by(2).collect();
    let mut words: Vec<Word> = Vec::new();
    let mut joined = false;
    for character in plain.join(" ` ").chars() {
        let letter = character.is_alphanumeric() || character == '\'';
        match words.last_mut() {
            Some(word) if letter && joined => word.text.extend(character.to_lowercase()),
            _ if character.is_whitespace() => {}
            _ => words.push(Word { line, text: character.to_lowercase().collect() }),
        }
        joined = letter;
    }
    words
}

/// The files that are covered, with their texts.
fn covered() -> Vec<Source> {
    let mut paths: Vec<_> = COVERED.iter().map(|path| root().join(path)).collect();
    let mut files = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if !path.ends_with("tests/tidy/words.rs")
            && let Ok(text) = fs::read_to_string(&path)
            && !["gem", "json", "svg", "toml", "lock", "xml"]
                .iter()
                .any(|ending| path.extension().is_some_and(|e| e == *ending))
        {
            files.push(Source { path: path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned(), text });
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}
