//! The settings of commands that work on a data folder.

use super::context::Context;
use crate::config::{self, Flag, Loaded, Machine, Settings};
use std::path::Path;

/// Reads the settings and prints the warnings.
pub(super) fn load(context: &mut Context<'_>) -> anyhow::Result<(Settings, Loaded)> {
    load_with(None, context)
}

/// Does the same with further flags.
pub(super) fn load_with(
    more: impl IntoIterator<Item = Flag>,
    context: &mut Context<'_>,
) -> anyhow::Result<(Settings, Loaded)> {
    let (settings, loaded) = read(more, context)?;
    for warning in &loaded.warnings {
        writeln!(context.err, "warning: {warning}")?;
    }
    Ok((settings, loaded))
}

/// Reads the settings, with further flags, and leaves the warnings to the caller.
pub(super) fn read(more: impl IntoIterator<Item = Flag>, context: &Context<'_>) -> anyhow::Result<(Settings, Loaded)> {
    let data = context.flags.data.clone().map(|value| Flag { key: "store.data", flag: "--data", value });
    let flags: Vec<Flag> = data.into_iter().chain(more).collect();
    let file = context.flags.config.as_deref().or_else(|| context.environment.config()).map(Path::new);
    Ok(config::load(file, context.environment, &flags, Machine::here())?)
}
