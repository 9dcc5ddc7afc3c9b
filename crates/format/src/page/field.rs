//! The headers of stored pages.

use super::coding::Coding;
use super::{HEADERS_MAX, HEADERS_MAX_BYTES, Unusable};
use bytes::Bytes;

/// Headers of one connection or of one reply, which say nothing about a page (RFC 9110, 7.6.1 and 6.6.1; RFC 9111, 5.1), and orders to a
/// server in front: they are left out, and so are names that begin with `daylight-`.
const LEFT_OUT: [&str; 14] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "date",
    "age",
    "surrogate-control",
    "x-sendfile",
    "x-accel-redirect",
];

/// The headers of a page while it is read.
#[derive(Debug, Default)]
pub(super) struct Fields {
    kept: Vec<(Box<str>, Bytes)>,
    bytes: usize,
    seen: usize,
    coding: Option<Coding>,
}

impl Fields {
    /// A header whose value replaces that of the same name. `None`: it has no value.
    pub(super) fn set(&mut self, name: &[u8], value: Option<Bytes>) -> Result<(), Unusable> {
        let lower = lower_case(name)?;
        self.kept.retain(|(kept, _)| *kept != lower);
        if &*lower == "content-encoding" {
            self.coding = None;
        }
        match value {
            Some(value) => self.push(lower, &value),
            None => self.count(0),
        }
    }

    /// One more value of a header.
    pub(super) fn add(&mut self, name: &[u8], value: &Bytes) -> Result<(), Unusable> {
        self.push(lower_case(name)?, value)
    }

    fn push(&mut self, name: Box<str>, value: &Bytes) -> Result<(), Unusable> {
        self.count(name.len() + value.len())?;
        let value = value.slice_ref(value.trim_ascii());
        if value.iter().any(|byte| matches!(byte, 0..=8 | 10..=31 | 127)) {
            return Err(Unusable::Damaged);
        }
        match &*name {
            // It is for one client.
            "set-cookie" => return Err(Unusable::Unknown),
            "content-encoding" if self.coding.is_some() => return Err(Unusable::Unknown),
            "content-encoding" => self.coding = Some(coding(&value)?),
            name if value.is_empty() || LEFT_OUT.contains(&name) || name.starts_with("daylight-") => {}
            _ => self.kept.push((name, value)),
        }
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), Unusable> {
        (self.seen, self.bytes) = (self.seen + 1, self.bytes + bytes);
        if self.seen > HEADERS_MAX || self.bytes > HEADERS_MAX_BYTES { Err(Unusable::TooLarge) } else { Ok(()) }
    }

    /// The first value of a header, whose name is in lower case.
    pub(super) fn get(&self, name: &str) -> Option<&Bytes> {
        self.kept.iter().find(|(kept, _)| &**kept == name).map(|(_, value)| value)
    }

    /// The headers, and the coding that they name.
    pub(super) fn into_parts(self) -> (Vec<(Box<str>, Bytes)>, Option<Coding>) {
        (self.kept, self.coding)
    }
}

/// A name in lower case, if it is one (RFC 9110, 5.6.2).
fn lower_case(name: &[u8]) -> Result<Box<str>, Unusable> {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    if name.is_empty() || !name.iter().all(is_token) {
        return Err(Unusable::Damaged);
    }
    let lower: String = name.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    Ok(lower.into())
}

/// The coding that a header names.
fn coding(value: &[u8]) -> Result<Coding, Unusable> {
    [Coding::Gzip, Coding::Brotli]
        .into_iter()
        .find(|coding| coding.as_str().is_some_and(|name| value.eq_ignore_ascii_case(name.as_bytes())))
        .or_else(|| (value.is_empty() || value.eq_ignore_ascii_case(b"identity")).then_some(Coding::Identity))
        .ok_or(Unusable::Unknown)
}
