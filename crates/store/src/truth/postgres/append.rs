//! Changes on their way to the database, and what becomes of them.

use crate::journal::record::Seq;

/// Changes on their way to the database.
#[derive(Debug)]
pub(super) struct Append {
    /// A random number, by which the database recognizes an append that was sent before.
    pub(super) id: [u8; 16],
    /// The number of the change after which it was decided.
    pub(super) after: Seq,
    /// The rows that follow.
    pub(super) bodies: Vec<String>,
    /// The database had them before, and has lost them.
    pub(super) puts_back: bool,
    /// How often in a row others were quicker.
    pub(super) lost: i32,
}

/// What the database did with an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The rows are in the journal, by this append or by the same one before. `alone`: no other node calls answers fresh.
    Made { alone: bool },
    /// Others wrote first. Nothing was written.
    Moved,
    /// Another node has to write first. Nothing was written. The number of the last row.
    Wait(Seq),
    /// The sender's clock is off from that of the database by these milliseconds. Nothing was written.
    Clock(i64),
}
