//! Flags of the verbs that work on a data folder, and the settings they lead to.

use super::Context;
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
    /// Reads the settings; `more` are flags that only this verb has. Warnings are said.
    pub(super) fn load(
        &self,
        more: impl IntoIterator<Item = Flag>,
        context: &mut Context<'_>,
    ) -> Result<(Settings, Loaded), anyhow::Error> {
        let data = self.data.clone().map(|value| Flag { key: "store.data", flag: "--data", value });
        let flags: Vec<Flag> = data.into_iter().chain(more).collect();
        let file = self.config.as_deref().or_else(|| context.environment.config()).map(Path::new);
        let (settings, loaded) = config::load(file, context.environment, &flags, Machine::here())?;
        for warning in &loaded.warnings {
            writeln!(context.err, "warning: {warning}")?;
        }
        Ok((settings, loaded))
    }
}
