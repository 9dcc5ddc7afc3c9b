//! The first build on a machine: the program says how long it takes, and what to type if there is no Rust.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The programs that every machine has, without Rust and Node.js.
const PRESENT: &[&str] =
    &["bash", "cat", "cut", "dirname", "env", "head", "make", "rm", "sed", "sh", "sha256sum", "sort"];

/// A copy of what `make build` reads, on a machine of its own.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let (root, machine) = (crate::manual::page::root(), Self(TempDir::new().unwrap()));
        for folder in ["bin", "home", "tree/scripts", "tree/web/src"] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        for file in
            ["Makefile", "Cargo.toml", "scripts/setup", "scripts/web", "web/package-lock.json", "web/tsconfig.json"]
        {
            fs::copy(root.join(file), machine.path("tree").join(file)).unwrap();
        }
        fs::write(machine.path("tree/web/src/main.ts"), "").unwrap();
        for name in PRESENT {
            let found =
                ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name)).into_iter().find(|it| it.exists());
            symlink(found.unwrap(), machine.path("bin").join(name)).unwrap();
        }
        machine
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn has(&self, name: &str, script: &str) {
        crate::world::write(&self.path("bin").join(name), &format!("#!/bin/sh\n{script}\n"));
        Command::new("chmod").arg("+x").arg(self.path("bin").join(name)).status().unwrap();
    }

    /// Whether `make build` succeeds, and what it prints.
    fn build(&self) -> (bool, String) {
        let mut make = Command::new("/usr/bin/make");
        make.arg("build").current_dir(self.path("tree")).env_clear().stdin(Stdio::null());
        let output = make.env("PATH", self.path("bin")).env("HOME", self.path("home")).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.success(), said)
    }
}

#[test]
fn a_build_without_rust_says_what_to_type_and_one_with_it_how_long_it_takes() {
    let machine = Machine::new();
    let refused = |text: &str| {
        let (built, said) = machine.build();
        assert!(!built && said.contains(text), "{said}");
    };
    let install = "hint:   curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . \"";
    refused(install);
    let environment = machine.path("home/.cargo/env");
    fs::create_dir(environment.parent().unwrap()).unwrap();
    fs::write(&environment, "").unwrap();
    refused(&format!("hint: type: . \"{}\"", environment.display()));

    // Debian's.
    machine.has("cargo", "echo cargo \"$@\"");
    machine.has("rustc", "echo rustc 1.63.0");
    machine.has("cc", "");
    refused(install);
    machine.has("rustup", "");
    refused("hint: type: rustup update stable");

    machine.has("rustc", "echo rustc 1.999.0");
    let (built, said) = machine.build();
    assert!(built, "{said}");
    let [time, build] =
        ["some 10 minutes", "\ncargo build --release"].map(|text| said.find(text).unwrap_or(usize::MAX));
    assert!(time < build && build < usize::MAX, "{said}");
    assert!(said.contains("web pages get no scripts: Node.js"), "{said}");
}
