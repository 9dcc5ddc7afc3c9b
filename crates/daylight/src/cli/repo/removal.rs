//! `repo remove`, which asks for confirmation, and `repo restore NAME`.

use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::frees;
use format::percent::segment;
use serde::Deserialize;
use serde_json::json;

/// What the removal of a hosted repository does to the names in it.
const RELEASES: &str = "; its names are then asked of upstreams again, also if a repository of the same name is made (`--private-prefix` keeps \
                        names from them whatever is removed)";

#[derive(Debug, Deserialize)]
struct Holding {
    files: u64,
    size_bytes: u64,
    #[serde(default)]
    keeps_names: bool,
}

#[derive(Debug, Deserialize)]
struct Removed {
    #[serde(flatten)]
    holding: Holding,
    restorable_until: Option<String>,
}

impl Holding {
    fn summary(&self) -> String {
        format!("{} files of {} bytes", self.files, self.size_bytes)
    }

    /// What else a removal does.
    fn also(&self) -> &'static str {
        if self.keeps_names { RELEASES } else { "" }
    }
}

pub(super) fn remove(api: &Api, name: &str, yes: bool, context: &mut Context<'_>) -> anyhow::Result<()> {
    let url = format!("{REPOSITORIES}/{}", segment(name));
    if !yes {
        confirm(&decode(api.get(&format!("{url}/holding"))?)?, name, context)?;
    }
    let answer = api.delete(&format!("{url}?confirm={}", segment(name)))?;
    api.print_json(&answer, context)?;
    let Removed { holding, restorable_until } = decode(answer.clone())?;
    let plain = failure::plain(name);
    writeln!(context.err, "removed `{plain}`: {}{}", holding.summary(), holding.also())?;
    if let Some(frees) = frees::sentence(&answer) {
        writeln!(context.err, "{frees}")?;
    }
    let undone = match restorable_until {
        Some(until) => format!("until {} `daylight repo restore {plain}` undoes it", failure::plain(&until)),
        None => "this cannot be undone: `store.undo` is 0s".to_owned(),
    };
    Ok(writeln!(context.err, "{undone}")?)
}

/// Asks the user to type the name again. Without a terminal nothing is removed.
fn confirm(holding: &Holding, name: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let (plain, summary, also) = (failure::plain(name), holding.summary(), holding.also());
    if !context.can_ask() {
        let text =
            format!("`{plain}` holds {summary}; nothing was removed, because no terminal is there to confirm it{also}");
        return Err(Failure::usage(text, "`--yes` removes it without asking").into());
    }
    if context.ask(&format!("`{plain}` holds {summary}{also}. To remove it, type its name again: "))? == name {
        return Ok(());
    }
    Err(Failure::new("the names differ: nothing was removed", None).into())
}

pub(super) fn restore(api: &Api, name: &str, new_name: Option<&str>, context: &mut Context<'_>) -> anyhow::Result<()> {
    let body = new_name.map_or_else(|| json!({}), |new_name| json!({ "as": new_name }));
    let answer = api.post(&format!("{REPOSITORIES}/{}/restore", segment(name)), &body)?;
    api.print_json(&answer, context)?;
    let group = answer["kind"] == "group";
    let renamed = new_name.map(|new_name| format!(" as `{}`", failure::plain(new_name))).unwrap_or_default();
    writeln!(context.err, "restored `{}`{renamed}", failure::plain(name))?;
    if !group {
        writeln!(
            context.err,
            "it is in no group now: `daylight repo set GROUP --member ...` sets the members of a group"
        )?;
    }
    Ok(())
}
