//! Removes what was cached from a former upstream of a repository.

use super::database::Cache;
use super::origin::Origin;
use super::rows::digest;
use crate::blobs::digest::Digest;
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::params;

/// The most files that are removed in one turn of the thread. Other requests are served in between.
const FILES_MAX: usize = 64;
/// The most rows about folders that are removed in one turn. They are cheaper.
const FACTS_MAX: usize = 1024;

impl Cache {
    /// Sets the upstream of a repository; `None`: it has none. Files that downloads from the former upstream still bring are not
    /// cached.
    pub(crate) fn set_upstream(&mut self, repository: RepositoryId, to: Option<Origin>) {
        self.changed_upstreams.set(repository, to);
    }

    /// Whether this is no longer the upstream of its repository.
    pub(super) fn is_former(&self, of: Origin) -> bool {
        self.changed_upstreams.is_former(of)
    }

    /// Assigns files of a former upstream to another one. The caller knows that both have the same bytes at these paths.
    pub(crate) fn take_over(&mut self, from: Origin, to: Origin, paths: &[String]) -> Result<()> {
        self.run(|database| {
            let all = database.unchecked_transaction()?;
            {
                let sql = "UPDATE file SET origin = ? WHERE repository = ? AND path = ? AND origin = ?";
                let mut statement = database.prepare_cached(sql)?;
                for path in paths {
                    statement.execute(params![to.urls, from.repository.0.cast_signed(), path, from.urls])?;
                }
            }
            all.commit()
        })?;
        self.measure_holding(from.repository)
    }

    /// Removes some of the files and facts of former upstreams of a repository. `true`: there may be more.
    pub(crate) fn drop_former(&mut self, repository: RepositoryId) -> Result<bool> {
        let Some(now) = self.changed_upstreams.of(repository) else { return Ok(false) };
        let now = now.map(|now| now.urls);
        let id = repository.0.cast_signed();
        let files: Vec<(String, Digest)> = self.run(|database| {
            let sql = "SELECT path, sha256 FROM file WHERE repository = ? AND origin IS NOT ? LIMIT ?";
            let mut statement = database.prepare_cached(sql)?;
            let rows =
                statement.query_map(params![id, now, FILES_MAX as i64], |row| Ok((row.get(0)?, digest(row, 1)?)))?;
            rows.collect()
        })?;
        self.together(|cache| files.iter().try_for_each(|(path, digest)| cache.drop_row(repository, path, digest)))?;
        let facts = self.run(|database| {
            let sql = "DELETE FROM fact WHERE number IN
                (SELECT number FROM fact WHERE member = ? AND origin IS NOT ? LIMIT ?)";
            database.prepare_cached(sql)?.execute(params![id, now, FACTS_MAX as i64])
        })?;
        self.presence.clear();
        self.give_back()?;
        self.measure_files()?;
        self.measure_presence()?;
        Ok(files.len() == FILES_MAX || facts == FACTS_MAX)
    }
}

#[cfg(test)]
mod tests;
