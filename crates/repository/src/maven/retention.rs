//! The retention of snapshots: keeps the builds that the settings of the repository name, and every file that the
//! metadata names.

use crate::actor::Actor;
use crate::author::{Author, ChangeSource};
use crate::context::Context;
use crate::error::Result;
use crate::maven::layout::MavenPath;
use crate::maven::listing::{self, ListingRow, Version};
use crate::record::Retention;
use crate::repository::Repository;
use crate::tree::Tree;
use crate::tree::folder::{self, Read};
use crate::visible;
use crate::visible::Row;
use format::maven::path::Artifact;
use format::maven::snapshot::Build;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use store::{Entry, Lane, Withdrawal};
use telemetry::{Event, Job, Millis};

/// A day, in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// The ending of a snapshot's folder.
pub(crate) const SNAPSHOT: &str = "-SNAPSHOT";

/// Number of folders that one read of the store returns.
const PAGE: usize = 1_000;

/// The author of these changes: the server itself.
const DAYLIGHT: Actor<'static> =
    Actor { name: Author::DAYLIGHT, from: ChangeSource::Server, owner: "", only: None, admin: true };

/// Starts a job that deletes surplus builds of the snapshot in `folder` after a new build. No client waits for it. If
/// too many of these jobs are running, the hourly job does the work.
pub(crate) fn after_build(tree: Tree<'_>, folder: &str) {
    let Some(retention) = tree.repository.record.retention.filter(|retention| *retention != Retention::default())
    else {
        return;
    };
    let Ok(place) = tree.context.prunes.enter() else { return };
    let (context, repository, folder) = (tree.context.clone(), tree.repository.clone(), folder.to_owned());
    tree.context.back.spawn(async move {
        prune(context, repository, &folder, retention).await;
        drop(place);
    });
}

/// Deletes the surplus builds of all snapshots of the repository. Builds age, and snapshots are released in other
/// repositories, also without new builds.
pub(crate) async fn sweep(context: Context, repository: Arc<Repository>, releases: Vec<Arc<Repository>>) {
    let Some(retention) = repository.record.retention else { return };
    let mut job = begin(&context, &repository, "");
    let tree = Tree { store: &context.store, context: &context, repository: &repository };
    let done = sweep_all(tree, retention, &releases, &mut job).await;
    end(&done, job);
}

async fn prune(context: Context, repository: Arc<Repository>, folder: &str, retention: Retention) {
    let mut job = begin(&context, &repository, folder);
    let tree = Tree { store: &context.store, context: &context, repository: &repository };
    let done = prune_one(tree, folder, retention, None, &mut job).await;
    end(&done, job);
}

fn begin(context: &Context, repository: &Repository, folder: &str) -> Job {
    let mut job = Job::begin(&context.recorder, "snapshots.prune");
    job.subject.repository = repository.record.name.as_str().into();
    job.subject.package = folder.into();
    job
}

fn end<T>(done: &Result<T>, mut job: Job) {
    if let Err(error) = done {
        (job.reason, job.detail) = (Some(error.reason()), error.to_string());
    }
    job.end_as(done);
}

/// Calls `found` with each surplus file, in its withdrawn state. If `apply`, withdraws the files.
pub(crate) async fn clean(
    tree: Tree<'_>,
    releases: &[Arc<Repository>],
    apply: bool,
    found: impl FnMut(&Entry) + Send,
    event: &mut Event,
) -> Result<()> {
    let Some(retention) = tree.repository.record.retention else { return Ok(()) };
    each_snapshot(tree, retention, releases, apply, Some(found), event).await
}

async fn sweep_all(
    tree: Tree<'_>,
    retention: Retention,
    releases: &[Arc<Repository>],
    event: &mut Event,
) -> Result<()> {
    each_snapshot(tree, retention, releases, true, None::<fn(&Entry)>, event).await
}

/// Visits each snapshot: passes the surplus files to `found`, and withdraws them if `apply`.
async fn each_snapshot(
    tree: Tree<'_>,
    retention: Retention,
    releases: &[Arc<Repository>],
    apply: bool,
    mut found: Option<impl FnMut(&Entry) + Send>,
    event: &mut Event,
) -> Result<()> {
    let (mut after, mut failed) = (String::new(), None);
    loop {
        let folders = tree.store.units(tree.repository.id, &after, PAGE, event).await?;
        for folder in folders.iter().filter(|folder| folder.ends_with(SNAPSHOT)) {
            let released = match retention.released_days {
                Some(days) => released(tree, folder, releases, event).await?.filter(|at| older(tree, *at, days)),
                None => None,
            };
            if let Some(found) = &mut found {
                let rows = tree.store.live_unit(tree.repository.id, folder, Lane::Index, event).await?.entries;
                let gone = gone(tree, &rows, retention, released, now(tree));
                gone.iter().for_each(&mut *found);
            }
            if apply {
                // A snapshot that changes constantly must not block the others.
                failed = prune_one(tree, folder, retention, released, event).await.err().or(failed);
            }
        }
        match folders.last() {
            Some(last) if folders.len() == PAGE => after.clone_from(last),
            _ => return failed.map_or(Ok(()), Err),
        }
    }
}

/// When the first of these repositories published the release of the snapshot in `folder`; `None`: none has.
async fn released(
    tree: Tree<'_>,
    folder: &str,
    releases: &[Arc<Repository>],
    event: &mut Event,
) -> Result<Option<Millis>> {
    let Some((above, version)) = folder.strip_suffix(SNAPSHOT).and_then(|folder| folder.rsplit_once('/')) else {
        return Ok(None);
    };
    let unit = listing::unit(above, &Version { version: version.to_owned() });
    let mut first: Option<Millis> = None;
    for repository in releases {
        let known = tree.store.facts(repository.id, &unit, event).await?;
        let listed: Vec<ListingRow<Version>> = ListingRow::read(&unit, known.facts)?.into_iter().collect();
        let seen = visible(&listed, repository.whole(now(tree))).map(|seen| seen.entry().lifecycle().1);
        first = seen.chain(first).min();
    }
    Ok(first)
}

/// Withdraws the surplus files of one snapshot. If it was `released`, everything published before the release is
/// surplus.
async fn prune_one(
    tree: Tree<'_>,
    folder: &str,
    retention: Retention,
    released: Option<Millis>,
    event: &mut Event,
) -> Result<u64> {
    let at = now(tree);
    let gone = |rows: &[Entry]| Ok(gone(tree, rows, retention, released, at));
    folder::change(tree, folder, Read::Live, gone, DAYLIGHT, at, event).await
}

/// The surplus files of one snapshot, in their withdrawn state.
fn gone(tree: Tree<'_>, rows: &[Entry], retention: Retention, released: Option<Millis>, at: Millis) -> Vec<Entry> {
    let seen: Vec<Entry> = visible(rows, tree.repository.whole(at)).map(|seen| seen.entry().clone()).collect();
    let surplus: Vec<&str> = surplus(&seen, retention, at).into_iter().map(|entry| entry.key.as_str()).collect();
    let over = |entry: &&Entry| {
        surplus.contains(&entry.key.as_str()) || released.is_some_and(|released| entry.published <= released)
    };
    seen.iter().filter(over).map(|entry| entry.withdrawn(Withdrawal::Pruned, at)).collect()
}

fn now(tree: Tree<'_>) -> Millis {
    tree.context.recorder.clock().now()
}

/// Whether the moment is at least this many days ago.
fn older(tree: Tree<'_>, at: Millis, days: u64) -> bool {
    at.0 <= before(now(tree), days)
}

/// The moment this many days before `now`.
fn before(now: Millis, days: u64) -> i64 {
    now.0.saturating_sub(i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY))
}

/// The surplus files of a snapshot. A file is not surplus if it belongs to one of the newest builds or to a young one,
/// or if it is the newest of its kind, which the metadata names. Files that are named after the snapshot itself replace
/// each other.
fn surplus(rows: &[Entry], retention: Retention, now: Millis) -> Vec<&Entry> {
    if (retention.builds, retention.days) == (None, None) {
        return Vec::new();
    }
    let files: Vec<(Artifact<'_>, Build<'_>, &Entry)> = rows.iter().filter_map(built).collect();
    let (mut newest, mut came) = (HashMap::new(), BTreeMap::new());
    for (artifact, build, entry) in &files {
        let newest = newest.entry((artifact.classifier, artifact.extension)).or_insert(*build);
        *newest = (*newest).max(*build);
        let came = came.entry(*build).or_insert(entry.published);
        *came = (*came).max(entry.published);
    }
    let order: HashMap<_, _> = came.keys().rev().enumerate().map(|(at, build)| (*build, at as u64)).collect();
    let kept = |artifact: &Artifact<'_>, build: &Build<'_>| {
        let young = |days: u64| came[build].0 > before(now, days);
        retention.builds.is_some_and(|builds| order[build] < builds)
            || retention.days.is_some_and(young)
            || newest[&(artifact.classifier, artifact.extension)] == *build
    };
    files.iter().filter(|(artifact, build, _)| !kept(artifact, build)).map(|(_, _, entry)| *entry).collect()
}

fn built(entry: &Entry) -> Option<(Artifact<'_>, Build<'_>, &Entry)> {
    let artifact = MavenPath::read(&entry.key).artifact()?;
    Some((artifact, artifact.build?, entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::Hashes;

    fn file(name: &str, days: i64) -> Entry {
        let key = format!("g/a/1-SNAPSHOT/a-1-{name}");
        Entry::live("g/a/1-SNAPSHOT".into(), key, Hashes::of(b""), Millis(days * DAY))
    }

    fn gone(rows: &[Entry], builds: Option<u64>, days: Option<u64>, today: i64) -> Vec<&str> {
        let gone = surplus(rows, Retention { builds, days, released_days: None }, Millis(today * DAY));
        gone.into_iter().map(|entry| entry.key.rsplit_once("a-1-").unwrap().1).collect()
    }

    #[test]
    fn the_newest_builds_stay_and_the_young_ones() {
        let rows: Vec<Entry> = (1..=4)
            .flat_map(|n| [(".jar", n), (".pom", n)])
            .map(|(ending, n)| file(&format!("2026010{n}.120000-{n}{ending}"), n))
            .chain([file("SNAPSHOT.jar", 0)])
            .collect();
        let oldest = ["20260101.120000-1.jar", "20260101.120000-1.pom"];
        assert_eq!(gone(&rows, Some(3), None, 100), oldest);
        assert_eq!(gone(&rows, None, Some(3), 4), oldest);
        assert_eq!(gone(&rows, Some(1), Some(3), 4), oldest, "what satisfies any of both stays");
        assert_eq!(gone(&rows, Some(1), None, 100).len(), 6);
        assert_eq!(gone(&rows, None, Some(0), 100).len(), 6, "the newest always stays");
        assert_eq!(gone(&rows, Some(u64::MAX), Some(u64::MAX), 100), [""; 0]);
        assert_eq!(gone(&rows, None, None, 100), [""; 0], "nobody said how much is kept");
    }

    #[test]
    fn what_the_metadata_names_stays_whatever_its_age() {
        let rows = [
            file("20260101.120000-1-sources.jar", 1),
            file("20260101.120000-1.jar", 1),
            file("20260102.120000-2.jar", 2),
        ];
        assert_eq!(gone(&rows, Some(1), None, 100), ["20260101.120000-1.jar"]);
    }
}
