//! Tests of thinning.

use super::*;
use crate::block::Block;
use crate::sample;
use proptest::prelude::*;
use telemetry::Event;

fn block(rows: &[(u32, Because, u64)]) -> Block {
    let event = |(weight, because, bytes): &(u32, Because, u64)| {
        let mut event = Event::default();
        (event.weight, event.because, event.bytes_out) = (*weight, *because, *bytes);
        event.asked(&format!("/{bytes}"));
        event
    };
    sample::block(rows.iter().map(event)).narrow()
}

fn because(part: &dyn Part) -> Vec<String> {
    let coded = part.texts(Column::KeptBecause).unwrap();
    coded.codes.iter().map(|code| coded.texts[*code as usize].to_owned()).collect()
}

#[test]
fn a_sampled_row_says_that_it_is_one_and_a_whole_one_why_it_is_kept() {
    let all = vec![(1, Because::All, 7); 20];
    let rows = [all, vec![(1, Because::Slow, 8), (5, Because::Failed, 9), (3, Because::Sample, 1)]].concat();
    let block = block(&rows);
    let thinned = Thinned::of(&block).unwrap();
    assert_eq!(because(&thinned), ["sample", "sample", "slow", "failed", "sample"]);
    assert_eq!(thinned.numbers(Column::Weight).unwrap(), [10, 10, 1, 5, 3]);
    assert_eq!((thinned.span().rows, thinned.span().events), (5, 29));
    let paths = thinned.texts(Column::Path).unwrap();
    assert_eq!(paths.texts.iter().collect::<Vec<_>>(), ["/7", "/8", "/9", "/1"], "each once, and no other one");
}

#[test]
fn sums_stay_nearly_the_same_though_the_weights_of_rows_differ() {
    // Rows with a high weight have more bytes: a choice that ignores weights would be wrong by a third.
    let rows: Vec<_> = (0..100_000u64).map(|row| if row % 3 == 0 { (50, 2000) } else { (1, 10) }).collect();
    let rows: Vec<_> = rows.into_iter().map(|(weight, bytes)| (weight, Because::Sample, bytes)).collect();
    let sum = |part: &dyn Part| -> i64 {
        let (weights, bytes) = (part.numbers(Column::Weight).unwrap(), part.numbers(Column::BytesOut).unwrap());
        weights.iter().zip(bytes).map(|(weight, bytes)| weight * bytes).sum()
    };
    let block = block(&rows);
    let (before, after) = (sum(&block), sum(&Thinned::of(&block).unwrap()));
    assert!(before.abs_diff(after) * 100 < before.unsigned_abs(), "{before} {after}");
}

proptest! {
    #[test]
    fn of_any_rows_a_tenth_and_all_with_trouble_stay_and_weights_add_up(
        rows in proptest::collection::vec((1u32..100, 0usize..Because::ALL.len(), 0u64..50), 0..300),
    ) {
        let rows: Vec<_> = rows.into_iter().map(|(weight, because, bytes)| (weight, Because::ALL[because], bytes)).collect();
        let block = block(&rows);
        let thinned = Thinned::of(&block).unwrap();
        let stay = rows.iter().filter(|(_, because, _)| STAY.contains(because)).count();
        prop_assert_eq!(thinned.span().rows, stay + (rows.len() - stay).div_ceil(10));
        let weights = thinned.numbers(Column::Weight).unwrap();
        prop_assert_eq!(weights.iter().sum::<i64>(), rows.iter().map(|(weight, ..)| i64::from(*weight)).sum::<i64>());
        prop_assert_eq!(thinned.span().events, block.span().events);
        let (before, after) = (block.numbers(Column::BytesOut).unwrap(), thinned.numbers(Column::BytesOut).unwrap());
        let chosen: Vec<i64> = thinned.rows.iter().map(|row| before[*row]).collect();
        prop_assert_eq!(after, chosen);
        prop_assert!(thinned.rows.is_sorted());
        let reasons = because(&thinned);
        prop_assert_eq!(reasons.iter().filter(|because| STAY.iter().any(|stay| stay.as_str() == **because)).count(), stay);
        for column in Column::ALL {
            match column.is_text() {
                true => prop_assert_eq!(thinned.texts(*column).unwrap().codes.len(), weights.len()),
                false => prop_assert_eq!(thinned.numbers(*column).unwrap().len(), weights.len()),
            }
        }
    }
}
