//! `policy allow REPO --lock FILE`: the versions of a `Gemfile.lock`. Bundler requests no file of a version that an index leaves out, so
//! no event names it.

use super::hidden_file::{HiddenFile, count};
use crate::cli::api::Api;
use crate::cli::context::Context;
use crate::cli::explained::Explained;
use crate::cli::failure::{Failure, plain};
use crate::cli::repository_client::RepositoryClient;
use anyhow::Context as _;
use format::gem::lock;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The most versions that a note names.
const NAMED: usize = 10;

/// The hidden versions of a lock, each once for each platform. Where only the upstream can tell how old one is, its `/info` is requested,
/// as Bundler does.
pub(super) fn hidden(
    path: &Path,
    repository: &str,
    api: &Api,
    context: &mut Context<'_>,
) -> anyhow::Result<Vec<HiddenFile>> {
    let text = read(path).with_context(|| format!("cannot read `{}`", plain(&path.to_string_lossy())))?;
    let mut client = RepositoryClient::new(repository, context)?.connect()?;
    let (mut hidden, mut unknown) = (Vec::new(), Vec::new());
    for lock::Locked { name, version } in lock::versions(&text)
        .map_err(|why| Failure::usage(format!("`{}` cannot be used: {why}", plain(&path.to_string_lossy())), HINT))?
    {
        let file = format!("gems/{name}-{version}.gem");
        let mut explained = Explained::of(api, repository, &file)?;
        let mut is_read = true;
        if explained.is_unasked() {
            // Afterwards only the download of a visible version would ask the upstream.
            is_read = matches!(client.bytes(&format!("info/{name}")), Ok(Some(_)));
            explained = Explained::of(api, repository, &file)?;
        }
        if explained.is_unknown() || !is_read {
            unknown.push(format!("{name}:{version}"));
        }
        hidden.extend(explained.rule.map(|rule| HiddenFile {
            rule,
            requests: None,
            file: (repository.to_owned(), file),
        }));
    }
    if !unknown.is_empty() {
        let more = if unknown.len() > NAMED { ", ..." } else { "" };
        let named = unknown.iter().take(NAMED).map(|one| plain(one)).collect::<Vec<_>>().join(", ");
        let (count, repository) = (count(unknown.len()), plain(repository));
        writeln!(context.err, "note: `{repository}` does not know {count} of the lock: {named}{more}")?;
    }
    Ok(hidden)
}

const HINT: &str = "it must be the `Gemfile.lock` that Bundler wrote";

fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(lock::LONGEST as u64 + 1).read_to_string(&mut text)?;
    anyhow::ensure!(text.len() <= lock::LONGEST, "it is longer than {} bytes", lock::LONGEST);
    Ok(text)
}
