//! Whether the truth database can be read, for the readiness probe: the errors that reads met, and a look of its own.

use crate::error::{Error, Result};
use crate::truth::catalog::JournalReads as _;
use crate::truth::sqlite::Sqlite;
use rusqlite::ErrorCode;
use std::path::Path;
use std::sync::Mutex;
use telemetry::{Tick, lock};

/// A look is valid for this long, so that probes cost nothing however often they come.
const LOOK_NANOS: u64 = 2_000_000_000;

/// Why the truth database cannot be read. Nothing here names a path, because anybody may read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Some page of it is damaged. It stays so until a restart.
    #[error("it is damaged")]
    Damaged,
    /// Its file is missing, or the server may not open it.
    #[error("its file cannot be opened")]
    Closed,
    /// The operating system cannot read it.
    #[error("the disk reports errors")]
    Failing,
}

impl Unreadable {
    fn of(error: &Error) -> Option<Self> {
        let Error::Sqlite { source, .. } = error else { return None };
        match source.sqlite_error_code()? {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(Self::Damaged),
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
                Some(Self::Closed)
            }
            ErrorCode::SystemIoFailure if !error.is_disk_full() => Some(Self::Failing),
            _ => None,
        }
    }
}

/// The results of reads and looks.
#[derive(Debug, Default)]
pub(crate) struct Readability {
    /// The last error that a read met. Damage is never forgotten, because only a read of the same page would meet it again.
    met: Mutex<Option<Unreadable>>,
    /// The last look, and what it found.
    look: Mutex<Option<(Tick, Option<Unreadable>)>>,
}

impl Readability {
    /// Takes note of the result of a read.
    pub(crate) fn note<T>(&self, read: &Result<T>) {
        if let Some(why) = read.as_ref().err().and_then(Unreadable::of) {
            let mut met = lock(&self.met);
            *met = Some(met.filter(|met| *met == Unreadable::Damaged).unwrap_or(why));
            *lock(&self.look) = None;
        }
    }

    /// The state without another look: damage that a read met, or the result of a recent look.
    pub(crate) fn known(&self) -> Option<Option<Unreadable>> {
        let damage = lock(&self.met).filter(|met| *met == Unreadable::Damaged);
        let recent = |(at, _): &(Tick, _)| Tick::now().since(*at) < LOOK_NANOS;
        damage.map(Some).or_else(|| lock(&self.look).filter(recent).map(|(_, found)| found))
    }

    /// Opens the database at `path` as if for the first time, and reads its counter and its last row.
    pub(crate) fn look(&self, vfs: Option<&str>, path: &Path) -> Option<Unreadable> {
        let read = Sqlite::reader_by(vfs, path).and_then(|mut truth| truth.last().and_then(|_| truth.last_moment()));
        // A row in an unknown form is no failure to read it.
        let found = read.as_ref().err().and_then(Unreadable::of);
        *lock(&self.met) = found.filter(|found| *found == Unreadable::Damaged);
        *lock(&self.look) = Some((Tick::now(), found));
        found
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "damage")]
mod tests {
    use super::*;
    use crate::truth::suite;

    #[test]
    fn a_missing_a_damaged_and_a_sound_database_are_told_apart_and_damage_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        let readability = Readability::default();
        assert_eq!(readability.look(None, &path), Some(Unreadable::Closed));
        let mut truth = Sqlite::writer(&path).unwrap();
        suite::made(&mut truth, vec![suite::publish("rack", 1)]);
        drop(truth);
        assert_eq!(readability.look(None, &path), None);
        assert_eq!(readability.known(), Some(None));
        let sound = std::fs::read(&path).unwrap();
        std::fs::write(&path, "no database".repeat(1000)).unwrap();
        let read = Sqlite::reader(&path).and_then(|mut truth| truth.last());
        readability.note(&read);
        assert_eq!(readability.known(), Some(Some(Unreadable::Damaged)));
        std::fs::write(&path, sound).unwrap();
        assert_eq!(readability.known(), Some(Some(Unreadable::Damaged)), "a look may miss the damaged page");
    }
}
