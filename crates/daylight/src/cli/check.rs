//! `daylight check`: whether everything that the data folder claims is so.

use super::Context;
use super::folder::Folder;

/// Check a data folder: rows, blobs, journal and segments against each other
///
/// Changes nothing. No server may be using the folder.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    #[command(flatten)]
    folder: Folder,
    /// Read every blob and compare its digest, too
    #[arg(long)]
    verify: bool,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let (_settings, _) = self.folder.load(None, context)?;
        anyhow::bail!("this build cannot check a data folder yet")
    }
}
