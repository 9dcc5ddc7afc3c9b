//! Which upstream it was that gave what is kept: what another gave, before a repository was turned to this one, is not its.

use super::Cache;
use super::files::digest;
use crate::{Digest, Error, RepositoryId};
use rusqlite::params;
use sha2::{Digest as _, Sha256};

/// Most files that go in one turn: others wait for theirs meanwhile.
const FILES_MAX: usize = 64;
/// The same of facts, which are rows and no more.
const FACTS_MAX: usize = 1024;

/// A repository as it stands for the upstream at a certain URL. Nothing that is remembered of it with another is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Whose.
    pub repository: RepositoryId,
    /// A number that stands for the URL.
    pub(super) urls: i64,
}

impl Origin {
    /// What stands for the URLs wherever it is written down.
    pub fn number(self) -> i64 {
        self.urls
    }

    /// That of a repository which is asked at these URLs. The first says which upstream it is: mirrors have the same files.
    pub fn new(repository: RepositoryId, urls: &[String]) -> Self {
        let mut hashing = Sha256::new();
        if let Some(url) = urls.first() {
            hashing.update((url.len() as u64).to_be_bytes());
            hashing.update(url);
        }
        let digest: [u8; 32] = hashing.finalize().into();
        Self { repository, urls: i64::from_be_bytes(std::array::from_fn(|at| digest[at])) }
    }
}

impl Cache {
    /// From now on a repository is turned to another upstream, or to none: what flights bring from the one before, which
    /// began before this, is not kept.
    pub(crate) fn turn(&mut self, repository: RepositoryId, to: Option<Origin>) {
        self.turned.insert(repository, to);
    }

    /// Whether what comes from there now is of a former upstream.
    pub(super) fn is_former(&self, of: Origin) -> bool {
        self.turned.get(&of.repository).is_some_and(|now| *now != Some(of))
    }

    /// Makes files of a former upstream of a repository those of another: their bytes are known to be what they are.
    pub(crate) fn take_over(&mut self, from: Origin, to: Origin, paths: &[String]) -> Result<(), Error> {
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
        })
    }

    /// Drops some of what former upstreams of a repository gave. `true`: there may be more.
    pub(crate) fn drop_former(&mut self, repository: RepositoryId) -> Result<bool, Error> {
        let Some(now) = self.turned.get(&repository).map(|now| now.map(|now| now.urls)) else { return Ok(false) };
        let id = repository.0.cast_signed();
        let files: Vec<(String, Digest)> = self.run(|database| {
            let sql = "SELECT path, sha256 FROM file WHERE repository = ? AND origin IS NOT ? LIMIT ?";
            let mut statement = database.prepare_cached(sql)?;
            let rows =
                statement.query_map(params![id, now, FILES_MAX as i64], |row| Ok((row.get(0)?, digest(row, 1)?)))?;
            rows.collect()
        })?;
        for (path, digest) in &files {
            self.drop_row(repository, path, digest)?;
        }
        let facts = self.run(|database| {
            let sql = "DELETE FROM fact WHERE number IN
                (SELECT number FROM fact WHERE member = ? AND origin IS NOT ? LIMIT ?)";
            database.prepare_cached(sql)?.execute(params![id, now, FACTS_MAX as i64])
        })?;
        self.folders.clear();
        self.weigh()?;
        self.weigh_facts()?;
        Ok(files.len() == FILES_MAX || facts == FACTS_MAX)
    }
}

#[cfg(test)]
mod tests;
