//! Segments of other programs, of large texts, and of many events.

use super::{Rows, replace, written};
use crate::block::Block;
use crate::column::Column;
use crate::part::Part;
use crate::row::{RepositoryFacts, Row};
use crate::sample::busy::Busy;
use crate::segment::index::Index;
use crate::segment::{FORM, Segment, write};
use proptest::test_runner::TestRng;
use std::path::Path;

fn random(count: usize) -> Rows {
    Rows::random(&mut TestRng::deterministic_rng(Default::default()), count, 100)
}

/// Changes the index of a segment.
fn change(path: &Path, change: impl FnOnce(&mut Index)) {
    let bytes = std::fs::read(path).unwrap();
    let mut index = Index::decode(&bytes, bytes.len() as u64).unwrap();
    let before = index.encode().unwrap();
    let at = bytes.windows(before.len()).position(|window| window == before).unwrap();
    change(&mut index);
    replace(path, &[&bytes[..at], &index.encode().unwrap(), &bytes[at + before.len()..]].concat());
}

#[test]
fn a_column_that_a_segment_is_too_old_for_is_empty() {
    let (_folder, path, _) = written(&[random(50)]);
    change(&path, |index| index.columns.retain(|known| !["path", "size"].contains(&known.name.as_str())));
    let segment = Segment::open(&path).unwrap();
    let texts = segment.texts(Column::Path).unwrap();
    assert!(texts.codes.len() == 50 && texts.codes.iter().all(|code| texts.texts[*code as usize].is_empty()));
    assert_eq!(segment.numbers(Column::Size).unwrap(), vec![0; 50]);
    assert_eq!((segment.range(Column::Size), segment.bytes(Column::Path)), (Some((0, 0)), 0));
    assert!(segment.may_have(Column::Path, "") && !segment.may_have(Column::Path, "/a"));
}

#[test]
fn a_segment_of_a_newer_program_is_unreadable_and_says_so() {
    let (_folder, path, _) = written(&[random(5)]);
    change(&path, |index| index.form = FORM + 1);
    let unreadable = Segment::open(&path).unwrap_err().to_string();
    let expected = format!("{}: it has form {}, and this program reads forms up to {FORM}", path.display(), FORM + 1);
    assert_eq!(unreadable, expected);
}

#[test]
fn a_column_that_is_longer_than_the_file_takes_no_memory() {
    let (_folder, path, _) = written(&[random(5)]);
    change(&path, |index| index.columns[3].pages.bytes = u64::MAX - 7);
    assert!(Segment::open(&path).unwrap_err().to_string().ends_with("its index names bytes behind its end"));
}

#[test]
fn an_index_with_more_rows_than_a_segment_may_have_takes_no_memory() {
    let (_folder, path, _) = written(&[random(5)]);
    change(&path, |index| index.rows = 1 << 60);
    let unreadable = Segment::open(&path).unwrap_err().to_string();
    assert!(unreadable.contains(&format!("its index names {} rows", 1_u64 << 60)), "{unreadable}");
}

#[test]
fn texts_that_are_too_large_for_a_dictionary_come_back() {
    let mut rows = random(300);
    let large = |at: usize| format!("{}{}", at % 200, "x".repeat(100_000));
    rows.texts.insert(Column::More, (0..300).map(large).collect());
    let (_folder, _, segment) = written(&[rows.clone()]);
    let expected = Rows::join(&[rows]).texts.remove(&Column::More).unwrap();
    let read = segment.texts(Column::More).unwrap();
    assert_eq!(read.texts.len(), 200);
    assert!(read.codes.iter().map(|code| &read.texts[*code as usize]).eq(expected.iter().map(String::as_str)));
}

#[test]
fn a_segment_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/a.parquet");
    let failed = write(&path, &[&random(5)]).unwrap_err().to_string();
    assert!(failed.starts_with(&format!("cannot write `{}`: ", path.display())), "{failed}");
}

#[test]
fn an_event_of_a_busy_server_takes_at_most_sixty_bytes() {
    let (mut busy, mut block) = (Busy::new(7), Block::default());
    let facts = RepositoryFacts { kind: "hosted", format: "gem" };
    (0..30_000).for_each(|_| block.push(&Row::of(&busy.event(), facts)));
    let folder = tempfile::tempdir().unwrap();
    let segment = write(&folder.path().join("a.parquet"), &[&block]).unwrap();
    let bytes = segment.file_bytes() / 30_000;
    assert!(bytes <= 60, "{bytes} bytes an event");
}
