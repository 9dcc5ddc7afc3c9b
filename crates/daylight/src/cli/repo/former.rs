//! What becomes of the files that are kept of an upstream, when `repo set --remote` names another.

use super::PATH;
use crate::cli::api::{Api, shape};
use crate::cli::failure::Failure;
use crate::cli::{Context, failure};
use format::percent::segment;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::io::{IsTerminal, stderr, stdin};

/// Files that are kept of the present upstream, as a preview tells them.
#[derive(Debug, Deserialize)]
pub(super) struct Cached {
    files: u64,
    size_bytes: u64,
    verified_files: u64,
    verified_bytes: u64,
    lost_files: u64,
    lost_bytes: u64,
}

#[derive(Debug, Deserialize)]
struct Preview {
    cached: Option<Cached>,
}

impl Cached {
    fn told(&self) -> String {
        let Self { files, size_bytes, verified_files, verified_bytes, .. } = self;
        format!(
            "{files} files of {size_bytes} bytes are kept of its upstream; {verified_files} of them ({verified_bytes} bytes) are \
             releases whose checksums were verified"
        )
    }

    /// For who looks before anything is changed.
    pub(super) fn preview(&self) -> String {
        format!("{}; {} files of {} bytes would be lost", self.told(), self.lost_files, self.lost_bytes)
    }
}

/// Asks what is to become of them, where nobody has said it and there are any. Without a terminal nothing is changed.
pub(super) fn decide(
    api: &Api,
    name: &str,
    body: &mut Map<String, Value>,
    context: &mut Context<'_>,
) -> Result<(), anyhow::Error> {
    let moves = body.get("remote").is_some_and(|remote| remote.get("urls").is_some());
    if !moves || body.contains_key("keep_cached") {
        return Ok(());
    }
    let wanted = Value::Object(body.clone());
    let preview: Preview = shape(api.post(&format!("{PATH}/{}/preview", segment(name)), &wanted)?)?;
    let Some(cached) = preview.cached.filter(|cached| cached.files > 0) else { return Ok(()) };
    let told = format!("`{}`: {}", failure::plain(name), cached.told());
    let hint = "`--keep-cached` keeps those releases and drops the rest, `--yes` drops everything";
    if !stdin().is_terminal() || !stderr().is_terminal() {
        let text = format!("{told}, and there is no terminal to ask on: nothing was changed");
        return Err(Failure::usage(text, hint).into());
    }
    write!(context.err, "{told}. With another URL, `keep` those releases, or `drop` everything? ")?;
    context.err.flush()?;
    let mut typed = String::new();
    stdin().read_line(&mut typed)?;
    let keep = match typed.trim() {
        "keep" => true,
        "drop" => false,
        _ => return Err(Failure::new("nothing was changed", Some(hint.to_owned())).into()),
    };
    body.insert("keep_cached".to_owned(), keep.into());
    Ok(())
}
