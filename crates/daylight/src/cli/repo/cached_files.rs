//! Asks what happens to the cached files when `repo set --remote` or `--koji` changes the URL of the upstream.

use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::failure;
use crate::cli::failure::Failure;
use format::percent::segment;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The files that are cached of the present upstream, from the answer to a preview.
#[derive(Debug, Deserialize)]
pub(super) struct CachedFiles {
    files: u64,
    size_bytes: u64,
    verified_files: u64,
    verified_bytes: u64,
    lost_files: u64,
    lost_bytes: u64,
}

#[derive(Debug, Deserialize)]
struct CachedPreview {
    cached: Option<CachedFiles>,
}

impl CachedFiles {
    fn summary(&self) -> String {
        let Self { files, size_bytes, verified_files, verified_bytes, .. } = self;
        format!(
            "{files} files of {size_bytes} bytes are cached; {verified_files} of them ({verified_bytes} bytes) are releases with \
             verified checksums"
        )
    }

    /// The summary for `--preview`.
    pub(super) fn preview(&self) -> String {
        format!("{}; {} files of {} bytes would be dropped", self.summary(), self.lost_files, self.lost_bytes)
    }

    /// The summary after the change.
    pub(super) fn done(&self) -> String {
        let Self { files, size_bytes, lost_files, lost_bytes, .. } = self;
        let (files, bytes) = (files - lost_files, size_bytes - lost_bytes);
        format!(
            "dropped {lost_files} cached files of {lost_bytes} bytes of the former upstream, and kept {files} of {bytes} bytes"
        )
    }
}

/// Asks whether to keep or drop cached files, if there are any and no flag decided it. Without a terminal nothing is changed.
pub(super) fn decide(
    api: &Api,
    name: &str,
    body: &mut Map<String, Value>,
    context: &mut Context<'_>,
) -> anyhow::Result<()> {
    let names = |remote: &Value| {
        let koji = |field| remote.get("koji").is_some_and(|koji| koji.get(field).is_some());
        remote.get("urls").is_some() || koji("hub") || koji("files")
    };
    let changes_urls = body.get("remote").is_some_and(names);
    if !changes_urls || body.contains_key("keep_cached") {
        return Ok(());
    }
    let settings = Value::Object(body.clone());
    let preview: CachedPreview = decode(api.post(&format!("{REPOSITORIES}/{}/preview", segment(name)), &settings)?)?;
    let Some(cached) = preview.cached.filter(|cached| cached.files > 0) else { return Ok(()) };
    let summary = format!("`{}`: {}", failure::plain(name), cached.summary());
    let hint = "`--keep-cached` keeps these releases and drops the other files; `--yes` drops all of them";
    if !context.can_ask() {
        let text = format!("{summary}; nothing was changed, because no terminal is there to ask what to do with them");
        return Err(Failure::usage(text, hint).into());
    }
    let question = format!(
        "{summary}. The upstream changes: type `keep` to keep these releases, or `drop` to drop all cached files: "
    );
    let keep = match context.ask(&question)?.trim() {
        "keep" => true,
        "drop" => false,
        _ => return Err(Failure::new("nothing was changed", Some(hint.to_owned())).into()),
    };
    body.insert("keep_cached".to_owned(), keep.into());
    Ok(())
}
