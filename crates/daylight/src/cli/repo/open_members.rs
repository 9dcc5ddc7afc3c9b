//! The members of a private group that anybody may still read at their own URLs.

use super::display::{Repositories, Repository};
use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::failure;
use serde_json::Value;

/// Warns of the open members of the repository `changed`, if it is a private group. Names them.
pub(super) fn warn(api: &Api, changed: &Value, context: &mut Context<'_>) -> anyhow::Result<()> {
    if changed["private"] != true || changed["kind"] != "group" {
        return Ok(());
    }
    let members = changed["members"].as_array().map(Vec::as_slice).unwrap_or_default();
    let all = decode::<Repositories>(api.get(REPOSITORIES)?)?.repositories;
    let is_open = |one: &&Repository| !one.private && members.iter().any(|member| *member == *one.name);
    let open: Vec<String> = all.iter().filter(is_open).map(|one| format!("`{}`", failure::plain(&one.name))).collect();
    if open.is_empty() {
        return Ok(());
    }
    Ok(writeln!(
        context.err,
        "warning: anybody may still read these members at their own URLs: {}; `daylight repo set NAME --read token` closes one",
        open.join(", ")
    )?)
}
