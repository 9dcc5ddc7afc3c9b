//! RollupScan rows as bytes, for the log: numbers take as few bytes as they need.

use super::buckets::Buckets;
use super::counts::Counts;
use super::rows::{Key, Rows, TEXTS};
use std::sync::Arc;

/// The rows as bytes.
pub(super) fn encode(rows: &Rows) -> Vec<u8> {
    let mut to = Vec::with_capacity(64 + rows.rows.len() * 64);
    write(&mut to, rows.texts.len() as u64);
    for text in &rows.texts {
        write(&mut to, text.len() as u64);
        to.extend_from_slice(text.as_bytes());
    }
    write(&mut to, rows.rows.len() as u64);
    for (key, counts) in &rows.rows {
        write(&mut to, key.at.cast_unsigned());
        key.texts.iter().for_each(|place| write(&mut to, u64::from(*place)));
        write(&mut to, u64::from(key.status));
        [counts.events, counts.bytes_in, counts.bytes_out].into_iter().for_each(|number| write(&mut to, number));
        for distribution in [&counts.first_byte, &counts.duration] {
            write(&mut to, distribution.sum());
            write(&mut to, distribution.highest());
            write(&mut to, distribution.buckets().len() as u64);
            for (place, count) in distribution.buckets() {
                write(&mut to, place as u64);
                write(&mut to, count);
            }
        }
    }
    to
}

/// The rows of these bytes. `None`: they are not those of any rows.
pub(super) fn decode(bytes: &[u8]) -> Option<Rows> {
    let from = &mut &*bytes;
    let mut rows = Rows::default();
    for _ in 0..read(from)? {
        let len = usize::try_from(read(from)?).ok()?;
        let (text, rest) = from.split_at_checked(len)?;
        *from = rest;
        rows.texts.push(Arc::from(std::str::from_utf8(text).ok()?));
    }
    for _ in 0..read(from)? {
        let at = read(from)?.cast_signed();
        let mut texts = [0; TEXTS.len()];
        for place in &mut texts {
            *place = u32::try_from(read(from)?).ok().filter(|place| (*place as usize) < rows.texts.len())?;
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

/// Appends a number, seven bits in each byte, the lowest first (LEB128).
fn write(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn read(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
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
                prop_assert!(rows.rows.iter().all(|(key, _)| key.texts.iter().all(|place| (*place as usize) < rows.texts.len())));
            }
        }
    }
}
