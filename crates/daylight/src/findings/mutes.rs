//! Mutes: findings that somebody decided not to show, until a moment. Each is a setting, so the journal has who made it, and why.

use crate::app::App;
use crate::config::{self, duration};
use crate::error::{Error, Result};
use insight::{FindingState, Mute};
use repository::{Author, moment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use store::{Change, CommitError};
use telemetry::{Event, Millis, is_unseen};

/// The beginning of the keys of mutes. The id of the finding follows.
const PREFIX: &str = "findings.mute/";
/// The longest reason, in characters.
const WHY_MAX: usize = 500;
/// The longest mute.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// The most mutes. Ended ones are removed by the next one.
const MUTES_MAX: usize = 1_000;

/// The body of a POST.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(crate) struct NewMute {
    /// Why it is not to be shown, at most 500 characters.
    #[schemars(length(min = 1, max = 500))]
    why: String,
    /// Until when, at most 366 days from now: an ISO 8601 moment, or a time from now such as `14d`.
    until: String,
}

/// A mute in the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    why: String,
    until: Millis,
    by: String,
}

/// Tells the findings which of them are muted.
pub(crate) async fn tell(app: &App, event: &mut Event) -> Result<()> {
    let now = app.clock.now();
    let mut mutes = stored(app, event).await?;
    mutes.retain(|mute| mute.until > now);
    app.findings.mute(mutes);
    Ok(())
}

/// Mutes the finding `id`. Replaces a mute that it has.
pub(crate) async fn add(app: &App, id: &str, new: NewMute, by: Author<'_>, event: &mut Event) -> Result<Value> {
    let now = app.clock.now();
    let NewMute { why, until } = new;
    let (why, until) = (reason(&why)?, end(&until, now)?);
    let states = [FindingState::Pending, FindingState::Open, FindingState::Closed, FindingState::Muted];
    let known = app.findings.list(&states);
    if !known.iter().any(|finding| finding.id == id) {
        let ids = known.iter().flat_map(|finding| finding.folds.iter().chain([&finding.id])).map(String::as_str);
        let is_folded = ids.clone().any(|known| known == id);
        if !is_folded {
            return Err(Error::NoSuchFinding { id: Event::text(id), nearest: config::nearest(id, ids) });
        }
    }
    let all = stored(app, event).await?;
    let (live, ended): (Vec<Mute>, Vec<Mute>) =
        all.into_iter().filter(|mute| mute.id != id).partition(|mute| mute.until > now);
    if live.len() >= MUTES_MAX {
        return Err(Error::Input(format!("{MUTES_MAX} findings are muted, which is the most")));
    }
    let value = json!(Stored { why: why.clone(), until, by: by.by.to_owned() });
    let ends = ended.iter().map(|mute| Change::Setting { key: key(&mute.id), value: Value::Null });
    let changes = ends.chain([Change::Setting { key: key(id), value }]).collect();
    commit(app, changes, by, event).await?;
    Ok(json!({ "id": id, "why": why, "until": until.to_string(), "by": by.by }))
}

/// Shows a finding again that is muted.
pub(crate) async fn remove(app: &App, id: &str, by: Author<'_>, event: &mut Event) -> Result<Value> {
    let now = app.clock.now();
    let mutes = stored(app, event).await?;
    let live = || mutes.iter().filter(|mute| mute.until > now);
    if !live().any(|mute| mute.id == id) {
        let nearest = config::nearest(id, live().map(|mute| mute.id.as_str()));
        return Err(Error::NotMuted { id: Event::text(id), nearest });
    }
    commit(app, vec![Change::Setting { key: key(id), value: Value::Null }], by, event).await?;
    Ok(Value::Null)
}

fn key(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// All mutes, also ended ones.
async fn stored(app: &App, event: &mut Event) -> Result<Vec<Mute>> {
    let settings = app.store.settings_beginning(PREFIX, 2 * MUTES_MAX, event).await?;
    let read = |(key, value): (String, Value)| {
        let Stored { why, until, by } = serde_json::from_value(value).ok()?;
        Some(Mute { id: key.strip_prefix(PREFIX)?.to_owned(), why, until, by })
    };
    Ok(settings.into_iter().filter_map(read).collect())
}

async fn commit(app: &App, changes: Vec<Change>, by: Author<'_>, event: &mut Event) -> Result<()> {
    match app.store.commit(by.batch(app.store.now(), Vec::new(), changes), event).await {
        Ok(_) => {}
        Err(CommitError::Conflict(_)) => return Err(repository::Error::Contended("the mutes".to_owned()).into()),
        Err(CommitError::Error(error)) => return Err(error.into()),
    }
    tell(app, event).await?;
    app.findings.wake();
    Ok(())
}

fn reason(why: &str) -> Result<String> {
    let why = why.trim();
    if why.is_empty() || why.chars().count() > WHY_MAX || why.contains(is_unseen) {
        return Err(Error::Input(format!("`why` is a text of 1 to {WHY_MAX} characters without control characters")));
    }
    Ok(why.to_owned())
}

fn end(until: &str, now: Millis) -> Result<Millis> {
    let at = match duration::parse(until.strip_prefix('-').unwrap_or(until)) {
        // A time before now.
        Ok(_) if until.starts_with('-') => now,
        Ok(time) => now.plus(time),
        Err(_) => moment::read(until).map_err(|_| {
            let until = Event::text(until);
            Error::Input(format!(
                "`until` is a moment such as `2026-12-01`, or a time from now such as `14d`, not `{until}`"
            ))
        })?,
    };
    if at <= now {
        return Err(Error::Input(format!("`until` has passed: it is {now}")));
    }
    if at > now.plus(LONGEST) {
        return Err(Error::Input("`until` is more than 366 days away".to_owned()));
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mute_has_a_reason_and_ends_within_a_year() {
        let now = Millis(1_793_534_400_000);
        let ends = |until: &str| end(until, now).map(|at| at.to_string()).unwrap_or_else(|error| error.to_string());
        assert_eq!(ends("14d"), "2026-11-15T12:00:00.000Z");
        assert_eq!(ends("2026-12-01"), "2026-12-01T00:00:00.000Z");
        assert_eq!(ends("2026-11-01T12:00:00Z"), "`until` has passed: it is 2026-11-01T12:00:00.000Z");
        assert_eq!(ends("-1h"), "`until` has passed: it is 2026-11-01T12:00:00.000Z");
        assert_eq!(ends("0s"), "`until` has passed: it is 2026-11-01T12:00:00.000Z");
        assert_eq!(ends("367d"), "`until` is more than 366 days away");
        assert!(ends("soon").contains("not `soon`"));
        assert_eq!(reason(" the disk comes on Monday ").unwrap(), "the disk comes on Monday");
        for wrong in ["", "  ", "a\nb", "a\u{202e}b", &"x".repeat(WHY_MAX + 1)] {
            assert!(reason(wrong).is_err(), "{wrong:?}");
        }
        assert!(reason(&"é".repeat(WHY_MAX)).is_ok());
    }
}
