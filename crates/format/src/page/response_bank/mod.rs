//! The entries of response_bank (1.0 to 1.6) and of cacheable, its ancestor: MessagePack arrays of 4 to 6 elements, and the Marshal
//! form of the first years.

mod marshal;
mod pack;

use super::coding::Coding;
use super::field::Fields;
use super::{Page, Unusable};
use bytes::Bytes;

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The page. Its headers have the `etag` of the entry, if there is one.
    pub page: Page,
    /// The key of its version (`cacheable:` and 32 hex digits), without quotes: that of its `ETag`. `None`: it has none, as in the forms of
    /// cacheable and of response_bank up to 1.1, which write an entry under the key of its version.
    pub tag: Option<String>,
}

/// The flags with which a memcached client of Ruby writes plain bytes: none, or Dalli's mark of UTF-8 text (4, since 5.0).
pub const PLAIN_FLAGS: [u32; 2] = [0, 4];
/// The flags with which Dalli writes an object in Ruby's form (Marshal). memcache-client wrote that form with flags 0.
pub const MARSHAL_FLAGS: u32 = 1;

/// The first bytes of Ruby's form: its version, 4.8.
const MARSHAL: [u8; 2] = [4, 8];
/// The first bytes of a gzip file that is deflated.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
/// The statuses that are stored (response_bank 1.0 to 1.6; cacheable from 2012).
const STATUSES: [i64; 3] = [200, 301, 404];

/// Reads an entry with the flags of its memcached item. `limit_bytes` limits the value.
///
/// # Errors
/// See [`Unusable`]. `Status`: it is not 200, 301 or 404.
pub fn read(value: &Bytes, flags: u32, limit_bytes: usize) -> Result<Entry, Unusable> {
    if value.len() > limit_bytes {
        return Err(Unusable::TooLarge);
    }
    match flags {
        MARSHAL_FLAGS => marshal::read(value),
        _ if !PLAIN_FLAGS.contains(&flags) => Err(Unusable::Unknown),
        _ if value.starts_with(&MARSHAL) => marshal::read(value),
        _ => pack::read(value),
    }
}

/// What an entry says about the headers of its page.
#[derive(Debug)]
enum Head {
    /// Headers by name (response_bank since 1.2).
    Named(Fields),
    /// The content type, and the place of a redirection (until then).
    Typed { content_type: Option<Bytes>, location: Option<Bytes> },
}

/// The elements of an entry.
#[derive(Debug)]
struct Elements {
    status: i64,
    head: Head,
    body: Bytes,
    stored_s: Option<i64>,
}

impl Elements {
    /// The entry that they are.
    fn entry(self) -> Result<Entry, Unusable> {
        if !STATUSES.contains(&self.status) {
            return Err(Unusable::Status);
        }
        let status = u16::try_from(self.status).map_err(|_| Unusable::Status)?;
        let fields = match self.head {
            Head::Named(fields) => fields,
            Head::Typed { content_type, location } => {
                let mut fields = Fields::default();
                fields.set(b"content-type", content_type)?;
                fields.set(b"location", location)?;
                fields
            }
        };
        let tag = fields.get("etag").and_then(|value| tag(value));
        let (headers, named) = fields.into_parts();
        let coding = match named {
            _ if self.body.is_empty() => Coding::Identity,
            Some(coding) => coding,
            // Until 1.2 every body was gzip, and no header said so.
            None if self.body.starts_with(&GZIP) => Coding::Gzip,
            None => return Err(Unusable::Unknown),
        };
        Ok(Entry { page: Page { status, headers, coding, body: self.body, stored_s: self.stored_s }, tag })
    }
}

/// The opaque part of an ETag, bare (1.2) or in quotes.
fn tag(value: &[u8]) -> Option<String> {
    let value = value.strip_prefix(b"W/").unwrap_or(value);
    let bare = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    String::from_utf8(bare.to_vec()).ok()
}

#[cfg(test)]
mod tests;
