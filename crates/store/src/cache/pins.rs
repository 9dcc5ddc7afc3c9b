//! The network zone that each host of an upstream first resolved to. The caller interprets the zones.
//!
//! The zone of an address depends on the machine that resolves it, so it is stored in the cache and not in the journal. It must
//! survive restarts: otherwise an attacker who controls a name could wait for a restart and then move the name to another zone.

use super::database::Cache;
use super::origin::Origin;
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::params;

impl Cache {
    /// The hosts of an upstream with the zones that were recorded for them.
    pub(crate) fn pins(&mut self, of: Origin) -> Result<Vec<(String, String)>> {
        self.run(|database| {
            let sql = "SELECT host, zone FROM pin WHERE repository = ? AND origin = ?";
            let mut statement = database.prepare_cached(sql)?;
            let rows = statement
                .query_map(params![of.repository.0.cast_signed(), of.urls], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Records the zone of a host.
    pub(crate) fn pin(&mut self, of: Origin, host: &str, zone: &str) -> Result<()> {
        if self.is_former(of) {
            return Ok(());
        }
        self.run(|database| {
            let sql = "INSERT OR REPLACE INTO pin VALUES (?, ?, ?, ?)";
            let values = params![of.repository.0.cast_signed(), of.urls, host, zone];
            database.prepare_cached(sql)?.execute(values).map(drop)
        })
    }

    /// Removes the zones of all hosts of a repository's upstreams.
    pub(crate) fn unpin(&mut self, repository: RepositoryId) -> Result<()> {
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
    fn zones_of_hosts_are_known_after_a_restart_and_for_that_upstream_alone() {
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
        cache.set_upstream(RepositoryId(1), Some(at("other")));
        cache.pin(at("one"), "a.test:80", "public").unwrap();
        cache.pin(at("other"), "a.test:80", "loopback").unwrap();
        assert_eq!(cache.pins(at("other")).unwrap(), [("a.test:80".to_owned(), "loopback".to_owned())]);
        cache.unpin(RepositoryId(1)).unwrap();
        assert_eq!(cache.pins(at("other")).unwrap(), []);
    }
}
