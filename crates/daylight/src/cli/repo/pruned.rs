//! `repo set`: which builds of snapshots changed rules delete.

use crate::cli::context::Context;
use crate::cli::failure::plain;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Pruned {
    files: u64,
    size_bytes: u64,
    examples: Vec<String>,
    restorable_until: String,
}

impl Pruned {
    /// What the change would delete.
    pub(super) fn preview(&self, context: &mut Context<'_>) -> std::io::Result<()> {
        writeln!(context.err, "the change would delete {}", self.summary())
    }

    /// What the change deletes, and how to undo that.
    pub(super) fn report(&self, name: &str, context: &mut Context<'_>) -> std::io::Result<()> {
        let (name, until) = (plain(name), plain(&self.restorable_until));
        writeln!(context.err, "the change deletes {}", self.summary())?;
        writeln!(
            context.err,
            "until {until} `daylight repo restore {name} PATH` restores them, once the rules keep them"
        )
    }

    fn summary(&self) -> String {
        let Self { files, size_bytes, examples, .. } = self;
        let rest = files.saturating_sub(examples.len() as u64);
        let more = if rest > 0 { format!(" and {rest} more (`--json` names them)") } else { String::new() };
        let examples: Vec<String> = examples.iter().map(|example| plain(example).to_string()).collect();
        format!("{files} files of {size_bytes} bytes of builds that no rule keeps: {}{more}", examples.join(", "))
    }
}
