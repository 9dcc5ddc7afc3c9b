//! `daylight import`: uploads what another server has stored to a repository of a running server.

mod flags;
mod folder;
mod gems;
mod maven;
mod origin;
mod report;

use super::context::Context;
use super::repository_client::RepositoryClient;
use flags::{ImportFlags, NameFlags, Paths};
use telemetry::Tick;

/// Upload the packages of another server from a folder
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    #[command(subcommand)]
    verb: ImportVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ImportVerb {
    /// Upload all gems of a folder: .gem files, the data folder of a geminabox, or the base folder of a Gemstash
    ///
    /// The command detects which of them it is. Gems that the repository has with the same bytes are not uploaded again, so that an
    /// interrupted import can be continued.
    ///
    /// With a token of the scope `admin` versions keep their dates of publication: from the database of the Gemstash, from `info/NAME` of
    /// an index beside the gems, or else from the files (copy them with `cp -p`). The same import again corrects the dates of an earlier
    /// one.
    Gems {
        #[command(flatten)]
        import: ImportFlags,
        /// Upload yanked gems too; only a Gemstash has them
        #[arg(long)]
        with_yanked: bool,
    },
    /// Upload all artifacts of a folder in Maven layout: a local repository, or the files of another server
    ///
    /// A name (`GROUP:ARTIFACT`) that is imported is yours from then on: groups ask no upstream for it. So the import first decides whose
    /// each name is. What was installed on this machine is yours, as `_remote.repositories` in the folder says. What was downloaded, or is
    /// cached here of an upstream, is others': it is left out, and builds get it from there. If the folder says nothing about a name, as the
    /// folder of another server, the name is undecided, and nothing is uploaded without `--claim`. With patterns (`--claim com.acme`),
    /// names that were installed are left out, too, unless one matches. No name is sent to an upstream without `--ask-upstreams`.
    ///
    /// Files are compared with the checksum files beside them. Checksums and metadata are not uploaded, because the server makes its own.
    /// Files that the repository has with the same bytes are not uploaded again, so that an interrupted import can be continued. If it has
    /// a file of a version with other bytes, nothing of that version is uploaded: two builds are not mixed.
    ///
    /// With a token of the scope `admin` files keep their dates of publication: the oldest of the date of the file, the timestamp in the
    /// name of a snapshot build, and `lastUpdated` of the metadata. The same import again corrects the dates of an earlier one.
    Maven {
        #[command(flatten)]
        import: ImportFlags,
        #[command(flatten)]
        names: NameFlags,
        /// Upload files that do not follow Maven's layout, too: the repository has `--layout any`
        #[arg(long)]
        any_layout: bool,
    },
    /// Upload all files of a folder to a repository of raw files, each at its path
    ///
    /// Files that the repository has with the same bytes are not uploaded again, so that an interrupted import can be continued. With a token
    /// of the scope `admin` files keep their dates.
    Raw {
        #[command(flatten)]
        import: ImportFlags,
    },
}

impl Import {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let began = Tick::now();
        let (ImportVerb::Gems { import, .. } | ImportVerb::Maven { import, .. } | ImportVerb::Raw { import }) =
            &self.verb;
        let repository = RepositoryClient::new(&import.into, context)?;
        let report = match &self.verb {
            ImportVerb::Gems { import, with_yanked } => Some(gems::import(import, *with_yanked, &repository, context)?),
            ImportVerb::Maven { import, names, any_layout } => {
                let paths = if *any_layout { Paths::AnyLayout } else { Paths::Maven };
                maven::import(import, paths, Some(names), &repository, context)?
            }
            ImportVerb::Raw { import } => maven::import(import, Paths::Raw, None, &repository, context)?,
        };
        report.map_or(Ok(()), |report| report.write(began, context))
    }
}
