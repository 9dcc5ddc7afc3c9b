//! Reads of repositories, tokens and settings.

use super::state::Model;
use crate::error::Result;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use crate::truth::catalog::SettingReads;

impl SettingReads for Model {
    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>> {
        let there = self.repositories.iter().filter(|(_, record)| record.removed.is_none());
        let mut there: Vec<_> = there.map(|(id, record)| (*id, record.clone())).collect();
        there.sort_by(|(a, left), (b, right)| (&left.name, a).cmp(&(&right.name, b)));
        Ok(there)
    }

    fn repositories_at(&mut self) -> Result<Seq> {
        Ok(self.last_of_repositories())
    }

    fn removed_repositories(&mut self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>> {
        let removed = |record: &RepositoryRecord| record.removed.is_some() && record.name == name;
        let found = self.repositories.iter().filter(|(_, record)| removed(record));
        Ok(found.map(|(id, record)| (*id, record.clone())).collect())
    }

    fn tokens(&mut self) -> Result<Vec<TokenRecord>> {
        let mut valid: Vec<_> = self.tokens.values().filter(|record| record.revoked.is_none()).cloned().collect();
        valid.sort_by(|a, b| (&a.name, a.hash).cmp(&(&b.name, b.hash)));
        Ok(valid)
    }

    fn setting(&mut self, key: &str) -> Result<Option<serde_json::Value>> {
        Ok(self.settings.get(key).cloned())
    }

    fn settings_beginning(&mut self, prefix: &str, limit: usize) -> Result<Vec<(String, serde_json::Value)>> {
        let found = self.settings.iter().filter(|(key, _)| key.starts_with(prefix)).take(limit);
        Ok(found.map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}
