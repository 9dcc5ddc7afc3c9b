//! A beat: what a node tells the others several times a second through the database, and what it learns with the same statement.
//!
//! After each beat a node knows the number of the last change. Until [`TRUST`](super::rhythm::TRUST) after it sent the beat, it calls its answers fresh, once it
//! has all changes up to that number. No two clocks are compared, and only monotonic ones are read.

use super::nodes::Row;
use crate::journal::record::Seq;
use serde::Deserialize;
use std::sync::Arc;
use tokio_postgres::Row as Answer;

/// A node, by its name, and since its last start.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) node: String,
    /// Random for each start of the program.
    pub(super) instance: String,
}

/// What a node tells.
#[derive(Debug)]
pub(super) struct Beat {
    pub(super) by: Arc<Sender>,
    /// Grows with each beat since the start, so that one that is executed late does not count.
    pub(super) number: i64,
    /// The identity of the data folder, which only one process uses at a time.
    pub(super) folder: String,
    /// The beat at which the row of another node with this name stood still, whose name this one takes.
    pub(super) stands_at: Option<i64>,
    /// The last change whose effects are done.
    pub(super) seen: Seq,
    /// Whether it calls answers fresh, or is about to.
    pub(super) fresh: bool,
    pub(super) state: &'static str,
    pub(super) url: String,
    pub(super) version: String,
    /// The newest version of journal rows that it reads.
    pub(super) form: u32,
    /// Whether others are told at once what it has seen.
    pub(super) tells: bool,
    /// The leases that it asks for, as their holders are gone.
    pub(super) wants: Vec<String>,
}

/// What it learns.
#[derive(Debug)]
pub(super) struct Beaten {
    /// Its row was written; otherwise another node has its name.
    pub(super) is_ours: bool,
    /// It begins to call answers fresh.
    pub(super) joined: bool,
    /// The number of the last change.
    pub(super) counter: Seq,
    /// The number of other nodes that call answers fresh; `None`: it is not known.
    pub(super) others: Option<u64>,
    /// All nodes.
    pub(super) nodes: Vec<Row>,
    /// Whether each node that lives can have written its row since the table was emptied.
    pub(super) names_all: bool,
    /// All leases.
    pub(super) leases: Vec<LeaseRow>,
}

/// A lease as the database has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct LeaseRow {
    pub(super) name: String,
    pub(super) node: String,
    pub(super) instance: String,
}

impl Beaten {
    pub(super) fn read(row: &Answer) -> Result<Self, String> {
        let unreadable = |why: serde_json::Error| format!("its table of nodes cannot be read: {why}");
        Ok(Self {
            is_ours: row.get(0),
            joined: row.get(1),
            counter: Seq(row.get::<_, i64>(2).cast_unsigned()),
            others: u64::try_from(row.get::<_, i64>(3)).ok(),
            nodes: serde_json::from_str(row.get(4)).map_err(unreadable)?,
            names_all: row.get(7),
            leases: serde_json::from_str(row.get(5)).map_err(unreadable)?,
        })
    }
}
