//! The SHA-256 of a `.gem` in lines of `/info`: in hexadecimal, or in base64 as `rubygems-generate_index` writes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::fmt;

/// A SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checksum(pub [u8; 32]);

impl Checksum {
    /// Accepts the forms that clients accept (`Bundler::Checksum.from_api`): 64 hexadecimal digits, or 43 letters of
    /// base64 of either alphabet with or without padding. Clients fail at other forms.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() == 64 {
            return hexadecimal(text).map(Self);
        }
        base64(text)?.try_into().ok().map(Self)
    }

    /// In hexadecimal.
    pub fn hex(&self) -> String {
        crate::gem::package::hex(&self.0)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

/// Reads exactly N bytes in hexadecimal, in either case.
pub(super) fn hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(bytes)
}

/// Reads a short text in base64 of either alphabet, padded or not.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    const MAX: usize = 128;
    if text.len() > MAX {
        return None;
    }
    let bare = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    STANDARD_NO_PAD.decode(bare).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_read_in_each_form_that_clients_read() {
        let sum = Checksum(std::array::from_fn(|at| if at < 4 { 0xfb } else { at as u8 * 8 }));
        let hex = sum.to_string();
        let padded = base64::engine::general_purpose::STANDARD.encode(sum.0);
        let safe = base64::engine::general_purpose::URL_SAFE.encode(sum.0);
        assert!(padded.len() == 44 && padded != safe);
        for text in [&hex, &hex.to_uppercase(), &padded, &padded[..43].to_owned(), &safe] {
            assert_eq!(Checksum::parse(text), Some(sum), "{text}");
        }
        for text in ["", "abc", &hex[1..], &format!("{hex}0"), &padded[1..], &hex.replace('f', "g"), &"A".repeat(200)] {
            assert_eq!(Checksum::parse(text), None, "{text}");
        }
    }
}
