//! Reads of repositories, tokens and settings.

use super::connection::{Sqlite, parse};
use crate::catalog::SettingReads;
use crate::error::Error;
use crate::record::{RepositoryId, RepositoryRecord};
use crate::token::TokenRecord;
use rusqlite::Params;

impl SettingReads for Sqlite {
    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        self.records("SELECT id, body FROM repository WHERE lives ORDER BY name, id", [])
    }

    fn removed_repositories(&mut self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        self.records("SELECT id, body FROM repository WHERE name = ? AND NOT lives ORDER BY id", [name])
    }

    fn tokens(&mut self) -> Result<Vec<TokenRecord>, Error> {
        self.bodies("SELECT body FROM token WHERE lives ORDER BY name, hash", [])
    }

    fn setting(&mut self, key: &str) -> Result<Option<serde_json::Value>, Error> {
        Ok(self.bodies("SELECT body FROM setting WHERE key = ?", [key])?.pop())
    }
}

impl Sqlite {
    fn records(&self, sql: &str, values: impl Params) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        let rows = self.rows(sql, values, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        rows.iter().map(|(id, body)| Ok((RepositoryId(id.cast_unsigned()), parse(body)?))).collect()
    }
}
