//! A machine with a tool that runs on Java, and nothing in its home.

use crate::world::{Said, write};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A machine with an empty home, where a project may be.
pub(super) struct Machine(TempDir);

impl Machine {
    pub(super) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(super) fn home(&self) -> &Path {
        self.0.path()
    }

    /// Where a file of its project is.
    pub(super) fn file(&self, path: &str) -> PathBuf {
        self.home().join("project").join(path)
    }

    /// Saves a file of its project.
    pub(super) fn saves(&self, path: &str, text: &str) {
        write(&self.file(path), text);
    }

    /// Runs a program in the folder of its project.
    pub(super) fn runs(&self, program: &str, secret: &str, arguments: &[&str]) -> Said {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.home().join("project"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", self.home())
            .env("GRADLE_USER_HOME", self.home().join("gradle"))
            .env("DAYLIGHT_TOKEN", secret)
            // Java asks the system, not the environment, whose home it is. A build here is too short to be optimised.
            .env("JAVA_OPTS", self.java_options().join(" "));
        command.output().unwrap().into()
    }

    /// `java ...`.
    pub(super) fn java(&self, secret: &str, arguments: &[&str]) -> Said {
        let options = self.java_options();
        let all: Vec<&str> = options.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        self.runs("java", secret, &all)
    }

    fn java_options(&self) -> [String; 3] {
        let home = format!("-Duser.home={}", self.home().display());
        [home, "-XX:TieredStopAtLevel=1".to_owned(), "-XX:+UseSerialGC".to_owned()]
    }
}
