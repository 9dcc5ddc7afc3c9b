//! `daylight config`: shows every setting with its value, its origin, and the reason for its default, or tries what they name.

mod check;

use super::context::Context;
use super::folder;
use crate::config::{Entry, Flag, Loaded, Origin, Settings, toml};
use std::io::{self, Write};

/// Show the settings of the server, or try what they name
#[derive(Debug, clap::Args)]
pub(super) struct Config {
    #[command(subcommand)]
    verb: ConfigVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigVerb {
    Show(Show),
    Check(check::Check),
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
        let show = match self.verb {
            ConfigVerb::Show(show) => show,
            ConfigVerb::Check(check) => return check.run(context),
        };
        let listen = show.listen.map(|value| Flag { key: "server.listen", flag: "--listen", value });
        let (settings, loaded) = folder::load_with(listen, context)?;
        if context.flags.json {
            json(&loaded, &settings, context.out)?
        } else {
            text(&loaded, &settings, context.out)?
        }
        Ok(())
    }
}

fn text(loaded: &Loaded, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let mut before = "";
    for entry in &loaded.entries {
        let (section, name) = entry.key.rsplit_once('.').unwrap_or(("", entry.key));
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
    for finding in &settings.findings {
        writeln!(out, "\n[[finding]]\n# from {}", finding.place)?;
        for (key, value) in &finding.written {
            writeln!(out, "{key} = {}", toml(value))?;
        }
    }
    for receiver in &settings.alerts {
        writeln!(out, "\n[[alerts.to]]\n# from {}", receiver.place)?;
        for (key, value) in &receiver.written {
            writeln!(out, "{key} = {}", toml(value))?;
        }
    }
    for repository in &settings.repositories {
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

fn json(loaded: &Loaded, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let one = |entry: &Entry| {
        serde_json::json!({
            "key": entry.key,
            "value": entry.value,
            "origin": entry.origin.to_string(),
            "reason": entry.reason,
            "default": entry.default,
            "variable": entry.variable,
            "doc": entry.doc,
            "expects": entry.expects,
            "limits": entry.limits,
            "formerly": entry.formerly,
        })
    };
    let table = |written: &[(&'static str, serde_json::Value)]| {
        written.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect::<serde_json::Map<_, _>>()
    };
    let all = serde_json::json!({
        "file": loaded.file.as_ref().map(|path| path.display().to_string()),
        "repositories": settings.repositories.iter().map(|repository| &repository.written).collect::<Vec<_>>(),
        "findings": settings.findings.iter().map(|finding| table(&finding.written)).collect::<Vec<_>>(),
        "alerts": settings.alerts.iter().map(|receiver| table(&receiver.written)).collect::<Vec<_>>(),
        "machine": loaded.machine,
        "keys": loaded.entries.iter().map(one).collect::<Vec<_>>(),
        "warnings": loaded.warnings,
    });
    writeln!(out, "{all:#}")
}
