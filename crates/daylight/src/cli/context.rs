//! The surroundings of a command.

use super::global_flags::GlobalFlags;
use crate::config::Environment;
use rustix::fs::Mode;
use std::io::{IsTerminal, Write, stderr, stdin};

/// The environment that a command reads, the global flags, and the streams that it writes to.
pub(super) struct Context<'a> {
    pub(super) environment: &'a Environment,
    pub(super) flags: &'a GlobalFlags,
    /// The mask of new files that this process was started with. `None`: it was not changed.
    pub(super) umask: Option<Mode>,
    pub(super) out: &'a mut dyn Write,
    /// With `--json` nothing arrives there.
    pub(super) err: &'a mut dyn Write,
}

impl Context<'_> {
    /// Whether somebody is there to answer a question.
    pub(super) fn can_ask(&self) -> bool {
        !self.flags.json && stdin().is_terminal() && stderr().is_terminal()
    }

    /// Asks a question, and returns the typed line without its end.
    pub(super) fn ask(&mut self, question: &str) -> std::io::Result<String> {
        write!(self.err, "{question}")?;
        self.err.flush()?;
        let mut typed = String::new();
        stdin().read_line(&mut typed)?;
        typed.truncate(typed.trim_end_matches(['\n', '\r']).len());
        Ok(typed)
    }
}
