//! `fuzz/` has a lock file of its own, and is built with `--locked`: it must not fall behind the workspace's.

use super::{nothing_wrong, root};
use std::collections::BTreeMap;
use std::fs;

/// What each package in a lock file is given for, by name and version.
fn packages(path: &str) -> BTreeMap<(String, String), Option<toml::Value>> {
    let lock: toml::Table = fs::read_to_string(root().join(path)).unwrap().parse().unwrap();
    let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
    let packages = lock["package"].as_array().unwrap().iter();
    packages
        .map(|package| ((text(package, "name"), text(package, "version")), package.get("checksum").cloned()))
        .collect()
}

#[test]
fn what_is_fuzzed_is_built_of_what_is_shipped() {
    // Nobody else's: libFuzzer, and what it brings.
    let own = ["fuzz", "libfuzzer-sys", "arbitrary", "jobserver", "derive_arbitrary"];
    let (shipped, fuzzed) = (packages("Cargo.lock"), packages("fuzz/Cargo.lock"));
    let mut wrong = Vec::new();
    for (package, checksum) in &fuzzed {
        if !own.contains(&package.0.as_str()) && shipped.get(package) != Some(checksum) {
            wrong.push(format!("{} {} is in fuzz/Cargo.lock, and not in Cargo.lock", package.0, package.1));
        }
    }
    // The workspace may give a package another name.
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let package = |import: &String| -> String {
        let entry = workspace["workspace"]["dependencies"].get(import);
        entry.and_then(|entry| entry.get("package")?.as_str()).unwrap_or(import).to_owned()
    };
    // The dependencies of each crate must be there to build it.
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap().path();
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        for import in
            manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys)
        {
            if !fuzzed.keys().any(|(name, _)| *name == package(import)) {
                wrong.push(format!("{}: {import} is not in fuzz/Cargo.lock", folder.display()));
            }
        }
    }
    wrong.extend(
        wrong.first().map(|_| "hint: cp Cargo.lock fuzz/ && cargo metadata --manifest-path fuzz/Cargo.toml".to_owned()),
    );
    nothing_wrong(wrong);
}
