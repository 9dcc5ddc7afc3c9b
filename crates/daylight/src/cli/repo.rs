//! `daylight repo`: the repositories of a running server.

mod body;
mod cached_files;
mod collisions;
mod confirm_hosted;
mod contents;
mod display;
mod hidden_hosted;
mod hooks;
mod index;
mod koji_flags;
mod koji_map;
mod open_members;
mod preview;
mod pruned;
mod removal;
mod settings;

use super::api::{Api, REPOSITORIES, decode};
use super::context::Context;
use super::explained::Explained;
use super::failure::Failure;
use super::{failure, frees, table};
use crate::formats;
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

/// Who may read a repository.
#[derive(Debug, clap::Args)]
struct Readers {
    /// Only readers with a token may read it
    #[arg(long)]
    private: bool,
    /// Who may read it; `token` is the same as --private
    #[arg(long, value_parser = ["anyone", "token"], conflicts_with = "private")]
    read: Option<String>,
}

impl Readers {
    /// The setting `private`; `None`: the flags do not name it.
    fn setting(self) -> Option<Value> {
        if self.private { Some(true.into()) } else { self.read.map(|read| (read == "token").into()) }
    }
}

#[derive(Debug, clap::Subcommand)]
enum RepoVerb {
    /// List the repositories
    List,
    /// Add a repository
    ///
    /// Its URL is /repository/NAME/. With --remote it is a proxy for an upstream and caches the files that are requested. With --koji it
    /// has the Maven artifacts of all builds in some tags of a Koji hub, with --koji-files and --koji-tag. With --member it is a group,
    /// which offers several repositories at one URL. Anybody may read it without a token unless it is private. With --credentials or --certificate it is private unless --read anyone is given.
    Add {
        /// Name of the repository in URLs
        name: String,
        #[arg(long, value_name = "FORMAT", default_value = "gem", help = formats::option_help())]
        format: String,
        /// Kind: hosted has packages of its own, remote is a proxy for an upstream, group joins others [default: remote with --remote or
        /// --koji, group with --member, else hosted]
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        #[command(flatten)]
        readers: Readers,
        #[command(flatten)]
        settings: Box<SettingFlags>,
    },
    /// Show a repository and its settings
    Show {
        /// Name of the repository
        name: String,
    },
    /// Change settings of a repository
    ///
    /// The change applies at once, without a restart. Settings that are not named stay as they are.
    Set {
        /// Name of the repository
        name: String,
        /// Enable or disable an index protocol, such as compact_index=off or full_index=on. A disabled protocol is answered with 404, and
        /// clients use another one
        #[arg(long, value_name = "PROTOCOL=on|off", value_parser = switch, help_heading = "Gems")]
        protocol: Vec<(String, bool)>,
        /// Whether only the owners of a gem may change it (enforced), or owners are only recorded
        #[arg(long, value_parser = ["enforced", "recorded"], help_heading = "Gems")]
        owners: Option<String>,
        /// Name of a gem that this repository no longer claims; can be repeated
        #[arg(long, value_name = "GEM", help_heading = "Gems")]
        unclaim: Vec<String>,
        #[command(flatten)]
        readers: Readers,
        /// Change nothing, and show which requests of the last day would get another answer; upstreams are not asked
        #[arg(long)]
        preview: bool,
        /// With another upstream URL: keep the cached releases whose checksums were verified, and drop all other cached files
        #[arg(long, requires = "upstream", conflicts_with = "yes", help_heading = "Remote repositories")]
        keep_cached: bool,
        /// With another upstream URL: drop all cached files without asking
        #[arg(long, requires = "upstream", help_heading = "Remote repositories")]
        yes: bool,
        #[command(flatten)]
        settings: Box<SettingFlags>,
    },
    /// Rewrite the /versions file of a gem repository with one line for each gem
    ///
    /// Clients download the whole file once more, and afterwards only new lines. Use it when the file has grown by many yanks.
    Compact {
        /// Name of the repository
        name: String,
    },
    /// Accept an upstream's gem index that is held back because many names have disappeared from it
    ///
    /// Without this command the server accepts such an index after the upstream has had it for an hour. `daylight repo show NAME` shows
    /// an index that is held back.
    AcceptIndex {
        /// Name of the repository
        name: String,
    },
    /// List the files of a repository, or the versions of hosted gems; of a remote repository, the cached files
    Contents {
        /// Name of the repository
        name: String,
        /// Only this path and the files below it; of hosted gems NAME or NAME:VERSION
        path: Option<String>,
        /// List the deleted files or the yanked and deleted versions instead
        #[arg(long)]
        deleted: bool,
    },
    /// Delete a file, or all files below a path
    ///
    /// Within `store.undo` (a week by default) `daylight repo restore` restores them. A remote repository fetches them again from its
    /// upstream when they are requested.
    Delete {
        /// Name of the repository
        name: String,
        /// Path of the file or folder
        path: String,
    },
    /// Restore a removed repository, or deleted files of a repository
    ///
    /// This is possible within `store.undo` (a week by default). Without PATH it restores the repository that was last removed under this
    /// name, with its tokens. Add it to its groups again with `daylight repo set GROUP --member ...`.
    Restore {
        /// Name of the repository
        name: String,
        /// Path of the deleted files, or NAME[:VERSION] of a gem that a cleanup deleted
        path: Option<String>,
        /// New name of the restored repository, if another repository has its name now
        #[arg(long = "as", value_name = "NEW", conflicts_with = "path")]
        new_name: Option<String>,
    },
    /// List the paths that the upstream of a remote repository does not have: its cached 404 answers
    Missing {
        /// Name of the repository
        name: String,
    },
    /// Forget cached 404 answers, so that the next request asks the upstream again
    Forget {
        /// Name of the repository
        name: String,
        /// Only this path and the paths below it, or those of `GROUP:ARTIFACT[:VERSION]` [default: all]
        path: Option<String>,
    },
    /// Remove a repository with all its packages
    ///
    /// The command shows what the repository contains and asks for its name again. Within `store.undo` (a week by default) `daylight repo
    /// restore NAME` restores it. Cached files of an upstream are not restored, but fetched again. The name can be used again at once.
    Remove {
        /// Name of the repository
        name: String,
        /// Do it without asking
        #[arg(long)]
        yes: bool,
    },
}

impl Repo {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
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
            RepoVerb::Add { name, format, kind, readers, settings } => {
                settings.check_new()?;
                let kind = kind.unwrap_or_else(|| settings.kind().to_owned());
                settings.warn(context)?;
                let mut body = settings.body();
                for (key, value) in [("name", name.as_str().into()), ("format", format.into()), ("kind", kind.into())] {
                    body.insert(key.to_owned(), value);
                }
                // By default the server decides.
                body.extend(readers.setting().map(|private| ("private".to_owned(), private)));
                // Those of a new repository are all of them.
                let claims = body.remove("claim");
                body.extend(claims.map(|claims| ("claims".to_owned(), claims)));
                let answer = api.post(REPOSITORIES, &Value::Object(body))?;
                api.print_json(&answer, context)?;
                let closed = answer["private"] == true;
                let read = if closed { "; reading it needs a token" } else { "" };
                let told = ["format", "kind", "url"].into_iter().filter_map(|key| answer[key].as_str());
                let told = told.map(|text| failure::plain(text).to_string()).collect::<Vec<_>>().join(", ");
                let told = if told.is_empty() { told } else { format!(": {told}") };
                writeln!(context.err, "added `{}`{told}{read}", failure::plain(&name))?;
                open_members::warn(&api, &answer, context)?;
            }
            RepoVerb::Show { name } => {
                let mut answer = api.get(&format!("{REPOSITORIES}/{}", segment(&name)))?;
                let is_of_gems = answer["kind"] == "group" && answer["format"].as_str().is_some_and(formats::has_index);
                if is_of_gems && context.flags.json {
                    answer["collisions"] = collisions::all(&api, &name)?;
                }
                if api.print_json(&answer, context)? {
                    return Ok(());
                }
                decode::<Repository>(answer)?.show(context)?;
                if is_of_gems {
                    collisions::show(&api, &name, context)?;
                }
            }
            RepoVerb::Set { name, protocol, owners, unclaim, readers, preview, keep_cached, yes, settings } => {
                if let Some(gem) = unclaim.iter().find(|gem| settings.claims(gem)) {
                    let text = format!("`{}` is named by `--claim` and by `--unclaim`", failure::plain(gem));
                    return Err(Failure::usage(text, "name each gem with one of the two flags").into());
                }
                settings.warn(context)?;
                let mut body = settings.body();
                let protocols: Map<String, Value> = protocol.into_iter().map(|(name, on)| (name, on.into())).collect();
                let private = readers.setting();
                let closes = private == Some(true.into());
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
                if body.keys().all(|key| key == "include_hosted") {
                    return Err(Failure::usage(
                        "`daylight repo set` needs a setting to change",
                        "`daylight repo set --help` lists the settings",
                    )
                    .into());
                }
                let decided = (keep_cached || yes).then(|| keep_cached.into());
                body.extend(decided.map(|keep_cached| ("keep_cached".to_owned(), keep_cached)));
                if preview {
                    let answer = preview::ask(&api, &name, &Value::Object(body))?;
                    return preview::show(&api, answer, context);
                }
                cached_files::decide(&api, &name, &mut body, context)?;
                confirm_hosted::decide(&api, &name, &mut body, context)?;
                let rules = ["keep_versions", "keep_unused"]
                    .iter()
                    .any(|rule| body.get(*rule).is_some_and(|set| !set.is_null()));
                let unknown = unknown_patterns(&api, &name, &body);
                let answer = api.patch(&format!("{REPOSITORIES}/{}", segment(&name)), &Value::Object(body))?;
                api.print_json(&answer, context)?;
                let name = failure::plain(&name);
                match answer["difference"].as_str().unwrap_or_default() {
                    "" => writeln!(context.err, "changed `{name}`")?,
                    difference => writeln!(context.err, "changed `{name}`: {}", failure::plain(difference))?,
                }
                for pattern in unknown {
                    writeln!(context.err, "note: `{name}` knows no version that `{}` names", failure::plain(&pattern))?;
                }
                if closes {
                    open_members::warn(&api, &answer, context)?;
                }
                if let Some(cached) = answer.get("cached") {
                    writeln!(context.err, "{}", decode::<CachedFiles>(cached.clone())?.done())?;
                }
                hidden_hosted::tell(&answer, context)?;
                collisions::tell_claimed_over(&answer, &name.to_string(), context)?;
                if let Some(pruned) = answer.get("pruned") {
                    decode::<Pruned>(pruned.clone())?.report(&name.to_string(), context)?;
                }
                if let Some(frees) = frees::sentence(&answer).filter(|_| answer["frees_bytes"] != 0) {
                    writeln!(context.err, "{frees}")?;
                }
                if rules {
                    writeln!(
                        context.err,
                        "`daylight cleanup {name}` shows what the rules would delete; with `--yes` it deletes that"
                    )?;
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

/// The most patterns that are looked at.
const PATTERNS_MAX: usize = 100;

/// The patterns of new lists of a policy that name one version or gem which the repository does not know. The former policy must still
/// apply: the new one refuses a version whether it exists or not.
fn unknown_patterns(api: &Api, repository: &str, body: &Map<String, Value>) -> Vec<String> {
    let lists = ["deny", "allow"].into_iter().filter_map(|list| body.get("policy")?.get(list)?.as_array());
    let patterns = lists.flatten().filter_map(Value::as_str).take(PATTERNS_MAX);
    let unknown = |pattern: &&str| {
        Explained::of_pattern(api, repository, pattern).is_some_and(|explained| explained.is_unknown())
    };
    patterns.filter(unknown).map(str::to_owned).collect()
}

/// `PROTOCOL=on` or `PROTOCOL=off`.
fn switch(text: &str) -> Result<(String, bool), String> {
    match text.split_once('=') {
        Some((name, "on")) => Ok((name.to_owned(), true)),
        Some((name, "off")) => Ok((name.to_owned(), false)),
        _ => Err("write NAME=on or NAME=off".to_owned()),
    }
}
