//! Proven facts about files of upstreams, present or missing: one row per upstream and folder, however many files are requested
//! there. Clients can request any number of paths, so the rows have a common bound.
//!
//! A path counts as missing until its TTL ends, but the row stays longer: groups use it to choose the member that has a folder.

use super::database::Cache;
use super::origin::Origin;
use super::presence_cache::{FolderPresence, split};
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::Millis;

/// The most rows that are evicted for a new one. This limits how long other requests wait, and the excess shrinks with each new
/// row.
const EVICT_MAX: usize = 64;
/// The most rows that are read in one turn of the thread. Other requests are served in between.
const SCAN_MAX: usize = 4096;
/// The most bytes of missing names in one row. Beyond it, the names that expire first are dropped.
const NAMES_MAX_BYTES: usize = 32 << 10;
/// Roughly the bytes of a row in the table and its indexes, without its texts.
const ROW_BYTES: usize = 128;

/// The facts about one folder of one upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Presence {
    /// Whether any file in it was ever proven to exist.
    has: bool,
    /// Names in it that were proven missing, with the end of their TTL.
    missing: BTreeMap<String, i64>,
}

/// A page of the paths that count as missing.
#[derive(Debug)]
pub(crate) struct MissingPaths {
    /// Each path, with the end of its TTL.
    pub(crate) paths: Vec<(String, Millis)>,
    /// The folder to continue with, if there may be more.
    pub(crate) next: Option<String>,
}

impl Cache {
    /// Records at `now` that the path was proven missing, with the TTL ending at `until`. Without `space` on the disk, only
    /// removes the facts about the path.
    pub(crate) fn record_missing(
        &mut self,
        of: Origin,
        path: &str,
        now: Millis,
        until: Millis,
        space: bool,
    ) -> Result<()> {
        if self.is_former(of) {
            return Ok(());
        }
        self.drop_file(of, path)?;
        let known = Cell::new(false);
        self.update(of, path, |presence, name| {
            known.set(presence.missing.contains_key(name));
            presence.missing.retain(|other, until| other != name && now.0 < *until);
            if space {
                presence.missing.insert(name.to_owned(), until.0);
                presence.shrink();
            }
        })?;
        let (counts, hash) = (self.bounds.presence.cache(), of.hash_of(path));
        if !known.get() {
            // Nobody knows before the upstream's answer whether a lookup is one for a missing file.
            counts.miss(counts.why_absent(|| hash));
        }
        if space {
            counts.insert();
        } else {
            counts.refuse(hash);
        }
        Ok(())
    }

    /// Removes the fact that the path is missing. `true`: it was recorded.
    pub(super) fn forget_missing(&mut self, of: Origin, path: &str) -> Result<bool> {
        self.update(of, path, |presence, name| {
            presence.missing.remove(name);
        })
    }

    /// Records that the path was proven to exist.
    pub(super) fn record_present(&mut self, of: Origin, path: &str) -> Result<()> {
        self.update(of, path, |presence, name| {
            presence.has = true;
            presence.missing.remove(name);
        })
        .map(drop)
    }

    /// Changes the facts of the path's folder, and evicts the least recently changed rows if they take too many bytes. `false`:
    /// nothing changed.
    fn update(&mut self, of: Origin, path: &str, change: impl Fn(&mut Presence, &str)) -> Result<bool> {
        let (folder, name) = split(path);
        let changed = self.together(|cache| {
            cache.run(|database| {
                let before = read(database, of, folder)?.unwrap_or_default();
                let mut after = before.clone();
                change(&mut after, name);
                if after == before {
                    return Ok(false);
                }
                write(database, of, folder, &after).map(|()| true)
            })
        })?;
        if changed {
            self.presence.forget(folder);
            self.evict_oldest()?;
        }
        Ok(changed)
    }

    /// Until when the path counts as missing, if that is recorded.
    pub(super) fn missing_until(&mut self, of: Origin, path: &str) -> Result<Option<Millis>> {
        let (folder, name) = split(path);
        let presence = self.run(|database| read(database, of, folder))?;
        Ok(presence.and_then(|presence| presence.missing.get(name).copied()).map(Millis))
    }

    /// The facts about a folder, of all upstreams. They are kept in memory from then on.
    pub(crate) fn folder(&mut self, folder: &str) -> Result<Arc<FolderPresence>> {
        let rows = self.run(|database| {
            let sql = "SELECT member, origin, has, missing FROM fact WHERE folder = ? ORDER BY member";
            let mut statement = database.prepare_cached(sql)?;
            let rows = statement.query_map([folder], |row| {
                let of = Origin { repository: RepositoryId(row.get::<_, i64>(0)?.cast_unsigned()), urls: row.get(1)? };
                Ok((of, row.get(2)?, names(&row.get::<_, String>(3)?)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(Origin, bool, BTreeMap<String, i64>)>>>()
        })?;
        let known = Arc::new(FolderPresence::new(rows));
        self.presence.keep(folder, known.clone());
        Ok(known)
    }

    /// Paths after `after` that count as missing at `now`, in folders from `from` on: folder by folder, each in byte order.
    pub(crate) fn missing(
        &mut self,
        of: Origin,
        from: &str,
        after: &str,
        now: Millis,
        limit: usize,
    ) -> Result<MissingPaths> {
        let sql =
            "SELECT folder, missing FROM fact WHERE member = ? AND folder >= ? AND origin = ? ORDER BY folder LIMIT ?";
        let mut rows = self.run(|database| {
            let mut statement = database.prepare_cached(sql)?;
            let values = params![of.repository.0.cast_signed(), from, of.urls, SCAN_MAX as i64 + 1];
            let rows = statement.query_map(values, |row| Ok((row.get(0)?, names(&row.get::<_, String>(1)?)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, BTreeMap<String, i64>)>>>()
        })?;
        let next = (rows.len() > SCAN_MAX).then(|| rows.pop().map(|(folder, _)| folder)).flatten();
        let after = split(after);
        let paths =
            rows.iter().flat_map(|(folder, names)| names.iter().map(move |(name, until)| (folder, name, *until)));
        let paths = paths
            .filter(|(folder, name, until)| (folder.as_str(), name.as_str()) > after && now.0 < *until)
            .map(|(folder, name, until)| {
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                (path, Millis(until))
            });
        Ok(MissingPaths { paths: paths.take(limit).collect(), next })
    }

    /// Reads how many bytes all rows take, and sets the bound.
    pub(super) fn measure_presence(&mut self) -> Result<u64> {
        let bytes: i64 =
            self.run(|database| database.prepare_cached("SELECT bytes FROM noted")?.query_row([], |row| row.get(0)))?;
        self.bounds.presence.observe(bytes.cast_unsigned());
        Ok(bytes.cast_unsigned())
    }

    /// If the rows exceed their bound, evicts the least recently changed.
    fn evict_oldest(&mut self) -> Result<()> {
        let excess = self.measure_presence()?.saturating_sub(self.bounds.presence.capacity());
        if excess == 0 {
            return Ok(());
        }
        let evicted = self.together(|cache| cache.run(|database| evict_oldest(database, excess)))?;
        evicted.iter().for_each(|folder| self.presence.forget(folder));
        self.bounds.presence.cache().evict(evicted.len() as u64);
        self.measure_presence().map(drop)
    }
}

impl Presence {
    /// Drops the names that expire first, until the rest fits.
    fn shrink(&mut self) {
        let bytes = |missing: &BTreeMap<String, i64>| missing.keys().map(|name| name.len() + 24).sum::<usize>();
        while bytes(&self.missing) > NAMES_MAX_BYTES
            && let Some(soonest) = self.missing.iter().min_by_key(|(_, until)| **until).map(|(name, _)| name.clone())
        {
            self.missing.remove(&soonest);
        }
    }
}

/// Deletes the least recently changed rows that together take `excess` bytes. Returns their folders.
fn evict_oldest(database: &Connection, excess: u64) -> rusqlite::Result<Vec<String>> {
    let mut oldest = database.prepare_cached("SELECT number, folder, weight FROM fact ORDER BY number LIMIT ?")?;
    let mut delete = database.prepare_cached("DELETE FROM fact WHERE number = ?")?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.cast_unsigned()));
    let rows: Vec<(i64, String, u64)> = oldest.query_map([EVICT_MAX as i64], read)?.collect::<rusqlite::Result<_>>()?;
    let (mut evicted, mut freed) = (Vec::new(), 0);
    for (number, folder, weight) in rows {
        if freed >= excess {
            break;
        }
        delete.execute([number])?;
        evicted.push(folder);
        freed += weight;
    }
    Ok(evicted)
}

fn names(text: &str) -> rusqlite::Result<BTreeMap<String, i64>> {
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, Box::new(error));
    serde_json::from_str(text).map_err(unreadable)
}

fn read(database: &Connection, of: Origin, folder: &str) -> rusqlite::Result<Option<Presence>> {
    let sql = "SELECT has, missing FROM fact WHERE folder = ? AND member = ? AND origin = ?";
    let mut statement = database.prepare_cached(sql)?;
    let values = params![folder, of.repository.0.cast_signed(), of.urls];
    let read = |row: &Row<'_>| Ok(Presence { has: row.get(0)?, missing: names(&row.get::<_, String>(1)?)? });
    statement.query_row(values, read).optional()
}

/// Replaces the facts of a folder. The row gets the highest number, because it is the last changed. Without facts there is no
/// row. The caller has a transaction.
fn write(database: &Connection, of: Origin, folder: &str, presence: &Presence) -> rusqlite::Result<()> {
    let member = of.repository.0.cast_signed();
    // Not REPLACE, which would not run the delete trigger.
    database.prepare_cached("DELETE FROM fact WHERE folder = ? AND member = ?")?.execute(params![folder, member])?;
    if *presence != Presence::default() {
        let missing = serde_json::to_string(&presence.missing)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let weight = (ROW_BYTES + 2 * folder.len() + missing.len()) as i64;
        let sql = "INSERT INTO fact (folder, member, origin, has, missing, weight) VALUES (?, ?, ?, ?, ?, ?)";
        database.prepare_cached(sql)?.execute(params![folder, member, of.urls, presence.has, missing, weight])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
