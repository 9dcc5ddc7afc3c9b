//! Which crate may import which. A new edge is a design change: it is made here, and in ARCHITECTURE.md.

use super::{nothing_wrong, root, sources};
use std::fs;

const EDGES: &[(&str, &[&str])] = &[
    ("telemetry", &[]),
    ("format", &[]),
    ("store", &["telemetry"]),
    ("client", &["telemetry"]),
    ("repository", &["format", "store", "client", "telemetry"]),
    ("front", &["telemetry"]),
    ("insight", &["telemetry"]),
    ("apps", &["format", "client", "front", "telemetry"]),
    ("web", &["format"]),
    ("daylight", &["telemetry", "format", "store", "client", "repository", "front", "apps", "insight", "web"]),
];

/// Crates that stay away from a dependency, because what it does is another crate's task.
const ABSENT: &[(&str, &[&str])] = &[
    ("telemetry", &["tokio", "http", "hyper", "rusqlite"]),
    ("format", &["tokio", "http", "hyper", "rusqlite"]),
    ("store", &["http", "hyper"]),
    ("repository", &["http", "hyper", "rusqlite"]),
    ("front", &["rusqlite"]),
    ("insight", &["tokio", "http", "hyper", "rusqlite"]),
    ("apps", &["rusqlite", "socket2"]),
    ("web", &["tokio", "http", "hyper", "rusqlite"]),
    ("daylight", &["socket2"]),
];

/// The one file of the program that may name a database: an import reads that of another server.
const FOREIGN_DATABASE: &str = "crates/daylight/src/cli/import/gems/gemstash.rs";

#[test]
fn the_program_opens_no_database_but_that_of_another_server() {
    let files = sources(&["crates/daylight/src"], "rs").into_iter().filter(|source| source.text.contains("rusqlite"));
    let wrong = files.map(|source| source.path).filter(|path| path != FOREIGN_DATABASE);
    nothing_wrong(wrong.map(|path| format!("{path} names a database")).collect());
}

fn manifest(name: &str) -> toml::Table {
    fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap().parse().unwrap()
}

fn imported<'a>(manifest: &'a toml::Table, section: &str) -> impl Iterator<Item = &'a String> {
    manifest.get(section).and_then(|table| table.as_table()).into_iter().flat_map(toml::Table::keys)
}

#[test]
fn crates_stay_away_from_what_is_the_task_of_another() {
    let mut wrong = Vec::new();
    for (name, absent) in ABSENT {
        let manifest = manifest(name);
        let found = imported(&manifest, "dependencies").filter(|import| absent.contains(&import.as_str()));
        wrong.extend(found.map(|import| format!("crates/{name} imports {import}")));
    }
    nothing_wrong(wrong);
}

#[test]
fn crates_import_only_what_the_design_allows() {
    let ours: Vec<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    let mut wrong = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let Some((_, allowed)) = EDGES.iter().find(|(known, _)| *known == name) else {
            wrong.push(format!("crates/{name} is not in the table of edges"));
            continue;
        };
        let manifest = manifest(&name);
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let imported = imported(&manifest, section);
            for import in
                imported.filter(|import| ours.contains(&import.as_str()) && !allowed.contains(&import.as_str()))
            {
                wrong.push(format!("crates/{name} imports {import} in its [{section}]"));
            }
        }
    }
    nothing_wrong(wrong);
}

#[test]
fn format_sees_no_file_no_socket_and_no_clock() {
    // `now()` is the clock of `jiff` too.
    let banned =
        ["std::time", "std::fs", "std::net", "std::env", "std::process", "tokio", "http::", "hyper", "::now()"];
    let mut wrong = Vec::new();
    for source in sources(&["crates/format/src"], "rs") {
        let code = source.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            for name in banned.iter().filter(|name| line.contains(**name)) {
                wrong.push(format!("{}: `{name}` in `{}`", source.path, line.trim()));
            }
        }
    }
    nothing_wrong(wrong);
}
