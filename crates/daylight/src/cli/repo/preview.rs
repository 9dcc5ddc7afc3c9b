//! Which requests would be answered otherwise, were a repository set otherwise.

use super::PATH;
use super::former::Cached;
use crate::cli::api::{Api, shape};
use crate::cli::{Context, table};
use format::percent::segment;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
struct Preview {
    since: String,
    paths: u64,
    left_out: u64,
    changes: Vec<Change>,
    cached: Option<Cached>,
}

#[derive(Debug, Deserialize)]
struct Change {
    path: String,
    requests: u64,
    before: Option<Resolved>,
    after: Option<Resolved>,
}

#[derive(Debug, Deserialize)]
struct Resolved {
    status: u16,
    member: Option<String>,
}

pub(super) fn show(api: &Api, name: &str, wanted: &Value, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
    let answer = api.post(&format!("{PATH}/{}/preview", segment(name)), wanted)?;
    if api.printed(&answer, context)? {
        return Ok(());
    }
    let Preview { since, paths, left_out, changes, cached } = shape(answer)?;
    let count = changes.len();
    if count > 0 {
        let rows = changes.into_iter().map(|one| [one.path, one.requests.to_string(), how(one.before), how(one.after)]);
        table::write(context.out, ["PATH", "REQUESTS", "BEFORE", "AFTER"], rows.collect())?;
    }
    if let Some(cached) = cached {
        writeln!(context.err, "{}", cached.preview())?;
    }
    let rest =
        if left_out > 0 { format!(" ({left_out} that were asked for less were not looked at)") } else { String::new() };
    Ok(writeln!(
        context.err,
        "of {paths} paths that were asked for since {since}{rest}, {count} would be answered otherwise; nothing is changed"
    )?)
}

/// `200 near`, `404`; `asks near` where that depends on its upstream.
fn how(resolved: Option<Resolved>) -> String {
    match resolved {
        None => "nothing".to_owned(),
        Some(Resolved { status: 0, member }) => format!("asks {}", member.unwrap_or_default()),
        Some(Resolved { status, member }) => format!("{status} {}", member.unwrap_or_default()).trim_end().to_owned(),
    }
}
