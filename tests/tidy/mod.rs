//! The rules about the tree that no compiler checks: edges between crates, sizes, names, and absences.

mod circles;
mod edges;
mod format_choices;
mod formats;
mod imports;
mod jobs;
mod locks;
mod parameters;
mod registry;
mod sources;
mod walls;
mod words;
mod workflows;

use std::fs;
use std::path::{Path, PathBuf};

/// A source file: its path from the root of the tree, and its text.
struct Source {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Every file with this ending in these folders, in order of path.
fn sources(folders: &[&str], ending: &str) -> Vec<Source> {
    let root = root();
    let mut paths = Vec::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: PathBuf| Source {
        path: path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
        text: fs::read_to_string(&path).unwrap(),
    };
    paths.into_iter().map(read).collect()
}

/// All Rust files of the tree.
fn rust() -> Vec<Source> {
    sources(&["crates", "tests", "bench", "fuzz"], "rs")
}

/// Fails with all that is wrong, not only with the first.
#[track_caller]
fn nothing_wrong(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The lines of a file without comments and without tests, which stand in a module at its end.
fn shipped(text: &str) -> Vec<&str> {
    let (mut kept, mut lines) = (Vec::new(), text.lines());
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push(line.split("//").next().unwrap_or_default());
        } else if lines
            .find(|line| !line.starts_with("#["))
            .is_some_and(|tests| tests.starts_with("mod ") && tests.ends_with('{'))
        {
            break;
        }
    }
    kept
}

/// The Rust files of our crates as they are shipped: without files of tests, comments and modules of tests.
fn code() -> Vec<Source> {
    let all = sources(&["crates"], "rs").into_iter();
    let ours = all.filter(|source| !source.path.contains("/tests") && !source.path.contains("/truth/suite"));
    ours.map(|source| Source { text: shipped(&source.text).join("\n"), path: source.path }).collect()
}

#[test]
fn only_tests_and_comments_are_left_out() {
    let text = "a // b\n#[cfg(test)]\nmod tests;\nc\n#[cfg(test)]\n#[expect(e)]\nmod more {\nd\n}\n";
    assert_eq!(shipped(text), ["a ", "c"]);
}
