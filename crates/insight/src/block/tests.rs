//! Tests of blocks of rows.

use super::*;
use crate::row::RepositoryFacts;
use crate::sample;
use proptest::prelude::*;

fn block(rows: &[sample::Plain]) -> Block {
    sample::block(rows.iter().map(sample::Plain::event))
}

/// All cells, as text.
fn cells(part: &dyn Part) -> Vec<Vec<String>> {
    let column = |column: &Column| match column.is_text() {
        true => {
            let coded = part.texts(*column).unwrap();
            coded.codes.iter().map(|code| coded.texts[*code as usize].to_owned()).collect()
        }
        false => part.numbers(*column).unwrap().iter().map(i64::to_string).collect(),
    };
    Column::ALL.iter().map(column).collect()
}

fn naive(rows: &[sample::Plain]) -> Vec<Vec<String>> {
    let cell =
        |column: Column, row: &sample::Plain| match column.cell(&Row::of(&row.event(), RepositoryFacts::default())) {
            Cell::Text(text) => text.to_owned(),
            Cell::Number(number) => number.to_string(),
        };
    Column::ALL.iter().map(|column| rows.iter().map(|row| cell(*column, row)).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_block_has_the_cells_of_its_rows(rows in prop::collection::vec(sample::plain(), 1..40)) {
        let filling = block(&rows);
        let narrow = filling.clone().narrow();
        let expected = naive(&rows);
        for block in [&filling, &narrow] {
            prop_assert_eq!(&cells(block), &expected);
            let span = block.span();
            prop_assert_eq!(span.rows, rows.len());
            prop_assert_eq!(span.events, rows.iter().map(|row| u64::from(row.weight)).sum::<u64>());
            prop_assert_eq!(Some((span.from, span.to)), block.range(Column::At));
            for column in Column::ALL {
                if let Some((low, high)) = block.range(*column) {
                    let numbers = block.numbers(*column).unwrap();
                    prop_assert_eq!((numbers.iter().min(), numbers.iter().max()), (Some(&low), Some(&high)));
                } else {
                    let texts = block.texts(*column).unwrap().texts;
                    prop_assert!(texts.iter().all(|text| block.may_have(*column, text)));
                    prop_assert!(!block.may_have(*column, "a text of no row"));
                }
            }
        }
    }

    #[test]
    fn joined_blocks_have_the_rows_of_all_in_order(rows in prop::collection::vec(sample::plain(), 1..60), cut in 1..20_usize) {
        let blocks: Vec<Block> = rows.chunks(cut).map(|rows| block(rows).narrow()).collect();
        let joined = Block::join(&blocks);
        prop_assert_eq!(cells(&joined), naive(&rows));
        prop_assert_eq!(joined.span(), block(&rows).span());
        for column in Column::ALL.iter().filter(|column| column.is_text()) {
            let texts = joined.texts(*column).unwrap().texts;
            prop_assert!(texts.iter().zip(texts.iter().skip(1)).all(|(one, next)| one < next));
        }
    }

    #[test]
    fn a_narrow_block_can_get_more_rows(rows in prop::collection::vec(sample::plain(), 2..40)) {
        let mut some = block(&rows[..rows.len() / 2]).narrow();
        for row in &rows[rows.len() / 2..] {
            some.push(&Row::of(&row.event(), RepositoryFacts::default()));
        }
        prop_assert_eq!(cells(&some), naive(&rows));
    }

    #[test]
    fn a_stored_block_is_read_again(rows in prop::collection::vec(sample::plain(), 1..40)) {
        let block = block(&rows).narrow();
        let bytes = block.plain();
        let read = Block::from_plain(&bytes).unwrap();
        prop_assert_eq!(cells(&read), cells(&block));
        prop_assert_eq!(read.span(), block.span());
        prop_assert!(Block::from_plain(&bytes[..bytes.len() - 1]).is_none());
    }

    #[test]
    fn a_column_is_as_narrow_as_its_cells_permit(
        low in prop_oneof![Just(i64::MIN), Just(-1), Just(0), any::<i64>()],
        offsets in prop_oneof![prop::collection::vec(0..3_i64, 1..9), prop::collection::vec(0..300_i64, 1..9), prop::collection::vec(0..70_000_i64, 1..9), prop::collection::vec(any::<i64>(), 1..9)],
    ) {
        let values: Vec<i64> = offsets.iter().map(|offset| low.wrapping_add(*offset)).collect();
        let mut pushed = Ints::default();
        values.iter().for_each(|value| pushed.push(*value));
        prop_assert_eq!(pushed.to_vec(), values.clone());
        pushed.narrow();
        prop_assert_eq!(&pushed, &Ints::of(values.clone()));
        prop_assert_eq!(pushed.to_vec(), values.clone());
        let range = values.iter().max().unwrap().wrapping_sub(*values.iter().min().unwrap()).cast_unsigned();
        let width = match range { 0 => 0, 1..=0xFF => 1, 0x100..=0xFFFF => 2, 0x1_0000..=0xFFFF_FFFF => 4, _ => 8 };
        prop_assert_eq!(pushed.bytes(), width * values.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_column_with_few_wide_cells_is_narrow(
        low in prop_oneof![Just(i64::MIN), Just(-1), Just(0), any::<i64>()],
        most in prop::collection::vec(prop_oneof![30 => Just(0_i64), 3 => 0..300_i64, 1 => any::<i64>()], 1..200),
    ) {
        let values: Vec<i64> = most.iter().map(|offset| low.wrapping_add(*offset)).collect();
        let (plain, patched) = (Ints::of(values.clone()), Ints::patched(values.clone()));
        prop_assert_eq!((patched.to_vec(), patched.rows(), patched.range()), (values.clone(), values.len(), plain.range()));
        prop_assert_eq!(patched.codes(), values.iter().map(|value| *value as u32).collect::<Vec<_>>());
        let (low, cells) = patched.cells();
        prop_assert_eq!(&Ints::stored(low, cells.into_owned()).unwrap(), &plain);
        let mut more = patched;
        more.push(7);
        prop_assert_eq!(more.to_vec(), [values, vec![7]].concat());
    }
}

#[test]
fn stored_cells_of_a_wrong_range_are_refused() {
    let stored = |low, offsets: &[u8]| Ints::stored(low, ints::Cells::Bytes(offsets.to_vec()));
    assert_eq!(stored(5, &[0, 2]).unwrap().range(), Some((5, 7)));
    assert_eq!((stored(5, &[1, 2]), stored(i64::MAX, &[0, 2]), stored(0, &[])), (None, None, None));
}

#[test]
fn a_few_wide_cells_among_many_cost_little() {
    let values: Vec<i64> = (0..10_000).map(|row| if row % 100 == 1 { row << 30 } else { 5 }).collect();
    let patched = Ints::patched(values.clone());
    assert!(patched.bytes() < 1500, "{}", patched.bytes());
    assert_eq!((patched.to_vec(), Ints::of(values.clone()).bytes()), (values, 80_000));
}

#[test]
fn columns_that_another_version_had_are_left_out_and_new_ones_are_empty() {
    let block = block(&[sample::Plain { path: "/a".to_owned(), weight: 3, ..sample::Plain::default() }]).narrow();
    let bytes = block.plain();
    let known = |column: &Column| (![Column::Path, Column::Status].contains(column)).then_some(*column);
    let columns: Vec<Option<Column>> = Column::ALL.iter().map(known).collect();
    let read = Block::read(&bytes, &columns).unwrap();
    assert_eq!(
        read.texts(Column::Path).unwrap(),
        Coded { texts: std::sync::Arc::new([""].iter().collect()), codes: vec![0] }
    );
    assert_eq!((read.numbers(Column::Status).unwrap(), read.span().events), (vec![0], 3));
}

#[test]
fn constant_columns_take_no_room() {
    let row = sample::Plain::default();
    let one = block(std::slice::from_ref(&row)).narrow().memory();
    assert_eq!(block(&vec![row; 1000]).narrow().memory(), one);
}

/// Generated blocks of a busy server: batches of 512 rows, joined as they come.
fn busy(rows: usize) -> crate::Memtable {
    let (mut events, mut open) = (crate::sample::busy::Busy::new(7), crate::Memtable::default());
    for _ in 0..rows / 512 {
        let mut batch = Block::default();
        for _ in 0..512 {
            batch.push(&Row::of(&events.event(), RepositoryFacts { kind: "group", format: "gem" }));
        }
        open.add(std::sync::Arc::new(batch.narrow()));
    }
    open
}

#[test]
fn rows_of_a_busy_server_take_at_most_96_bytes_each() {
    let open = busy(crate::Memtable::BLOCK_ROWS);
    let [block] = open.blocks() else { panic!("{:?}", open.blocks().len()) };
    assert_eq!(block.span().rows, crate::Memtable::BLOCK_ROWS);
    assert!(block.memory() <= 96 * 32 * 1024, "{}", block.memory());
}
