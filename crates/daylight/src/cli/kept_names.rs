//! What commands print about names that stay with a repository although nothing of them is left.

use super::failure::plain;
use serde::Deserialize;
use serde_json::Value;
use std::io::Write;

/// How many names are printed.
const SHOWN: usize = 20;

/// A name that stays with a repository although no file of it is left.
#[derive(Debug, Deserialize)]
struct KeptName {
    name: String,
    group: String,
    commands: Vec<String>,
}

/// Prints the names of an answer, and what gives each of them back to upstreams.
pub(super) fn write(answer: &Value, out: &mut dyn Write) -> std::io::Result<()> {
    let kept: Vec<KeptName> = serde_json::from_value(answer["kept_names"].clone()).unwrap_or_default();
    for KeptName { name, group, commands } in kept.iter().take(SHOWN) {
        let commands: Vec<String> = commands.iter().map(|command| format!("`{}`", plain(command))).collect();
        let gives = if commands.len() == 1 { "gives" } else { "give" };
        let (name, group, commands) = (plain(name), plain(group), commands.join(" and "));
        writeln!(
            out,
            "nothing of `{name}` is left, and the group `{group}` still asks no upstream for it; {commands} {gives} the name back"
        )?;
    }
    if kept.len() > SHOWN {
        writeln!(out, "this is so for {} more names (`--json` has them)", kept.len() - SHOWN)?;
    }
    Ok(())
}
