//! Keeps cached files within their bounds: the least recently used are evicted first.

use super::database::{Cache, CacheBounds};
use super::rows::digest;
use super::weight::weight;
use crate::blobs::digest::Digest;
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::{Connection, params};

/// The files that are looked up at a time, to be evicted.
const VICTIMS: usize = 64;
/// The most files that are evicted in one turn of the thread. Other requests are served before the next turn.
const EVICT_MAX: usize = 4096;
/// Free pages of the database stay for the next files, up to this number. Pages have 4 KiB.
const FREE_PAGES_MAX: i64 = 1024;
/// The most pages that one operation gives back to the file system. Many small files have fewer.
const GIVE_BACK_MAX: i64 = 1024;

/// A file to evict.
struct Victim {
    repository: RepositoryId,
    path: String,
    digest: Digest,
}

impl Cache {
    /// Evicts files until those of `repository` fit into `max_bytes`, and the files of all repositories into their bound. The next
    /// turns evict the rest.
    pub(super) fn evict(&mut self, repository: RepositoryId, max_bytes: Option<u64>) -> Result<()> {
        let mut evicted = 0;
        loop {
            if evicted >= EVICT_MAX {
                self.over.insert(repository, max_bytes);
                break;
            }
            let used = self.used_bytes(repository)?;
            let over_own = used.own.saturating_sub(max_bytes.unwrap_or(u64::MAX));
            let over_all = used.all.saturating_sub(self.bounds.files.capacity());
            let victims = match (over_own, over_all) {
                (0, 0) => break,
                (0, excess) => self.run(|database| least_recently_used(database, None, excess))?,
                (excess, _) => self.run(|database| least_recently_used(database, Some(repository), excess))?,
            };
            if victims.is_empty() {
                break;
            }
            for victim in &victims {
                self.drop_row(victim.repository, &victim.path, &victim.digest)?;
            }
            evicted += victims.len();
            self.bounds.files.cache().evict(victims.len() as u64);
        }
        Ok(())
    }

    /// Evicts the rest of earlier turns. If it fails, the next file that comes evicts it.
    pub(super) fn evict_rest(&mut self) -> Result<()> {
        let over = std::mem::take(&mut self.over);
        if over.is_empty() {
            return Ok(());
        }
        self.together(|cache| {
            over.iter().try_for_each(|(repository, max_bytes)| cache.evict(*repository, *max_bytes))
        })?;
        self.give_back()?;
        self.measure_files()
    }

    /// Gives some free pages of the database back to the file system, unless there are few. A database of an earlier version of
    /// Daylight keeps them.
    pub(super) fn give_back(&mut self) -> Result<()> {
        let given = self.run(|database| {
            let free: i64 = database.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
            if free <= FREE_PAGES_MAX {
                return Ok(());
            }
            let pages = GIVE_BACK_MAX.min(free - FREE_PAGES_MAX);
            let mut vacuum = database.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
            let mut given = vacuum.query([])?;
            // Each step gives back one page.
            while given.next()?.is_some() {}
            Ok(())
        });
        // On a full disk there may be no space for the log of this change.
        given.or_else(|error| if error.is_disk_full() { Ok(()) } else { Err(error) })
    }

    /// Whether a file of this size may be cached. A file of more than a quarter of its bound evicts nothing: it must fit into the
    /// free bytes plus those of the file that it replaces.
    pub(super) fn admits(
        &mut self,
        repository: RepositoryId,
        max_bytes: Option<u64>,
        size_bytes: u64,
        replaced: u64,
    ) -> Result<bool> {
        if self.bounds.always_admits(max_bytes, size_bytes) {
            return Ok(true);
        }
        let (own_max, all_max) = (max_bytes.unwrap_or(u64::MAX), self.bounds.files.capacity());
        let weight = weight(size_bytes);
        let used = self.used_bytes(repository)?;
        let free = own_max.saturating_sub(used.own).min(all_max.saturating_sub(used.all));
        let fits = weight <= free.saturating_add(replaced);
        if !fits {
            self.bounds.files.reject();
        }
        Ok(fits)
    }

    fn used_bytes(&mut self, repository: RepositoryId) -> Result<UsedBytes> {
        let sql = "SELECT coalesce(sum(bytes), 0), coalesce(sum(bytes) FILTER (WHERE repository = ?), 0) FROM held";
        self.run(|database| {
            database.prepare_cached(sql)?.query_row([repository.0.cast_signed()], |row| {
                let [all, own] = [row.get::<_, i64>(0)?, row.get::<_, i64>(1)?].map(i64::cast_unsigned);
                Ok(UsedBytes { all, own })
            })
        })
    }

    /// Reads how many bytes all files take, and sets the bound.
    pub(super) fn measure_files(&mut self) -> Result<()> {
        let sum = |database: &Connection| {
            database.query_row("SELECT coalesce(sum(bytes), 0) FROM held", [], |row| row.get(0))
        };
        let all: i64 = self.run(sum)?;
        self.bounds.files.observe(all.cast_unsigned());
        self.bounds.files.cache().observe(self.holdings.cached_files());
        Ok(())
    }
}

impl CacheBounds {
    /// Whether a file of this size may be cached in any case: it takes at most a quarter of its bound.
    pub(crate) fn always_admits(&self, max_bytes: Option<u64>, size_bytes: u64) -> bool {
        weight(size_bytes) <= max_bytes.unwrap_or(u64::MAX).min(self.files.capacity()) / 4
    }
}

/// The disk space that files take.
struct UsedBytes {
    /// The files of all repositories.
    all: u64,
    /// The files of one repository.
    own: u64,
}

/// The least recently used files that together weigh `excess` bytes, of one repository or of all.
fn least_recently_used(database: &Connection, of: Option<RepositoryId>, excess: u64) -> rusqlite::Result<Vec<Victim>> {
    let columns = "SELECT repository, path, sha256, weight FROM file";
    let sql = match of {
        Some(_) => format!("{columns} WHERE repository = ?1 ORDER BY used LIMIT ?2"),
        None => format!("{columns} WHERE ?1 IS NULL ORDER BY used LIMIT ?2"),
    };
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query(params![of.map(|of| of.0.cast_signed()), VICTIMS as i64])?;
    let (mut victims, mut freed) = (Vec::new(), 0u64);
    while freed < excess
        && let Some(row) = rows.next()?
    {
        let repository = RepositoryId(row.get::<_, i64>(0)?.cast_unsigned());
        victims.push(Victim { repository, path: row.get(1)?, digest: digest(row, 2)? });
        freed += row.get::<_, i64>(3)?.cast_unsigned();
    }
    Ok(victims)
}
