//! The command line of this program, to start it again in the same process.

use anyhow::{Context, bail};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The command line of this program.
#[derive(Debug)]
pub(crate) struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    /// Arguments with which the program only checks its settings.
    check: Vec<OsString>,
}

impl Program {
    /// The command line of this process. The file is looked up again at the restart, as there may be a newer one. `check` makes of its
    /// arguments those with which it only checks its settings.
    pub(crate) fn here(check: fn(&[OsString]) -> Vec<OsString>) -> Self {
        let mut all = std::env::args_os();
        let (name, arguments) = (all.next().unwrap_or_default(), all.collect::<Vec<_>>());
        let check = check(&arguments);
        Self { name, arguments, check }
    }

    /// Checks that the current file of the program runs and accepts its settings, so that a restart does not end a working server.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let mut command = Command::new(&self.name);
        let shown = command.args(&self.check).stdin(Stdio::null()).output().context("the program cannot be run")?;
        if !shown.status.success() {
            bail!(
                "the new program would not start: {}",
                String::from_utf8_lossy(&shown.stderr).trim_end().replace('\n', "; ")
            );
        }
        Ok(())
    }

    /// Replaces this process with the program, with this standard input. Returns only on failure.
    pub(crate) fn replace(&self, input: Stdio) -> anyhow::Error {
        let error = Command::new(&self.name).args(&self.arguments).stdin(input).exec();
        anyhow::Error::new(error).context("the program cannot be run")
    }
}

/// The arguments of `daylight serve` with which it shows its settings.
pub(crate) fn shows_settings(arguments: &[OsString]) -> Vec<OsString> {
    let shown = |argument: &OsString| match argument == OsStr::new("serve") {
        true => vec!["config".into(), "show".into()],
        false => vec![argument.clone()],
    };
    arguments.iter().flat_map(shown).collect()
}

/// The arguments of `daylight front` with `--check` in front of COMMAND.
pub(crate) fn checks_front(arguments: &[OsString]) -> Vec<OsString> {
    let before = arguments.iter().take_while(|argument| *argument != "--").count();
    let (own, command) = arguments.split_at(before);
    own.iter().cloned().chain(std::iter::once("--check".into())).chain(command.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_check_of_a_command_line_starts_nothing() {
        assert_eq!(
            shows_settings(&arguments("--data d serve --listen a")),
            arguments("--data d config show --listen a")
        );
        assert_eq!(checks_front(&arguments("front --to http://a")), arguments("front --to http://a --check"));
        assert_eq!(
            checks_front(&arguments("front --data d -- run -- x")),
            arguments("front --data d --check -- run -- x")
        );
    }
}
