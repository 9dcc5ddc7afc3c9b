//! Changes versions of one gem for an operator: cleanup, purge and restore. The change is decided from all entries of
//! the gem, and decided again if these changed meanwhile.

use crate::actor::Actor;
use crate::error::unrestorable::Unrestorable;
use crate::error::{Error, Result};
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::{facts, render_info};
use crate::repository::Repository;
use crate::visible;
use crate::workers::aside;
use format::gem;
use store::{Change, CommitError, Entry, Expect, Lane, State, UnitRows};
use telemetry::{Event, Millis, Op};

/// Maximum number of attempts of a change that conflicts with others.
const TRIES: usize = 100;

/// Changes versions of the gem `name`: `which` receives all its entries, and returns the changed ones in their new
/// state. Returns the changed entries.
pub(crate) async fn change(
    hosted: Hosted<'_>,
    name: &str,
    which: impl Fn(&[Entry], Millis) -> Result<Vec<Entry>>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Vec<Entry>> {
    let (store, id, mut repository) = (hosted.store, hosted.repository.id, hosted.repository.clone());
    for _ in 0..TRIES {
        let unit = store.unit(id, name, Lane::Change, event).await?;
        let at = store.now();
        let changed = which(&unit.entries, at)?;
        if changed.is_empty() {
            return Ok(changed);
        }
        let (rows, seq, seen_by) = (unit.entries.len() * changed.len(), unit.seq, repository.clone());
        let render = move || announced(unit, changed, &seen_by, at);
        let changed = aside(&hosted.context.workers, Lane::Change, Op::IndexRender, rows, event, render).await?;
        let entries = changed.iter().cloned().map(|entry| Change::Entry { repository: id, entry });
        let mut expect = vec![repository.unchanged(), Expect::UnitAt { repository: id, unit: name.to_owned(), seq }];
        if changed.iter().any(|entry| entry.state == State::Live) {
            // While the gem had no versions, somebody may have published it in another spelling.
            expect.push(Expect::UnitSpeltOneWay { repository: id, unit: name.to_owned() });
        }
        let batch = by.batch(at, expect, entries.collect());
        match store.commit(batch, event).await {
            Ok(_) => {
                hosted.push_cache.forget(id, name);
                return Ok(changed);
            }
            Err(CommitError::Conflict(conflict))
                if matches!(conflict.0, Expect::UnitAt { .. } | Expect::NoChangeAfter(_)) => {}
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::UnitSpeltOneWay { .. }) => {
                let there = store.unit_in_other_case(id, name, event).await?.unwrap_or_else(|| name.to_owned());
                return Err(Error::OtherCase { name: name.to_owned(), there });
            }
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::BlobKept(_)) => {
                return Err(Unrestorable::TooLate(name.to_owned()).into());
            }
            Err(CommitError::Conflict(_)) => repository = hosted.services.again(&repository, event).await?,
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(name.to_owned()))
}

/// The changed entries, each with its line for `/versions` if the version appears or disappears.
fn announced(unit: UnitRows, changed: Vec<Entry>, repository: &Repository, at: Millis) -> Result<Vec<Entry>> {
    let mut after = unit.entries;
    let mut announced = Vec::with_capacity(changed.len());
    for mut entry in changed {
        let Some(place) = after.iter().position(|before| before.key == entry.key) else { continue };
        let comes_or_goes = after[place].state != entry.state;
        after[place] = entry.clone();
        if comes_or_goes {
            let package = facts(&entry)?;
            let seen = visible(&after, repository.whole(at));
            let md5 = gem::info::md5_hex(&render_info(seen, repository.info_format())?);
            let op = match entry.state {
                State::Live => gem::versions::Op::Push,
                State::Withdrawn => gem::versions::Op::Yank,
            };
            let (number, platform) = (package.number.as_str(), &package.platform);
            entry.line = Some(gem::versions::line(&package.name, op, number, platform, &md5));
        }
        announced.push(entry);
    }
    Ok(announced)
}
