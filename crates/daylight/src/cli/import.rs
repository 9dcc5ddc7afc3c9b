//! `daylight import`: what another server keeps, brought into a repository of a running one.

mod folder;
mod gems;
mod maven;
mod outcome;

use super::Context;
use super::api::Server;
use std::path::PathBuf;
use telemetry::Tick;

/// Bring in what another server keeps
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    server: Server,
    /// One JSON object instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Upload all gems of a folder: .gem files, the data of a geminabox, or of a Gemstash
    ///
    /// Which of them it is, is seen. What is there already with the same bytes is not uploaded again, so an import that
    /// was interrupted goes on where it was when it is started again.
    Gems {
        #[command(flatten)]
        way: Way,
        /// Bring back what was yanked, too (a Gemstash keeps it)
        #[arg(long)]
        with_yanked: bool,
    },
    /// Upload all artifacts of a folder laid out as a Maven repository: a local repository, or the files of another server
    ///
    /// Files are held against the checksums beside them. Checksums and metadata are not uploaded: the server makes its own.
    /// What is there already with the same bytes is not uploaded again, so an import that was interrupted goes on where it
    /// was when it is started again.
    Maven {
        #[command(flatten)]
        way: Way,
    },
}

/// From where to where.
#[derive(Debug, clap::Args)]
struct Way {
    /// The folder
    dir: PathBuf,
    /// The repository that they come into
    #[arg(long, value_name = "REPO")]
    into: String,
    /// Uploads at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
}

impl Import {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let began = Tick::now();
        let (Verb::Gems { way, .. } | Verb::Maven { way }) = &self.verb;
        let site = self.server.site(&way.into, context)?;
        let brought = match &self.verb {
            Verb::Gems { way, with_yanked } => gems::bring(way, *with_yanked, &site, context)?,
            Verb::Maven { way } => maven::bring(way, &site, context)?,
        };
        outcome::report(brought, began, self.json, context)
    }
}
