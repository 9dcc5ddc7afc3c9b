//! `daylight check`: verifies a data folder, or the indexes of a running server.

mod folder;
mod index;
mod upstream_index;

use super::api::{Api, REPOSITORIES, decode};
use super::context::Context;
use super::failure::{Failure, plain};
use super::global_flags::GlobalFlags;
use super::repository_client::RepositoryClient;
use crate::formats;
use index::IndexReport;
use serde::Deserialize;
use telemetry::Tick;

/// Check a data folder, or the indexes of a running server
///
/// For a data folder it compares rows, blobs, journal and segments with each other, and decodes the saved indexes. Where `store.objects` is
/// set, it also looks for each blob there, and with --verify reads it. It repairs nothing, and no server may be using the folder.
///
/// With --index it asks a running server whether the index files of its gem repositories agree: clients fail if they do not. For a remote repository it
/// compares the cached files with the upstream's index, or with the map of a Koji hub, without asking the upstream.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Read every byte of all blobs and cached files and compare it with its digest. Without this flag only a sample of the cached files
    /// is read
    #[arg(long, conflicts_with = "index")]
    verify: bool,
    /// Check the indexes of a running server: do /versions and each /info list the same versions and checksums?
    #[arg(long)]
    index: bool,
    /// With --index: the repositories [default: all hosted and remote gem repositories, and those of Koji hubs]
    #[arg(value_name = "REPO", requires = "index")]
    repositories: Vec<String>,
    /// With --index: requests at the same time
    #[arg(long, value_name = "N", requires = "index", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
}

#[derive(Deserialize)]
struct RepositoryFormats {
    repositories: Vec<RepositoryFormat>,
}

#[derive(Deserialize)]
struct RepositoryFormat {
    name: String,
    format: String,
    kind: String,
    #[serde(default)]
    remote: serde_json::Value,
}

impl RepositoryFormat {
    /// Whether it has an index that can be checked: one of gems, or the map of a Koji hub.
    fn has_index(&self) -> bool {
        formats::has_index(&self.format) && self.kind != "group" || self.remote.get("koji").is_some()
    }
}

impl Check {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let GlobalFlags { data, config, server, server_trust, .. } = context.flags;
        let unused = match self.index {
            true => [("--data", data.is_some()), ("--config", config.is_some())],
            false => [("--server", server.is_some()), ("--server-trust", server_trust.is_some())],
        };
        if let Some((flag, _)) = unused.into_iter().find(|(_, given)| *given) {
            let text = match self.index {
                true => format!("`--index` asks a running server, so `{flag}` means nothing with it"),
                false => format!("`{flag}` names a server, which `daylight check` asks only with `--index`"),
            };
            return Err(Failure::usage(text, "without `--index` a data folder is checked").into());
        }
        if self.index { self.indexes(context) } else { folder::check(self.verify, context) }
    }

    fn indexes(mut self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let began = Tick::now();
        let api = Api::new(context)?;
        let all = api.get(REPOSITORIES).and_then(decode::<RepositoryFormats>);
        let remote: Vec<String> = match all {
            Ok(RepositoryFormats { repositories }) => {
                let mut indexed = repositories;
                indexed.retain(RepositoryFormat::has_index);
                let remote = indexed.iter().filter(|one| one.kind == "remote").map(|one| one.name.clone()).collect();
                if self.repositories.is_empty() {
                    self.repositories = indexed.into_iter().map(|one| one.name).collect();
                }
                remote
            }
            // A token that may read a hosted repository may check it.
            Err(_) if !self.repositories.is_empty() => Vec::new(),
            Err(error) => return Err(error),
        };
        let (mut reports, mut problems, mut kept_problems) = (Vec::new(), 0, 0);
        for repository in &self.repositories {
            if remote.contains(repository) {
                let report = upstream_index::check(&api, repository)?;
                kept_problems += report.problems();
                match context.flags.json {
                    true => reports.push(report.json(repository)),
                    false => report.write(repository, context)?,
                }
                continue;
            }
            let report = index::compare(&RepositoryClient::new(repository, context)?, usize::from(self.jobs))?;
            problems += report.problems.len();
            let IndexReport { names, versions, other_files, .. } = &report;
            if context.flags.json {
                reports.push(serde_json::json!({
                    "name": repository, "names": names, "versions": versions, "compared_too": other_files,
                    "problems": report.problems,
                }));
                continue;
            }
            for problem in &report.problems {
                writeln!(context.out, "{repository}: {}", plain(problem))?;
            }
            let too =
                if other_files.is_empty() { String::new() } else { format!(", and /{}", other_files.join(", /")) };
            writeln!(context.out, "{repository}: checked {names} names with {versions} versions{too}")?;
        }
        if context.flags.json {
            let seconds = Tick::now().since(began) as f64 / 1e9;
            writeln!(context.out, "{:#}", serde_json::json!({ "repositories": reports, "seconds": seconds }))?;
        }
        let hint = match (problems, kept_problems) {
            (0, 0) => return Ok(()),
            (0, _) => "clients never get such a package: the server fetches it again when it is requested",
            _ => "clients fall back to slower protocols; please report this output as a defect",
        };
        let text = format!("the indexes disagree in {} places", problems + kept_problems);
        Err(Failure::new(text, Some(hint.to_owned())).into())
    }
}
