//! Which file of a crate imports which, as far as the text of the files tells.
//!
//! A path is followed to the file that defines its last name: through modules, and through `use` where a module hands a
//! name on. A private `use` hands a name on to the module itself and to its parts only. Declaring a module (`mod name;`) imports nothing, and neither does a part that uses the module that declares it: both are
//! one module, and a type of it may have its methods in several files. Tests import what they like.

use super::{Source, shipped, sources};
use std::collections::{BTreeMap, BTreeSet};

/// A crate's files by their place in `files`, and for each the files that it imports.
pub(super) struct Imports {
    pub(super) files: Vec<String>,
    pub(super) edges: Vec<BTreeSet<usize>>,
}

/// A module that is a file.
struct Module {
    /// Its path below `crate`.
    path: Vec<String>,
    /// The text without comments, tests and `use`.
    code: String,
    uses: Vec<Use>,
}

/// One name that a module brings in.
#[derive(Clone)]
struct Use {
    path: Vec<String>,
    name: String,
    is_public: bool,
}

/// More steps than this from `use` to `use` are a loop.
const STEPS: usize = 16;

impl Imports {
    /// Reads the crate in `crates/NAME`.
    pub(super) fn of(name: &str) -> Self {
        let root = format!("crates/{name}/src");
        Self::between(&root, sources(&[&root], "rs"))
    }

    /// Reads the files of a crate, which are below `root`.
    pub(super) fn between(root: &str, sources: Vec<Source>) -> Self {
        let (mut files, mut modules) = (Vec::new(), Vec::new());
        for source in sources {
            let below = source.path[root.len() + 1..].trim_end_matches(".rs").to_owned();
            let mut path: Vec<String> = below.split('/').map(String::from).collect();
            if path.iter().any(|part| part == "tests") || below == "main" {
                continue;
            }
            if matches!(path.last().map(String::as_str), Some("mod" | "lib")) {
                path.pop();
            }
            let (code, uses) = read(&source);
            files.push(source.path);
            modules.push(Module { path, code, uses });
        }
        let by_path = modules.iter().enumerate().map(|(at, module)| (module.path.clone(), at)).collect();
        let tree = Tree { modules, by_path };
        let edges = (0..files.len()).map(|at| tree.imported(at)).collect();
        Self { files, edges }
    }
}

struct Tree {
    modules: Vec<Module>,
    by_path: BTreeMap<Vec<String>, usize>,
}

impl Tree {
    fn child(&self, of: usize, name: &str) -> Option<usize> {
        let mut path = self.modules[of].path.clone();
        path.push(name.to_owned());
        self.by_path.get(&path).copied()
    }

    /// The files that a file imports.
    fn imported(&self, at: usize) -> BTreeSet<usize> {
        let module = &self.modules[at];
        let brought = module.uses.iter().map(|brought| (brought.path.clone(), true));
        let named = paths(&module.code).into_iter().map(|path| (path, false));
        let found = brought.chain(named).filter_map(|(path, is_use)| {
            let (file, is_module) = self.follow(at, &path, STEPS)?;
            // A module that is brought in is imported where the code names something of it.
            (!(is_use && is_module)).then_some(file)
        });
        found.filter(|file| *file != at && !self.declares(*file, at)).collect()
    }

    /// Whether `other` is a part of the module `at`.
    fn declares(&self, at: usize, other: usize) -> bool {
        self.modules[other].path.split_last().is_some_and(|(_, above)| above == self.modules[at].path)
    }

    /// The file that a path of `from` leads to, and whether the path ends at the module itself.
    fn follow(&self, from: usize, path: &[String], steps: usize) -> Option<(usize, bool)> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => *self.by_path.get(&Vec::new())?,
            "self" => from,
            "super" => {
                let path = &self.modules[from].path;
                *self.by_path.get(&path[..path.len().checked_sub(1)?])?
            }
            name => match self.child(from, name) {
                Some(child) => child,
                None => return self.handed_on(from, from, name, rest, steps),
            },
        };
        self.below(from, start, rest, steps)
    }

    fn below(&self, from: usize, mut at: usize, rest: &[String], steps: usize) -> Option<(usize, bool)> {
        for (place, name) in rest.iter().enumerate() {
            if name == "super" || name == "self" {
                return self.follow(at, &rest[place..], steps);
            }
            match self.child(at, name) {
                Some(child) => at = child,
                None => return Some(self.handed_on(from, at, name, &rest[place + 1..], steps).unwrap_or((at, false))),
            }
        }
        Some((at, true))
    }

    /// Where a name leads that `at` brings in itself, for code in `from`.
    fn handed_on(&self, from: usize, at: usize, name: &str, rest: &[String], steps: usize) -> Option<(usize, bool)> {
        let steps = steps.checked_sub(1)?;
        let within = self.modules[from].path.starts_with(&self.modules[at].path);
        let brought =
            self.modules[at].uses.iter().find(|brought| brought.name == name && (within || brought.is_public))?;
        let path: Vec<String> = brought.path.iter().chain(rest).cloned().collect();
        // `use a::a`: the name is a module's too.
        if path.first().is_some_and(|first| first == name) && self.child(at, name).is_none() {
            return None;
        }
        self.follow(at, &path, steps)
    }
}

/// The code of a file, and what it brings in by `use`.
fn read(source: &Source) -> (String, Vec<Use>) {
    let (mut code, mut uses) = (String::new(), Vec::new());
    let mut lines = shipped(&source.text).into_iter();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let rest = trimmed.strip_prefix("pub").map_or(trimmed, |rest| rest.trim_start_matches(['(', ' ']));
        let rest = ["crate) ", "super) "].iter().find_map(|seen| rest.strip_prefix(seen)).unwrap_or(rest);
        let is_public = rest.len() < trimmed.len();
        match rest.strip_prefix("use ") {
            Some(tree) => {
                let mut tree = tree.to_owned();
                while !tree.contains(';') {
                    tree += lines.next().unwrap_or(";").trim();
                }
                expand(Vec::new(), tree.split(';').next().unwrap_or_default(), is_public, &mut uses);
            }
            None => {
                code += line;
                code.push('\n');
            }
        }
    }
    (code, uses)
}

/// The names in a tree of `use`: `a::{b, c::d as e}` brings in `b` and `e`.
fn expand(before: Vec<String>, tree: &str, is_public: bool, into: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let mut path = before;
        path.extend(head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(String::from));
        let (mut depth, mut start) = (0, 0);
        let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
        for (at, letter) in group.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(path.clone(), &group[start..at], is_public, into);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return expand(path, &group[start..], is_public, into);
    }
    if tree.is_empty() {
        return;
    }
    let (whole, alias) = tree.split_once(" as ").map_or((tree, None), |(whole, alias)| (whole, Some(alias.trim())));
    let mut path = before;
    path.extend(whole.split("::").map(|part| part.trim().to_owned()));
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(name) = path.last().cloned() {
        into.push(Use { name: alias.map_or(name, String::from), path, is_public });
    }
}

/// The paths in a piece of code: names with `::` between them.
fn paths(code: &str) -> Vec<Vec<String>> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut found, mut rest) = (Vec::new(), code);
    while let Some(start) = rest.find(is_part) {
        rest = &rest[start..];
        let mut path = Vec::new();
        loop {
            let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
            path.push(rest[..end].to_owned());
            rest = &rest[end..];
            match rest.strip_prefix("::") {
                Some(more) if more.starts_with(is_part) => rest = more,
                _ => break,
            }
        }
        if path.len() > 1 {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_tree_of_use_brings_in_each_of_its_names() {
    let mut uses = Vec::new();
    expand(Vec::new(), "crate::a::{self, b::{C, D as E}, f}", false, &mut uses);
    let told: Vec<_> = uses.iter().map(|brought| format!("{} {}", brought.path.join("::"), brought.name)).collect();
    assert_eq!(told, ["crate::a a", "crate::a::b::C C", "crate::a::b::D E", "crate::a::f f"]);
}

#[test]
fn paths_are_read_from_code_with_whatever_stands_around_them() {
    let told: Vec<_> = paths("let x = crate::a::b(c::D::<E>::new(), f.g, h::I { j: 1 });").concat();
    assert_eq!(told, ["crate", "a", "b", "c", "D", "h", "I"]);
}
