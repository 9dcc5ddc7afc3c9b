//! `repo set --preview`: which recent requests would get another answer with changed settings.

use super::cached_files::CachedFiles;
use super::collisions;
use super::hidden_hosted::HiddenHosted;
use super::pruned::Pruned;
use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::failure::plain;
use crate::cli::table;
use format::percent::segment;
use repository::OwnerChanges;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
struct SettingsPreview {
    since: String,
    paths: u64,
    left_out: u64,
    changes: Vec<Change>,
    cached: Option<CachedFiles>,
    hosted: Option<HiddenHosted>,
    pruned: Option<Pruned>,
    owners: Option<OwnerChanges>,
    koji: Option<KojiPreview>,
}

/// What other settings of a Koji hub would change.
#[derive(Debug, Deserialize)]
struct KojiPreview {
    named: Vec<String>,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Change {
    path: String,
    requests: u64,
    before: Option<Resolution>,
    after: Option<Resolution>,
}

#[derive(Debug, Deserialize)]
struct Resolution {
    status: u16,
    member: Option<String>,
}

/// The answer of the API, which changes nothing.
pub(super) fn ask(api: &Api, name: &str, settings: &Value) -> anyhow::Result<Value> {
    api.post(&format!("{REPOSITORIES}/{}/preview", segment(name)), settings)
}

/// Shows the answer.
pub(super) fn show(api: &Api, answer: Value, context: &mut Context<'_>) -> anyhow::Result<()> {
    if api.print_json(&answer, context)? {
        return Ok(());
    }
    let SettingsPreview { since, paths, left_out, changes, cached, hosted, pruned, owners, koji } = decode(answer)?;
    let count = changes.len();
    if count > 0 {
        let rows =
            changes.into_iter().map(|one| [one.path, one.requests.to_string(), text(one.before), text(one.after)]);
        table::write(context.out, ["PATH", "REQUESTS", "BEFORE", "AFTER"], rows.collect())?;
    }
    if let Some(cached) = cached {
        writeln!(context.err, "{}", cached.preview())?;
    }
    if let Some(hosted) = hosted {
        writeln!(context.err, "{}", hosted.summary())?;
    }
    if let Some(owners) = owners {
        collisions::preview(owners, context)?;
    }
    if let Some(pruned) = pruned {
        pruned.preview(context)?;
    }
    if let Some(KojiPreview { named, text }) = koji {
        named.iter().try_for_each(|build| writeln!(context.out, "{} would leave", plain(build)))?;
        writeln!(context.err, "{}", plain(&text))?;
    }
    let rest =
        if left_out > 0 { format!(" ({left_out} paths with fewer requests were not compared)") } else { String::new() };
    Ok(writeln!(
        context.err,
        "of {paths} paths requested since {since}{rest}, the answers of {count} would change; nothing was changed"
    )?)
}

/// Such as `200 near` or `404`; `asks near` where the answer depends on an upstream.
fn text(resolution: Option<Resolution>) -> String {
    match resolution {
        None => "none".to_owned(),
        Some(Resolution { status: 0, member }) => format!("asks {}", member.unwrap_or_default()),
        Some(Resolution { status, member }) => format!("{status} {}", member.unwrap_or_default()).trim_end().to_owned(),
    }
}
