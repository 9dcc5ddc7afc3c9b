//! Files of a crate that import each other in a circle. Each of them can be understood, tested and moved only with all others.

use super::imports::Imports;
use super::{Source, nothing_wrong, root};
use std::fs;

/// Circles that there are, by crate: their files below `src`, and why. The list only shrinks: a file that is in no circle any more
/// fails.
const CIRCLES: &[(&str, &[&str], &str)] = &[];

/// The files that can be reached from each file.
fn reached(imports: &Imports) -> Vec<Vec<bool>> {
    let count = imports.files.len();
    let from = |start: usize| {
        let (mut seen, mut next) = (vec![false; count], vec![start]);
        while let Some(file) = next.pop() {
            for imported in
                imports.edges[file].iter().filter(|imported| !std::mem::replace(&mut seen[**imported], true))
            {
                next.push(*imported);
            }
        }
        seen
    };
    (0..count).map(from).collect()
}

/// The circles of a crate: their files, in order.
fn circles(imports: &Imports) -> Vec<Vec<usize>> {
    let reached = reached(imports);
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (file, seen) in reached.iter().enumerate().filter(|(file, seen)| seen[*file]) {
        if !found.iter().any(|circle| circle.contains(&file)) {
            found.push((0..reached.len()).filter(|other| seen[*other] && reached[*other][file]).collect());
        }
    }
    found
}

#[test]
fn files_import_each_other_in_a_circle_only_where_a_reason_says_why() {
    let mut wrong = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let imports = Imports::of(&name);
        let short =
            |file: &usize| imports.files[*file].strip_prefix(&format!("crates/{name}/src/")).unwrap().to_owned();
        let listed = CIRCLES.iter().filter(|(of, ..)| *of == name);
        let allowed: Vec<&str> = listed.flat_map(|(_, files, _)| files.iter().copied()).collect();
        let mut in_circles = Vec::new();
        for circle in circles(&imports) {
            let files: Vec<String> = circle.iter().map(short).collect();
            let new: Vec<&String> = files.iter().filter(|file| !allowed.contains(&file.as_str())).collect();
            if !new.is_empty() {
                wrong.push(format!("crates/{name}: a circle of {} files, with {new:?}:", files.len()));
                for file in &circle {
                    for imported in imports.edges[*file].iter().filter(|imported| circle.contains(imported)) {
                        wrong.push(format!("    {} imports {}", short(file), short(imported)));
                    }
                }
            }
            in_circles.extend(files);
        }
        let untied = allowed.iter().filter(|file| !in_circles.iter().any(|other| other == *file));
        wrong.extend(untied.map(|file| format!("crates/{name}: `{file}` is listed, and is in no circle any more")));
    }
    nothing_wrong(wrong);
}

#[test]
fn a_circle_through_a_function_with_the_name_of_a_module_is_seen() {
    let files = [
        ("lib.rs", "mod access;\n"),
        ("access/mod.rs", "mod credentials;\nmod session;\nmod tokens;\npub(crate) use session::sign_in;\n"),
        ("access/credentials.rs", "pub(super) fn read() {}\n"),
        ("access/session.rs", "use super::{credentials, tokens::Access};\npub(super) fn credentials() {}\n"),
        ("access/tokens.rs", "use super::session;\nfn find() { session::credentials() }\n"),
    ];
    let source = |(path, text): (&str, &str)| Source { path: format!("src/{path}"), text: text.to_owned() };
    let imports = Imports::between("src", files.map(source).into());
    let circles = circles(&imports).concat();
    let files: Vec<&str> = circles.iter().map(|file| imports.files[*file].as_str()).collect();
    assert_eq!(files, ["src/access/session.rs", "src/access/tokens.rs"]);
}
