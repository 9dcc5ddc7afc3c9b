//! Writes the codes of a page, as [`super::bits`] reads them.

use crate::varint;

/// Equal codes that are worth a run of their own.
const RUN: usize = 8;

/// The bits of a code among `texts`. They are whole bytes: these take no more room once they are compressed, and are read faster.
pub(super) fn width(texts: usize) -> usize {
    match texts {
        0 | 1 => 0,
        2..=0x100 => 8,
        0x101..=0x1_0000 => 16,
        0x1_0001..=0x100_0000 => 24,
        _ => 32,
    }
}

/// The page of these codes: one byte with the width, then runs of one code and runs of different ones.
pub(super) fn page(codes: &[u32], width: usize) -> Vec<u8> {
    let mut page = Vec::with_capacity(codes.len() * width / 8 + 16);
    page.push(width as u8);
    let (mut begin, mut at) = (0, 0);
    while at < codes.len() {
        let run = codes[at..].iter().take_while(|code| **code == codes[at]).count();
        // Different codes come in groups of eight: the first codes of the run fill the last group.
        let fill = (at - begin).next_multiple_of(8) - (at - begin);
        if run >= RUN + fill {
            different(&codes[begin..at + fill], width, &mut page);
            varint::write(((run - fill) << 1) as u64, &mut page);
            page.extend_from_slice(&codes[at].to_le_bytes()[..width.div_ceil(8)]);
            begin = at + run;
        }
        at += run;
    }
    different(&codes[begin..], width, &mut page);
    page
}

/// Codes one after another. The last group is filled with zeros.
fn different(codes: &[u32], width: usize, page: &mut Vec<u8>) {
    if codes.is_empty() {
        return;
    }
    let groups = codes.len().div_ceil(8);
    varint::write((groups << 1 | 1) as u64, page);
    let bytes = width / 8;
    match bytes {
        1 => page.extend(codes.iter().map(|code| *code as u8)),
        2 => page.extend(codes.iter().flat_map(|code| (*code as u16).to_le_bytes())),
        _ => codes.iter().for_each(|code| page.extend_from_slice(&code.to_le_bytes()[..bytes])),
    }
    page.resize(page.len() + (groups * 8 - codes.len()) * bytes, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::bits;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_come_back_from_a_page(
            runs in prop::collection::vec((any::<prop::sample::Index>(), 1_usize..40), 0..40),
            texts in prop_oneof![1_usize..300, Just(70_000), Just(20_000_000)],
        ) {
            let codes: Vec<u32> =
                runs.iter().flat_map(|(code, count)| vec![code.index(texts) as u32; 1 + count % 20]).collect();
            let page = page(&codes, width(texts));
            let mut read = vec![];
            prop_assert_eq!(bits::codes(&page, codes.len(), texts, &mut read), Ok(()));
            prop_assert_eq!(&read, &codes);
            if let Some(highest) = codes.iter().max() {
                prop_assert!(bits::codes(&page, codes.len(), *highest as usize, &mut vec![]).is_err());
                prop_assert!(texts == 1 || bits::codes(&page[..2], codes.len(), texts, &mut vec![]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_codes_below_the_number_of_texts_or_an_error(
            page in prop::collection::vec(any::<u8>(), 0..60),
            count in 0_usize..500,
            texts in 0_usize..300,
        ) {
            let mut codes = vec![];
            if bits::codes(&page, count, texts, &mut codes).is_ok() {
                prop_assert_eq!(codes.len(), count);
                prop_assert!(codes.iter().all(|code| (*code as usize) < texts));
            }
        }
    }
}
