//! The program on a database of PostgreSQL, which is killed, suspended, replaced by a standby, and away.

mod adopt;
mod connecting;
mod lost;
mod outage;

use crate::world::{POSTGRES_PASSWORD, Postgres, World};

/// Each start uses another port, which does not count as a difference.
pub(crate) const VARIABLES: &[(&str, &str)] =
    &[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example"), ("DATABASE_PASSWORD", POSTGRES_PASSWORD)];

/// The settings of a node on this database.
pub(crate) fn settings(postgres: &Postgres) -> String {
    format!(
        "[cluster]\ndatabase = \"{}\"\ndatabase_password = \"env:DATABASE_PASSWORD\"\nnode = \"a\"\n",
        postgres.url()
    )
}

/// Starts a node on this database.
fn world_on(postgres: &Postgres) -> World {
    World::start_with_file_and(&settings(postgres), VARIABLES)
}

/// The journal in the database, a row in each line. Fails if a number is missing.
fn journal(postgres: &Postgres) -> Vec<String> {
    let rows = postgres.sql("SELECT seq, body FROM daylight.journal ORDER BY seq");
    let rows: Vec<String> = rows.lines().map(str::to_owned).collect();
    for (number, row) in (1..).zip(&rows) {
        assert!(row.starts_with(&format!("{number}|")), "after {} rows: {row}", number - 1);
    }
    assert_eq!(postgres.sql("SELECT seq FROM daylight.counter"), rows.len().to_string());
    rows
}
