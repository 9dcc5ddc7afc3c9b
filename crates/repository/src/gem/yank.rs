//! Yanks a version: the journal gets a tombstone. The bytes stay until no row within the horizon refers to them.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::{facts, render_info};
use crate::gem::owners::may_withdraw;
use crate::gem::parameters::Yanked;
use crate::repository::Repository;
use crate::visible;
use crate::workers::aside;
use format::gem;
use store::{Change, CommitError, Entry, Expect, Lane, State, UnitRows, Withdrawal, Withdrawals};
use telemetry::{Event, Millis, Op};

/// Maximum number of attempts of a yank that conflicts with other changes.
const TRIES: usize = 100;

/// Yanks a version. Returns what the client is told.
pub(crate) async fn yank(
    hosted: Hosted<'_>,
    what: &Yanked,
    by: Actor<'_>,
    now: impl Fn() -> Millis,
    event: &mut Event,
) -> Result<String> {
    let Hosted { store, context, push_cache, repository, .. } = hosted;
    let Yanked { name, number, platform } = what;
    by.may_change(name)?;
    may_withdraw(hosted, name, by, event).await?;
    let (id, mut repository) = (repository.id, repository.clone());
    for _ in 0..TRIES {
        let unit = store.unit(repository.id, name, Lane::Change, event).await?;
        let (rows, seq, at) = (unit.entries.len(), unit.seq, now());
        let (seen_by, what) = (repository.clone(), what.clone());
        let withdraw = move || withdrawn(unit, &seen_by, &what, at);
        let entry = aside(&context.workers, Lane::Change, Op::IndexRender, rows, event, withdraw).await?;
        let gone = entry.clone();
        // Taken as late as possible: no other change may get a later date before this one commits.
        let at = now();
        let expect = vec![repository.unchanged(), Expect::UnitAt { repository: id, unit: name.to_owned(), seq }];
        let changes = vec![Change::Entry { repository: id, entry: Entry { changed: at, ..entry } }];
        let batch = by.batch(at, expect, changes);
        match store.commit(batch, event).await {
            Ok(_) => {
                push_cache.forget(id, name);
                let version = if platform == "ruby" { number.clone() } else { format!("{number}-{platform}") };
                let mut withdrawn = Withdrawals::default();
                withdrawn.add(id, &gone);
                let frees = store.frees(withdrawn, event).await.unwrap_or_default();
                return Ok(format!("Successfully deleted gem: {name} ({version})\n{frees}"));
            }
            Err(CommitError::Conflict(conflict))
                if matches!(conflict.0, Expect::UnitAt { .. } | Expect::NoChangeAfter(_)) => {}
            Err(CommitError::Conflict(_)) => repository = hosted.services.again(&repository, event).await?,
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(name.to_owned()))
}

/// The new entry with its line for `/versions`.
fn withdrawn(unit: UnitRows, repository: &Repository, what: &Yanked, now: Millis) -> Result<Entry> {
    let Yanked { name, number, platform } = what;
    if unit.entries.is_empty() {
        return Err(Error::NoSuchGem);
    }
    let mut after = unit.entries;
    for at in 0..after.len() {
        let package = facts(&after[at])?;
        if package.number.as_str() != number || package.platform != *platform {
            continue;
        }
        if after[at].state == State::Withdrawn {
            return Err(Error::Withdrawn(after[at].key.clone()));
        }
        after[at] = after[at].withdrawn(Withdrawal::Retracted, now);
        let md5 = gem::info::md5_hex(&render_info(visible(&after, repository.whole(now)), repository.info_format())?);
        let line = gem::versions::line(name, gem::versions::Op::Yank, number, platform, &md5);
        return Ok(Entry { line: Some(line), ..after[at].clone() });
    }
    Err(Error::NoSuchVersion(number.to_owned()))
}
