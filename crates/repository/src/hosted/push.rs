//! Publishing a gem: read it, keep its bytes, then say so in the journal. Bytes first, so that no row ever points at
//! bytes that are not on disk; the acknowledgement last.

use super::Hosted;
use super::index::{facts, render_info};
use crate::work::aside;
use crate::{Error, Found, Repository, visible};
use format::gem::{self, Package};
use std::sync::Arc;
use store::{Batch, Change, CommitError, Digest, Entry, Expect, Hashes, Lane, Staged, State, UnitRows};
use telemetry::{Event, Millis, Op};

/// How often a push that lost a race for its gem's unit tries again. Each lost race means that another push of the
/// same gem won, so only a crowd pushing one gem at once can come near it.
const TRIES: usize = 100;

/// Publishes what was uploaded. `by` is the token's name; `now_set` finds the repository as it is set by now.
pub(crate) async fn push(
    hosted: Hosted<'_>,
    staged: Staged,
    (by, now): (&str, impl Fn() -> Millis),
    now_set: impl AsyncFn(&mut Event) -> Result<Arc<Repository>, Error>,
    event: &mut Event,
) -> Result<Found, Error> {
    let Hosted { store, repository, .. } = hosted;
    let package = Arc::new(read(hosted, &staged, event).await?);
    let full_name = package.full_name();
    event.subject.package.clone_from(&package.name);
    event.subject.version = full_name.clone();

    let mut unit = Arc::new(store.unit(repository.id, &package.name, Lane::Change, event).await?);
    let sha256 = staged.sha256().ok_or(store::Error::GivenUp)?;
    if let Some(said) = look(hosted, &unit, &package, sha256, event).await? {
        return Ok(said);
    }
    if store.entry(repository.id, &full_name, event).await?.is_some() {
        return Err(Error::Taken(full_name));
    }
    let hashes = staged.keep(event).await?;
    let mut repository = repository.clone();
    for _ in 0..TRIES {
        let set = Hosted { repository: &repository, ..hosted };
        let entry = enter(set, &unit, &package, &hashes, now(), event).await?;
        let batch = Batch {
            by: by.to_owned(),
            at: entry.published,
            expect: vec![
                // The line holds the MD5 of an `/info` in the form that was set.
                Expect::RepositoryIs { id: repository.id, record: Box::new(repository.record.clone()) },
                Expect::UnitAt { repository: repository.id, unit: package.name.clone(), seq: unit.seq },
                // `a` 1.0 for platform `2` and `a-1.0` 2 have one full name, and so one URL.
                Expect::KeyFree { repository: repository.id, key: full_name.clone() },
            ],
            changes: vec![Change::Entry { repository: repository.id, entry }],
        };
        match store.commit(batch, event).await {
            Ok(_) => return Ok(Found::Said(format!("Successfully registered gem: {}", spoken(&package)))),
            Err(CommitError::Conflict(conflict)) => match conflict.0 {
                Expect::UnitAt { .. } => {
                    unit = Arc::new(store.unit(repository.id, &package.name, Lane::Change, event).await?);
                }
                Expect::KeyFree { .. } => return Err(Error::Taken(full_name)),
                _ => repository = now_set(event).await?,
            },
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
        if let Some(said) = look(hosted, &unit, &package, sha256, event).await? {
            return Ok(said);
        }
    }
    Err(Error::Contended(package.name.clone()))
}

/// Takes the facts out of the package, on a thread that may take its time.
async fn read(hosted: Hosted<'_>, staged: &Staged, event: &mut Event) -> Result<Package, Error> {
    let file = staged.open()?;
    let read = move |(): &mut ()| gem::package::read(file, &gem::Limits::default());
    Ok(hosted.workers.run(Lane::Change, (Op::WorkWait, Op::PackageRead), event, read).await??)
}

/// Whether the version is there already: what to say then.
async fn look(
    hosted: Hosted<'_>,
    unit: &Arc<UnitRows>,
    package: &Arc<Package>,
    sha256: Digest,
    event: &mut Event,
) -> Result<Option<Found>, Error> {
    let (unit, package) = (unit.clone(), package.clone());
    let look = (Lane::Change, Op::FactsRead);
    aside(hosted.workers, look, unit.entries.len(), event, move || taken(&unit, &package, sha256)).await
}

/// The entry as it will be.
async fn enter(
    hosted: Hosted<'_>,
    unit: &Arc<UnitRows>,
    package: &Arc<Package>,
    hashes: &Hashes,
    now: Millis,
    event: &mut Event,
) -> Result<Entry, Error> {
    let (unit, package, hashes) = (unit.clone(), package.clone(), hashes.clone());
    let (rows, repository) = (unit.entries.len(), hosted.repository.clone());
    let enter = move || published(&unit, &repository, &package, &hashes, now);
    aside(hosted.workers, (Lane::Change, Op::IndexRender), rows, event, enter).await
}

/// Published versions are immutable: identical bytes again succeed, anything else is refused. `1.0` and `1.0.0` are
/// the same version.
fn taken(unit: &UnitRows, package: &Package, sha256: Digest) -> Result<Option<Found>, Error> {
    for entry in &unit.entries {
        let there = facts(entry)?;
        if there.platform != package.platform || there.number != package.number {
            continue;
        }
        return match entry.state {
            State::Withdrawn => Err(Error::TakenByWithdrawn(entry.key.clone())),
            State::Live if entry.hashes.sha256 == sha256 => {
                Ok(Some(Found::Said(format!("Gem was already pushed: {}", spoken(package)))))
            }
            State::Live => Err(Error::Taken(entry.key.clone())),
        };
    }
    Ok(None)
}

/// The entry as it will be, with the line that announces it: the line carries the MD5 of `/info` after this push.
fn published(
    unit: &UnitRows,
    repository: &Repository,
    package: &Package,
    hashes: &Hashes,
    now: Millis,
) -> Result<Entry, Error> {
    let mut entry = Entry {
        unit: package.name.clone(),
        key: package.full_name(),
        state: State::Live,
        published: now,
        changed: now,
        hashes: hashes.clone(),
        facts: serde_json::to_value(package)
            .map_err(|source| Error::Unreadable { key: package.full_name(), source })?,
        line: None,
    };
    let mut after = unit.entries.clone();
    after.push(entry.clone());
    let md5 = gem::info::md5_hex(&render_info(visible(&after, repository.view(now)), repository.info_format())?);
    let (number, platform) = (package.number.as_str(), &package.platform);
    entry.line = Some(gem::versions::line(&package.name, gem::versions::Op::Push, number, platform, &md5));
    Ok(entry)
}

/// The gem as `gem push` names it: `rack (3.0.0)`, `nokogiri (1.18.9-java)`.
fn spoken(package: &Package) -> String {
    match package.platform.as_str() {
        "ruby" => format!("{} ({})", package.name, package.number),
        platform => format!("{} ({}-{platform})", package.name, package.number),
    }
}
