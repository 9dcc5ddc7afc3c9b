//! The program as a command.

use super::{ADMIN, World};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A command of the program, without input and without the environment of the tests.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

impl World {
    /// The log of a start on an empty folder with this configuration file and these settings, which fails.
    pub(crate) fn fails_to_start(text: &str, settings: &'static [(&'static str, &'static str)]) -> String {
        let world = Self { server: None, folder: TempDir::new().unwrap(), settings, flags: &[] };
        world.configure(text);
        assert_ne!(world.begin().exit_code(), Some(0));
        std::fs::read_to_string(world.folder.path().join("log")).unwrap()
    }

    /// Runs a command of the program on the folder of a stopped server.
    pub(crate) fn run(&self, verb: &str) -> Output {
        program(&[verb, "--data"]).arg(self.data()).output().unwrap()
    }

    /// The same with its settings.
    pub(crate) fn offline(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.arg("--data").arg(self.data()).arg("--config").arg(self.file()).envs(self.settings.iter().copied());
        command
    }

    /// A command of the program, as an admin of this server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.env("DAYLIGHT_SERVER", self.root()).env("DAYLIGHT_TOKEN", ADMIN);
        command
    }

    /// The output of a line of such a command, and its exit code.
    pub(crate) fn says(&self, line: &str) -> (String, Option<i32>) {
        let said = self.command(&line.split(' ').collect::<Vec<_>>()).output().unwrap();
        (String::from_utf8([said.stdout, said.stderr].concat()).unwrap(), said.status.code())
    }
}
