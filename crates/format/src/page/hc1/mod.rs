//! The format HC1 ([docs/hc1.md](../../../../../docs/hc1.md)): a page with its lifetimes, in a form that any language can write.

mod first_line;
mod key;
mod lines;

pub use key::{host, key, variant_key};

use super::{Page, Unusable};
use bytes::Bytes;
use first_line::FirstLine;
use flate2::Crc;

/// The most counters of an entry.
pub const COUNTERS_MAX: usize = 8;
/// The prefix of counters.
pub const COUNTER_PREFIX: &str = "hcg:";
/// The most bytes of the name of a counter, and of its value.
pub const COUNTER_MAX_BYTES: usize = 128;
/// The most headers of a request that an entry varies by.
pub const VARY_MAX: usize = 8;
/// The most tags of an entry, as of a response in the cache.
pub const TAGS_MAX: usize = 64;
/// The most bytes of a tag, as of a response in the cache.
pub const TAG_MAX_BYTES: usize = 256;

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A page.
    Page(Box<Timed>),
    /// The page depends on these headers of a request, in this order, in lower case ([`variant_key`]).
    Vary(Vec<Box<str>>),
}

/// A page with its lifetimes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed {
    /// The page.
    pub page: Page,
    /// How long it is fresh, in seconds from its storing.
    pub fresh_s: u32,
    /// How long it may be used after that while it is written again.
    pub stale_while_s: u32,
    /// How long it may be used after `fresh_s` if the application fails.
    pub stale_error_s: u32,
    /// Its tags, by which it can be purged.
    pub tags: Vec<Bytes>,
    /// It holds while each of these counters (`hcg:` and the name) has this value.
    pub counters: Vec<(Box<str>, Bytes)>,
}

/// Reads an entry. `limit_bytes` limits the value.
///
/// Fails with [`Unusable::Damaged`] where the length or the checksum contradicts the first line, and with [`Unusable::Unknown`] where a
/// writer broke a rule of the format.
pub fn read(value: &Bytes, limit_bytes: usize) -> Result<Entry, Unusable> {
    if value.len() > limit_bytes {
        return Err(Unusable::TooLarge);
    }
    let (first, rest) = FirstLine::read(value)?;
    let mut sum = Crc::new();
    sum.update(rest);
    if sum.sum() != first.crc32 {
        return Err(Unusable::Damaged);
    }
    let (head, body) = lines::split(rest)?;
    if body.len() as u64 != first.body_bytes {
        return Err(Unusable::Damaged);
    }
    if first.status == 0 {
        return if body.is_empty() { lines::vary(head).map(Entry::Vary) } else { Err(Unusable::Unknown) };
    }
    let lines = lines::read(value, head)?;
    // Neither a client nor a cache can use an empty body that is coded (RFC 1952, RFC 7932). The others have no body (RFC 9110, 15.3).
    let contradicts = if body.is_empty() { lines.coding.as_str().is_some() } else { matches!(first.status, 204 | 205) };
    if contradicts {
        return Err(Unusable::Unknown);
    }
    Ok(Entry::Page(Box::new(Timed {
        page: Page {
            status: first.status,
            headers: lines.headers,
            coding: lines.coding,
            body: value.slice_ref(body),
            stored_s: Some(first.stored_s),
        },
        fresh_s: first.fresh_s,
        stale_while_s: first.stale_while_s,
        stale_error_s: first.stale_error_s,
        tags: lines.tags,
        counters: lines.counters,
    })))
}

#[cfg(test)]
mod tests;
