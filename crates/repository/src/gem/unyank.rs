//! Undoes a yank within `store.undo`, as `gem yank --undo` of RubyGems before 3 requests it. The version is published again with its bytes and
//! dates.

use crate::actor::Actor;
use crate::error::purged::Purged;
use crate::error::unrestorable::Unrestorable;
use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::change_versions::change;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::facts;
use crate::gem::owners::may_withdraw;
use crate::gem::parameters::Yanked;
use std::time::Duration;
use store::{Entry, State, Withdrawal};
use telemetry::{Event, Millis};

/// Publishes a yanked version again.
pub(crate) async fn unyank(hosted: Hosted<'_>, what: &Yanked, by: Actor<'_>, event: &mut Event) -> Result<Found> {
    let Yanked { name, number, platform } = what;
    by.may_change(name)?;
    may_withdraw(hosted, name, by, event).await?;
    let undo = hosted.store.blob_life().undo;
    let which = |entries: &[Entry], at: Millis| Ok(vec![restored(yanked(entries, what)?, undo, at)?]);
    change(hosted, name, which, by, event).await?;
    let version = if platform == "ruby" { number.clone() } else { format!("{number}-{platform}") };
    Ok(Found::Said(format!("Successfully unyanked gem: {name} ({version})")))
}

/// The entry of the version.
fn yanked<'e>(entries: &'e [Entry], what: &Yanked) -> Result<&'e Entry> {
    if entries.is_empty() {
        return Err(Error::NoSuchGem);
    }
    for entry in entries {
        let package = facts(entry)?;
        if package.number.as_str() == what.number && package.platform == what.platform {
            return Ok(entry);
        }
    }
    Err(Error::NoSuchVersion(what.number.clone()))
}

/// The entry after the yank is undone; or why it cannot be undone.
fn restored(entry: &Entry, undo: Duration, at: Millis) -> Result<Entry> {
    let key = || entry.key.clone();
    match (entry.state, &entry.withdrawal) {
        (State::Live, _) => Err(Error::NotYanked(key())),
        (State::Withdrawn, Some(Withdrawal::Purged { why })) => {
            Err(Purged::Taken { what: key(), why: why.clone() }.into())
        }
        (State::Withdrawn, Some(Withdrawal::Cleanup { .. })) => Err(Unrestorable::NotYanked(key()).into()),
        (State::Withdrawn, _) if entry.changed.plus(undo) < at => Err(Unrestorable::YankedTooLate(key()).into()),
        (State::Withdrawn, _) => Ok(entry.restored(at)),
    }
}
