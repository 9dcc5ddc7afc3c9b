//! What upstreams were proven to have and not to have, within a bound: a row for each of them and folder, however many files
//! are asked for there. Anybody can ask for any number of them.
//!
//! That something was proven missing counts until a moment, and is remembered beyond it: which member of a group has a folder
//! is told by who did not have it.

use super::{Cache, Folder, Origin};
use crate::{Error, RepositoryId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::Millis;

/// Most rows that go when one comes: nobody waits long for it, and they are fewer each time.
const GO_MAX: usize = 64;
/// Most rows that are looked at in a turn: others wait for theirs meanwhile.
const LOOK_MAX: usize = 4096;
/// Most bytes of names that a row has; of more, those go that end soonest.
const NAMES_MAX_BYTES: usize = 32 << 10;
/// What a row takes in the table and its indexes, about, without its texts.
const ROW_BYTES: usize = 128;

/// What is known of a folder of an upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Fact {
    /// Whether anything in it was ever proven to be there.
    has: bool,
    /// Names in it that were proven missing, and until when that counts.
    missing: BTreeMap<String, i64>,
}

/// Some of what counts as missing.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Paths, and until when.
    pub(crate) paths: Vec<(String, Millis)>,
    /// The folder to go on with, where there may be more.
    pub(crate) next: Option<String>,
}

/// The folder of a path, and the name in it.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

impl Cache {
    /// Notes at `now` that the path was proven missing, until then. Without `room` on the disk only what was known of it goes.
    pub(crate) fn miss(
        &mut self,
        of: Origin,
        path: &str,
        (now, until): (Millis, Millis),
        room: bool,
    ) -> Result<(), Error> {
        if self.is_former(of) {
            return Ok(());
        }
        self.drop_file(of, path)?;
        self.note(of, path, |fact, name| {
            fact.missing.retain(|other, until| other != name && now.0 < *until);
            if room {
                fact.missing.insert(name.to_owned(), until.0);
                fact.shrink();
            }
        })
        .map(drop)
    }

    /// Forgets that the path was proven missing. `true`: it was.
    pub(super) fn forget_missing(&mut self, of: Origin, path: &str) -> Result<bool, Error> {
        self.note(of, path, |fact, name| {
            fact.missing.remove(name);
        })
    }

    /// Notes that the path was proven to be there.
    pub(super) fn note_there(&mut self, of: Origin, path: &str) -> Result<(), Error> {
        self.note(of, path, |fact, name| {
            fact.has = true;
            fact.missing.remove(name);
        })
        .map(drop)
    }

    /// Changes what is known of the folder of a path; of more than fit, what was changed longest ago goes. `false`: it was so.
    fn note(&mut self, of: Origin, path: &str, change: impl Fn(&mut Fact, &str)) -> Result<bool, Error> {
        let (folder, name) = split(path);
        let changed = self.run(|database| {
            let before = read(database, of, folder)?.unwrap_or_default();
            let mut after = before.clone();
            change(&mut after, name);
            if after == before {
                return Ok(false);
            }
            write(database, of, folder, &after).map(|()| true)
        })?;
        if changed {
            self.folders.forget(folder);
            self.drop_oldest()?;
        }
        Ok(changed)
    }

    /// Until when the path counts as missing, if it was proven so.
    pub(super) fn missing_until(&mut self, of: Origin, path: &str) -> Result<Option<Millis>, Error> {
        let (folder, name) = split(path);
        let fact = self.run(|database| read(database, of, folder))?;
        Ok(fact.and_then(|fact| fact.missing.get(name).copied()).map(Millis))
    }

    /// What is known of a folder, of every upstream; from now on in memory too.
    pub(crate) fn folder(&mut self, folder: &str) -> Result<Arc<Folder>, Error> {
        let rows = self.run(|database| {
            let sql = "SELECT member, origin, has, missing FROM fact WHERE folder = ? ORDER BY member";
            let mut statement = database.prepare_cached(sql)?;
            let rows = statement.query_map([folder], |row| {
                let of = Origin { repository: RepositoryId(row.get::<_, i64>(0)?.cast_unsigned()), urls: row.get(1)? };
                Ok((of, row.get(2)?, names(&row.get::<_, String>(3)?)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(Origin, bool, BTreeMap<String, i64>)>>>()
        })?;
        let known = Arc::new(Folder::new(rows));
        self.folders.keep(folder, known.clone());
        Ok(known)
    }

    /// Paths after `after` that count as missing at `now`, of folders from `from` on: folder by folder, each in byte order.
    pub(crate) fn missing(
        &mut self,
        of: Origin,
        (from, after): (&str, &str),
        now: Millis,
        limit: usize,
    ) -> Result<Listing, Error> {
        let sql =
            "SELECT folder, missing FROM fact WHERE member = ? AND folder >= ? AND origin = ? ORDER BY folder LIMIT ?";
        let mut rows = self.run(|database| {
            let mut statement = database.prepare_cached(sql)?;
            let values = params![of.repository.0.cast_signed(), from, of.urls, LOOK_MAX as i64 + 1];
            let rows = statement.query_map(values, |row| Ok((row.get(0)?, names(&row.get::<_, String>(1)?)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, BTreeMap<String, i64>)>>>()
        })?;
        let next = (rows.len() > LOOK_MAX).then(|| rows.pop().map(|(folder, _)| folder)).flatten();
        let after = split(after);
        let paths =
            rows.iter().flat_map(|(folder, names)| names.iter().map(move |(name, until)| (folder, name, *until)));
        let paths = paths
            .filter(|(folder, name, until)| (folder.as_str(), name.as_str()) > after && now.0 < *until)
            .map(|(folder, name, until)| {
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                (path, Millis(until))
            });
        Ok(Listing { paths: paths.take(limit).collect(), next })
    }

    /// What all rows take, which is noted.
    pub(super) fn weigh_facts(&mut self) -> Result<u64, Error> {
        let bytes: i64 =
            self.run(|database| database.prepare_cached("SELECT bytes FROM noted")?.query_row([], |row| row.get(0)))?;
        self.facts.observe(bytes.cast_unsigned());
        Ok(bytes.cast_unsigned())
    }

    /// Has those go that were changed longest ago, of more than fit.
    fn drop_oldest(&mut self) -> Result<(), Error> {
        let over = self.weigh_facts()?.saturating_sub(self.facts.capacity());
        if over == 0 {
            return Ok(());
        }
        let gone = self.run(|database| {
            let all = database.unchecked_transaction()?;
            let gone = drop_oldest(database, over)?;
            all.commit().map(|()| gone)
        })?;
        gone.iter().for_each(|folder| self.folders.forget(folder));
        self.weigh_facts().map(drop)
    }
}

impl Fact {
    /// Has names go that end soonest, of more than fit.
    fn shrink(&mut self) {
        let bytes = |missing: &BTreeMap<String, i64>| missing.keys().map(|name| name.len() + 24).sum::<usize>();
        while bytes(&self.missing) > NAMES_MAX_BYTES
            && let Some(soonest) = self.missing.iter().min_by_key(|(_, until)| **until).map(|(name, _)| name.clone())
        {
            self.missing.remove(&soonest);
        }
    }
}

/// Drops those that were changed longest ago and take so many bytes together; says what folders they are of.
fn drop_oldest(database: &Connection, bytes: u64) -> rusqlite::Result<Vec<String>> {
    let mut oldest = database.prepare_cached("SELECT number, folder, weight FROM fact ORDER BY number LIMIT ?")?;
    let mut go = database.prepare_cached("DELETE FROM fact WHERE number = ?")?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.cast_unsigned()));
    let rows: Vec<(i64, String, u64)> = oldest.query_map([GO_MAX as i64], read)?.collect::<rusqlite::Result<_>>()?;
    let (mut gone, mut enough) = (Vec::new(), 0);
    for (number, folder, weight) in rows {
        if enough >= bytes {
            break;
        }
        go.execute([number])?;
        gone.push(folder);
        enough += weight;
    }
    Ok(gone)
}

fn names(text: &str) -> rusqlite::Result<BTreeMap<String, i64>> {
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, Box::new(error));
    serde_json::from_str(text).map_err(unreadable)
}

fn read(database: &Connection, of: Origin, folder: &str) -> rusqlite::Result<Option<Fact>> {
    let sql = "SELECT has, missing FROM fact WHERE folder = ? AND member = ? AND origin = ?";
    let mut statement = database.prepare_cached(sql)?;
    let values = params![folder, of.repository.0.cast_signed(), of.urls];
    let read = |row: &Row<'_>| Ok(Fact { has: row.get(0)?, missing: names(&row.get::<_, String>(1)?)? });
    statement.query_row(values, read).optional()
}

/// Puts a fact in the place of what was known, as the newest of all; one that says nothing is no row.
fn write(database: &Connection, of: Origin, folder: &str, fact: &Fact) -> rusqlite::Result<()> {
    let (member, all) = (of.repository.0.cast_signed(), database.unchecked_transaction()?);
    // REPLACE would not tell the triggers of the row that goes.
    database.prepare_cached("DELETE FROM fact WHERE folder = ? AND member = ?")?.execute(params![folder, member])?;
    if *fact != Fact::default() {
        let missing = serde_json::to_string(&fact.missing)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let weight = (ROW_BYTES + 2 * folder.len() + missing.len()) as i64;
        let sql = "INSERT INTO fact (folder, member, origin, has, missing, weight) VALUES (?, ?, ?, ?, ?, ?)";
        database.prepare_cached(sql)?.execute(params![folder, member, of.urls, fact.has, missing, weight])?;
    }
    all.commit()
}

#[cfg(test)]
mod tests;
