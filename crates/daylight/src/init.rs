//! Makes a data folder ready to be served.

use crate::config::{Secret, Settings};
use std::path::PathBuf;

/// What was made.
#[derive(Debug)]
pub struct InitReport {
    /// The folder.
    pub data: PathBuf,
    /// The admin token, where one was made now: the only time it is seen.
    pub admin_token: Option<Secret>,
    /// Names of the repositories that were made now.
    pub repositories: Vec<String>,
}

/// Makes the folder, the first repositories and the admin token, as far as they are missing.
pub fn init(_settings: &Settings) -> Result<InitReport, anyhow::Error> {
    anyhow::bail!("this build cannot make a data folder yet")
}
