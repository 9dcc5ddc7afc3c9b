//! Paths that upstreams were proven not to have, within a bound: anybody can ask for any number of them.

use super::{Cache, Origin};
use crate::{Error, RepositoryId};
use rusqlite::params;
use telemetry::Millis;

/// Most rows that go when one comes: nobody waits long for it, and they are fewer each time.
const GO_MAX: u64 = 64;
/// The moment at which a fact ends, as the index has it: one that has no end comes last.
const END: &str = "coalesce(missing_until, 9223372036854775807)";

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
        self.lose(of, path)?;
        self.drop_facts(now, GO_MAX)?;
        if room {
            self.note_fact(of.repository, path, (Some(until), Some(of.urls)))?;
        }
        self.count_facts().map(drop)
    }

    /// Notes a fact, which may have an end and an origin, in place of the one before. Those that end soonest go for it.
    pub(super) fn note_fact(
        &mut self,
        id: RepositoryId,
        name: &str,
        (until, origin): (Option<Millis>, Option<i64>),
    ) -> Result<(), Error> {
        self.run(|database| {
            // REPLACE would not tell the triggers of the row that goes.
            let sql = "INSERT INTO fact VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET missing_until = excluded.missing_until, origin = excluded.origin";
            let values = params![id.0.cast_signed(), name, until.map(|until| until.0), origin];
            database.prepare_cached(sql)?.execute(values)
        })?;
        let over = self.count_facts()?.saturating_sub(self.facts.capacity());
        if over > 0 {
            self.drop_facts(Millis(i64::MAX), over.min(GO_MAX))?;
        }
        self.count_facts().map(drop)
    }

    /// Until when the path counts as missing, if it was proven so.
    pub(super) fn missing_until(&mut self, of: Origin, path: &str) -> Result<Option<Millis>, Error> {
        self.run(|database| {
            let sql = "SELECT missing_until FROM fact WHERE member = ? AND name = ? AND origin = ?";
            let mut rows = database.prepare_cached(sql)?;
            let mut rows = rows.query(params![of.repository.0.cast_signed(), path, of.urls])?;
            Ok(rows.next()?.map(|row| row.get::<_, Option<i64>>(0)).transpose()?.flatten().map(Millis))
        })
    }

    /// Paths after `after` that count as missing at `now`, and until when, in byte order.
    pub(crate) fn missing(
        &mut self,
        of: Origin,
        after: &str,
        now: Millis,
        limit: usize,
    ) -> Result<Vec<(String, Millis)>, Error> {
        let sql =
            "SELECT name, missing_until FROM fact WHERE member = ? AND name > ? AND missing_until > ? AND origin = ?
             ORDER BY name LIMIT ?";
        self.run(|database| {
            let mut statement = database.prepare_cached(sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let values = params![of.repository.0.cast_signed(), after, now.0, of.urls, limit];
            let rows = statement.query_map(values, |row| Ok((row.get(0)?, Millis(row.get(1)?))))?;
            rows.collect()
        })
    }

    /// How many rows there are, which is noted.
    pub(super) fn count_facts(&mut self) -> Result<u64, Error> {
        let rows: i64 =
            self.run(|database| database.prepare_cached("SELECT rows FROM noted")?.query_row([], |row| row.get(0)))?;
        self.facts.observe(rows.cast_unsigned());
        Ok(rows.cast_unsigned())
    }

    /// Drops those that end soonest of those that have ended at `now`, `limit` at most.
    fn drop_facts(&mut self, now: Millis, limit: u64) -> Result<(), Error> {
        let sql = format!(
            "DELETE FROM fact WHERE (member, name) IN
             (SELECT member, name FROM fact WHERE {END} <= ?1 ORDER BY {END} LIMIT ?2)"
        );
        self.run(|database| database.prepare_cached(&sql)?.execute(params![now.0, limit.cast_signed()]).map(drop))
    }
}

#[cfg(test)]
mod tests;
