//! The dates of publication in the database of a Gemstash.
//! https://github.com/rubygems/gemstash, `migrations/01_gem_dependencies.rb`: a table `versions` with `full_name` and `created_at`.

use crate::cli::import::origin::credible;
use repository::moment;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use std::collections::HashMap;
use std::path::Path;
use telemetry::Millis;

/// The file of the database, in the base folder. A Gemstash can be set to another database, which is not here then.
pub(super) const DATABASE: &str = "gemstash.db";

/// When each version was pushed, by its full name. The moments have no zone there, and are read as UTC.
pub(super) fn dates(base: &Path) -> Result<HashMap<String, Millis>, rusqlite::Error> {
    // A link may lead out of the folder, which the user may name by a link. With this flag no folder on the way may be one.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let base = base.canonicalize().unwrap_or_else(|_| base.to_owned());
    let database = Connection::open_with_flags(base.join(DATABASE), flags)?;
    let mut statement = database.prepare("SELECT full_name, created_at FROM versions")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, created(row)?)))?;
    rows.filter_map(|row| row.map(|(name, at)| Some((name, at?))).transpose()).collect()
}

/// A moment as text, or in milliseconds since the epoch, which JRuby's driver writes.
fn created(row: &Row<'_>) -> Result<Option<Millis>, rusqlite::Error> {
    Ok(match row.get_ref(1)? {
        ValueRef::Text(text) => std::str::from_utf8(text).ok().and_then(|text| moment::read(text).ok()),
        ValueRef::Integer(at) => Some(Millis(at)),
        _ => None,
    }
    .and_then(credible))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_the_forms_that_drivers_write() {
        let folder = tempfile::tempdir().unwrap();
        let database = Connection::open(folder.path().join(DATABASE)).unwrap();
        let rows = "CREATE TABLE versions (full_name varchar(191), created_at timestamp);
            INSERT INTO versions VALUES ('a-1', '2024-05-01 12:00:00.250000'), ('b-1', '2024-05-01 12:00:00'),
            ('c-1', '2024-05-01 14:00:00+0200'), ('d-1', 1714564800000), ('e-1', 'never'), ('f-1', NULL), ('g-1', 0);";
        database.execute_batch(rows).unwrap();
        let mut dates: Vec<_> = dates(folder.path()).unwrap().into_iter().collect();
        dates.sort();
        let noon = 1_714_564_800_000;
        let expected = [("a-1", noon + 250), ("b-1", noon), ("c-1", noon), ("d-1", noon)];
        assert_eq!(dates, expected.map(|(name, at)| (name.to_owned(), Millis(at))));
    }

    #[test]
    fn a_folder_without_the_database_has_no_dates() {
        let folder = tempfile::tempdir().unwrap();
        assert!(dates(folder.path()).is_err());
        assert!(!folder.path().join(DATABASE).exists(), "nothing is made there");
    }
}
