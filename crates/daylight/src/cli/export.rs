//! `daylight export`: downloads every gem of a repository.

use super::context::Context;
use super::failure::{Failure, plain};
use super::parallel;
use super::progress::Bar;
use super::repository_client::{RepositoryClient, RepositoryConnection};
use anyhow::Context as _;
use data_encoding::HEXLOWER;
use format::gem::listing::{self, Listing};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::Progress;
use store::disk::{Disk, RealDisk};
use telemetry::Tick;

/// Write every gem of a repository that is not yanked into a folder, under its file name
///
/// Each is compared with the SHA-256 that the index promises before it gets its name. The file gets the date of its first
/// publication, if `/info` tells it, so that an import keeps that date. Gems that the folder has already are not fetched again, so an
/// export that was interrupted can be continued.
#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The repository
    repo: String,
    /// The folder; made where it does not exist
    dir: PathBuf,
    /// Downloads at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
}

/// What happened to a gem.
enum ExportOutcome {
    Written,
    /// The folder had it already.
    Present,
    /// A file with its name has other bytes.
    Conflict(PathBuf),
}

impl Export {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let (began, jobs) = (Tick::now(), usize::from(self.jobs));
        let repository = RepositoryClient::new(&self.repo, context)?;
        let versions = repository.connect()?.text("versions")?;
        let off = || {
            let hint = "switch it on: daylight repo set REPO --protocol compact_index=on";
            Failure::new("the repository has no `/versions`", Some(hint.to_owned()))
        };
        let listing = Listing::read(&versions.ok_or_else(off)?)?;
        std::fs::create_dir_all(&self.dir).with_context(|| format!("cannot make `{}`", self.dir.display()))?;
        let bar = Bar::new();
        let gems = listing.gems.into_iter().filter(|(_, gem)| !gem.offered.is_empty()).map(|(name, _)| name);
        let gems: Vec<String> = gems.collect();
        let total = gems.len() as u64;
        let work = |connection: &mut RepositoryConnection, name: String| gem(connection, &name, &self.dir);
        let all = parallel::map(
            jobs,
            gems,
            || repository.connect(),
            work,
            |done| bar.show(Progress { done, total, of: "gems" }),
        );
        drop(bar);
        let all: Vec<ExportOutcome> = all?.into_iter().flatten().collect();
        sync(&self.dir)?;
        self.report(&all, began, context)
    }

    fn report(&self, all: &[ExportOutcome], began: Tick, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let written = all.iter().filter(|outcome| matches!(outcome, ExportOutcome::Written)).count();
        let present = all.iter().filter(|outcome| matches!(outcome, ExportOutcome::Present)).count();
        let conflict = |outcome: &ExportOutcome| {
            if let ExportOutcome::Conflict(path) = outcome { Some(path.display().to_string()) } else { None }
        };
        let conflicts: Vec<String> = all.iter().filter_map(conflict).collect();
        let seconds = Tick::now().since(began) as f64 / 1e9;
        if context.flags.json {
            let all =
                serde_json::json!({ "written": written, "there": present, "other": conflicts, "seconds": seconds });
            writeln!(context.out, "{all:#}")?;
        } else {
            for path in &conflicts {
                writeln!(context.out, "left alone, it has other bytes: {}", plain(path))?;
            }
            writeln!(context.out, "wrote {written} gems, {present} were there already, in {seconds:.1} s")?;
        }
        match conflicts.len() {
            0 => Ok(()),
            many => {
                let hint = "move them away and export again, or export into another folder";
                Err(Failure::new(format!("{many} gems were not written"), Some(hint.to_owned())).into())
            }
        }
    }
}

/// Downloads all versions of one gem that are in its index now.
fn gem(connection: &mut RepositoryConnection, name: &str, folder: &Path) -> Result<Vec<ExportOutcome>, anyhow::Error> {
    let info = connection.text(&format!("info/{name}"))?.unwrap_or_else(|| "---\n".to_owned());
    let sums = listing::checksums(&info).with_context(|| format!("the index of `{name}` cannot be read"))?;
    let moments = listing::moments(&info);
    let one = |(version, sum): (&String, &String)| {
        let (file_name, at) = (format!("{name}-{version}.gem"), moments.get(version));
        file(connection, &file_name, sum, at.and_then(|at| moment(*at)), folder)
    };
    sums.iter().map(one).collect()
}

/// Downloads one file. It has a temporary name until it is complete and its digest is that of the index.
fn file(
    connection: &mut RepositoryConnection,
    name: &str,
    sum: &str,
    published: Option<SystemTime>,
    folder: &Path,
) -> Result<ExportOutcome, anyhow::Error> {
    let path = folder.join(name);
    match File::open(&path) {
        Ok(present) => {
            let found = sha256(present).with_context(|| format!("cannot read `{}`", path.display()))?;
            return Ok(if found == sum { ExportOutcome::Present } else { ExportOutcome::Conflict(path) });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
    let arriving = folder.join(format!(".{name}.arriving"));
    let failed = || format!("cannot write `{}`", arriving.display());
    let (mut out, mut sha256) = (RealDisk.create(&arriving).with_context(failed)?, Sha256::new());
    let fetched = connection.fetch(&format!("gems/{name}"), &mut |piece| {
        sha256.update(piece);
        out.write(piece)
    });
    let found = HEXLOWER.encode(&sha256.finalize());
    if fetched.is_ok() && found == sum {
        out.sync().with_context(failed)?;
        if let Some(published) = published {
            File::options()
                .write(true)
                .open(&arriving)
                .and_then(|file| file.set_modified(published))
                .with_context(failed)?;
        }
        RealDisk.rename(&arriving, &path).with_context(failed)?;
        return Ok(ExportOutcome::Written);
    }
    RealDisk.unlink(&arriving).with_context(failed)?;
    fetched.with_context(|| format!("`{name}` was not fetched"))?;
    let hint = "the server's disk may be damaged: stop it, and run `daylight check --verify` there";
    let text = format!("the bytes of `{name}` have the SHA-256 {found}, and the index promises {sum}");
    Err(Failure::new(text, Some(hint.to_owned())).into())
}

/// A moment in seconds since the epoch.
fn moment(seconds: i64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn sha256(mut file: File) -> io::Result<String> {
    let (mut sha256, mut piece) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(HEXLOWER.encode(&sha256.finalize())),
            read => sha256.update(&piece[..read]),
        }
    }
}

/// Syncs the folder, so that the names survive a crash.
fn sync(folder: &Path) -> Result<(), anyhow::Error> {
    let synced = RealDisk.open_folder(folder).and_then(|folder| folder.sync());
    synced.with_context(|| format!("cannot sync `{}`", folder.display()))
}
