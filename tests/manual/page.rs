//! A page of the documentation, taken apart: its blocks, their languages, and the output that stands below a block of commands.

use std::fs;
use std::path::{Path, PathBuf};

/// One fenced block.
pub(crate) struct Block {
    /// The word after the fence; empty where there is none.
    pub(crate) language: String,
    pub(crate) text: String,
    /// The `## ` heading above it.
    pub(crate) section: String,
    /// Where its text begins on the page, counted from 1.
    pub(crate) line: usize,
    /// The indented lines, or the block of `text`, right below a block of commands.
    pub(crate) output: Vec<String>,
}

/// Every page that people are given: README.md, and the files of `docs`.
pub(crate) fn all() -> Vec<String> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

/// The blocks of a page.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
    parse(&text)
}

/// The root of the tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The blocks of a text.
pub(crate) fn parse(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut blocks, mut section, mut at) = (Vec::<Block>::new(), String::new(), 0);
    // Where a block of commands has just ended: output may follow.
    let mut below = None;
    while let Some(line) = lines.get(at) {
        at += 1;
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let margin = line.len() - line.trim_start().len();
            let begin = at;
            while !lines
                .get(at)
                .unwrap_or_else(|| panic!("line {begin}: a block without an end"))
                .trim_start()
                .starts_with("```")
            {
                at += 1;
            }
            let inside: Vec<String> =
                lines[begin..at].iter().map(|line| line.get(margin..).unwrap_or("").to_owned()).collect();
            at += 1;
            if let (Some(shown), "text") = (below, language) {
                let block: &mut Block = &mut blocks[shown];
                block.output = inside;
                below = None;
                continue;
            }
            let text = inside.concat_lines();
            blocks.push(Block {
                language: language.trim().to_owned(),
                text,
                section: section.clone(),
                line: begin + 1,
                output: Vec::new(),
            });
            below = (language.trim() == "sh").then_some(blocks.len() - 1);
        } else if let (Some(shown), true) = (below, line.starts_with("    ")) {
            blocks[shown].output.push((*line).to_owned());
        } else if !line.is_empty() {
            below = None;
            if let Some(heading) = line.strip_prefix("## ") {
                section = heading.to_owned();
            }
        }
    }
    blocks
}

trait Lines {
    fn concat_lines(&self) -> String;
}

impl Lines for Vec<String> {
    fn concat_lines(&self) -> String {
        self.iter().map(|line| format!("{line}\n")).collect()
    }
}

#[test]
fn a_page_is_taken_apart() {
    let blocks = parse(
        "## A\n```sh\na\n  b\n```\n\n    c\n    d\n\ntext\n\n    no output\n```sh\ne\n```\n```text\nf\n```\n1. x\n   ```toml\n   y = 1\n   ```\n",
    );
    let found: Vec<_> =
        blocks.iter().map(|b| (b.language.as_str(), b.text.as_str(), b.line, b.output.concat())).collect();
    assert_eq!(
        found,
        [
            ("sh", "a\n  b\n", 3, "    c    d".to_owned()),
            ("sh", "e\n", 14, "f".to_owned()),
            ("toml", "y = 1\n", 21, String::new())
        ]
    );
    assert!(blocks.iter().all(|block| block.section == "A"));
}
