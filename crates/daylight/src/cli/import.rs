//! `daylight import`: uploads what another server has stored to a repository of a running server.

mod flags;
mod folder;
mod gems;
mod maven;
mod origin;
mod report;

use super::context::Context;
use super::repository_client::RepositoryClient;
use flags::ImportFlags;
use telemetry::Tick;

/// Bring in what another server keeps
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    #[command(subcommand)]
    verb: ImportVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ImportVerb {
    /// Upload all gems of a folder: .gem files, the data of a geminabox, or of a Gemstash
    ///
    /// Which of them it is, is seen. What is there already with the same bytes is not uploaded again, so an import that
    /// was interrupted goes on where it was when it is started again.
    ///
    /// With a token of the scope `admin` versions stay as old as they were: their dates come from the database of the Gemstash, from
    /// `info/NAME` of an index beside the gems, or from the files (copy them with `cp -p`). The same import again corrects
    /// the dates of what an earlier one brought.
    Gems {
        #[command(flatten)]
        import: ImportFlags,
        /// Bring back what was yanked, too (a Gemstash keeps it)
        #[arg(long)]
        with_yanked: bool,
    },
    /// Upload all artifacts of a folder laid out as a Maven repository: a local repository, or the files of another server
    ///
    /// Files are held against the checksums beside them. Checksums and metadata are not uploaded: the server makes its own.
    /// What is there already with the same bytes is not uploaded again, so an import that was interrupted goes on where it
    /// was when it is started again.
    ///
    /// With a token of the scope `admin` files stay as old as they were: as their own date says, the timestamp in the name of a
    /// build, or `lastUpdated` of the metadata, whichever is the oldest. The same import again corrects the dates of what an
    /// earlier one brought.
    Maven {
        #[command(flatten)]
        import: ImportFlags,
        /// Upload files that do not follow Maven's layout, too: the repository has `--layout any`
        #[arg(long)]
        any_layout: bool,
    },
}

impl Import {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let began = Tick::now();
        let (ImportVerb::Gems { import, .. } | ImportVerb::Maven { import, .. }) = &self.verb;
        let repository = RepositoryClient::new(&import.into, context)?;
        let report = match &self.verb {
            ImportVerb::Gems { import, with_yanked } => gems::import(import, *with_yanked, &repository, context)?,
            ImportVerb::Maven { import, any_layout } => maven::import(import, *any_layout, &repository, context)?,
        };
        report.write(began, context)
    }
}
