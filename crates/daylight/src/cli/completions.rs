//! `daylight completions`: completions of the command line for a shell.

use super::context::Context;
use super::global_flags::completed_tree;
use clap_complete::Shell;

/// Print completions of this command line for a shell
///
/// The script completes commands and flags. For bash and fish a file with it in the folder of completions is loaded when it is needed;
/// zsh needs it as a file `_daylight` in a folder of `$fpath`.
#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

impl Completions {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let shell = match self.shell.as_str() {
            "zsh" => Shell::Zsh,
            "fish" => Shell::Fish,
            _ => Shell::Bash,
        };
        // Into memory first: the generator panics if it cannot write, for example to a closed pipe.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut completed_tree(), "daylight", &mut script);
        if context.flags.json {
            let script = String::from_utf8_lossy(&script);
            writeln!(context.out, "{:#}", serde_json::json!({ "shell": self.shell, "script": script }))?;
            return Ok(());
        }
        Ok(context.out.write_all(&script)?)
    }
}
