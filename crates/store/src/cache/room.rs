//! What is kept of upstreams stays within its bounds: what was used longest ago goes first.

use super::Cache;
use super::files::digest;
use crate::{Digest, Error, RepositoryId};
use rusqlite::{Connection, params};

/// Most files that go in one turn: others wait for theirs meanwhile.
const GO_MAX: usize = 64;

/// Disks give out whole blocks of so many bytes.
const BLOCK: u64 = 4096;
/// What the row of a file takes in the database and its indexes, about.
const ROW: u64 = 2048;

/// What a file of that size takes of the room.
pub(super) fn weight(size_bytes: u64) -> u64 {
    size_bytes.div_ceil(BLOCK).saturating_mul(BLOCK).saturating_add(ROW)
}

/// A file that may go: whose, where, and which bytes.
type Going = (i64, String, Digest);

impl Cache {
    /// Has so many files go that those of `repository` fit into `max_bytes` again, and all together into their room.
    pub(super) fn make_room(&mut self, repository: RepositoryId, max_bytes: Option<u64>) -> Result<(), Error> {
        let mut went = 0;
        while went < GO_MAX {
            let (all, own) = self.held(repository)?;
            let over_own = own.saturating_sub(max_bytes.unwrap_or(u64::MAX));
            let over_all = all.saturating_sub(self.room.capacity());
            let going = match (over_own, over_all) {
                (0, 0) => break,
                (0, over) => self.run(|database| least_used(database, None, over))?,
                (over, _) => self.run(|database| least_used(database, Some(repository), over))?,
            };
            if going.is_empty() {
                break;
            }
            for (repository, path, digest) in &going {
                self.drop_row(RepositoryId(repository.cast_unsigned()), path, digest)?;
            }
            went += going.len();
        }
        self.weigh()
    }

    /// Whether a file may have others go. One that weighs more than a quarter of the room may not: it has what is free, and
    /// what the file has that it comes in place of.
    pub(super) fn has_room(
        &mut self,
        repository: RepositoryId,
        max_bytes: Option<u64>,
        weight: u64,
        replaced: u64,
    ) -> Result<bool, Error> {
        let (own_max, all_max) = (max_bytes.unwrap_or(u64::MAX), self.room.capacity());
        if weight <= own_max.min(all_max) / 4 {
            return Ok(true);
        }
        let (all, own) = self.held(repository)?;
        let free = own_max.saturating_sub(own).min(all_max.saturating_sub(all));
        let fits = weight <= free.saturating_add(replaced);
        if !fits {
            self.room.reject();
        }
        Ok(fits)
    }

    /// What all files weigh, and of those of one repository.
    fn held(&mut self, repository: RepositoryId) -> Result<(u64, u64), Error> {
        let sql = "SELECT coalesce(sum(bytes), 0), coalesce(sum(bytes) FILTER (WHERE repository = ?), 0) FROM held";
        let (all, own): (i64, i64) = self.run(|database| {
            let mut statement = database.prepare_cached(sql)?;
            statement.query_row([repository.0.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        Ok((all.cast_unsigned(), own.cast_unsigned()))
    }

    /// Notes how much there is.
    pub(super) fn weigh(&mut self) -> Result<(), Error> {
        let sum = |database: &Connection| {
            database.query_row("SELECT coalesce(sum(bytes), 0) FROM held", [], |row| row.get(0))
        };
        let all: i64 = self.run(sum)?;
        self.room.observe(all.cast_unsigned());
        Ok(())
    }
}

/// Those used longest ago that weigh so many bytes together, of one repository or of any.
fn least_used(database: &Connection, of: Option<RepositoryId>, bytes: u64) -> rusqlite::Result<Vec<Going>> {
    let columns = "SELECT repository, path, sha256, weight FROM file";
    let sql = match of {
        Some(_) => format!("{columns} WHERE repository = ?1 ORDER BY used LIMIT ?2"),
        None => format!("{columns} WHERE ?1 IS NULL ORDER BY used LIMIT ?2"),
    };
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query(params![of.map(|of| of.0.cast_signed()), GO_MAX as i64])?;
    let (mut going, mut enough) = (Vec::new(), 0u64);
    while enough < bytes
        && let Some(row) = rows.next()?
    {
        going.push((row.get(0)?, row.get(1)?, digest(row, 2)?));
        enough += row.get::<_, i64>(3)?.cast_unsigned();
    }
    Ok(going)
}
