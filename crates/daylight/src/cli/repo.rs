//! `daylight repo`: the repositories of a running server.

mod cached_files;
mod collisions;
mod contents;
mod display;
mod hooks;
mod index;
mod preview;
mod pruned;
mod removal;
mod settings;

use super::api::{Api, REPOSITORIES, decode};
use super::context::Context;
use super::failure::Failure;
use super::{failure, frees, table};
use cached_files::CachedFiles;
use display::{HEAD, Repositories, Repository};
use format::percent::segment;
use pruned::Pruned;
use serde_json::{Map, Value};
use settings::SettingFlags;

/// List, add, show, change and remove repositories of a running server
#[derive(Debug, clap::Args)]
pub(super) struct Repo {
    #[command(subcommand)]
    verb: RepoVerb,
}

#[derive(Debug, clap::Subcommand)]
enum RepoVerb {
    /// List the repositories
    List,
    /// Add a repository
    ///
    /// Clients find it at /repository/NAME/. Anyone may read it unless it is private. With `--remote` it stands for an
    /// upstream, of which it keeps what was asked for; with `--member` it joins others behind one URL; with `--credentials` or `--certificate`, too, it is private unless
    /// `--read anyone` says otherwise.
    Add {
        /// Its name in URLs
        name: String,
        /// What it holds: gem, maven, or raw for files of any kind
        #[arg(long, value_name = "FORMAT", default_value = "gem")]
        format: String,
        /// Hosted: holds packages of its own. Remote: stands for an upstream. Group: joins others [default: remote with
        /// `--remote`, group with `--member`, else hosted]
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// Reading needs a token, too
        #[arg(long)]
        private: bool,
        /// Who may read it: `token` is the same as `--private`
        #[arg(long, value_parser = ["anyone", "token"], conflicts_with = "private")]
        read: Option<String>,
        #[command(flatten)]
        settings: Box<SettingFlags>,
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
        #[arg(long, value_name = "PROTOCOL=on|off", value_parser = switch, help_heading = "Gems")]
        protocol: Vec<(String, bool)>,
        /// Whether only the owners of a package may change it, or who owns it is just written down
        #[arg(long, value_parser = ["enforced", "recorded"], help_heading = "Gems")]
        owners: Option<String>,
        /// Name of a gem that this repository claims no more
        #[arg(long, value_name = "GEM", help_heading = "Gems")]
        unclaim: Vec<String>,
        /// Who may read it
        #[arg(long, value_parser = ["anyone", "token"])]
        read: Option<String>,
        /// Change nothing, and say which of the last day's requests would be answered otherwise, from what is known
        #[arg(long)]
        preview: bool,
        /// Where the upstream gets another URL: keep the releases of the present one whose checksums were verified
        #[arg(long, requires = "remote", conflicts_with = "yes", help_heading = "Remote repositories")]
        keep_cached: bool,
        /// Where the upstream gets another URL: drop what is kept of the present one, without asking
        #[arg(long, requires = "remote", help_heading = "Remote repositories")]
        yes: bool,
        #[command(flatten)]
        settings: Box<SettingFlags>,
    },
    /// Begin the list of versions anew, with a line for each gem
    ///
    /// Clients read it whole once more, and then again what is added to it. For one that has grown by many yanks.
    Compact {
        /// Its name
        name: String,
    },
    /// Accept an index of an upstream of gems that is held back because it lacks many names
    ///
    /// It counts at once, and not only after the upstream has had it for an hour. `repo show` says what is held back.
    AcceptIndex {
        /// Its name
        name: String,
    },
    /// List the files of a repository of Maven or raw files; of a remote one, those that are kept
    Contents {
        /// Its name
        name: String,
        /// Only what is at this path and below it
        path: Option<String>,
        /// Those that were deleted instead
        #[arg(long)]
        deleted: bool,
    },
    /// Delete a file, or all below a path; within `store.undo` that can be undone with `restore`
    ///
    /// A remote repository asks its upstream for it anew.
    Delete {
        /// Its name
        name: String,
        /// The path
        path: String,
    },
    /// Bring back a repository that was removed, or what the last deletion of a path took away
    ///
    /// Within `store.undo`, which is a week unless it is set. Without a path it restores the repository that was removed last under this
    /// name, with the tokens that are for it. Groups that held it are set again with `repo set`.
    Restore {
        /// Its name
        name: String,
        /// A path that was deleted in it; of gems `NAME[:VERSION]` that a cleanup deleted
        path: Option<String>,
        /// The name under which the repository comes back, where another has its name by now
        #[arg(long = "as", value_name = "NEW", conflicts_with = "path")]
        new_name: Option<String>,
    },
    /// List what the upstream of a remote repository was proven not to have
    Missing {
        /// Its name
        name: String,
    },
    /// Forget that a path, or anything below it, is missing upstream: the next who asks has it asked
    Forget {
        /// Its name
        name: String,
        /// The path [default: everything]
        path: Option<String>,
    },
    /// Remove a repository with all its packages; its name is free again
    ///
    /// It asks you to type the name again, and says how much is in it. Within `store.undo` (a week) `daylight repo restore NAME` undoes it.
    /// Files that were kept of an upstream are not brought back: they are fetched again.
    Remove {
        /// Its name
        name: String,
        /// Remove it without asking
        #[arg(long)]
        yes: bool,
    },
}

impl Repo {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let api = Api::new(context)?;
        match self.verb {
            RepoVerb::List => {
                let answer = api.get(REPOSITORIES)?;
                if api.print_json(&answer, context)? {
                    return Ok(());
                }
                let rows = decode::<Repositories>(answer)?.repositories.into_iter().map(Repository::row).collect();
                table::write(context.out, HEAD, rows)?;
            }
            RepoVerb::Add { name, format, kind, private, read, settings } => {
                let kind = kind.unwrap_or_else(|| settings.kind().to_owned());
                let mut body = settings.body();
                for (key, value) in [("name", name.as_str().into()), ("format", format.into()), ("kind", kind.into())] {
                    body.insert(key.to_owned(), value);
                }
                // By default the server decides.
                let private = if private { Some(true.into()) } else { read.map(|read| (read == "token").into()) };
                body.extend(private.map(|private| ("private".to_owned(), private)));
                // Those of a new repository are all of them.
                let claims = body.remove("claim");
                body.extend(claims.map(|claims| ("claims".to_owned(), claims)));
                let answer = api.post(REPOSITORIES, &Value::Object(body))?;
                api.print_json(&answer, context)?;
                let closed = answer["private"] == true;
                let read = if closed { "; reading it needs a token" } else { "" };
                writeln!(context.err, "added `{}`{read}", failure::plain(&name))?;
            }
            RepoVerb::Show { name } => {
                let answer = api.get(&format!("{REPOSITORIES}/{}", segment(&name)))?;
                if api.print_json(&answer, context)? {
                    return Ok(());
                }
                let is_of_gems = answer["kind"] == "group" && answer["format"] == "gem";
                decode::<Repository>(answer)?.show(context)?;
                if is_of_gems {
                    collisions::show(&api, &name, context)?;
                }
            }
            RepoVerb::Set { name, protocol, owners, unclaim, read, preview, keep_cached, yes, settings } => {
                let mut body = settings.body();
                let protocols: Map<String, Value> = protocol.into_iter().map(|(name, on)| (name, on.into())).collect();
                let private = read.map(|read| (read == "token").into());
                let protocols = (!protocols.is_empty()).then_some(Value::Object(protocols));
                let unclaim = (!unclaim.is_empty()).then_some(Value::from(unclaim));
                for (key, value) in [
                    ("protocols", protocols),
                    ("owners", owners.map(Value::from)),
                    ("unclaim", unclaim),
                    ("private", private),
                ] {
                    body.extend(value.map(|value| (key.to_owned(), value)));
                }
                if body.is_empty() {
                    return Err(Failure::usage(
                        "`daylight repo set` needs a setting to change",
                        "`daylight repo set --help` lists the settings",
                    )
                    .into());
                }
                let decided = (keep_cached || yes).then(|| keep_cached.into());
                body.extend(decided.map(|keep_cached| ("keep_cached".to_owned(), keep_cached)));
                if preview {
                    return preview::show(&api, &name, &Value::Object(body), context);
                }
                cached_files::decide(&api, &name, &mut body, context)?;
                let rules = ["keep_versions", "keep_unused"]
                    .iter()
                    .any(|rule| body.get(*rule).is_some_and(|set| !set.is_null()));
                let answer = api.patch(&format!("{REPOSITORIES}/{}", segment(&name)), &Value::Object(body))?;
                api.print_json(&answer, context)?;
                let name = failure::plain(&name);
                writeln!(context.err, "changed `{name}`")?;
                if let Some(cached) = answer.get("cached") {
                    writeln!(context.err, "{}", decode::<CachedFiles>(cached.clone())?.done())?;
                }
                if let Some(pruned) = answer.get("pruned") {
                    decode::<Pruned>(pruned.clone())?.report(&name.to_string(), context)?;
                }
                if let Some(frees) = frees::sentence(&answer) {
                    writeln!(context.err, "{frees}")?;
                }
                if rules {
                    writeln!(context.err, "`daylight cleanup {name}` says what that frees; with `--yes` it does it")?;
                }
            }
            RepoVerb::Compact { name } => {
                let answer = api.post(&format!("{REPOSITORIES}/{}/compact", segment(&name)), &serde_json::json!({}))?;
                api.print_json(&answer, context)?;
                writeln!(context.err, "compacted `{}`", failure::plain(&name))?;
            }
            RepoVerb::AcceptIndex { name } => index::accept(&api, &name, context)?,
            RepoVerb::Contents { name, path, deleted } => {
                contents::list(&api, &name, path.as_deref(), deleted, context)?;
            }
            RepoVerb::Delete { name, path } => contents::delete(&api, &name, &path, context)?,
            RepoVerb::Restore { name, path: Some(path), .. } => contents::restore(&api, &name, &path, context)?,
            RepoVerb::Restore { name, path: None, new_name } => {
                removal::restore(&api, &name, new_name.as_deref(), context)?;
            }
            RepoVerb::Missing { name } => contents::missing(&api, &name, context)?,
            RepoVerb::Forget { name, path } => contents::forget(&api, &name, path.as_deref(), context)?,
            RepoVerb::Remove { name, yes } => removal::remove(&api, &name, yes, context)?,
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
