//! Tests of the log.

use super::*;
use crate::column::Column;
use crate::sample::{self, Plain};
use proptest::prelude::*;

fn block(rows: &[Plain]) -> Block {
    sample::block(rows.iter().map(Plain::event)).narrow()
}

fn paths(blocks: &[Arc<Block>]) -> Vec<String> {
    let paths = |block: &Arc<Block>| {
        let coded = block.texts(Column::Path).unwrap();
        coded.codes.iter().map(|code| coded.texts[*code as usize].to_owned()).collect::<Vec<_>>()
    };
    blocks.iter().flat_map(paths).collect()
}

/// A log of batches, as bytes, and where each piece begins.
fn written(batches: &[Vec<Plain>]) -> (Vec<u8>, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = Log::create(&path).unwrap();
    let mut places = vec![0, log.bytes() as usize];
    for batch in batches {
        log.append(&block(batch)).unwrap();
        places.push(log.bytes() as usize);
    }
    places.pop();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, log.bytes());
    (bytes, places)
}

fn batches() -> impl Strategy<Value = Vec<Vec<Plain>>> {
    prop::collection::vec(prop::collection::vec(sample::plain(), 1..4), 1..6)
}

fn asked(batches: &[Vec<Plain>]) -> Vec<String> {
    batches.iter().flatten().map(|row| row.path.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_that_was_cut_has_all_batches_before_the_cut(batches in batches(), cut in any::<prop::sample::Index>()) {
        let (bytes, places) = written(&batches);
        let cut = cut.index(bytes.len() + 1);
        let ends = places.iter().skip(1).copied().chain([bytes.len()]);
        let whole = ends.filter(|end| *end <= cut).count();
        let recovered = Log::read(&bytes[..cut]);
        prop_assert_eq!(paths(&recovered.blocks), asked(&batches[..whole.saturating_sub(1)]));
        let read = if whole == places.len() { bytes.len() } else { places[whole] };
        prop_assert_eq!(recovered.lost_bytes, (cut - read) as u64);
    }

    #[test]
    fn a_damaged_byte_costs_its_batch_and_no_other(
        batches in batches(), at in any::<prop::sample::Index>(), mask in 1..=255_u8,
    ) {
        let (mut bytes, places) = written(&batches);
        let at = at.index(bytes.len());
        bytes[at] ^= mask;
        let damaged = places.iter().rposition(|place| *place <= at).unwrap();
        let mut kept = batches.clone();
        // This version reads its batches without the names of the columns.
        if damaged > 0 {
            kept.remove(damaged - 1);
        }
        let recovered = Log::read(&bytes);
        prop_assert_eq!(paths(&recovered.blocks), asked(&kept));
        prop_assert!(recovered.lost_bytes > 0);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(Log::read(&bytes).lost_bytes, bytes.len() as u64);
    }
}

#[test]
fn a_batch_that_is_too_large_is_refused_and_earlier_ones_stay() {
    let row = Plain { path: "/a".to_owned(), weight: 1, ..Plain::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = Log::create(&path).unwrap();
    log.append(&block(std::slice::from_ref(&row))).unwrap();
    let error = log.append(&block(&vec![row.clone(); (1 << 16) + 1])).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    log.append(&block(&[row])).unwrap();
    assert_eq!(paths(&Log::recover(&path).unwrap().blocks), ["/a", "/a"]);
    log.remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_log_of_another_version_is_read_by_its_names() {
    let row = Plain { path: "/a".to_owned(), weight: 1, status: 200, ..Plain::default() };
    let names = columns::names().replace("\npath\n", "\nway\n");
    let tag = crc32fast::hash(names.as_bytes()).to_le_bytes();
    let batch = [&tag, block(std::slice::from_ref(&row)).plain().as_slice()].concat();
    let bytes = |pieces: &[&[u8]]| {
        let (mut bytes, mut packed) = (Vec::new(), Vec::new());
        for plain in pieces {
            packed.clear();
            Piece::write(plain, &mut Compressor::new(1).unwrap(), &mut packed).unwrap();
            bytes.extend_from_slice(&packed);
        }
        bytes
    };
    let recovered = Log::read(&bytes(&[names.as_bytes(), &batch]));
    assert_eq!((paths(&recovered.blocks), recovered.lost_bytes), (vec![String::new()], 0));
    assert_eq!(recovered.blocks[0].numbers(Column::Status).unwrap(), [200]);
    // Without the names it is unknown what the columns are.
    let alone = bytes(&[&batch]);
    assert_eq!((Log::read(&alone).blocks.len(), Log::read(&alone).lost_bytes), (0, alone.len() as u64));
}

#[test]
fn many_small_batches_are_recovered_in_few_blocks() {
    let row = Plain { path: "/a".to_owned(), weight: 1, ..Plain::default() };
    let (bytes, _) = written(&vec![vec![row]; 1000]);
    let recovered = Log::read(&bytes);
    assert_eq!(recovered.blocks.iter().map(|block| block.span().rows).sum::<usize>(), 1000);
    assert!(recovered.blocks.len() < 25, "{}", recovered.blocks.len());
}
