//! One struct of an answer, read member by member. Members that nobody reads take no memory.

use crate::koji::rpc::{Scalar, Token};
use crate::koji::unreadable::Why;
use sha2::{Digest as _, Sha256};
use std::ops::Range;

/// The most members of a row. A hub gives up to forty.
const MEMBERS_MAX: usize = 256;
/// The most bytes of the names and texts of a row that are read.
const ROW_MAX: usize = 4 << 20;
/// The members that are read, of all kinds of rows.
const READ: [&str; 36] = [
    "artifact_id",
    "build.state",
    "build_id",
    "checksum",
    "checksum_type",
    "completion_time",
    "completion_ts",
    "create_event",
    "create_ts",
    "creator_name",
    "faultCode",
    "faultString",
    "filename",
    "group_id",
    "id",
    "maven_artifact_id",
    "maven_group_id",
    "maven_version",
    "metadata_only",
    "name",
    "owner_name",
    "package.name",
    "package_name",
    "parent_id",
    "release",
    "revoke_event",
    "revoke_ts",
    "revoker_name",
    "size",
    "state",
    "tag.id",
    "tag_id",
    "tag_name",
    "ts",
    "version",
    "volume_name",
];

/// The most characters of the name of a tag or of a person. Koji's own limit.
const LABEL_CHARACTERS: usize = 256;
/// The end of the year 9999, in milliseconds since 1970.
const MOMENT_END_MS: i64 = 253_402_300_800_000;

/// Whether a character changes what others look like: control characters, and characters that turn the direction of a text.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A struct that is being read. It is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Open arrays and structs: itself, and those in its members.
    depth: usize,
    /// The names and texts of the members that are read.
    texts: String,
    members: Vec<Member>,
    /// The number of all members.
    count: usize,
    /// Whether the last member is one that is read.
    is_read: bool,
    /// The sum of the digests of all members before the last one. `None`: nobody asks for it.
    digest: Option<u64>,
    /// The digest of the last member. `None`: it does not count.
    last: Option<Sha256>,
}

#[derive(Debug)]
struct Member {
    name: Range<usize>,
    value: Value,
}

#[derive(Debug, Clone)]
enum Value {
    /// Not read yet, or an array or a struct.
    Other,
    Nil,
    Int(i64),
    Double(f64),
    Boolean(bool),
    Text(Range<usize>),
}

impl Row {
    /// Begins a row: its struct has begun. `is_digested`: its digest will be asked for.
    pub(super) fn begin(&mut self, is_digested: bool) {
        self.texts.clear();
        self.members.clear();
        (self.depth, self.count, self.is_read) = (1, 0, false);
        (self.digest, self.last) = (is_digested.then_some(0), None);
    }

    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Reads on. Returns whether the row is complete.
    pub(super) fn read(&mut self, token: Token<'_>) -> Result<bool, Why> {
        match token {
            Token::Close => self.depth = self.depth.saturating_sub(1),
            Token::Name(name) if self.depth == 1 => {
                self.begin_member(name)?;
                return Ok(false);
            }
            Token::Scalar(scalar) if self.depth == 1 && self.is_read => {
                let value = match scalar {
                    Scalar::Nil => Value::Nil,
                    Scalar::Int(number) => Value::Int(number),
                    Scalar::Double(number) => Value::Double(number),
                    Scalar::Boolean(is) => Value::Boolean(is),
                    Scalar::Text(text) => Value::Text(self.add(text)?),
                };
                if let Some(member) = self.members.last_mut() {
                    member.value = value;
                }
            }
            Token::Array | Token::Struct => self.depth += 1,
            Token::Name(_) | Token::Scalar(_) | Token::Fault => {}
        }
        if self.depth > 0
            && let Some(last) = &mut self.last
        {
            add_token(last, token);
        }
        Ok(self.depth == 0)
    }

    fn begin_member(&mut self, name: &str) -> Result<(), Why> {
        if self.count == MEMBERS_MAX {
            return Err(Why::Many(MEMBERS_MAX));
        }
        self.count += 1;
        self.is_read = READ.contains(&name);
        if self.is_read {
            let name = self.add(name)?;
            self.members.push(Member { name, value: Value::Other });
        }
        self.digest = self.digest.map(|sum| sum.wrapping_add(self.last.take().map_or(0, number)));
        // The numbers of events say the same as their moments, and hubs write fractions in different ways.
        if self.digest.is_some() && !name.ends_with("_ts") {
            let mut digest = Sha256::new();
            add_token(&mut digest, Token::Name(name));
            self.last = Some(digest);
        }
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<Range<usize>, Why> {
        let begin = self.texts.len();
        if begin > ROW_MAX {
            return Err(Why::LongRow(ROW_MAX));
        }
        self.texts.push_str(text);
        Ok(begin..self.texts.len())
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

    /// A name that only people read: of a tag or a person. What terminals and logs would obey is replaced.
    pub(super) fn label(&self, name: &str) -> Option<String> {
        let seen = |c: char| if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c };
        Some(self.text(name)?.chars().take(LABEL_CHARACTERS).map(seen).collect())
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

    /// A moment, given in seconds, in milliseconds. `None`: it is in no year from 1970 to 9999.
    pub(super) fn moment(&self, name: &str) -> Option<i64> {
        let at_ms = match self.value(name)? {
            Value::Double(seconds) => (seconds * 1000.0).round() as i64,
            Value::Int(seconds) => seconds.checked_mul(1000)?,
            _ => return None,
        };
        (0..MOMENT_END_MS).contains(&at_ms).then_some(at_ms)
    }

    /// A digest of all members, whatever their order, but for moments.
    pub(super) fn digest(&self, table: &str) -> u64 {
        let last = self.last.clone().map_or(0, number);
        let members = self.digest.unwrap_or_default().wrapping_add(last);
        number(Sha256::new().chain_update(table).chain_update(members.to_le_bytes()))
    }
}

fn add_token(digest: &mut Sha256, token: Token<'_>) {
    let (kind, bytes): (u8, &[u8]) = match &token {
        Token::Array => (0, &[]),
        Token::Struct => (1, &[]),
        Token::Close => (2, &[]),
        Token::Fault | Token::Scalar(Scalar::Nil) => (3, &[]),
        Token::Name(name) => (4, name.as_bytes()),
        Token::Scalar(Scalar::Text(text)) => (5, text.as_bytes()),
        Token::Scalar(Scalar::Int(number)) => (6, &number.to_le_bytes()),
        Token::Scalar(Scalar::Double(number)) => (7, &number.to_le_bytes()),
        Token::Scalar(Scalar::Boolean(is)) => (8, &[u8::from(*is)]),
    };
    digest.update([kind]);
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// The first bytes of a digest, as a number.
fn number(digest: Sha256) -> u64 {
    digest.finalize().first_chunk().copied().map(u64::from_le_bytes).unwrap_or_default()
}
