//! Makes a new data folder without serving it, for `daylight init`.

use crate::config::{Secret, Settings};
use crate::instance::sinks;
use crate::instance::{Instance, StartOptions};
use repository::ChangeSource;
use std::path::PathBuf;
use telemetry::Clock;

/// The data folder, and what was made in it.
#[derive(Debug)]
pub struct InitReport {
    /// The folder.
    pub data: PathBuf,
    /// The new admin token, if one was generated. It is shown this once.
    pub admin_token: Option<Secret>,
    /// The names of the new repositories.
    pub repositories: Vec<String>,
}

/// Makes the folder, its first repositories and its admin token.
pub fn init(settings: &Settings) -> anyhow::Result<InitReport> {
    let clock = Clock::default();
    let (log, _) = sinks::log(settings, &clock);
    let instance = Instance::open(
        settings,
        log,
        StartOptions { clock, from: ChangeSource::CommandLine, ..StartOptions::default() },
    )?;
    let made = InitReport {
        data: settings.store.data.clone(),
        admin_token: instance.first.admin_token.clone(),
        repositories: instance.first.repositories.clone(),
    };
    instance.close();
    Ok(made)
}
