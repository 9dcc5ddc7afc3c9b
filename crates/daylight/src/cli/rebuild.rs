//! `daylight rebuild`: the truth database made again from the blobs and the segments of the journal.

use super::Context;
use super::folder::Folder;

/// Make the truth database again from what else is in the data folder
///
/// For a folder whose truth database is lost or damaged. No server may be using the folder.
#[derive(Debug, clap::Args)]
pub(super) struct Rebuild {
    #[command(flatten)]
    folder: Folder,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Rebuild {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let (_settings, _) = self.folder.load(None, context)?;
        anyhow::bail!("this build cannot rebuild a data folder yet")
    }
}
