//! The journal rows of an upstream's `/versions`: all lines that were ever seen, each with its first sight.
//!
//! They are first-seen rows of one unit. The first ones contain the first file in parts; each later one has the new
//! lines of one look.

use crate::author::Author;
use crate::error::{Error, Result};
use crate::gem::upstream::listing::Lines;
use crate::upstream::Remote;
use crate::upstream::first_seen::store::FirstSeenStore;
use serde::{Deserialize, Serialize};
use store::{Change, CommitError, Expect, Seq};
use telemetry::{Event, Millis};

/// The name of the unit, without the number of the upstream.
const UNIT: &str = "versions";
/// Maximum number of bytes of lines in a row.
const ROW_BYTES: usize = 1 << 20;

/// The content of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexRow {
    /// Lines of `/versions`, each with its newline.
    pub(crate) lines: String,
    /// Whether the upstream's own file contains them, byte for byte. If not, they have the same meaning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) relayed: bool,
    /// Whether they correct MD5s of the upstream's file that are not those of its `/info` files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) corrects: bool,
}

impl IndexRow {
    /// The source of its lines.
    pub(crate) fn of(&self) -> Lines {
        match (self.relayed, self.corrects) {
            (_, true) => Lines::Correcting,
            (true, _) => Lines::Relayed,
            (false, _) => Lines::Made,
        }
    }
}

/// A row, its number, and the first sight of its lines.
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

/// All rows of the repository's upstream, oldest first.
pub(crate) async fn read(remote: &Remote, event: &mut Event) -> Result<Vec<SeenRow>> {
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

/// Writes lines if `last` is still the last row. `whole`: earlier rows are no longer read. Returns the date of the rows
/// and the number of the last one; `None`: a concurrent write succeeded first, or the repository was removed.
pub(crate) async fn write(
    remote: &Remote,
    lines: &str,
    from: Lines,
    whole: bool,
    last: Seq,
    event: &mut Event,
) -> Result<Option<(Millis, Seq)>> {
    let (unit, repository) = (unit(remote), remote.repository.id);
    let unreadable = |source| Error::Unreadable { key: unit.clone(), source };
    let row = |(at, lines): (usize, &str)| {
        let (relayed, corrects) = (from == Lines::Relayed, from == Lines::Correcting);
        let row = IndexRow { lines: lines.to_owned(), relayed, corrects };
        let seen = serde_json::to_value(row).map_err(unreadable)?;
        // The index of an upstream has a size limit of its own.
        Ok(Change::FirstSeen { repository, unit: unit.clone(), whole: whole && at == 0, uncounted: true, seen })
    };
    let changes = parts(lines).enumerate().map(row).collect::<Result<Vec<_>>>()?;
    let expect =
        vec![Expect::RepositoryLives(repository), Expect::FirstSeenAt { repository, unit: unit.clone(), seq: last }];
    let at = remote.remotes.store.now();
    match remote.remotes.store.commit(Author::SERVER.batch(at, expect, changes), event).await {
        Ok(committed) => Ok(Some((at, committed))),
        Err(CommitError::Conflict(_)) => Ok(None),
        Err(CommitError::Error(error)) => Err(error.into()),
    }
}

/// The lines in parts of about the size of a row. No line is split.
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
