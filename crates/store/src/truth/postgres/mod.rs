//! The truth that PostgreSQL orders ("the database"), with all of it in the SQLite database of each node ("the copy").
//!
//! The database has a counter and the journal, and nothing that is derived from it. A batch is decided in the copy, inside its open
//! transaction. Then one statement (an "append") adds its rows to the journal, if the counter still has the number after which the
//! batch was decided, and the copy commits. If another node has written meanwhile, nothing of the append is written: the copy rolls back,
//! takes in the rows in between, and decides again. So
//!
//! - each condition is exact, because nothing at all happened between the decision and the change;
//! - a read needs no statement, and goes on when the database is away;
//! - a change needs one round trip, whatever it depends on;
//! - the tables of the database say nothing about packages, and change hardly ever. The copy is as it is without a database.
//!
//! The numbers have no gaps and are given in the order of the commits, because the counter is one row, locked until the end of the
//! transaction. That bounds the changes per second by the round trip; a node puts up to 256 batches into one append.
//!
//! An append whose answer was lost is sent again under the same identity, and the database recognizes rows that it already has. If it stays
//! away, the change is refused. If it was made nevertheless, its rows are found as those of another node would be.
//!
//! Nodes know of each other by beats, which tell what each has seen. An answer is fresh until a second after the last beat whose changes have
//! taken effect, and a change is acknowledged when each node with fresh answers has it.
//!
//! An acknowledged change is durable in the database. The copy is behind it at most, and fills up from it: after a restart, after a power
//! failure (it does not sync), or from nothing.

mod append;
mod beat;
mod dial;
mod everywhere;
mod freshness;
mod history;
mod leases;
mod link;
mod member;
mod nodes;
mod objects_place;
mod options;
mod ordered;
mod parted;
mod reads;
mod refusal;
mod rhythm;
mod schema;
mod session;
mod state;
#[cfg(test)]
pub(crate) mod tests;

pub use dial::{TriedDatabase, try_database};
pub(crate) use everywhere::Everywhere;
pub(crate) use freshness::Answers;
pub use freshness::Freshness;
pub use leases::Leases;
pub(crate) use member::Member;
pub use nodes::{NodeRow, NodeState};
pub(crate) use objects_place::{PLACE, is_shared};
pub use options::{DatabaseDialling, DatabaseDoor, DatabaseOptions, DatabaseStream};
pub(crate) use ordered::{Folder, Ordered};
pub(crate) use parted::{Direct, PAGE_BYTES, PAGE_ROWS};
pub use refusal::DatabaseRefusal;
pub use state::{DatabaseAway, DatabaseState};
