//! `daylight config show`: every setting with its value, its origin, and the reason for its default.

use super::context::Context;
use super::folder;
use crate::config::{DeclaredRepository, Entry, Flag, Loaded, Origin, toml};
use std::io::{self, Write};

/// Show the settings of the server
#[derive(Debug, clap::Args)]
pub(super) struct Config {
    #[command(subcommand)]
    verb: ConfigVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigVerb {
    Show(Show),
}

/// Show every setting with its value, its origin and the reason for its default
///
/// The output is a configuration file for `daylight serve --config FILE`. Lines with defaults are comments, because each start derives
/// them from the machine.
#[derive(Debug, clap::Args)]
struct Show {
    /// Address and port, as for `daylight serve`
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    listen: Option<String>,
}

impl Config {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let ConfigVerb::Show(show) = self.verb;
        let listen = show.listen.map(|value| Flag { key: "server.listen", flag: "--listen", value });
        let (settings, loaded) = folder::load_with(listen, context)?;
        if context.flags.json {
            json(&loaded, &settings.repositories, context.out)?
        } else {
            text(&loaded, &settings.repositories, context.out)?
        }
        Ok(())
    }
}

fn text(loaded: &Loaded, repositories: &[DeclaredRepository], out: &mut dyn Write) -> io::Result<()> {
    let mut before = "";
    for entry in &loaded.entries {
        let (section, name) = entry.key.split_once('.').unwrap_or(("", entry.key));
        if section != before {
            writeln!(out, "{}[{section}]", if before.is_empty() { "" } else { "\n" })?;
            before = section;
        } else {
            writeln!(out)?;
        }
        writeln!(out, "# {}", entry.doc)?;
        writeln!(out, "# {}", why(entry))?;
        let mark = if entry.origin == Origin::Default { "# " } else { "" };
        writeln!(out, "{mark}{name} = {}", entry.value)?;
    }
    for repository in repositories {
        writeln!(out, "\n[[repository]]\n# from {}", repository.place)?;
        for (key, value) in &repository.written {
            writeln!(out, "{key} = {}", toml(value))?;
        }
    }
    Ok(())
}

fn why(entry: &Entry) -> String {
    match &entry.origin {
        Origin::Default => format!("default: {}", entry.reason),
        origin => format!("from {origin}; the default would be {}: {}", entry.default, entry.reason),
    }
}

fn json(loaded: &Loaded, repositories: &[DeclaredRepository], out: &mut dyn Write) -> io::Result<()> {
    let one = |entry: &Entry| {
        serde_json::json!({
            "key": entry.key,
            "value": entry.value,
            "origin": entry.origin.to_string(),
            "reason": entry.reason,
            "default": entry.default,
            "variable": entry.variable,
            "doc": entry.doc,
        })
    };
    let all = serde_json::json!({
        "file": loaded.file.as_ref().map(|path| path.display().to_string()),
        "repositories": repositories.iter().map(|repository| &repository.written).collect::<Vec<_>>(),
        "machine": loaded.machine,
        "keys": loaded.entries.iter().map(one).collect::<Vec<_>>(),
        "warnings": loaded.warnings,
    });
    writeln!(out, "{all:#}")
}
