//! `daylight export`: downloads every file of a repository.

pub(crate) mod place;
pub(crate) mod tree;

use super::api::{Api, REPOSITORIES};
use super::context::Context;
use super::failure::{Failure, plain};
use super::repository_client::RepositoryClient;
use crate::formats;
use anyhow::Context as _;
use format::percent::segment;
use place::{ExportJob, Placed};
use std::path::PathBuf;
use store::disk::{Disk as _, RealDisk};
use telemetry::Tick;

/// Download the files of a repository into a folder: all gems that are not yanked, or the tree of a Maven or raw repository
///
/// Each file is compared with the SHA-256 that the server lists before it gets its name. It gets the date of its first publication, so
/// that an import keeps this date. Files that the folder has already are not downloaded again, so that an interrupted export can be
/// continued. A file with other bytes is not overwritten, and the export fails.
///
/// Maven files get a `.sha1` and a `.md5` file beside them, and the folder gets each `maven-metadata.xml` as the server answers it now.
/// The export of a Maven or raw repository needs a token of the scope `admin`. Of a remote repository the cached files are exported.
#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// Name of the repository
    repo: String,
    /// The folder; it is created if it does not exist
    dir: PathBuf,
    /// Downloads at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
}

impl Export {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let (began, jobs) = (Tick::now(), usize::from(self.jobs));
        let repository = RepositoryClient::new(&self.repo, context)?;
        std::fs::create_dir_all(&self.dir).with_context(|| format!("cannot make `{}`", self.dir.display()))?;
        let api = Api::new(context)?;
        // Who may only read is not told the format.
        let shown = api.get(&format!("{REPOSITORIES}/{}", segment(&self.repo)));
        let face = match shown.ok().as_ref().and_then(|shown| shown["format"].as_str()) {
            Some(format) => formats::named(format).with_context(|| format!("this program does not know `{format}`"))?,
            None => formats::LISTED_TO_READERS,
        };
        let job = ExportJob { api: &api, repository: &repository, jobs, folder: &self.dir };
        let (noun, all) = (face.exported, (face.export)(&job)?);
        let synced = RealDisk.open_folder(&self.dir).and_then(|folder| folder.sync());
        synced.with_context(|| format!("cannot sync `{}`", self.dir.display()))?;
        self.report(&all, noun, began, context)
    }

    fn report(&self, all: &[Placed], noun: &str, began: Tick, context: &mut Context<'_>) -> anyhow::Result<()> {
        let written = all.iter().filter(|placed| matches!(placed, Placed::Written)).count();
        let present = all.iter().filter(|placed| matches!(placed, Placed::Present)).count();
        let conflict = |placed: &Placed| {
            if let Placed::Conflict(path) = placed { Some(path.display().to_string()) } else { None }
        };
        let conflicts: Vec<String> = all.iter().filter_map(conflict).collect();
        let seconds = Tick::now().since(began) as f64 / 1e9;
        if context.flags.json {
            let all =
                serde_json::json!({ "written": written, "there": present, "other": conflicts, "seconds": seconds });
            writeln!(context.out, "{all:#}")?;
        } else {
            for path in &conflicts {
                writeln!(context.out, "not overwritten, it has other bytes: {}", plain(path))?;
            }
            writeln!(context.out, "wrote {written} {noun}, {present} were there already, in {seconds:.1} s")?;
        }
        match conflicts.len() {
            0 => Ok(()),
            many => {
                let hint = "move them away and export again, or export into another folder";
                Err(Failure::new(format!("{many} {noun} were not written"), Some(hint.to_owned())).into())
            }
        }
    }
}
