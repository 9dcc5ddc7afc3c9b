//! The decision whether the clock of the machine or the moments of the rows are right.
//!
//! If the clock is right, the rows of the future count as of the moment of the decision. Rows never change, so rows of one batch say
//! it: a first one redates the rows before it, and the others are the present states of what these changed, with the new moments.
//! Where an index has the dates, the format adds its lines.

use crate::author::Author;
use crate::error::{Error, Result};
use crate::face::Face;
use crate::format::Format;
use crate::formats::face;
use crate::record::RepositoryRecord;
use crate::services::{Served, Services};
use serde_json::Value;
use std::collections::BTreeMap;
use store::{Change, ClockDoubt, CommitError, Digest, Expect, RepositoryId, RepositoryKind, Seq};
use telemetry::{Event, Millis, give_way};

/// Number of rows that one read of the journal returns.
const PAGE: usize = 1_000;
/// Maximum number of attempts if others change something meanwhile.
const TRIES: usize = 100;

/// What the clock and the journal say.
#[derive(Debug, Clone, Copy)]
pub struct ClockReport {
    /// The clock of the machine.
    pub clock: Millis,
    /// The moment of the last change. The smallest one: there is none.
    pub last_change: Millis,
    /// Why nothing is written, if that is because of the clock.
    pub doubt: Option<ClockDoubt>,
    /// Milliseconds that are added to the time of the clock, because somebody decided that it is wrong.
    pub correction_ms: i64,
    /// Rows that are later than the clock.
    pub rows_of_the_future: u64,
}

/// The subject of a change. The last change of each has its present state.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Entry(RepositoryId, String),
    Unit(RepositoryId, String),
    Repository(RepositoryId),
    Token(Digest),
}

/// The present state of a subject, with the author and the source of its last change.
struct State {
    change: Change,
    author: Option<(String, String)>,
}

type States = BTreeMap<Subject, State>;

impl Subject {
    fn of(change: &Change) -> Option<Self> {
        Some(match change {
            Change::Entry { repository, entry } => Self::Entry(*repository, entry.key.clone()),
            Change::Unit { repository, unit, .. } => Self::Unit(*repository, unit.clone()),
            Change::Repository { id, .. } => Self::Repository(*id),
            Change::Token { record } => Self::Token(record.hash),
            Change::FirstSeen { .. } | Change::Setting { .. } | Change::Redate { .. } | Change::Collected { .. } => {
                return None;
            }
        })
    }
}

/// What the clock and the journal say now.
pub async fn clock_report(services: &Services, event: &mut Event) -> Result<ClockReport> {
    let (store, clock) = (&services.store, services.store.machine_now());
    let (last, until) = (store.last(), store.last_change_by(clock, event).await?);
    Ok(ClockReport {
        clock,
        last_change: store.changed_at(last, event).await?,
        doubt: store.clock_doubt(),
        correction_ms: store.clock_correction(),
        rows_of_the_future: last.0.saturating_sub(until.0),
    })
}

/// Believes the clock of the machine: the rows of the future count as of now.
pub async fn believe_clock(services: &Services, by: Author<'_>, event: &mut Event) -> Result<()> {
    for _ in 0..TRIES {
        let (at, last) = (services.store.machine_now(), services.store.last());
        let until = services.store.last_change_by(at, event).await?;
        let mut batch = by.batch(at, vec![Expect::JournalAt(last)], Vec::new());
        if until < last {
            batch.changes.push(Change::Redate { first: Seq(until.0 + 1) });
            batch.authors.push(None);
            for State { change, author } in redated(services, until, at, event).await?.into_values() {
                batch.changes.push(change);
                batch.authors.push(author);
            }
        } else {
            services.store.believe_clock();
        }
        batch.changes.extend(clock_setting(services, event).await?);
        if batch.changes.is_empty() {
            return Ok(());
        }
        match services.store.commit(batch, event).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended("the journal".to_owned()))
}

/// Believes the moments of the rows: time goes on from the last of them, and the clock of the machine counts as wrong.
pub async fn believe_rows(services: &Services, by: Author<'_>, event: &mut Event) -> Result<()> {
    let setting = services.store.believe_rows();
    let cleared = matches!(&setting, Change::Setting { value: Value::Null, .. });
    let changes = if cleared { clock_setting(services, event).await? } else { Some(setting) };
    if changes.is_none() {
        return Ok(());
    }
    let batch = by.batch(services.store.now(), Vec::new(), changes.into_iter().collect());
    match services.store.commit(batch, event).await {
        Ok(_) => Ok(()),
        Err(CommitError::Conflict(_)) => Err(Error::Contended("the journal".to_owned())),
        Err(CommitError::Error(error)) => Err(error.into()),
    }
}

/// The change that ends an earlier decision for the rows, if there is one.
async fn clock_setting(services: &Services, event: &mut Event) -> Result<Option<Change>> {
    let Change::Setting { key, .. } = services.store.clock_setting() else { return Ok(None) };
    let known = services.store.setting(&key, event).await?;
    Ok(known.map(|_| Change::Setting { key, value: Value::Null }))
}

/// The present states of everything that was changed after `until`, with `at` in place of later moments.
async fn redated(services: &Services, until: Seq, at: Millis, event: &mut Event) -> Result<States> {
    let (mut states, mut after) = (States::new(), until);
    loop {
        let rows = services.store.journal(after, PAGE, event).await?;
        let Some(last) = rows.last() else { break };
        after = last.seq;
        for row in rows {
            if let Some(subject) = Subject::of(&row.change) {
                states.insert(subject, State { change: row.change, author: Some((row.by, row.from)) });
            }
        }
    }
    for state in states.values_mut() {
        give_way();
        date(&mut state.change, at)?;
    }
    let known = services.table(event).await?;
    let hosted = known.by_name.values().filter(|one| one.record.kind == RepositoryKind::Hosted);
    for repository in hosted {
        let of = |state: &State| match &state.change {
            Change::Entry { repository: id, entry } if *id == repository.id => Some(entry.clone()),
            _ => None,
        };
        let changed = states.values().filter_map(of).collect();
        let served = Served { services, repository, settings: &known.stamp };
        for entry in face!(repository.format, redated(served, changed, at, event).await)? {
            let subject = Subject::Entry(repository.id, entry.key.clone());
            let change = Change::Entry { repository: repository.id, entry };
            let author = states.remove(&subject).and_then(|state| state.author);
            states.insert(subject, State { change, author });
        }
    }
    Ok(states)
}

/// Replaces the moments after `at` in a change, also in settings and facts, which the store does not read. Its index line was written before.
fn date(change: &mut Change, at: Millis) -> Result<()> {
    change.date_by(at);
    match change {
        Change::Entry { entry, .. } => entry.line = None,
        Change::Unit { facts, .. } => {
            for moment in Format::ALL.iter().flat_map(|format| format.rules().moments()) {
                if let Some(value) = facts.get_mut(*moment)
                    && value.as_i64().is_some_and(|value| value > at.0)
                {
                    *value = at.0.into();
                }
            }
        }
        Change::Repository { record, .. } => {
            let mut read = RepositoryRecord::read(record)?;
            read.members_since.iter_mut().for_each(|since| *since = (*since).min(at));
            for exception in read.policy.iter_mut().flat_map(|policy| &mut policy.exceptions) {
                exception.made = exception.made.min(at);
                exception.since = exception.since.map(|since| since.min(at));
            }
            *record = read.stored()?;
        }
        _ => {}
    }
    Ok(())
}
