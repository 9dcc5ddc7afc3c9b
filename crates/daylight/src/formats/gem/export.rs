//! Exports the gems in the index of a repository.

use crate::cli::export::place::{ExportJob, Placed, download};
use crate::cli::failure::Failure;
use crate::cli::parallel;
use crate::cli::progress::Bar;
use crate::cli::repository_client::RepositoryConnection;
use anyhow::Context as _;
use format::gem::listing::{self, Listing};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::Progress;

/// Writes the gems into a folder.
pub(super) fn export(job: &ExportJob<'_>) -> anyhow::Result<Vec<Placed>> {
    let ExportJob { repository, jobs, folder, .. } = *job;
    let versions = repository.connect()?.text("versions")?;
    let off = || {
        let hint = "of a repository of gems switch it on: daylight repo set REPO --protocol compact_index=on; to export one of Maven or \
                    of raw files, set DAYLIGHT_TOKEN to a token of the scope `admin`";
        Failure::new("the repository has no `/versions`", Some(hint.to_owned()))
    };
    let listing = Listing::read(&versions.ok_or_else(off)?)?;
    let bar = Bar::new();
    let gems = listing.gems.into_iter().filter(|(_, gem)| !gem.offered.is_empty()).map(|(name, _)| name);
    let gems: Vec<String> = gems.collect();
    let total = gems.len() as u64;
    let work = |connection: &mut RepositoryConnection, name: String| gem(connection, &name, folder);
    let show = |done| bar.show(Progress { done, total, of: "gems" });
    let all = parallel::map(jobs, gems, || repository.connect(), work, show);
    drop(bar);
    Ok(all?.into_iter().flatten().collect())
}

/// Downloads all versions of one gem that are in its index now.
fn gem(connection: &mut RepositoryConnection, name: &str, folder: &Path) -> anyhow::Result<Vec<Placed>> {
    let info = connection.text(&format!("info/{name}"))?.unwrap_or_else(|| "---\n".to_owned());
    let sums = listing::checksums(&info).with_context(|| format!("the index of `{name}` cannot be read"))?;
    let moments = listing::moments(&info);
    let one = |(version, sum): (&String, &String)| {
        let (file, published) = (format!("{name}-{version}.gem"), moments.get(version).and_then(|at| moment(*at)));
        download(folder.join(&file), sum, |sink| connection.fetch(&format!("gems/{file}"), sink).map(|_| published))
    };
    sums.iter().map(one).collect()
}

/// A moment in seconds since the epoch.
fn moment(seconds: i64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}
