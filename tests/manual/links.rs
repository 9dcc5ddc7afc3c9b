//! Every link from a page of ours to another leads to a file and to a heading that are there.

use super::page::{all, root};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// The anchors of a page: those of its headings, as code hosts generate them, and explicit ones.
fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let made =
        headings.map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"));
    let written = text.split("<a id=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    made.chain(written).collect()
}

/// The targets of links within the tree.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let others = ["CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(str::to_owned);
    for page in all().into_iter().chain(others) {
        let file = root().join(&page);
        let text = fs::read_to_string(&file).unwrap();
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { file.clone() } else { file.parent().unwrap_or_else(|| Path::new("")).join(path) };
            match fs::read(&target).map(|file| String::from_utf8_lossy(&file).into_owned()) {
                Err(_) => wrong.push(format!("{page}: `{link}` leads to no file")),
                Ok(text) if !anchor.is_empty() && !anchors(&text).contains(anchor) => {
                    wrong.push(format!("{page}: `{link}` leads to no heading"));
                }
                Ok(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_index_names_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let named = |page: &String| {
        page == "README.md" || page == "docs/README.md" || links(&index).contains(&page.trim_start_matches("docs/"))
    };
    let missing: Vec<String> = all().into_iter().filter(|page| !named(page)).collect();
    assert!(missing.is_empty(), "docs/README.md does not name {missing:?}");
}
