//! The pages of the manual about keeping, deleting and backups: their commands run as they are written, and print what stands there.

use crate::world::{Ruby, World};
use std::path::Path;

const JAR: &str = "org/example/lamp/1.2/lamp-1.2.jar";

/// Commands of a page, and the output that stands right below them.
struct Example {
    script: String,
    output: Vec<String>,
}

fn examples(page: &str) -> Vec<Example> {
    let blocks = page.split("```sh\n").skip(1).map(|block| block.split_once("```\n").unwrap());
    let output = |rest: &str| {
        let lines = rest.lines().skip_while(|line| line.is_empty()).take_while(|line| line.starts_with("    "));
        lines.map(|line| line.trim().to_owned()).collect()
    };
    blocks.map(|(script, rest)| Example { script: script.to_owned(), output: output(rest) }).collect()
}

/// A line without what differs from run to run: numbers, units of time, widths of columns.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        let repeats = shape.ends_with(c) && (c == '0' || c == ' ');
        if !repeats {
            shape.push(c);
        }
    }
    shape.replace("0ms", "0s").replace("0µs", "0s")
}

/// Runs an example with these variables, and holds its output against what stands on the page.
fn run(example: &Example, variables: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_daylight")).parent().unwrap().display();
    let script = format!("exec 2>&1\nexport PATH=\"{program}:$PATH\" {variables}\n{}", example.script);
    let said = Ruby::here().shell("", &script).good();
    let printed: Vec<String> = said.lines().map(|line| shape(line.trim())).collect();
    for line in &example.output {
        assert!(printed.contains(&shape(line)), "`{line}` is not printed by\n{script}\nbut\n{said}");
    }
}

/// A server with three versions of an artifact.
fn filled() -> World {
    let world = World::start();
    for version in ["1.0", "1.1", "1.2"] {
        let path = format!("org/example/lamp/{version}/lamp-{version}.jar");
        world.admin().put("maven-releases", &path, version.as_bytes()).expect(201);
    }
    world
}

#[test]
fn the_commands_of_the_page_about_keeping_and_deleting_work_and_print_what_it_shows() {
    let world = filled();
    let examples = examples(include_str!("../docs/keeping-and-deleting.md"));
    assert!(examples.len() >= 5 && examples.iter().all(|example| !example.output.is_empty()));
    let variables = format!("DAYLIGHT_SERVER=http://{} DAYLIGHT_TOKEN={}", world.address(), world.admin().secret());
    examples.iter().for_each(|example| run(example, &variables));
    let listed = world.admin().get("/api/v1/repositories/maven-releases").expect(200).json();
    assert_eq!(listed["holds"]["files"], 2, "1.0 was restored, and 1.1 purged: {listed}");
}

#[test]
fn the_commands_of_the_page_about_backups_work_and_print_what_it_shows() {
    let mut world = filled();
    let data = world.data();
    let backups = data.with_file_name("backups");
    let page = include_str!("../docs/backup.md")
        .replace("/srv/daylight", data.to_str().unwrap())
        .replace("/mnt/backup", backups.to_str().unwrap());
    let examples = examples(&page);
    assert!(examples.len() >= 4);
    run(&examples[0], "");
    // The others are for a server that was stopped.
    world.stop();
    examples[1..].iter().for_each(|example| run(example, ""));
    world.resume();
    assert_eq!(world.anon().file("maven-releases", JAR).expect(200).text(), "1.2");
}
