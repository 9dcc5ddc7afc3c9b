//! The program on a database of PostgreSQL, which is killed, suspended, replaced by a standby, and away.

mod adopt;
mod asking;
mod balanced;
mod clock;
mod connecting;
mod costs;
mod full;
mod leases;
mod lost;
mod network;
mod nodes;
mod one_truth;
mod outage;
mod resolve;
mod rolling;

use crate::world::{Nodes, ObjectServer, POSTGRES_PASSWORD, Postgres, World};
use std::sync::Arc;

/// Each start uses another port, which does not count as a difference. No stop waits for load balancers.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example"),
    ("DATABASE_PASSWORD", POSTGRES_PASSWORD),
    ("DAYLIGHT_CLUSTER_DRAIN_S", "0"),
];

/// The settings of a node on this database.
pub(crate) fn settings(postgres: &Postgres) -> String {
    settings_of(postgres, "a")
}

/// The same for a node with another name.
pub(crate) fn settings_of(postgres: &Postgres, node: &str) -> String {
    settings_of_all(postgres) + &format!("node = \"{node}\"\n")
}

/// The same without the name of the node.
pub(crate) fn settings_of_all(postgres: &Postgres) -> String {
    format!("[cluster]\ndatabase = \"{}\"\ndatabase_password = \"env:DATABASE_PASSWORD\"\n", postgres.url())
}

/// Starts so many nodes with a database of their own and a prefix of an object storage, and with these further settings of the cluster.
pub(crate) fn nodes(count: usize, objects: (Arc<ObjectServer>, &str), further: &str) -> Nodes {
    nodes_with(count, objects, further, VARIABLES)
}

/// The same with these variables.
fn nodes_with(
    count: usize,
    (storage, prefix): (Arc<ObjectServer>, &str),
    further: &str,
    variables: &'static [(&'static str, &'static str)],
) -> Nodes {
    let postgres = Postgres::start();
    let cluster = settings_of_all(&postgres) + further;
    let store = storage.settings(prefix, &storage.url());
    Nodes::start(count, (postgres, &cluster), (storage, &store), variables)
}

/// Starts a node on this database.
fn world_on(postgres: &Postgres) -> World {
    World::start_with_file_and(&settings(postgres), VARIABLES)
}

/// The journal in the database, a row in each line. Fails if a number is missing.
pub(crate) fn journal(postgres: &Postgres) -> Vec<String> {
    let rows = postgres.sql("SELECT seq, body FROM daylight.journal ORDER BY seq");
    let rows: Vec<String> = rows.lines().map(str::to_owned).collect();
    for (number, row) in (1..).zip(&rows) {
        assert!(row.starts_with(&format!("{number}|")), "after {} rows: {row}", number - 1);
    }
    assert_eq!(postgres.sql("SELECT seq FROM daylight.counter"), rows.len().to_string());
    rows
}
