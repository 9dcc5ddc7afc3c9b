//! `fuzz/` has a lock file of its own, and is built with `--locked`: it must not fall behind the workspace's.

use super::{nothing_wrong, root};
use std::collections::BTreeMap;
use std::fs;

/// The packages in a lock file.
fn packages(path: &str) -> Vec<toml::Value> {
    let lock: toml::Table = fs::read_to_string(root().join(path)).unwrap().parse().unwrap();
    lock["package"].as_array().unwrap().clone()
}

fn text<'a>(package: &'a toml::Value, key: &str) -> &'a str {
    package[key].as_str().unwrap()
}

/// The checksum of each package, by name and version.
fn checksums(packages: &[toml::Value]) -> BTreeMap<(&str, &str), Option<&toml::Value>> {
    packages.iter().map(|one| ((text(one, "name"), text(one, "version")), one.get("checksum"))).collect()
}

#[test]
fn what_is_fuzzed_is_built_of_what_is_shipped() {
    // Nobody else's: libFuzzer, and what it brings.
    let own = ["fuzz", "libfuzzer-sys", "arbitrary", "jobserver", "derive_arbitrary"];
    let (shipped, fuzzed) = (packages("Cargo.lock"), packages("fuzz/Cargo.lock"));
    let shipped = checksums(&shipped);
    let mut wrong = Vec::new();
    for (package, checksum) in &checksums(&fuzzed) {
        if !own.contains(&package.0) && shipped.get(package) != Some(checksum) {
            wrong.push(format!("{} {} is in fuzz/Cargo.lock, and not in Cargo.lock", package.0, package.1));
        }
    }
    // The workspace may give a package another name.
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let package = |import: &String| -> String {
        let entry = workspace["workspace"]["dependencies"].get(import);
        entry.and_then(|entry| entry.get("package")?.as_str()).unwrap_or(import).to_owned()
    };
    // Each crate has its dependencies, or the lock file is no longer valid.
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap().path();
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        let name = manifest["package"]["name"].as_str().unwrap();
        let locked = fuzzed.iter().find(|one| text(one, "name") == name).and_then(|one| one.get("dependencies"));
        let locked: Vec<&str> =
            locked.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str).collect();
        let imports =
            manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
        for import in imports {
            // A package of several versions is followed by the one that is meant.
            let is_it = |dependency: &&str| dependency.split(' ').next() == Some(package(import).as_str());
            if !locked.iter().any(is_it) {
                wrong.push(format!("{name}: {import} is not among its dependencies in fuzz/Cargo.lock"));
            }
        }
    }
    wrong.extend(
        wrong.first().map(|_| "hint: cp Cargo.lock fuzz/ && cargo metadata --manifest-path fuzz/Cargo.toml".to_owned()),
    );
    nothing_wrong(wrong);
}
