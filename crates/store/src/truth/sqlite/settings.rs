//! Reads of repositories, tokens and settings.

use super::connection::{Sqlite, parse, seq};
use crate::error::Result;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use crate::truth::catalog::SettingReads;
use rusqlite::Params;

impl SettingReads for Sqlite {
    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>> {
        self.records("SELECT id, body FROM repository WHERE lives ORDER BY name, id", [])
    }

    fn repositories_at(&mut self) -> Result<Seq> {
        self.last_of_repositories()
    }

    fn removed_repositories(&mut self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>> {
        self.records("SELECT id, body FROM repository WHERE name = ? AND NOT lives ORDER BY id", [name])
    }

    fn tokens(&mut self) -> Result<Vec<TokenRecord>> {
        self.bodies("SELECT body FROM token WHERE lives ORDER BY name, hash", [])
    }

    fn setting(&mut self, key: &str) -> Result<Option<serde_json::Value>> {
        Ok(self.bodies("SELECT body FROM setting WHERE key = ?", [key])?.pop())
    }

    fn settings_beginning(&mut self, prefix: &str, limit: usize) -> Result<Vec<(String, serde_json::Value)>> {
        let sql =
            "SELECT key, body FROM setting WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 ORDER BY key LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.rows(sql, (prefix, limit), |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        rows.into_iter().map(|(key, body)| Ok((key, parse(&body)?))).collect()
    }
}

impl Sqlite {
    /// The number of the last change of any repository.
    pub(super) fn last_of_repositories(&self) -> Result<Seq> {
        let found: Vec<i64> = self.rows("SELECT seq FROM repository_changes", [], |row| row.get(0))?;
        Ok(seq(found.first().copied().unwrap_or_default()))
    }

    fn records(&self, sql: &str, values: impl Params) -> Result<Vec<(RepositoryId, RepositoryRecord)>> {
        let rows = self.rows(sql, values, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        rows.iter().map(|(id, body)| Ok((RepositoryId(id.cast_unsigned()), parse(body)?))).collect()
    }
}
