//! The rows of the journal that keep an upstream's `/versions`: all lines that were ever seen, each with the moment at which it was first
//! seen.
//!
//! They are first-seen rows of one unit. The first ones have the first body, in parts; each later one has what one look brought.

use crate::author::Author;
use crate::error::Error;
use crate::gem::upstream::listing::Lines;
use crate::upstream::Remote;
use crate::upstream::first_seen::store::FirstSeenStore;
use serde::{Deserialize, Serialize};
use store::{Change, CommitError, Expect, Seq};
use telemetry::{Event, Millis};

/// The name of the unit, before the number of the upstream.
const UNIT: &str = "versions";
/// Most bytes of lines in a row.
const ROW_BYTES: usize = 1 << 20;

/// What a row says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexRow {
    /// Lines of `/versions`, each with its newline.
    pub(crate) lines: String,
    /// Whether they are what the upstream's own file had, or gained, byte for byte. If not, they say the same in other lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) relayed: bool,
    /// Whether they say another MD5 than the upstream's file does, which is not that of the `/info` that the upstream has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) corrects: bool,
}

impl IndexRow {
    /// Where its lines come from.
    pub(crate) fn of(&self) -> Lines {
        match (self.relayed, self.corrects) {
            (_, true) => Lines::Correcting,
            (true, _) => Lines::Relayed,
            (false, _) => Lines::Made,
        }
    }
}

/// A row, its number, and when its lines were first seen.
#[derive(Debug)]
pub(crate) struct SeenRow {
    pub(crate) seq: Seq,
    pub(crate) at: Millis,
    pub(crate) row: IndexRow,
}

/// The unit of these rows.
pub(crate) fn unit(remote: &Remote) -> String {
    FirstSeenStore::of(remote).units.unit(UNIT)
}

/// All rows of the repository's upstream, the oldest first.
pub(crate) async fn read(remote: &Remote, event: &mut Event) -> Result<Vec<SeenRow>, Error> {
    let unit = unit(remote);
    let parse = |rows: Vec<store::FirstSeen>| -> Result<Vec<SeenRow>, serde_json::Error> {
        let parse = |row: store::FirstSeen| {
            Ok(SeenRow { seq: row.seq, at: row.at, row: serde_json::from_str(row.seen.get())? })
        };
        rows.into_iter().map(parse).collect()
    };
    let store = &remote.remotes.store;
    let read = store.first_seen(remote.repository.id, &unit, None, parse, event).await?;
    read.map_err(|source| Error::Unreadable { key: unit, source })
}

/// Writes lines, if `last` still is the last row. `whole`: no row before them is read any more. The moment of the rows and the number of
/// the last one; `None`: somebody else was quicker, or the repository was removed.
pub(crate) async fn write(
    remote: &Remote,
    lines: &str,
    from: Lines,
    whole: bool,
    last: Seq,
    event: &mut Event,
) -> Result<Option<(Millis, Seq)>, Error> {
    let (unit, repository) = (unit(remote), remote.repository.id);
    let unreadable = |source| Error::Unreadable { key: unit.clone(), source };
    let row = |(at, lines): (usize, &str)| {
        let (relayed, corrects) = (from == Lines::Relayed, from == Lines::Correcting);
        let row = IndexRow { lines: lines.to_owned(), relayed, corrects };
        let seen = serde_json::to_value(row).map_err(unreadable)?;
        // The upstream's index is limited by its own size.
        Ok(Change::FirstSeen { repository, unit: unit.clone(), whole: whole && at == 0, uncounted: true, seen })
    };
    let changes = parts(lines).enumerate().map(row).collect::<Result<Vec<_>, Error>>()?;
    let expect =
        vec![Expect::RepositoryLives(repository), Expect::FirstSeenAt { repository, unit: unit.clone(), seq: last }];
    let at = remote.remotes.store.now();
    match remote.remotes.store.commit(Author::SERVER.batch(at, expect, changes), event).await {
        Ok(committed) => Ok(Some((at, committed))),
        Err(CommitError::Conflict(_)) => Ok(None),
        Err(CommitError::Error(error)) => Err(error.into()),
    }
}

/// The lines in parts of about a row's size, each of whole lines.
fn parts(mut lines: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = match lines.as_bytes().get(ROW_BYTES..) {
            None => lines.len(),
            Some(rest) => rest.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| ROW_BYTES + at + 1),
        };
        let (part, rest) = lines.split_at_checked(end)?;
        lines = rest;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_lines_and_come_to_everything() {
        let lines = "rack 3.0 0123456789abcdef0123456789abcdef\n".repeat(60_000);
        let parts: Vec<&str> = parts(&lines).collect();
        assert!(parts.len() > 1 && parts.iter().all(|part| part.ends_with('\n') && part.len() < ROW_BYTES + 100));
        assert!(parts.concat() == lines);
        assert_eq!(super::parts("").count(), 0);
    }
}
