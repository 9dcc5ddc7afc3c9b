//! Runs the server.

use crate::config::{Loaded, Settings};

/// Serves until it is told to stop.
pub fn run(_settings: Settings, _config: Loaded) -> Result<(), anyhow::Error> {
    anyhow::bail!("this build cannot serve yet")
}
