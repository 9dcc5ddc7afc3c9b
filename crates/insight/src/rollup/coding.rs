//! Rows of rollups as bytes, for the log: numbers take as few bytes as they need.

use super::buckets::Buckets;
use super::counts::Counts;
use super::rows::{Key, Rows, TEXTS};
use crate::varint::{read, write};

/// The rows as bytes.
pub(super) fn encode(rows: &Rows) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + rows.rows.len() * 64);
    let to = &mut bytes;
    write(rows.texts.texts().len() as u64, to);
    for text in rows.texts.texts().iter() {
        write(text.len() as u64, to);
        to.extend_from_slice(text.as_bytes());
    }
    write(rows.rows.len() as u64, to);
    for (key, counts) in &rows.rows {
        write(key.at.cast_unsigned(), to);
        key.texts.iter().for_each(|place| write(u64::from(*place), to));
        let numbers = [key.status.into(), counts.events, counts.bytes_in, counts.bytes_out];
        numbers.into_iter().for_each(|number| write(number, to));
        for distribution in [&counts.first_byte, &counts.duration] {
            write(distribution.sum(), to);
            write(distribution.highest(), to);
            write(distribution.buckets().len() as u64, to);
            for (place, count) in distribution.buckets() {
                write(place as u64, to);
                write(count, to);
            }
        }
    }
    bytes
}

/// The rows of these bytes. `None`: the bytes are damaged.
pub(super) fn decode(bytes: &[u8]) -> Option<Rows> {
    let from = &mut &*bytes;
    let (mut rows, mut places) = (Rows::default(), Vec::new());
    for _ in 0..read(from)? {
        let len = usize::try_from(read(from)?).ok()?;
        let (text, rest) = from.split_at_checked(len)?;
        *from = rest;
        places.push(rows.texts.intern(std::str::from_utf8(text).ok()?));
    }
    for _ in 0..read(from)? {
        let at = read(from)?.cast_signed();
        let mut texts = [0; TEXTS.len()];
        for place in &mut texts {
            *place = *places.get(usize::try_from(read(from)?).ok()?)?;
        }
        let status = u16::try_from(read(from)?).ok()?;
        let (events, bytes_in, bytes_out) = (read(from)?, read(from)?, read(from)?);
        let (first_byte, duration) = (distribution(from)?, distribution(from)?);
        rows.rows.push((Key { at, texts, status }, Counts { events, bytes_in, bytes_out, first_byte, duration }));
    }
    from.is_empty().then_some(rows)
}

fn distribution(from: &mut &[u8]) -> Option<Buckets> {
    let (sum, highest, len) = (read(from)?, read(from)?, read(from)?);
    let mut buckets = Vec::new();
    for _ in 0..len {
        buckets.push((usize::try_from(read(from)?).ok()?, read(from)?));
    }
    Some(Buckets::of(sum, highest, buckets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollup::tests::rows;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_read_as_they_were_written_and_other_bytes_do_no_harm(
            rows in rows(), at in any::<prop::sample::Index>(), flip in 1u8..,
        ) {
            let mut bytes = encode(&rows);
            prop_assert_eq!(format!("{:?}", decode(&bytes).unwrap()), format!("{rows:?}"));
            prop_assert!(decode(&bytes[..bytes.len() - 1]).is_none());
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            if let Some(rows) = decode(&bytes) {
                let texts = rows.texts.texts().len();
                prop_assert!(rows.rows.iter().all(|(key, _)| key.texts.iter().all(|place| (*place as usize) < texts)));
            }
        }
    }
}
