//! Chunks against a simple model: a map from names to entries.

use super::*;
use crate::index::rope::coded::gunzip;
use crate::index::rope::coded::gzip;
use proptest::prelude::*;

fn name(number: usize) -> String {
    format!("unit-{number:05}")
}

/// Two files: the first has `count` entries with the name, the second has entries for even numbers only.
fn parts(number: usize, count: u32) -> [ChunkPart; 2] {
    let first = ChunkPart { bytes: format!("{number}\n").repeat(count as usize).into_bytes(), count };
    let second = if number.is_multiple_of(2) { first.clone() } else { ChunkPart::default() };
    [first, second]
}

fn check(chunks: &Chunks<2>, model: &BTreeMap<String, [ChunkPart; 2]>) {
    for at in 0..2 {
        let (count, coded) = chunks.file(at);
        let said: Vec<u8> = model.values().flat_map(|parts| parts[at].bytes.clone()).collect();
        assert!(gunzip(&gzip(coded)) == said);
        assert_eq!(count, model.values().map(|parts| parts[at].count as usize).sum::<usize>());
    }
    assert!(chunks.0.iter().all(|chunk| chunk.units.len() < 2 * UNITS));
    for number in [0, 1, 2, 3, 997, 2500] {
        assert_eq!(chunks.holds(&name(number)), model.contains_key(&name(number)));
    }
}

fn reread(chunks: &Chunks<2>) -> Chunks<2> {
    let (written, bytes) = chunks.parts();
    Chunks::read(written, Bytes::from(bytes.concat())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn whatever_units_come_go_and_change_the_files_say_what_they_say(
        at_first in 0_usize..2500,
        changes in proptest::collection::vec(proptest::collection::vec((0_usize..3000, 0_u32..3), 0..20), 0..6),
        crowd in any::<bool>(),
        written in any::<bool>(),
    ) {
        let mut model: BTreeMap<String, [ChunkPart; 2]> = (0..at_first).map(|number| (name(number), parts(number, 1))).collect();
        let mut chunks = Chunks::new();
        let units: Vec<_> = model.clone().into_iter().collect();
        for units in units.chunks(UNITS) {
            chunks.append(units.to_vec()).unwrap();
        }
        check(&chunks, &model);
        let more = if crowd { (0..3000).map(|number| (number, 2)).collect() } else { vec![] };
        for changes in changes.into_iter().chain([more]) {
            let changes: BTreeMap<_, _> = changes.into_iter().map(|(number, count)| (name(number), parts(number, count))).collect();
            let before = model.clone();
            for (name, parts) in &changes {
                if silent(parts) { model.remove(name) } else { model.insert(name.clone(), parts.clone()) };
            }
            prop_assert_eq!(chunks.change(changes).unwrap(), before != model);
            if written {
                chunks = reread(&chunks);
            }
            check(&chunks, &model);
        }
    }
}

/// A name of 60 random characters. A thousand of them are longer than the buffer of an encoder when they are compressed.
fn random_name(at: usize) -> String {
    let mut state = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b"abcdefghijklmnopqrstuvwxyz0123456789_-"[(state >> 33) as usize % 38])
    };
    (0..60).map(next).collect()
}

#[test]
fn long_random_names_that_come_one_after_the_other_are_all_there() {
    let (mut model, mut chunks) = (BTreeMap::new(), Chunks::<1>::new());
    // One by one where a block of the compressed form ends.
    let ends = (900..1000).chain((1000..=2 * UNITS + 100).step_by(100));
    let mut from = 0;
    for end in ends {
        let part = |name: &str| [ChunkPart { bytes: format!("{name}\n").into_bytes(), count: 1 }];
        let news: BTreeMap<_, _> = (from..end).map(random_name).map(|name| (name.clone(), part(&name))).collect();
        from = end;
        model.extend(news.clone());
        chunks.change(news).unwrap();
        let said: String = model.keys().map(|name| format!("{name}\n")).collect();
        assert!(gunzip(&gzip(chunks.file(0).1)) == said.as_bytes(), "after {end}");
    }
}

#[test]
fn a_part_without_its_end_is_not_read() {
    let mut chunks = Chunks::new();
    chunks.append((0..3).map(|number| (name(number), parts(number, 1))).collect()).unwrap();
    for cut in 1..12 {
        let (mut written, bytes) = chunks.parts();
        written[0].files[0].0 -= cut;
        let shorter = bytes[0].slice(..bytes[0].len() - cut);
        let bytes = [shorter, bytes[1].clone()].concat();
        assert!(Chunks::<2>::read(written, bytes.into()).is_none(), "{cut} bytes are missing");
    }
}

#[test]
fn only_the_chunk_of_what_changes_is_made_again() {
    let mut chunks = Chunks::new();
    for from in [0, 1000, 2000] {
        chunks.append((from..from + 1000).map(|number| (name(number), parts(number, 1))).collect()).unwrap();
    }
    let made = |chunks: &Chunks<2>| -> Vec<*const u8> {
        chunks.0.iter().flat_map(|chunk| chunk.files.iter().map(|file| file.deflate.as_ptr())).collect()
    };
    let before = made(&chunks);
    chunks.change([(name(1501), parts(1501, 2))].into()).unwrap();
    let after = made(&chunks);
    let same: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
    // The second file has no entry for an odd number, so it is not encoded again either.
    assert_eq!(same, [true, true, false, true, true, true]);
}

#[test]
fn what_was_written_of_others_is_not_read() {
    let mut chunks = Chunks::new();
    chunks.append((0..3).map(|number| (name(number), parts(number, 1))).collect()).unwrap();
    let bytes = || Bytes::from(chunks.parts().1.concat());
    let written = || chunks.parts().0;
    assert!(Chunks::<2>::read(written(), bytes()).is_some());
    assert!(Chunks::<1>::read(written(), bytes()).is_none(), "another number of files");
    assert!(Chunks::<2>::read(written(), bytes().slice(1..)).is_none(), "too little");
    assert!(Chunks::<2>::read(vec![], bytes()).is_none(), "too much");
    let mut one = written();
    one[0].units[0].1[0].len += 1;
    assert!(Chunks::<2>::read(one, bytes()).is_none(), "lengths that do not add up");
    let mut one = written();
    one[0].units.swap(0, 2);
    assert!(Chunks::<2>::read(one, bytes()).is_none(), "names out of order");
}
