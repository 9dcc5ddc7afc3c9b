//! The codes of a page: runs of one code, and codes packed into bits (`RLE_DICTIONARY` of Parquet).

use crate::varint;

/// Appends the codes of a page. `page`: one byte with the width of a code in bits, then the runs. `count` codes follow, each below
/// `texts`.
pub(super) fn codes(page: &[u8], count: usize, texts: usize, codes: &mut Vec<u32>) -> Result<(), String> {
    let (width, mut rest) = page.split_first().ok_or("a page is empty")?;
    let width = usize::from(*width);
    if width > 32 {
        return Err(format!("a page has codes of {width} bits"));
    }
    let began = codes.len();
    let end = began + count;
    codes.reserve(count);
    while codes.len() < end {
        let missing = end - codes.len();
        let header = varint::read(&mut rest).ok_or("a page ends too early")?;
        let length = usize::try_from(header >> 1).map_err(|_| "a run is too long")?;
        if header & 1 == 1 {
            let bytes = length.checked_mul(width).ok_or("a run is too long")?;
            // The last group may be cut off behind its last code.
            let packed = rest.get(..bytes.min(rest.len())).unwrap_or_default();
            let run = length.saturating_mul(8).min(missing);
            if (run * width).div_ceil(8) > packed.len() || run == 0 {
                return Err("a page ends too early".to_owned());
            }
            unpack(packed, width, run, codes);
            rest = &rest[packed.len()..];
        } else {
            let bytes = width.div_ceil(8);
            let (code, behind) = rest.split_at_checked(bytes).ok_or("a page ends too early")?;
            let code = code.iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte));
            if length == 0 {
                return Err("a run is empty".to_owned());
            }
            codes.resize(codes.len() + length.min(missing), code);
            rest = behind;
        }
    }
    // One pass behind the others: the compiler compares many codes at once.
    let highest = codes[began..].iter().copied().max().unwrap_or(0);
    if count > 0 && highest as usize >= texts {
        return Err(format!("a page has the code {highest}, of {texts}"));
    }
    Ok(())
}

/// Appends `count` codes of `width` bits, the lowest bits first.
fn unpack(packed: &[u8], width: usize, count: usize, codes: &mut Vec<u32>) {
    match width {
        8 => return codes.extend(packed[..count].iter().map(|code| u32::from(*code))),
        16 => {
            let (pairs, _) = packed[..2 * count].as_chunks::<2>();
            return codes.extend(pairs.iter().map(|code| u32::from(u16::from_le_bytes(*code))));
        }
        _ => {}
    }
    let mask = (1_u64 << width) - 1;
    let code = |word: u64, bit: usize| ((word >> (bit & 7)) & mask) as u32;
    // A code and the bits before it in its first byte are at most 39 bits: one word of 64 bits has them all. The last words would be
    // read behind the end.
    let whole = (packed.len().saturating_sub(7) * 8).div_ceil(width.max(1)).min(count);
    let whole = if width == 0 { 0 } else { whole };
    codes.extend((0..whole).map(|at| {
        let bit = at * width;
        let word = packed.get(bit / 8..bit / 8 + 8).and_then(|word| word.try_into().ok()).unwrap_or_default();
        code(u64::from_le_bytes(word), bit)
    }));
    codes.extend((whole..count).map(|at| {
        let bit = at * width;
        let end = packed.len().min(bit / 8 + 8);
        let mut word = [0; 8];
        let left = packed.get(bit / 8..end).unwrap_or_default();
        word[..left.len()].copy_from_slice(left);
        code(u64::from_le_bytes(word), bit)
    }));
}
