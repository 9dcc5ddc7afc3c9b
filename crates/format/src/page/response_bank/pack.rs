//! Entries in MessagePack (the specification at msgpack.org, version 5): an array of 4 to 6 elements. Ruby's msgpack before 0.6 wrote
//! every text as `str`; since then texts of binary encoding, as bodies are, are `bin`.

use super::{Elements, Entry, Head, Unusable};
use crate::page::field::Fields;
use bytes::Bytes;

/// Reads an entry.
pub(super) fn read(value: &Bytes) -> Result<Entry, Unusable> {
    let mut from = Reader { value, at: 0 };
    let Item::Array(length @ 4..=6) = from.item()? else { return Err(Unusable::Unknown) };
    let Item::Int(status) = from.item()? else { return Err(Unusable::Unknown) };
    let mut head = match from.item()? {
        Item::Map(length) => Head::Named(from.headers(length)?),
        item => Head::Typed { content_type: item.text()?, location: None },
    };
    let body = from.item()?.text()?.unwrap_or_default();
    let stored_s = from.item()?.int()?;
    if length > 4 {
        let fifth = from.item()?;
        match &mut head {
            Head::Typed { location, .. } if length == 5 => *location = fifth.text()?,
            Head::Typed { .. } => return Err(Unusable::Unknown),
            // The level of compression.
            Head::Named(_) => _ = fifth.int()?,
        }
    }
    if length == 6 {
        from.metadata()?;
    }
    if from.at != value.len() {
        return Err(Unusable::Damaged);
    }
    Elements { status, head, body, stored_s }.entry()
}

/// An item; of a list or a map only the number of its members or pairs.
#[derive(Debug, Clone)]
enum Item {
    Nil,
    Int(i64),
    Text(Bytes),
    Array(u64),
    Map(u64),
    /// Of a kind that no entry has.
    Other,
}

impl Item {
    /// A text, or none.
    fn text(self) -> Result<Option<Bytes>, Unusable> {
        match self {
            Item::Nil => Ok(None),
            Item::Text(text) => Ok(Some(text)),
            _ => Err(Unusable::Unknown),
        }
    }

    /// A number, or none.
    fn int(self) -> Result<Option<i64>, Unusable> {
        match self {
            Item::Nil => Ok(None),
            Item::Int(number) => Ok(Some(number)),
            _ => Err(Unusable::Unknown),
        }
    }
}

/// Reads items, one after the other.
struct Reader<'a> {
    value: &'a Bytes,
    at: usize,
}

impl Reader<'_> {
    /// The next item; of an array or a map only its head.
    fn item(&mut self) -> Result<Item, Unusable> {
        let first = self.uint(1)?;
        Ok(match first {
            0x00..=0x7f => Item::Int(first.cast_signed()),
            0x80..=0x8f => Item::Map(first & 15),
            0x90..=0x9f => Item::Array(first & 15),
            0xa0..=0xbf => Item::Text(self.bytes(first & 31)?),
            0xc0 => Item::Nil,
            0xc2 | 0xc3 => Item::Other,
            // bin 8, 16, 32
            0xc4..=0xc6 => self.text(1 << (first - 0xc4))?,
            // ext 8, 16, 32: a length, a type and bytes
            0xc7..=0xc9 => {
                let length = self.uint(1 << (first - 0xc7))?;
                self.other(length + 1)?
            }
            // float 32, 64
            0xca | 0xcb => self.other(4 << (first - 0xca))?,
            // uint 8, 16, 32, 64
            0xcc..=0xcf => i64::try_from(self.uint(1 << (first - 0xcc))?).map_or(Item::Other, Item::Int),
            // int 8, 16, 32, 64
            0xd0..=0xd3 => {
                let width = 1 << (first - 0xd0);
                let shift = 64 - 8 * width;
                Item::Int((self.uint(width)? << shift).cast_signed() >> shift)
            }
            // fixext 1, 2, 4, 8, 16: a type and bytes
            0xd4..=0xd8 => self.other((1 << (first - 0xd4)) + 1)?,
            // str 8, 16, 32
            0xd9..=0xdb => self.text(1 << (first - 0xd9))?,
            0xdc | 0xdd => Item::Array(self.uint(2 << (first - 0xdc))?),
            0xde | 0xdf => Item::Map(self.uint(2 << (first - 0xde))?),
            0xe0..=0xff => Item::Int(first.cast_signed() - 0x100),
            // 0xc1 is never used.
            _ => return Err(Unusable::Damaged),
        })
    }

    /// The headers of a page: of two names that differ only in case, the later wins. A list of values is several headers.
    fn headers(&mut self, length: u64) -> Result<Fields, Unusable> {
        let mut fields = Fields::default();
        for _ in 0..length {
            let Item::Text(name) = self.item()? else { return Err(Unusable::Unknown) };
            let values = match self.item()? {
                Item::Array(values) => values,
                value => {
                    fields.set(&name, value.text()?)?;
                    continue;
                }
            };
            fields.set(&name, None)?;
            for _ in 0..values {
                let Item::Text(value) = self.item()? else { return Err(Unusable::Unknown) };
                fields.add(&name, &value)?;
            }
        }
        Ok(fields)
    }

    /// The data of the sixth element: none is for a reader that does not know them.
    fn metadata(&mut self) -> Result<(), Unusable> {
        let length = match self.item()? {
            Item::Nil => 0,
            Item::Map(length) => length,
            _ => return Err(Unusable::Unknown),
        };
        let mut found = Ok(());
        for _ in 0..length {
            let Item::Text(name) = self.item()? else { return Err(Unusable::Unknown) };
            match &*name {
                b"brotli_splice" => return Err(Unusable::Spliced),
                b"app" if found.is_ok() => found = Err(Unusable::Metadata),
                b"app" => {}
                _ => found = Err(Unusable::Unknown),
            }
            self.skip()?;
        }
        found
    }

    /// Passes over one item with all that is in it. Each takes a byte at least, so that no count can make it last.
    fn skip(&mut self) -> Result<(), Unusable> {
        let mut left = 1_u64;
        while left > 0 {
            let inner = match self.item()? {
                Item::Array(length) => length,
                Item::Map(length) => length * 2,
                _ => 0,
            };
            left = left - 1 + inner;
            if left > self.value.len() as u64 {
                return Err(Unusable::Damaged);
            }
        }
        Ok(())
    }

    /// A text whose length has `width` bytes.
    fn text(&mut self, width: usize) -> Result<Item, Unusable> {
        let length = self.uint(width)?;
        Ok(Item::Text(self.bytes(length)?))
    }

    /// An item of a kind that no entry has.
    fn other(&mut self, length: u64) -> Result<Item, Unusable> {
        self.bytes(length)?;
        Ok(Item::Other)
    }

    /// An unsigned number of `width` bytes, at most 8, the highest first.
    fn uint(&mut self, width: usize) -> Result<u64, Unusable> {
        let bytes = self.at.checked_add(width).and_then(|end| self.value.get(self.at..end)).ok_or(Unusable::Damaged)?;
        self.at += width;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The next bytes, which stay where they are.
    fn bytes(&mut self, length: u64) -> Result<Bytes, Unusable> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let end = end.filter(|end| *end <= self.value.len()).ok_or(Unusable::Damaged)?;
        let bytes = self.value.slice(self.at..end);
        self.at = end;
        Ok(bytes)
    }
}
