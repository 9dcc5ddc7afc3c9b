//! The files of a repository: lists, deletes and restores them; and the files that its upstream is known not to have.

use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::{failure, frees, kept_names, table};
use format::percent::segment;
use serde::Deserialize;
use serde_json::json;
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
    #[serde(flatten)]
    version: Option<Version>,
}

/// Of a version of a hosted gem: which it is.
#[derive(Debug, Deserialize)]
struct Version {
    name: String,
    version: String,
    platform: String,
    by: Option<String>,
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

/// The URL of a list of a repository, below a path.
fn url(name: &str, list: &str, path: Option<&str>) -> String {
    let segments = path.unwrap_or_default().split('/').filter(|part| !part.is_empty());
    let below: String = segments.map(|part| format!("/{}", segment(part))).collect();
    format!("{REPOSITORIES}/{}/{list}{below}", segment(name))
}

pub(super) fn list(
    api: &Api,
    name: &str,
    path: Option<&str>,
    removed: bool,
    context: &mut Context<'_>,
) -> anyhow::Result<()> {
    let (mut all, mut rows, mut versions) = (Vec::new(), Vec::new(), Vec::new());
    api.pages(&format!("{}?removed={removed}", url(name, "contents", path)), |answer| {
        let page: Contents = decode(answer.clone())?;
        all.extend(answer["contents"].as_array().cloned().unwrap_or_default());
        for File { path, size_bytes, changed, version } in page.contents {
            let bytes = size_bytes.to_string();
            match version {
                None => rows.push([path, bytes, changed]),
                Some(Version { name, version, platform, by }) => {
                    versions.push([name, version, platform, bytes, changed, by.unwrap_or_default()]);
                }
            }
        }
        Ok(page.next)
    })?;
    let changed = if removed { "DELETED" } else { "CHANGED" };
    match api.print_json(&json!({ "contents": all }), context)? {
        true => {}
        false if versions.is_empty() => table::write(context.out, ["PATH", "BYTES", changed], rows)?,
        false => {
            table::write(context.out, ["NAME", "VERSION", "PLATFORM", "BYTES", changed, "PUBLISHED BY"], versions)?
        }
    }
    Ok(())
}

pub(super) fn missing(api: &Api, name: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    api.pages(&url(name, "not-found", None), |answer| {
        let page: Missing = decode(answer.clone())?;
        all.extend(answer["missing"].as_array().cloned().unwrap_or_default());
        rows.extend(page.missing.into_iter().map(|one| [one.path, one.until]));
        Ok(page.next)
    })?;
    if !api.print_json(&json!({ "missing": all }), context)? {
        table::write(context.out, ["PATH", "MISSING UNTIL"], rows)?;
    }
    Ok(())
}

pub(super) fn delete(api: &Api, name: &str, path: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    if path.trim_matches('/').is_empty() {
        return Err(
            Failure::usage("the path is empty", "`daylight repo remove NAME` removes a whole repository").into()
        );
    }
    let answer = api.delete(&url(name, "contents", Some(path)))?;
    api.print_json(&answer, context)?;
    report(context, "deleted", &answer["removed"], path, name)?;
    if let Some(frees) = frees::sentence(&answer) {
        writeln!(context.err, "{frees}")?;
    }
    Ok(kept_names::write(&answer, context.err)?)
}

pub(super) fn restore(api: &Api, name: &str, path: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let answer = api.post(&url(name, "contents", Some(path)), &json!({}))?;
    api.print_json(&answer, context)?;
    report(context, "restored", &answer["restored"], path, name)
}

pub(super) fn forget(api: &Api, name: &str, path: Option<&str>, context: &mut Context<'_>) -> anyhow::Result<()> {
    let answer = api.delete(&url(name, "not-found", path))?;
    api.print_json(&answer, context)?;
    report(context, "forgot", &answer["forgotten"], path.unwrap_or("/"), name)
}

fn report(context: &mut Context<'_>, did: &str, count: &dyn Display, path: &str, name: &str) -> anyhow::Result<()> {
    let (path, name) = (failure::plain(path), failure::plain(name));
    Ok(writeln!(context.err, "{did} {count} at `{path}` and below it in `{name}`")?)
}
