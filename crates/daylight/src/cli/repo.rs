//! `daylight repo`: the repositories of a running server.

use super::api::{ApiFlags, shape};
use super::{Context, failure, table};
use crate::percent::segment;
use serde::Deserialize;
use std::collections::BTreeMap;

const PATH: &str = "/api/v1/repositories";
const HEAD: [&str; 5] = ["NAME", "FORMAT", "KIND", "READ", "CREATED"];

/// List, add, show, change and remove repositories of a running server
#[derive(Debug, clap::Args)]
pub(super) struct Repo {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    flags: ApiFlags,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the repositories
    List,
    /// Add a repository
    ///
    /// Clients find it at /repository/NAME/. Anyone may read it unless it is private.
    Add {
        /// Its name in URLs
        name: String,
        /// What it holds
        #[arg(long, value_name = "FORMAT", default_value = "gem")]
        format: String,
        /// Hosted: holds packages of its own
        #[arg(long, value_name = "KIND", default_value = "hosted")]
        kind: String,
        /// Reading needs a token, too
        #[arg(long)]
        private: bool,
        /// What the lines of its index tell: v2, or v1 without the moments of publication [default: v2]
        #[arg(long, value_name = "FORMAT")]
        info_format: Option<String>,
    },
    /// Show one repository
    Show {
        /// Its name
        name: String,
    },
    /// Change the settings of a repository while it serves
    ///
    /// A protocol that is off is answered 404, and clients fall back to another way.
    Set {
        /// Its name
        name: String,
        /// An index protocol, and whether it is answered: compact_index=off, full_index=on
        #[arg(long, value_name = "PROTOCOL=on|off", required_unless_present_any = ["info_format", "owners"], value_parser = switch)]
        protocol: Vec<(String, bool)>,
        /// What the lines of its index tell: v2, or v1 without the moments of publication
        #[arg(long, value_name = "FORMAT")]
        info_format: Option<String>,
        /// Whether only the owners of a package may change it, or who owns it is just written down
        #[arg(long, value_parser = ["enforced", "recorded"])]
        owners: Option<String>,
    },
    /// Begin the list of versions anew, with a line for each gem
    ///
    /// Clients read it whole once more, and then again what is added to it. For one that has grown by many yanks.
    Compact {
        /// Its name
        name: String,
    },
    /// Remove a repository; its name is free again
    Remove {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Deserialize)]
struct Repositories {
    repositories: Vec<Repository>,
}

#[derive(Debug, Deserialize)]
struct Repository {
    name: String,
    format: String,
    kind: String,
    private: bool,
    #[serde(default)]
    protocols: BTreeMap<String, bool>,
    #[serde(default)]
    info_format: String,
    #[serde(default)]
    created: String,
}

impl Repo {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let api = self.flags.api(context)?;
        match self.verb {
            Verb::List => {
                let answer = api.get(PATH)?;
                if api.printed(&answer, context)? {
                    return Ok(());
                }
                let rows = shape::<Repositories>(answer)?.repositories.into_iter().map(row).collect();
                table::write(context.out, HEAD, rows)?;
            }
            Verb::Add { name, format, kind, private, info_format } => {
                let mut body = serde_json::json!({"name": name, "format": format, "kind": kind, "private": private});
                if let Some(info_format) = info_format {
                    body["info_format"] = info_format.into();
                }
                let answer = api.post(PATH, &body)?;
                api.printed(&answer, context)?;
                writeln!(context.err, "added `{}`", failure::plain(&name))?;
            }
            Verb::Show { name } => {
                let answer = api.get(&format!("{PATH}/{}", segment(&name)))?;
                if api.printed(&answer, context)? {
                    return Ok(());
                }
                let mut shown: Repository = shape(answer)?;
                let off: Vec<_> =
                    shown.protocols.iter().filter(|(_, on)| !**on).map(|(name, _)| name.clone()).collect();
                let form = std::mem::take(&mut shown.info_format);
                table::write(context.out, HEAD, vec![row(shown)])?;
                if form == "v1" {
                    writeln!(context.out, "info format: v1")?;
                }
                if !off.is_empty() {
                    writeln!(context.out, "switched off: {}", failure::plain(&off.join(", ")))?;
                }
            }
            Verb::Set { name, protocol, info_format, owners } => {
                let protocols: BTreeMap<_, _> = protocol.into_iter().collect();
                let mut body = serde_json::json!({ "protocols": protocols });
                if let Some(info_format) = info_format {
                    body["info_format"] = info_format.into();
                }
                if let Some(owners) = owners {
                    body["owners"] = owners.into();
                }
                let answer = api.patch(&format!("{PATH}/{}", segment(&name)), &body)?;
                api.printed(&answer, context)?;
                writeln!(context.err, "changed `{}`", failure::plain(&name))?;
            }
            Verb::Compact { name } => {
                let answer = api.post(&format!("{PATH}/{}/compact", segment(&name)), &serde_json::json!({}))?;
                api.printed(&answer, context)?;
                writeln!(context.err, "compacted `{}`", failure::plain(&name))?;
            }
            Verb::Remove { name } => {
                api.delete(&format!("{PATH}/{}", segment(&name)))?;
                api.printed(&serde_json::json!({ "removed": name }), context)?;
                writeln!(context.err, "removed `{}`", failure::plain(&name))?;
            }
        }
        Ok(())
    }
}

/// `PROTOCOL=on` or `PROTOCOL=off`.
fn switch(text: &str) -> Result<(String, bool), String> {
    match text.split_once('=') {
        Some((name, "on")) => Ok((name.to_owned(), true)),
        Some((name, "off")) => Ok((name.to_owned(), false)),
        _ => Err("it is written NAME=on or NAME=off".to_owned()),
    }
}

fn row(repository: Repository) -> [String; 5] {
    let read = if repository.private { "with a token" } else { "anyone" };
    [repository.name, repository.format, repository.kind, read.to_owned(), repository.created]
}
