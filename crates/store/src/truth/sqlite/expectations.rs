//! Decides whether the conditions of a batch hold.

use super::connection::{Sqlite, int, seq};
use crate::error::{Error, Result};
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use crate::truth::catalog::{Batch, Expect};
use rusqlite::{OptionalExtension, Params, params};
use telemetry::Millis;

/// The first entry whose key equals a text without regard to case. The index is named, because the planner has no statistics and
/// would scan the whole repository.
pub(super) const KEY_IN_ANY_CASE: &str =
    "SELECT body FROM entry INDEXED BY entry_folded WHERE repository = ?1 AND lower(key) = lower(?2)
     ORDER BY key LIMIT 1";

/// The first other unit with a live entry whose name equals a text without regard to case.
pub(super) const UNIT_IN_OTHER_CASE: &str =
    "SELECT unit FROM unit INDEXED BY unit_folded WHERE repository = ?1 AND lower(unit) = lower(?2)
     AND unit <> ?2 AND live > 0 ORDER BY unit LIMIT 1";

impl Sqlite {
    /// The first condition of a batch that does not hold. `last` and `moment`: the number and the moment of the last change so far.
    pub(super) fn broken(&self, batch: &Batch, last: Seq, moment: Millis) -> Result<Option<Expect>> {
        for expect in batch.expect.iter().cloned().chain(batch.implied()) {
            if !self.holds(&expect, last, moment)? {
                return Ok(Some(expect));
            }
        }
        Ok(None)
    }

    fn holds(&self, expect: &Expect, last: Seq, moment: Millis) -> Result<bool> {
        Ok(match expect {
            Expect::UnitAt { repository, unit, seq } => self.unit_seq(*repository, unit)? == *seq,
            Expect::FirstSeenAt { repository, unit, seq } => self.last_first_seen(*repository, unit)? == *seq,
            Expect::KeyFree { repository, key } => {
                let sql = "SELECT 1 FROM entry WHERE repository = ? AND key = ?";
                !self.exists(sql, params![int(repository.0), key])?
            }
            Expect::KeyFreeInAnyCase { repository, key } => {
                !self.exists(KEY_IN_ANY_CASE, params![int(repository.0), key])?
            }
            Expect::UnitSpeltOneWay { repository, unit } => {
                !self.exists(UNIT_IN_OTHER_CASE, params![int(repository.0), unit])?
            }
            Expect::RepositoryLives(id) => {
                self.exists("SELECT 1 FROM repository WHERE id = ? AND lives", [int(id.0)])?
            }
            Expect::RepositoryIs { id, record } => self.record(*id)?.as_ref() == Some(&**record),
            Expect::RepositoriesAt(seq) => self.last_of_repositories()? == *seq,
            Expect::JournalAt(seq) => last == *seq,
            Expect::NoChangeAfter(at) => moment <= *at,
            Expect::RepositoryNameFree(name) => {
                !self.exists("SELECT 1 FROM repository WHERE name = ? AND lives", [name])?
            }
            Expect::TokenNameFree(name) => !self.exists("SELECT 1 FROM token WHERE name = ? AND lives", [name])?,
            Expect::BlobKept(digest) => !self.exists("SELECT 1 FROM collected WHERE sha256 = ?", [digest.0])?,
            Expect::BlobAt { digest, generation } => {
                let of = self.generations_of(digest, digest)?;
                of.first().map_or(Seq(0), |(_, generation)| *generation) == *generation
            }
            Expect::RepositoryWhole(id) => !self.exists("SELECT 1 FROM lost WHERE repository = ?", [int(id.0)])?,
            Expect::TokenIs(record) => {
                let found: Vec<TokenRecord> = self.bodies("SELECT body FROM token WHERE hash = ?", [record.hash.0])?;
                found.first() == Some(&**record)
            }
            Expect::TokenLives(hash) => self.exists("SELECT 1 FROM token WHERE hash = ? AND lives", [hash.0])?,
        })
    }

    /// The number of a unit's last change; 0: it has none.
    pub(super) fn unit_seq(&self, repository: RepositoryId, unit: &str) -> Result<Seq> {
        let failed = Error::sqlite("read a unit");
        let sql = "SELECT seq FROM unit WHERE repository = ? AND unit = ?";
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let found = statement.query_row(params![int(repository.0), unit], |row| row.get(0)).optional();
        Ok(seq(found.map_err(failed)?.unwrap_or_default()))
    }

    /// The number of a unit's last first-seen row; 0: it has none.
    fn last_first_seen(&self, id: RepositoryId, unit: &str) -> Result<Seq> {
        let sql = "SELECT seq FROM first_seen WHERE repository = ? AND unit = ? ORDER BY seq DESC LIMIT 1";
        let found: Vec<i64> = self.rows(sql, params![int(id.0), unit], |row| row.get(0))?;
        Ok(seq(found.first().copied().unwrap_or_default()))
    }

    /// The settings of a repository, also of a removed one.
    fn record(&self, id: RepositoryId) -> Result<Option<RepositoryRecord>> {
        Ok(self.bodies("SELECT body FROM repository WHERE id = ?", [int(id.0)])?.pop())
    }

    pub(super) fn exists(&self, sql: &str, values: impl Params) -> Result<bool> {
        let failed = Error::sqlite("decide an expectation");
        self.connection.prepare_cached(sql).and_then(|mut statement| statement.exists(values)).map_err(failed)
    }
}
