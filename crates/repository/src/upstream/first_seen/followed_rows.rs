//! First-seen rows of one unit that other nodes wrote, until they are added to the state in memory.

use std::sync::Mutex;
use store::Seq;
use telemetry::{Millis, lock};

/// The most rows that wait. The turn to add them may be held by a look that takes long.
const ROWS_MAX: usize = 1_000;

/// A row of another node.
#[derive(Debug)]
pub(crate) struct FollowedRow {
    pub(crate) seq: Seq,
    pub(crate) at: Millis,
    pub(crate) seen: serde_json::Value,
}

/// The rows that wait, in the order of the journal.
#[derive(Debug, Default)]
pub(crate) struct FollowedRows(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    rows: Vec<FollowedRow>,
    /// Rows are left out, because too many waited.
    is_cut: bool,
    /// A task will take them.
    is_awaited: bool,
}

impl FollowedRows {
    /// Adds a row. Returns whether somebody has to start a task that takes the rows.
    pub(crate) fn add(&self, row: FollowedRow) -> bool {
        let mut waiting = lock(&self.0);
        if waiting.is_cut || waiting.rows.len() >= ROWS_MAX {
            (waiting.rows, waiting.is_cut) = (Vec::new(), true);
        } else {
            waiting.rows.push(row);
        }
        !std::mem::replace(&mut waiting.is_awaited, true)
    }

    /// Takes the rows. `None`: some are left out, so the journal has to be read.
    pub(crate) fn take(&self) -> Option<Vec<FollowedRow>> {
        let Waiting { rows, is_cut, .. } = std::mem::take(&mut *lock(&self.0));
        (!is_cut).then_some(rows)
    }

    /// Puts rows back that lack what follows them.
    pub(crate) fn put_back(&self, mut rows: Vec<FollowedRow>) {
        let mut waiting = lock(&self.0);
        rows.append(&mut waiting.rows);
        waiting.rows = rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64) -> FollowedRow {
        FollowedRow { seq: Seq(seq), at: Millis(0), seen: serde_json::Value::Null }
    }

    fn numbers(rows: &FollowedRows) -> Option<Vec<u64>> {
        rows.take().map(|rows| rows.iter().map(|row| row.seq.0).collect())
    }

    #[test]
    fn one_task_takes_all_rows_in_their_order_and_rows_that_are_put_back_come_first() {
        let rows = FollowedRows::default();
        assert_eq!([1, 2, 3].map(|seq| rows.add(row(seq))), [true, false, false]);
        assert_eq!(numbers(&rows), Some(vec![1, 2, 3]));
        assert!(rows.add(row(5)), "the next one needs another task");
        rows.put_back(vec![row(4)]);
        assert_eq!(numbers(&rows), Some(vec![4, 5]));
    }

    #[test]
    fn beyond_a_number_of_rows_the_journal_is_read() {
        let rows = FollowedRows::default();
        assert_eq!((0..=ROWS_MAX as u64).filter(|seq| rows.add(row(*seq))).count(), 1);
        assert!(!rows.add(row(9_999)));
        assert_eq!(numbers(&rows), None);
        assert!(rows.add(row(10_000)));
        assert_eq!(numbers(&rows), Some(vec![10_000]), "the number counts from there");
    }
}
