//! Entries in Ruby's own form (Marshal 4.8), as cacheable wrote them with Rails 3.2 until 2013: an `ActiveSupport::Cache::Entry`, whose
//! value is a text that has the array in the same form, or is the array. Links to earlier objects, classes of texts and everything else
//! that such an entry does not need are refused.

use super::{Elements, Entry, Head, MARSHAL, Unusable};
use bytes::Bytes;

/// The most different symbols of a text in this form: the class, the variables and the encodings are 6.
const SYMBOLS_MAX: usize = 16;
/// The most members of a list, variables of an object, and variables of a text.
const MEMBERS_MAX: i64 = 8;
/// How deep values lie in others: an object, its list, the texts in it and their encodings.
const DEPTH_MAX: u8 = 4;

/// Reads an entry.
pub(super) fn read(value: &Bytes) -> Result<Entry, Unusable> {
    let variables = match whole(value)? {
        Value::List(list) => return elements(list)?.entry(),
        Value::Object { class, variables } if &*class == b"ActiveSupport::Cache::Entry" => variables,
        _ => return Err(Unusable::Unknown),
    };
    let mut found = None;
    for (name, value) in variables {
        match (&*name, value) {
            (b"@value", Value::List(list)) => found = Some(list),
            (b"@value", Value::Text(text)) => match whole(&text)? {
                Value::List(list) => found = Some(list),
                _ => return Err(Unusable::Unknown),
            },
            // Not compressed once more, and without an end that only Rails knows exactly.
            (b"@compressed" | b"@expires_in", Value::Nil | Value::False) | (b"@created_at", Value::Float) => {}
            _ => return Err(Unusable::Unknown),
        }
    }
    elements(found.ok_or(Unusable::Unknown)?)?.entry()
}

/// The elements of an entry: status, content type, body, time, and the place of a redirection.
fn elements(list: Vec<Value>) -> Result<Elements, Unusable> {
    let mut list = list.into_iter();
    let mut next = || list.next().ok_or(Unusable::Unknown);
    let Value::Int(status) = next()? else { return Err(Unusable::Unknown) };
    let content_type = next()?.text()?;
    let body = next()?.text()?.unwrap_or_default();
    let stored_s = match next()? {
        Value::Nil => None,
        Value::Int(seconds) => Some(seconds),
        _ => return Err(Unusable::Unknown),
    };
    let location = next().ok().map_or(Ok(None), Value::text)?;
    match next() {
        Ok(_) => Err(Unusable::Unknown),
        Err(_) => Ok(Elements { status, head: Head::Typed { content_type, location }, body, stored_s }),
    }
}

/// A value of an entry.
#[derive(Debug)]
enum Value {
    Nil,
    True,
    False,
    Int(i64),
    Float,
    Text(Bytes),
    List(Vec<Value>),
    Object { class: Bytes, variables: Vec<(Bytes, Value)> },
}

impl Value {
    /// A text, or none.
    fn text(self) -> Result<Option<Bytes>, Unusable> {
        match self {
            Value::Nil => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            _ => Err(Unusable::Unknown),
        }
    }
}

/// Reads one value with its version in front and nothing behind it.
fn whole(text: &Bytes) -> Result<Value, Unusable> {
    if !text.starts_with(&MARSHAL) {
        return Err(Unusable::Unknown);
    }
    let mut from = Reader { text, at: MARSHAL.len(), symbols: Vec::new() };
    let value = from.value(DEPTH_MAX)?;
    if from.at == text.len() { Ok(value) } else { Err(Unusable::Damaged) }
}

/// Reads values, one after the other.
struct Reader<'a> {
    text: &'a Bytes,
    at: usize,
    symbols: Vec<Bytes>,
}

impl Reader<'_> {
    /// The next value, with at most `depth` levels of others in it.
    fn value(&mut self, depth: u8) -> Result<Value, Unusable> {
        let Some(within) = depth.checked_sub(1) else { return Err(Unusable::Unknown) };
        Ok(match self.byte()? {
            b'0' => Value::Nil,
            b'T' => Value::True,
            b'F' => Value::False,
            b'i' => Value::Int(self.int()?),
            b'l' => Value::Int(self.large()?),
            b'"' => Value::Text(self.counted()?),
            b'f' => {
                self.counted()?;
                Value::Float
            }
            // A text with variables: its encoding.
            b'I' => {
                let (b'"', text) = (self.byte()?, self.counted()?) else { return Err(Unusable::Unknown) };
                self.variables(within)?;
                Value::Text(text)
            }
            b'[' => {
                let members = self.members()?;
                Value::List((0..members).map(|_| self.value(within)).collect::<Result<_, _>>()?)
            }
            b'o' => Value::Object { class: self.symbol()?, variables: self.variables(within)? },
            _ => return Err(Unusable::Unknown),
        })
    }

    /// The variables of an object or a text.
    fn variables(&mut self, depth: u8) -> Result<Vec<(Bytes, Value)>, Unusable> {
        let members = self.members()?;
        (0..members).map(|_| Ok((self.symbol()?, self.value(depth)?))).collect()
    }

    /// A symbol, or the place of one that was there before.
    fn symbol(&mut self) -> Result<Bytes, Unusable> {
        match self.byte()? {
            b':' if self.symbols.len() < SYMBOLS_MAX => {
                let symbol = self.counted()?;
                self.symbols.push(symbol.clone());
                Ok(symbol)
            }
            b';' => {
                let place = usize::try_from(self.int()?).map_err(|_| Unusable::Damaged)?;
                self.symbols.get(place).cloned().ok_or(Unusable::Damaged)
            }
            _ => Err(Unusable::Unknown),
        }
    }

    /// How many members follow.
    fn members(&mut self) -> Result<i64, Unusable> {
        match self.int()? {
            members @ 0..=MEMBERS_MAX => Ok(members),
            _ => Err(Unusable::Unknown),
        }
    }

    /// A number below 2^30: itself in one byte, or the number of its bytes and these, the lowest first.
    fn int(&mut self) -> Result<i64, Unusable> {
        let first = i64::from(self.byte()?.cast_signed());
        match first {
            0 => Ok(0),
            1..=4 => Ok(self.low_first(first.unsigned_abs())?),
            -4..=-1 => Ok(self.low_first(first.unsigned_abs())? - (1 << (8 * first.unsigned_abs()))),
            5.. => Ok(first - 5),
            _ => Ok(first + 5),
        }
    }

    /// A greater number: its sign, and the number of its pairs of bytes.
    fn large(&mut self) -> Result<i64, Unusable> {
        let sign = self.byte()?;
        let (b'+' | b'-', pairs @ 1..=3) = (sign, self.int()?) else { return Err(Unusable::Unknown) };
        let number = self.low_first(2 * pairs.unsigned_abs())?;
        Ok(if sign == b'-' { -number } else { number })
    }

    /// A number of at most 6 bytes, the lowest first.
    fn low_first(&mut self, width: u64) -> Result<i64, Unusable> {
        let mut number = 0;
        for place in 0..width {
            number |= i64::from(self.byte()?) << (8 * place);
        }
        Ok(number)
    }

    /// As many bytes as the number before them says; they stay where they are.
    fn counted(&mut self) -> Result<Bytes, Unusable> {
        let length = usize::try_from(self.int()?).map_err(|_| Unusable::Damaged)?;
        let end = self.at.checked_add(length).filter(|end| *end <= self.text.len()).ok_or(Unusable::Damaged)?;
        let bytes = self.text.slice(self.at..end);
        self.at = end;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, Unusable> {
        let byte = self.text.get(self.at).copied().ok_or(Unusable::Damaged)?;
        self.at += 1;
        Ok(byte)
    }
}
