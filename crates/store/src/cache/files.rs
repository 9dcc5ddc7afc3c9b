//! Files of upstreams as they were last proven to be, and where their bytes are.

use super::room::weight;
use super::{Cache, Origin, shelf};
use crate::blobs::Writing;
use crate::record::unhex;
use crate::{Digest, Error, Hashes, Holding, RepositoryId};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::fs::File;
use std::sync::Arc;
use telemetry::Millis;

/// Files of up to so many bytes are read with their row, in the same turn.
const SMALL: u64 = 64 << 10;
/// A file counts as used again once so many milliseconds have passed: not each use is a write.
const USED_AGAIN: i64 = 3_600_000;

/// What is known of a file of an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFile {
    /// Its bytes, as they arrived here.
    pub hashes: Hashes,
    /// The entity tag that the upstream gave it: opaque, sent back as it came.
    pub etag: Option<String>,
    /// The moment of its last change as the upstream wrote it: opaque, sent back as it came.
    pub modified: Option<String>,
    /// When the path was first seen to exist.
    pub first_seen: Millis,
    /// When these bytes came.
    pub fetched: Millis,
    /// When the upstream last proved that these are its bytes.
    pub checked: Millis,
    /// Whether the upstream's own checksums are those of the bytes. `None`: nobody looked, or noted it.
    pub verified: Option<bool>,
}

/// What is remembered of a path of an upstream.
#[derive(Debug)]
pub enum Recalled {
    /// A file, and its bytes.
    File(Arc<CachedFile>, Held),
    /// It was proven missing, and counts as missing until then.
    MissingUntil(Millis),
}

/// Bytes that are kept.
#[derive(Debug, Clone)]
pub enum Held {
    /// In memory, as they are few.
    Bytes(Bytes),
    /// In a file, which others may read too: never by its cursor.
    File(Arc<File>),
}

/// What was found on the cache's thread.
pub(crate) enum Found {
    Recalled(Recalled),
    /// Written in another life of the machine, or not looked at for long: its bytes are looked at before they are believed.
    Doubtful(Doubtful),
    /// Its bytes were not what its row says. It is dropped.
    Damaged(Digest),
}

/// A file whose bytes may not be what its row says.
pub(crate) struct Doubtful {
    pub(crate) known: CachedFile,
    pub(crate) file: File,
    /// Written in another life of the machine: it may be lost, and that is no damage.
    pub(crate) aged: bool,
}

/// Files of up to so many bytes are held against their digest before they are answered with, larger ones afterwards.
pub(crate) const WAITED_FOR: u64 = 16 << 20;

/// What has arrived.
pub(crate) enum Arrived {
    Bytes(Bytes),
    File(Box<Writing>),
}

const SELECT: &str = "SELECT sha256, sha512, sha1, md5, size, etag, modified, first_seen, fetched, checked, used, boot,
    path, (SELECT verified FROM verified WHERE verified.repository = file.repository AND verified.path = file.path)
    FROM file WHERE repository = ?1 AND origin = ?2";

impl Cache {
    /// What is remembered of `path`, used at `now`.
    pub(crate) fn recall(&mut self, of: Origin, path: &str, now: Millis) -> Result<Option<Found>, Error> {
        let id = of.repository;
        let Some((known, used, boot)) = self.run(|database| row(database, of, path))? else {
            let until = self.missing_until(of, path)?;
            return Ok(until.map(|until| Found::Recalled(Recalled::MissingUntil(until))));
        };
        let Some(file) = self.shelf.open(&known.hashes.sha256, known.hashes.size_bytes)? else {
            self.drop_row(id, path, &known.hashes.sha256)?;
            return Ok(None);
        };
        let (digest, aged) = (known.hashes.sha256, boot != self.shelf.boot);
        let due = self.looked.is_due(&digest, now);
        if aged || due && (SMALL + 1..=WAITED_FOR).contains(&known.hashes.size_bytes) {
            return Ok(Some(Found::Doubtful(Doubtful { known, file, aged })));
        }
        if now.0.saturating_sub(used.0) > USED_AGAIN {
            self.touch(of, path, "used = ?4", now.0)?;
        }
        let held = match known.hashes.size_bytes {
            0..=SMALL => match shelf::read(file, known.hashes.size_bytes) {
                Some(bytes) if due && Hashes::of(&bytes).sha256 != digest => {
                    self.drop_damaged(of, path, &digest)?;
                    return Ok(Some(Found::Damaged(digest)));
                }
                read => {
                    self.looked.note(&digest, now);
                    read.map(Held::Bytes)
                }
            },
            _ => Some(Held::File(Arc::new(file))),
        };
        Ok(held.map(|held| Found::Recalled(Recalled::File(Arc::new(known), held))))
    }

    /// Keeps a file in place of what was remembered of its path. Those that must go for it go; where those would be too many,
    /// or where it comes from a former upstream, it is not kept: `false`.
    pub(crate) fn keep(
        &mut self,
        (of, path): (Origin, &str),
        known: &CachedFile,
        arrived: Arrived,
        max_bytes: Option<u64>,
    ) -> Result<bool, Error> {
        let digest = known.hashes.sha256;
        if self.is_former(of) {
            return Ok(false);
        }
        self.note_there(of, path)?;
        let id = of.repository;
        let before = self.run(|database| bytes_at(database, id, path))?;
        let replaced = before.map_or(0, |(_, size)| weight(size));
        if !self.has_room(id, max_bytes, weight(known.hashes.size_bytes), replaced)? {
            self.drop_file(of, path)?;
            self.weigh()?;
            return Ok(false);
        }
        // The row first: after a crash it may tell of a file that is not there, and no file is there without a row.
        let boot = self.shelf.boot;
        self.run(|database| replace(database, (of, path), known, boot))?;
        self.looked.note(&digest, known.fetched);
        let placed = match arrived {
            Arrived::Bytes(bytes) => self.shelf.write(&digest, &bytes),
            Arrived::File(writing) => self.shelf.place(&digest, *writing),
        };
        if let Some((before, _)) = before.filter(|(before, _)| *before != digest) {
            self.remove_unless_named(&before)?;
        }
        if let Err(error) = placed {
            self.drop_row(id, path, &digest)?;
            return Err(error);
        }
        self.make_room(id, max_bytes).map(|()| true)
    }

    /// Notes that the upstream proved at `at` that the file is as it was.
    pub(crate) fn confirm(&mut self, of: Origin, path: &str, at: Millis) -> Result<(), Error> {
        self.touch(of, path, "checked = ?4, used = ?4", at.0)
    }

    /// Forgets a file whose bytes are not what its row says. Others that are kept with the same bytes are found to lack them.
    pub(crate) fn drop_damaged(&mut self, of: Origin, path: &str, digest: &Digest) -> Result<(), Error> {
        self.shelf.remove(digest)?;
        self.lose(of, path).map(drop)
    }

    /// Opens the bytes of a digest, where they are kept.
    pub(crate) fn open_file(&self, hashes: &Hashes) -> Result<Option<File>, Error> {
        self.shelf.open(&hashes.sha256, hashes.size_bytes)
    }

    /// Notes that a file in doubt was looked at, and is what its row says.
    pub(crate) fn trust(&mut self, of: Origin, path: &str) -> Result<(), Error> {
        self.touch(of, path, "boot = ?4", self.shelf.boot)
    }

    /// Forgets what is remembered of a path. `true`: there was something.
    pub(crate) fn lose(&mut self, of: Origin, path: &str) -> Result<bool, Error> {
        let (file, missing) = (self.drop_file(of, path)?, self.forget_missing(of, path)?);
        Ok(file || missing)
    }

    /// Forgets the file at a path, whichever upstream gave it. `true`: there was one.
    pub(super) fn drop_file(&mut self, of: Origin, path: &str) -> Result<bool, Error> {
        let id = of.repository;
        let known = self.run(|database| bytes_at(database, id, path))?;
        if let Some((digest, _)) = &known {
            self.drop_row(id, path, digest)?;
        }
        Ok(known.is_some())
    }

    /// Paths after `after` that begin with `prefix`, with what is known of their files, in byte order.
    pub(crate) fn files(
        &mut self,
        of: Origin,
        (prefix, after): (&str, &str),
        limit: usize,
    ) -> Result<Vec<(String, CachedFile)>, Error> {
        let sql =
            format!("{SELECT} AND path > ?3 AND path >= ?4 AND path < ?4 || char(1114111) ORDER BY path LIMIT ?5");
        self.run(|database| {
            let mut statement = database.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let values = params![of.repository.0.cast_signed(), of.urls, after, prefix, limit];
            let rows = statement.query_map(values, |row| Ok((row.get(12)?, known(row)?.0)))?;
            rows.collect()
        })
    }

    /// How much of an upstream is kept.
    pub(crate) fn holding(&mut self, of: Origin) -> Result<Holding, Error> {
        let sql = "SELECT count(*), coalesce(sum(size), 0) FROM file WHERE repository = ? AND origin = ?";
        self.run(|database| {
            let sums = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            let (files, bytes) = database.query_row(sql, params![of.repository.0.cast_signed(), of.urls], sums)?;
            Ok(Holding { files: files.cast_unsigned(), size_bytes: bytes.cast_unsigned() })
        })
    }

    /// Forgets a file: its bytes first, so that none are there without a row.
    pub(super) fn drop_row(&mut self, id: RepositoryId, path: &str, digest: &Digest) -> Result<(), Error> {
        let others = self.run(|database| names(database, digest))?;
        if others <= 1 {
            self.shelf.remove(digest)?;
        }
        self.run(|database| {
            let mut statement = database.prepare_cached("DELETE FROM file WHERE repository = ? AND path = ?")?;
            statement.execute(params![id.0.cast_signed(), path]).map(drop)
        })
    }

    fn remove_unless_named(&mut self, digest: &Digest) -> Result<(), Error> {
        match self.run(|database| names(database, digest))? {
            0 => self.shelf.remove(digest),
            _ => Ok(()),
        }
    }

    fn touch(&mut self, of: Origin, path: &str, set: &str, value: i64) -> Result<(), Error> {
        let sql = format!("UPDATE file SET {set} WHERE repository = ?1 AND origin = ?2 AND path = ?3");
        self.run(|database| {
            let mut statement = database.prepare_cached(&sql)?;
            statement.execute(params![of.repository.0.cast_signed(), of.urls, path, value]).map(drop)
        })
    }
}

/// How many rows name these bytes.
fn names(database: &Connection, digest: &Digest) -> rusqlite::Result<i64> {
    let mut statement = database.prepare_cached("SELECT count(*) FROM file WHERE sha256 = ?")?;
    statement.query_row([&digest.0[..]], |row| row.get(0))
}

/// A row: what is known, when it was last used, and in which life of the machine it was written.
fn row(database: &Connection, of: Origin, path: &str) -> rusqlite::Result<Option<(CachedFile, Millis, i64)>> {
    let mut statement = database.prepare_cached(&format!("{SELECT} AND path = ?3"))?;
    statement.query_row(params![of.repository.0.cast_signed(), of.urls, path], known).optional()
}

/// Which bytes are kept at a path, whichever upstream gave them, and how many they are.
fn bytes_at(database: &Connection, id: RepositoryId, path: &str) -> rusqlite::Result<Option<(Digest, u64)>> {
    let mut statement = database.prepare_cached("SELECT sha256, size FROM file WHERE repository = ? AND path = ?")?;
    let read = |row: &Row<'_>| Ok((digest(row, 0)?, row.get::<_, i64>(1)?.cast_unsigned()));
    statement.query_row(params![id.0.cast_signed(), path], read).optional()
}

fn known(row: &Row<'_>) -> rusqlite::Result<(CachedFile, Millis, i64)> {
    let hex = |at: usize| row.get_ref(at)?.as_blob().map(crate::blobs::hex).map_err(rusqlite::Error::from);
    let hashes = Hashes {
        sha256: digest(row, 0)?,
        sha512: hex(1)?,
        sha1: hex(2)?,
        md5: hex(3)?,
        size_bytes: row.get::<_, i64>(4)?.cast_unsigned(),
    };
    let at = |column| row.get(column).map(Millis);
    let known = CachedFile {
        hashes,
        etag: row.get(5)?,
        modified: row.get(6)?,
        first_seen: at(7)?,
        fetched: at(8)?,
        checked: at(9)?,
        verified: row.get(13)?,
    };
    Ok((known, at(10)?, row.get(11)?))
}

pub(super) fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    row.get(column).map(Digest)
}

fn replace(database: &Connection, (of, path): (Origin, &str), file: &CachedFile, boot: i64) -> rusqlite::Result<()> {
    let CachedFile { hashes, .. } = file;
    let id = of.repository.0.cast_signed();
    let all = database.unchecked_transaction()?;
    // REPLACE would not tell the triggers of the row that goes.
    database.prepare_cached("DELETE FROM file WHERE repository = ? AND path = ?")?.execute(params![id, path])?;
    let sql = "INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    database.prepare_cached(sql)?.execute(params![
        id,
        path,
        of.urls,
        &hashes.sha256.0[..],
        raw::<64>(&hashes.sha512)?,
        raw::<20>(&hashes.sha1)?,
        raw::<16>(&hashes.md5)?,
        hashes.size_bytes.cast_signed(),
        file.etag,
        file.modified,
        file.first_seen.0,
        file.fetched.0,
        file.checked.0,
        file.checked.0,
        boot,
        weight(hashes.size_bytes).cast_signed(),
    ])?;
    if let Some(verified) = file.verified {
        let sql = "INSERT OR REPLACE INTO verified VALUES (?, ?, ?)";
        database.prepare_cached(sql)?.execute(params![id, path, verified])?;
    }
    all.commit()
}

fn raw<const N: usize>(hexadecimal: &str) -> rusqlite::Result<[u8; N]> {
    unhex(hexadecimal).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

#[cfg(test)]
pub(super) mod tests;
