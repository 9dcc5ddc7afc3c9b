//! The keys under which response_bank and cacheable write the page of a URL, with the default key data: `PATH_INFO` and `QUERY_STRING`.

mod text;

use super::coding::Coding;
use md5::{Digest as _, Md5};

/// How the key of a page is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyRule {
    /// `2`: each value typed and with its length (response_bank after 1.6.0).
    Typed,
    /// `1/ruby34`: as Ruby 3.4 and later inspect a hash (response_bank 1.3.3 to 1.6.0).
    Inspected34,
    /// `1/ruby33`: as Ruby up to 3.3 inspects a hash.
    Inspected33,
    /// `0`: cacheable, and response_bank up to 1.1: neither a number nor a coding in the key.
    Bare,
    /// `0/city`: cacheable until 2013: CityHash128 (1.0.3) of the inspected key.
    City,
}

/// The key of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageKey {
    /// The key of the store, without namespace: `cacheable:` and 32 hex digits; [`KeyRule::City`]: `cachable:` (so spelled) and a number.
    pub key: String,
    /// The key of the version, if the version data are empty. An entry whose tag it is, is the present version. [`KeyRule::Bare`] and
    /// [`KeyRule::City`] have an entry under this key, too.
    pub tag: String,
}

impl KeyRule {
    /// All of them, the newest first.
    pub const ALL: [Self; 5] = [Self::Typed, Self::Inspected34, Self::Inspected33, Self::Bare, Self::City];

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Typed => "2",
            Self::Inspected34 => "1/ruby34",
            Self::Inspected33 => "1/ruby33",
            Self::Bare => "0",
            Self::City => "0/city",
        }
    }

    /// The key of a URL, whose path and query are as the client sent them, with the coding that the application chooses for a client.
    /// `coding` plays no part in `0`.
    ///
    /// The texts that are hashed: response_bank 1.0.0, 1.1.0 and 1.3.6 (`cache_key_for`), Ruby (`Hash#inspect`, `String#inspect`); for `2`
    /// the serialization that follows 1.6.0.
    pub fn key(self, path: &[u8], query: &[u8], coding: Coding) -> PageKey {
        let coding = if coding == Coding::Gzip { "gzip" } else { "br" };
        match self {
            Self::Typed => PageKey {
                key: hashed(&text::typed(path, query, false, coding)),
                tag: hashed(&text::typed(path, query, true, coding)),
            },
            Self::Inspected34 => numbered(&text::inspected(path, query, " => "), coding),
            Self::Inspected33 => numbered(&text::inspected(path, query, "=>"), coding),
            Self::Bare => {
                let mut data = text::inspected(path, query, "=>");
                let key = hashed(&data);
                data.push(b':');
                PageKey { key, tag: hashed(&data) }
            }
            Self::City => {
                let data = text::inspected(path, query, "=>");
                let text = |end: &[u8]| [b"{:key=>{\"request\"=>", &*data, end].concat();
                PageKey { key: city(&text(b"}}")), tag: city(&text(b"}, :version=>{}}")) }
            }
        }
    }
}

/// The keys of schema 1: `1:`, the data, the version (empty) only in the tag, and the coding.
fn numbered(data: &[u8], coding: &str) -> PageKey {
    let text = |between: &str| [b"1:", data, between.as_bytes(), coding.as_bytes()].concat();
    PageKey { key: hashed(&text(":")), tag: hashed(&text("::")) }
}

/// The key in the store of a text.
fn hashed(text: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut key = String::with_capacity(42);
    key.push_str("cacheable:");
    for byte in Md5::digest(text) {
        key.push(char::from(HEX[usize::from(byte >> 4)]));
        key.push(char::from(HEX[usize::from(byte & 15)]));
    }
    key
}

/// The key of the first years: both halves of the hash as decimal numbers, the low one first.
fn city(text: &[u8]) -> String {
    let hash = cityhash_rs::cityhash_103_128(text);
    // The crate has the halves the other way round.
    let (low, high) = ((hash >> 64) as u64, hash as u64);
    format!("cachable:{low}{high}")
}

/// The coding in which response_bank stores the page for a client with this `Accept-Encoding`: `br`, or `gzip`, where the text contains it,
/// otherwise `br`, which it then decodes (response_bank 1.3 `check_encoding`).
pub fn stored_coding(accept_encoding: &[u8]) -> Coding {
    let contains = |name: &[u8]| accept_encoding.windows(name.len()).any(|part| part == name);
    if !contains(b"br") && contains(b"gzip") { Coding::Gzip } else { Coding::Brotli }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_coding_follows_the_text_and_not_its_meaning() {
        for brotli in ["br", "gzip, br", "br;q=0, gzip", "", "identity", "*", "abracadabra", "GZIP", "gzi"] {
            assert_eq!(stored_coding(brotli.as_bytes()), Coding::Brotli, "{brotli}");
        }
        for gzip in ["gzip", "deflate, gzip;q=0", "x-gzip", "BR, gzip"] {
            assert_eq!(stored_coding(gzip.as_bytes()), Coding::Gzip, "{gzip}");
        }
    }
}
