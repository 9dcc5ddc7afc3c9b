//! Numbers in as few bytes as they need: seven bits in each byte, the lowest first (LEB128).

/// Appends a number.
pub(crate) fn write(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Reads a number, and moves behind it. `None`: the bytes end within it, or it has more than 64 bits.
pub(crate) fn read(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
