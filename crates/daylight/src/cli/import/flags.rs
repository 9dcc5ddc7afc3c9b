//! The flags of every import.

use std::path::PathBuf;

/// The source of the import, and the repository.
#[derive(Debug, clap::Args)]
pub(super) struct ImportFlags {
    /// The folder to import
    pub(super) dir: PathBuf,
    /// Name of the hosted repository to upload to
    #[arg(long, value_name = "REPO")]
    pub(super) into: String,
    /// Uploads at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(super) jobs: u8,
}

/// Flags about the names of a Maven folder.
#[derive(Debug, clap::Args)]
pub(super) struct NameFlags {
    /// Import these names as your own, even if others have them, too: GROUP, with the groups below it, or GROUP:ARTIFACT; both may have
    /// `*`. Repeat the flag for several. Alone: all undecided names
    #[arg(long, value_name = "GROUP:ARTIFACT", num_args = 0..=1, default_missing_value = "")]
    pub(super) claim: Vec<String>,
    /// Claim all undecided names without asking
    #[arg(long, requires = "claim")]
    pub(super) yes: bool,
    /// Ask the upstreams of the repository's groups for undecided names. They learn these names
    #[arg(long)]
    pub(super) ask_upstreams: bool,
    /// Show which names would be imported, and upload nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Which files of a folder are uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paths {
    /// Files that follow Maven's layout.
    Maven,
    /// Other files, too, without the notes that clients leave.
    AnyLayout,
    /// All files, checksums included.
    Raw,
}
