//! One struct of an answer, read member by member. Members that nobody asks for cost nothing else.

use crate::koji::rpc::{Scalar, Token};
use crate::koji::unreadable::Why;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::ops::Range;

/// The most members of a row. A hub gives up to forty.
const MEMBERS_MAX: usize = 256;
/// The most bytes of the names and texts of a row.
const ROW_MAX: usize = 4 << 20;

/// A struct that is being read. It is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Open arrays and structs: itself, and those in its members.
    depth: usize,
    /// The names and texts of all members.
    texts: String,
    members: Vec<Member>,
    /// Whether nested values count in the digest.
    is_digested: bool,
}

#[derive(Debug)]
struct Member {
    name: Range<usize>,
    value: Value,
}

#[derive(Debug, Clone)]
enum Value {
    /// Not read yet, or an array or a struct.
    Other(Range<usize>),
    Nil,
    Int(i64),
    Double(f64),
    Boolean(bool),
    Text(Range<usize>),
}

impl Row {
    /// Begins a row: its struct has begun.
    pub(super) fn begin(&mut self, is_digested: bool) {
        self.texts.clear();
        self.members.clear();
        (self.depth, self.is_digested) = (1, is_digested);
    }

    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Reads on. Returns whether the row is complete.
    pub(super) fn read(&mut self, token: Token<'_>) -> Result<bool, Why> {
        match token {
            Token::Close => self.depth = self.depth.saturating_sub(1),
            _ if self.texts.len() > ROW_MAX => return Err(Why::LongPart(ROW_MAX)),
            Token::Name(name) if self.depth == 1 => {
                if self.members.len() == MEMBERS_MAX {
                    return Err(Why::Many(MEMBERS_MAX));
                }
                let name = self.add(name);
                self.members.push(Member { name, value: Value::Other(0..0) });
                return Ok(false);
            }
            Token::Scalar(scalar) if self.depth == 1 => {
                let value = match scalar {
                    Scalar::Nil => Value::Nil,
                    Scalar::Int(number) => Value::Int(number),
                    Scalar::Double(number) => Value::Double(number),
                    Scalar::Boolean(is) => Value::Boolean(is),
                    Scalar::Text(text) => Value::Text(self.add(text)),
                };
                if let Some(member) = self.members.last_mut() {
                    member.value = value;
                }
                return Ok(false);
            }
            Token::Array | Token::Struct => self.depth += 1,
            Token::Name(_) | Token::Scalar(_) | Token::Fault => {}
        }
        if self.is_digested && self.depth > 0 {
            let begin = self.texts.len();
            let _ = write!(self.texts, "{token:?}");
            let end = self.texts.len();
            if let Some(Member { value: Value::Other(nested), .. }) = self.members.last_mut() {
                *nested = if nested.start == nested.end { begin..end } else { nested.start..end };
            }
        }
        Ok(self.depth == 0)
    }

    fn add(&mut self, text: &str) -> Range<usize> {
        let begin = self.texts.len();
        self.texts.push_str(text);
        begin..self.texts.len()
    }

    fn value(&self, name: &str) -> Option<&Value> {
        let of_name = |member: &&Member| self.texts.get(member.name.clone()) == Some(name);
        self.members.iter().find(of_name).map(|member| &member.value)
    }

    /// A text. `None`: there is no such member, or it is nil.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Text(range) => self.texts.get(range.clone()),
            _ => None,
        }
    }

    /// A text, which is empty where there is none.
    pub(super) fn words(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_owned()
    }

    /// A whole number.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// A number that is not negative, and that the row needs.
    pub(super) fn id<T: TryFrom<i64>>(&self, name: &'static str) -> Result<T, Why> {
        self.int(name).filter(|id| *id >= 0).and_then(|id| T::try_from(id).ok()).ok_or(Why::Member(name))
    }

    /// A truth value. Without one it is false.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Boolean(true) | Value::Int(1)))
    }

    /// A moment, given in seconds, in milliseconds.
    pub(super) fn moment(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            Value::Double(seconds) => Some((seconds * 1000.0).round() as i64),
            Value::Int(seconds) => seconds.checked_mul(1000),
            _ => None,
        }
    }

    /// A digest of all members, whatever their order. Moments are left out: the numbers of their events say the same, and
    /// hubs write fractions in different ways.
    pub(super) fn digest(&self, table: &str) -> u64 {
        let name = |member: &Member| self.texts.get(member.name.clone()).unwrap_or_default();
        let mut members: Vec<_> = self.members.iter().filter(|member| !name(member).ends_with("_ts")).collect();
        members.sort_by_key(|member| name(member));
        let mut all = Sha256::new();
        let mut add = |text: &str| {
            all.update((text.len() as u64).to_le_bytes());
            all.update(text);
        };
        add(table);
        for member in members {
            add(name(member));
            match &member.value {
                Value::Text(range) | Value::Other(range) => add(self.texts.get(range.clone()).unwrap_or_default()),
                other => add(&format!("{other:?}")),
            }
        }
        all.finalize().first_chunk().copied().map(u64::from_le_bytes).unwrap_or_default()
    }
}
