//! The flags of verbs that work on a data folder, and the settings that follow from them.

use super::context::Context;
use crate::config::{self, Flag, Loaded, Machine, Settings};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub(super) struct Folder {
    /// The data folder [default: ./daylight-data]
    #[arg(long, value_name = "DIR", help_heading = "Settings")]
    data: Option<String>,
    /// Configuration file, TOML [env: DAYLIGHT_CONFIG]
    #[arg(long, value_name = "FILE", help_heading = "Settings")]
    config: Option<String>,
}

impl Folder {
    /// Reads the settings and prints the warnings.
    pub(super) fn load(&self, context: &mut Context<'_>) -> Result<(Settings, Loaded), anyhow::Error> {
        self.load_with(None, context)
    }

    /// Does the same with further flags.
    pub(super) fn load_with(
        &self,
        more: impl IntoIterator<Item = Flag>,
        context: &mut Context<'_>,
    ) -> Result<(Settings, Loaded), anyhow::Error> {
        let (settings, loaded) = self.read(more, context)?;
        for warning in &loaded.warnings {
            writeln!(context.err, "warning: {warning}")?;
        }
        Ok((settings, loaded))
    }

    /// Reads the settings, with further flags, and leaves the warnings to the caller.
    pub(super) fn read(
        &self,
        more: impl IntoIterator<Item = Flag>,
        context: &Context<'_>,
    ) -> Result<(Settings, Loaded), anyhow::Error> {
        let data = self.data.clone().map(|value| Flag { key: "store.data", flag: "--data", value });
        let flags: Vec<Flag> = data.into_iter().chain(more).collect();
        let file = self.config.as_deref().or_else(|| context.environment.config()).map(Path::new);
        Ok(config::load(file, context.environment, &flags, Machine::here())?)
    }
}
