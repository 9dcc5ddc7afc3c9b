//! Where the hosts of upstreams were when they were first looked up: for whoever calls them, and opaque here. It is per node, as
//! which network an address is in depends on where it is asked from, so it is in the cache; and it outlives a restart, as otherwise who
//! moves a name only has to wait for one.

use super::{Cache, Origin};
use crate::{Error, RepositoryId};
use rusqlite::params;

/// Made where it is missing: a cache that was made before has no such table, and is good all the same.
pub(super) const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS pin (
    repository INTEGER NOT NULL, origin INTEGER NOT NULL, host TEXT NOT NULL, zone TEXT NOT NULL,
    PRIMARY KEY (repository, host)
) STRICT, WITHOUT ROWID;";

impl Cache {
    /// What was noted of the hosts of an upstream: a host, and the zone it was in.
    pub(crate) fn pins(&mut self, of: Origin) -> Result<Vec<(String, String)>, Error> {
        self.run(|database| {
            let sql = "SELECT host, zone FROM pin WHERE repository = ? AND origin = ?";
            let mut statement = database.prepare_cached(sql)?;
            let rows = statement
                .query_map(params![of.repository.0.cast_signed(), of.urls], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Notes it of one host.
    pub(crate) fn pin(&mut self, of: Origin, host: &str, zone: &str) -> Result<(), Error> {
        if self.is_former(of) {
            return Ok(());
        }
        self.run(|database| {
            let sql = "INSERT OR REPLACE INTO pin VALUES (?, ?, ?, ?)";
            let values = params![of.repository.0.cast_signed(), of.urls, host, zone];
            database.prepare_cached(sql)?.execute(values).map(drop)
        })
    }

    /// Forgets it of all hosts of a repository's upstreams.
    pub(crate) fn unpin(&mut self, repository: RepositoryId) -> Result<(), Error> {
        self.run(|database| {
            let sql = "DELETE FROM pin WHERE repository = ?";
            database.prepare_cached(sql)?.execute([repository.0.cast_signed()]).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::files::tests::open;

    #[test]
    fn where_hosts_were_is_known_after_a_restart_and_of_that_upstream_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |url: &str| Origin::new(RepositoryId(1), &[url.to_owned()]);
        let mut cache = open(folder.path(), u64::MAX, 1);
        cache.pin(at("one"), "a.test:80", "public").unwrap();
        cache.pin(at("one"), "b.test:80", "private").unwrap();
        drop(cache);
        let mut cache = open(folder.path(), u64::MAX, 1);
        let noted = [("a.test:80".to_owned(), "public".to_owned()), ("b.test:80".to_owned(), "private".to_owned())];
        assert_eq!(cache.pins(at("one")).unwrap(), noted);
        assert_eq!(cache.pins(at("other")).unwrap(), []);
        cache.turn(RepositoryId(1), Some(at("other")));
        cache.pin(at("one"), "a.test:80", "public").unwrap();
        cache.pin(at("other"), "a.test:80", "loopback").unwrap();
        assert_eq!(cache.pins(at("other")).unwrap(), [("a.test:80".to_owned(), "loopback".to_owned())]);
        cache.unpin(RepositoryId(1)).unwrap();
        assert_eq!(cache.pins(at("other")).unwrap(), []);
    }
}
