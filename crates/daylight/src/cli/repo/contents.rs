//! What a repository holds: listed, taken away, brought back; and what its upstream was proven not to have.

use super::PATH;
use crate::cli::api::{Api, shape};
use crate::cli::{Context, failure, table};
use format::percent::segment;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Display;

#[derive(Debug, Deserialize)]
struct Contents {
    contents: Vec<File>,
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
struct File {
    path: String,
    size_bytes: u64,
    changed: String,
}

#[derive(Debug, Deserialize)]
struct Missing {
    missing: Vec<MissingPath>,
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
struct MissingPath {
    path: String,
    until: String,
}

/// The URL of what is below a path.
fn url(name: &str, list: &str, path: Option<&str>) -> String {
    let segments = path.unwrap_or_default().split('/').filter(|part| !part.is_empty());
    let below: String = segments.map(|part| format!("/{}", segment(part))).collect();
    format!("{PATH}/{}/{list}{below}", segment(name))
}

/// Every part of a list, one call for each.
fn parts(
    api: &Api,
    url: &str,
    query: &str,
    mut take: impl FnMut(Value) -> Result<Option<String>, anyhow::Error>,
) -> Result<(), anyhow::Error> {
    let mut after = String::new();
    loop {
        match take(api.get(&format!("{url}?{query}&after={}", segment(&after)))?)? {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

pub(super) fn list(
    api: &Api,
    (name, path, removed): (&str, Option<&str>, bool),
    context: &mut Context<'_>,
) -> Result<(), anyhow::Error> {
    let (mut whole, mut rows) = (Vec::new(), Vec::new());
    let query = format!("removed={removed}");
    parts(api, &url(name, "contents", path), &query, |answer| {
        let part: Contents = shape(answer.clone())?;
        whole.extend(answer["contents"].as_array().cloned().unwrap_or_default());
        rows.extend(part.contents.into_iter().map(|file| [file.path, file.size_bytes.to_string(), file.changed]));
        Ok(part.next)
    })?;
    if !api.printed(&json!({ "contents": whole }), context)? {
        table::write(context.out, ["PATH", "BYTES", if removed { "DELETED" } else { "CHANGED" }], rows)?;
    }
    Ok(())
}

pub(super) fn missing(api: &Api, name: &str, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
    let (mut whole, mut rows) = (Vec::new(), Vec::new());
    parts(api, &url(name, "not-found", None), "", |answer| {
        let part: Missing = shape(answer.clone())?;
        whole.extend(answer["missing"].as_array().cloned().unwrap_or_default());
        rows.extend(part.missing.into_iter().map(|one| [one.path, one.until]));
        Ok(part.next)
    })?;
    if !api.printed(&json!({ "missing": whole }), context)? {
        table::write(context.out, ["PATH", "MISSING UNTIL"], rows)?;
    }
    Ok(())
}

pub(super) fn delete(api: &Api, name: &str, path: &str, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
    let answer = api.delete(&url(name, "contents", Some(path)))?;
    api.printed(&answer, context)?;
    say(context, "deleted", &answer["removed"], path, name)
}

pub(super) fn restore(api: &Api, name: &str, path: &str, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
    let answer = api.post(&url(name, "contents", Some(path)), &json!({}))?;
    api.printed(&answer, context)?;
    say(context, "restored", &answer["restored"], path, name)
}

pub(super) fn forget(
    api: &Api,
    name: &str,
    path: Option<&str>,
    context: &mut Context<'_>,
) -> Result<(), anyhow::Error> {
    let answer = api.delete(&url(name, "not-found", path))?;
    api.printed(&answer, context)?;
    say(context, "forgot", &answer["forgotten"], path.unwrap_or("/"), name)
}

fn say(context: &mut Context<'_>, did: &str, count: &dyn Display, path: &str, name: &str) -> Result<(), anyhow::Error> {
    let (path, name) = (failure::plain(path), failure::plain(name));
    Ok(writeln!(context.err, "{did} {count} at `{path}` and below it in `{name}`")?)
}
