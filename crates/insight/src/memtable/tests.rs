//! Tests of the newest rows.

use super::*;
use crate::column::Column;
use crate::sample::{self, Plain};
use proptest::prelude::*;

/// A narrow block with rows of these moments.
fn block(moments: std::ops::Range<i64>) -> Arc<Block> {
    let row = |at: i64| Plain { at, weight: 2, path: format!("/{}", at % 7), ..Plain::default() };
    Arc::new(sample::block(moments.map(|at| row(at).event())).narrow())
}

fn moments(open: &Memtable) -> Vec<i64> {
    open.blocks().iter().flat_map(|block| block.numbers(Column::At).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn batches_of_any_size_stay_in_order_in_few_blocks(sizes in prop::collection::vec(0..30_i64, 0..200)) {
        let mut open = Memtable::default();
        let mut end = 0;
        for size in sizes {
            open.add(block(end..end + size));
            end += size;
            prop_assert_eq!(open.span().rows as i64, end);
        }
        prop_assert_eq!(moments(&open), (0..end).collect::<Vec<_>>());
        prop_assert_eq!(open.memory(), open.blocks().iter().map(|block| block.memory()).sum::<u64>());
        // Less than eight of each size: 1 to 7 rows, 8 to 63, 64 to 511, and more.
        prop_assert!(open.blocks().len() <= 5 * 7);
    }
}

#[test]
fn a_list_of_blocks_that_was_taken_before_does_not_change() {
    let mut open = Memtable::default();
    (0..7).for_each(|at| open.add(block(at..at + 1)));
    let before = open.blocks().to_vec();
    open.add(block(7..8));
    assert_eq!((before.len(), open.blocks().len()), (7, 1));
    assert_eq!(before.iter().map(|block| block.span().rows).sum::<usize>(), 7);
    assert_eq!(open.span(), Span { rows: 8, events: 16, from: 0, to: 7 });
    assert_eq!(open.take().len(), 1);
    assert_eq!((open.span(), open.memory(), open.blocks().len()), (Span::default(), 0, 0));
}

#[test]
fn blocks_are_joined_to_the_largest_size_and_no_further() {
    let mut open = Memtable::default();
    let batch = block(0..3000);
    (0..40).for_each(|_| open.add(batch.clone()));
    let rows: Vec<usize> = open.blocks().iter().map(|block| block.span().rows).collect();
    assert_eq!(rows, [24_000; 5]);
    (0..16).for_each(|_| open.add(batch.clone()));
    assert!(open.blocks().iter().all(|block| block.span().rows <= Memtable::BLOCK_ROWS));
}

#[test]
fn blocks_with_long_texts_have_fewer_rows() {
    let mut open = Memtable::default();
    for batch in 0..100 {
        let path = |row: i64| format!("/{}/{batch}/{row}", "long".repeat(1000));
        let rows = (0..64).map(|row| Plain { at: batch, weight: 1, path: path(row), ..Plain::default() });
        open.add(Arc::new(sample::block(rows.map(|row| row.event())).narrow()));
    }
    assert_eq!(moments(&open).len(), 6400);
    assert!(open.memory() > 6400 * 4000, "{}", open.memory());
    assert!(open.blocks().iter().all(|block| block.memory() <= Memtable::BLOCK_BYTES));
}
