//! Pages that applications write into memcached or Valkey, so that a server in front of them can send them: the entries of Shopify's
//! gems response_bank and cacheable, and the format HC1, which any application can write.

pub mod coding;
mod field;
pub mod hc1;
pub mod key;
#[cfg(test)]
mod recorded;
pub mod response_bank;

use bytes::Bytes;
use coding::Coding;

/// The most headers of a page.
pub const HEADERS_MAX: usize = 64;
/// The most bytes of all its headers together.
pub const HEADERS_MAX_BYTES: usize = 16 << 10;

/// A page. Its parts are slices of the value that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its status.
    pub status: u16,
    /// Its headers, in their order: names in lower case, names and values as HTTP allows them (RFC 9110, 5.1 and 5.5). Without
    /// `content-encoding`, and without those of one connection or one reply (`connection`, `content-length`, `date` ...). No page has
    /// `set-cookie`.
    pub headers: Vec<(Box<str>, Bytes)>,
    /// The coding of the body.
    pub coding: Coding,
    /// The body, coded.
    pub body: Bytes,
    /// When it was written, in seconds since 1970; `None`: the entry does not say.
    pub stored_s: Option<i64>,
}

/// Why an entry is not used. The request then goes to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It has places in its body that the application fills for each request (`brotli_splice`).
    #[error("the application fills in parts of it for each request")]
    Spliced,
    /// It has data for the application (`app`), which may act on them.
    #[error("it has data for the application")]
    Metadata,
    /// Its status is none that is stored.
    #[error("its status is none that is stored")]
    Status,
    /// It has another form than any that is known: other elements, another version, other flags, a header that no stored page has.
    #[error("its form is not known")]
    Unknown,
    /// It has the known form, and contradicts itself: it ends early, has a wrong checksum, a header that HTTP does not allow, or a body
    /// that cannot be decoded.
    #[error("it is damaged")]
    Damaged,
    /// It is larger than the limit, or its decoded body is.
    #[error("it is larger than the limit")]
    TooLarge,
}
