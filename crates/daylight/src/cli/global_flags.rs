//! The flags of many commands, which may be written before a command and after it.

use super::examples;
use super::failure::Failure;
use clap::{Command, CommandFactory};

/// The commands that call a running server.
const CALLERS: &[&str] = &[
    "repo",
    "policy",
    "cleanup",
    "purge",
    "token",
    "upstreams",
    "journal",
    "explain",
    "tail",
    "ask",
    "baseline",
    "sizing",
    "replay",
    "probe",
    "findings",
    "alerts",
    "report",
    "mcp",
    "curves",
    "import",
    "export",
    "settings",
    "check",
    "cluster",
    "repair",
    "front",
    "health",
];
/// The commands that read the configuration of a server and work on its data folder.
const FOLDER_COMMANDS: [&str; 12] = [
    "serve", "front", "init", "config", "health", "backup", "restore", "check", "rebuild", "cluster", "repair",
    "upgrade",
];
/// The flags that only [`CALLERS`] take.
const CALLER_FLAGS: [&str; 2] = ["server", "server_trust"];
/// The flags that only [`FOLDER_COMMANDS`] take.
const FOLDER_FLAGS: [&str; 2] = ["data", "config"];

#[derive(Debug, Default, Clone, clap::Args)]
pub(super) struct GlobalFlags {
    /// Print the result as JSON, and a failure as one JSON object on standard error
    ///
    /// The object of a failure is {"error": TEXT, "hint": TEXT, "status": NUMBER}. Without a hint the second field is left out, and the
    /// third unless a server answered with that HTTP status. The exit code is the same as without the flag. No question is asked.
    #[arg(long, global = true, help_heading = "Global options")]
    pub(super) json: bool,
    /// URL of the running server [env: DAYLIGHT_SERVER] [default: http://127.0.0.1:8080]
    ///
    /// The token for the server comes from the variable DAYLIGHT_TOKEN, because other users can read the arguments of a process.
    #[arg(long, value_name = "URL", global = true, help_heading = "Server")]
    pub(super) server: Option<String>,
    /// PEM file with certificates to trust for an https:// server, besides those of this machine [env: DAYLIGHT_TRUST]
    ///
    /// The certificates are those of authorities, or the server's own self-signed certificate.
    #[arg(long, value_name = "FILE", global = true, help_heading = "Server")]
    pub(super) server_trust: Option<String>,
    /// The data folder [env: DAYLIGHT_STORE_DATA] [default: ./daylight-data; of front: ./daylight-front]
    #[arg(long, value_name = "DIR", global = true, help_heading = "Settings")]
    pub(super) data: Option<String>,
    /// The configuration file of the server, TOML [env: DAYLIGHT_CONFIG]
    #[arg(long, value_name = "FILE", global = true, help_heading = "Settings")]
    pub(super) config: Option<String>,
}

/// The description of the command line. The help of a command does not show global flags that it does not use.
pub(super) fn tree() -> Command {
    let mut tree = super::Cli::command();
    let names: Vec<String> = tree.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let flags: Vec<clap::Arg> = tree.get_arguments().cloned().collect();
    for name in names {
        let unused = flags.iter().filter(|flag| !takes(&name, flag.get_id().as_str()));
        let hidden: Vec<clap::Arg> = unused.map(|flag| flag.clone().hide(true)).collect();
        tree = tree.mut_subcommand(name, |command| command.args(hidden));
    }
    examples::attach(tree, "")
}

/// The same with the flags that a command takes as its own, and no other, for completions, which would offer hidden flags, and for the
/// documents of a release.
pub fn completed_tree() -> Command {
    let tree = super::Cli::command();
    let flags: Vec<clap::Arg> = tree.get_arguments().map(|flag| flag.clone().global(false)).collect();
    let names: Vec<String> = tree.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().fold(tree.mut_args(|flag| flag.global(false)), |tree, name| {
        let taken: Vec<clap::Arg> = flags.iter().filter(|flag| takes(name, flag.get_id().as_str())).cloned().collect();
        tree.mut_subcommand(name, |command| with_flags(command, &taken))
    })
}

fn with_flags(command: Command, flags: &[clap::Arg]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = command.args(flags);
    names.iter().fold(command, |command, name| command.mut_subcommand(name, |below| with_flags(below, flags)))
}

fn takes(command: &str, flag: &str) -> bool {
    if CALLER_FLAGS.contains(&flag) {
        return CALLERS.contains(&command) && !(command == "replay" && flag == "server");
    }
    !FOLDER_FLAGS.contains(&flag) || FOLDER_COMMANDS.contains(&command)
}

impl GlobalFlags {
    /// Refuses flags that the command has no use for. It may not do what their author expects.
    pub(super) fn check(&self, command: &str) -> Result<(), Failure> {
        let given = [
            ("server", self.server.is_some()),
            ("server_trust", self.server_trust.is_some()),
            ("data", self.data.is_some()),
            ("config", self.config.is_some()),
        ];
        let unused = given.into_iter().find(|(flag, given)| *given && !takes(command, flag));
        let Some((flag, _)) = unused else { return Ok(()) };
        let why = match (CALLER_FLAGS.contains(&flag), CALLERS.contains(&command)) {
            (true, true) => "has its own for the server that it calls",
            (true, false) => "does not call a server",
            (_, true) => "calls a running server, which has its own settings",
            _ => "does not use a data folder",
        };
        let text = format!("`daylight {command}` does not take `--{}`: it {why}", flag.replace('_', "-"));
        Err(Failure::usage(text, &format!("`daylight {command} --help` lists its flags")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_listed_with_what_it_works_on() {
        let neither = ["completions", "manual", "help"];
        let listed = |name: &str| CALLERS.contains(&name) || FOLDER_COMMANDS.contains(&name) || neither.contains(&name);
        let tree = tree();
        let forgotten: Vec<&str> = tree.get_subcommands().map(Command::get_name).filter(|name| !listed(name)).collect();
        assert!(forgotten.is_empty(), "{forgotten:?}");
        for name in CALLERS.iter().copied().chain(FOLDER_COMMANDS) {
            assert!(tree.find_subcommand(name).is_some(), "{name}");
        }
    }
}
