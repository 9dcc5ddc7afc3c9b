//! This node and the others of its database.

use super::Store;
use crate::journal::record::Seq;
use crate::truth::postgres::{DatabaseState, NodeRow};

impl Store {
    /// All nodes as the last beat saw them, this one first. Empty without a database.
    pub fn nodes(&self) -> Vec<NodeRow> {
        self.member.as_ref().map(|member| member.told()).unwrap_or_default()
    }

    /// This node as it knows itself, also while the database has no row of it or has parted; `None`: there is no database.
    pub fn this_node(&self) -> Option<NodeRow> {
        self.member.as_ref().map(|member| member.own())
    }

    /// The number of living nodes, this one included.
    pub fn living(&self) -> u64 {
        self.member.as_ref().map_or(1, |member| member.living())
    }

    /// The number of the last change in the database, as the last beat saw it, or that of this store if it knows of none or of more and the
    /// histories have not parted.
    pub fn last_of_all(&self) -> Seq {
        let has_parted = self.database().is_some_and(DatabaseState::has_parted);
        let own = if has_parted { Seq(0) } else { self.last() };
        self.member.as_ref().map_or(Seq(0), |member| member.counter()).max(own)
    }
}
