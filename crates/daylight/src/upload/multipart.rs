//! Parses `multipart/form-data` (RFC 7578), which `gem push --attestation` sends, as it arrives. The whole form is never in memory.
//!
//! The multer crate is not used: it reads its stream until that is pending, so a fast client makes it hold a whole upload,
//! and it limits neither the headers of a part nor the number of parts.

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, header};

/// Longest boundary (RFC 2046 section 5.1.1).
const BOUNDARY_MAX: usize = 70;
/// Longest headers of a part, in bytes.
const HEAD_MAX: usize = 8 * 1024;
/// Most parts in one form.
const PARTS_MAX: usize = 16;

/// A piece of a form, in the order of arrival.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// A field with this name begins.
    Field(String),
    /// Content of the field that began last.
    Bytes(Bytes),
}

/// The bytes are not a form, or the form is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the form is not `multipart/form-data`: {0}")]
pub struct Malformed(&'static str);

/// The parser of one form.
#[derive(Debug)]
pub struct Form {
    /// A line break, two dashes, and the boundary.
    delimiter: Vec<u8>,
    /// Bytes that arrived and were not parsed yet.
    arrived: BytesMut,
    state: State,
    parts: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The content of a field, or the preamble before the first delimiter.
    Content { field: bool },
    /// After a delimiter: a line break or two dashes follow.
    Delimited,
    /// The headers of a part.
    Head,
    /// After the last delimiter.
    End,
}

impl Form {
    /// The form that the headers of a request announce; `None`: they announce another content.
    pub fn announced(headers: &HeaderMap) -> Option<Result<Self, Malformed>> {
        let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let (kind, parameters) = kind.split_once(';').unwrap_or((kind, ""));
        if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
            return None;
        }
        let boundary = parameters.split(';').find_map(|parameter| value(parameter.trim(), "boundary"));
        let fits = |boundary: &&str| (1..=BOUNDARY_MAX).contains(&boundary.len()) && boundary.is_ascii();
        Some(boundary.filter(fits).map(Self::new).ok_or(Malformed("its header names no boundary")))
    }

    /// A form whose parts are separated by this boundary.
    pub fn new(boundary: &str) -> Self {
        // A delimiter begins with a line break, but for the first, which may begin the body.
        let arrived = BytesMut::from(&b"\r\n"[..]);
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        Self { delimiter, arrived, state: State::Content { field: false }, parts: 0 }
    }

    /// Parses further bytes, and returns the pieces that are complete.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<Piece>, Malformed> {
        self.arrived.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while self.step(&mut pieces)? {}
        Ok(pieces)
    }

    /// Fails if the last delimiter has not arrived.
    pub fn end(&self) -> Result<(), Malformed> {
        if self.state == State::End { Ok(()) } else { Err(Malformed("its last delimiter is missing")) }
    }

    /// Parses up to the next change of state. Returns whether there was one.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> Result<bool, Malformed> {
        match self.state {
            State::Content { field } => {
                let found = find(&self.arrived, &self.delimiter);
                // The last bytes may be the beginning of a delimiter.
                let length = found.unwrap_or_else(|| self.arrived.len().saturating_sub(self.delimiter.len() - 1));
                let content = self.arrived.split_to(length).freeze();
                if field && !content.is_empty() {
                    pieces.push(Piece::Bytes(content));
                }
                if found.is_some() {
                    self.arrived.advance(self.delimiter.len());
                    self.state = State::Delimited;
                }
                Ok(found.is_some())
            }
            State::Delimited => match self.arrived.get(..2) {
                None => Ok(false),
                Some(b"--") => {
                    self.state = State::End;
                    Ok(true)
                }
                // The line break stays: headers that are empty end with two line breaks, too.
                Some(b"\r\n") => {
                    self.state = State::Head;
                    Ok(true)
                }
                Some(_) => Err(Malformed("a delimiter is not a line of its own")),
            },
            State::Head => {
                let Some(length) = find(&self.arrived, b"\r\n\r\n") else {
                    let long = self.arrived.len() > HEAD_MAX;
                    return if long { Err(Malformed("the head of a part is too long")) } else { Ok(false) };
                };
                self.parts += 1;
                if length > HEAD_MAX || self.parts > PARTS_MAX {
                    return Err(Malformed("it has too many parts, or too much before one"));
                }
                let head = self.arrived.split_to(length);
                self.arrived.advance(4);
                pieces.push(Piece::Field(name(&head).ok_or(Malformed("a part has no name"))?));
                self.state = State::Content { field: true };
                Ok(true)
            }
            // The epilogue is ignored (RFC 2046 section 5.1.1).
            State::End => {
                self.arrived.clear();
                Ok(false)
            }
        }
    }
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window == pattern)
}

/// The name of a field, from the headers of its part (RFC 7578 section 4.2).
fn name(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let disposition = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    let (kind, parameters) = disposition.split_once(';')?;
    let names = || parameters.split(';').find_map(|parameter| value(parameter.trim(), "name"));
    kind.trim().eq_ignore_ascii_case("form-data").then(names)?.map(str::to_owned)
}

/// The value of `key=value` or `key="value"`.
fn value<'a>(parameter: &'a str, key: &str) -> Option<&'a str> {
    let (found, value) = parameter.split_once('=')?;
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    found.eq_ignore_ascii_case(key).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORM: &[u8] = b"preamble\r\n--b-1\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; name=\"gem\"; \
        filename=\"a\"\r\n\r\n\r\n--b-2\r\n\r\n--b-1\r\nContent-Disposition: form-data; name=empty\r\n\r\n\r\n--b-1--\r\nrest";

    /// The fields of a form that arrives in these pieces, each with its content.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<(String, Vec<u8>)>, Malformed> {
        let (mut form, mut fields) = (Form::new("b-1"), Vec::<(String, Vec<u8>)>::new());
        for piece in pieces {
            for piece in form.take(piece)? {
                match piece {
                    Piece::Field(name) => fields.push((name, Vec::new())),
                    Piece::Bytes(bytes) => fields.last_mut().unwrap().1.extend_from_slice(&bytes),
                }
            }
        }
        form.end().map(|()| fields)
    }

    fn announced(kind: &str) -> Option<Result<Form, Malformed>> {
        let headers = [(header::CONTENT_TYPE, kind.parse().unwrap())];
        Form::announced(&HeaderMap::from_iter(headers))
    }

    #[test]
    fn the_fields_of_a_form_are_what_stands_between_its_delimiters() {
        let fields = vec![("gem".to_owned(), b"\r\n--b-2\r\n".to_vec()), ("empty".to_owned(), Vec::new())];
        assert_eq!(read([FORM]).unwrap(), fields);
        assert_eq!(read([&b"--b-1--"[..]]).unwrap(), []);
    }

    #[test]
    fn a_form_is_announced_with_its_boundary() {
        assert!(announced("application/octet-stream").is_none() && Form::announced(&HeaderMap::new()).is_none());
        for kind in ["multipart/form-data; boundary=b-1", "Multipart/Form-Data;charset=x; BOUNDARY=\"b-1\""] {
            assert_eq!(announced(kind).unwrap().unwrap().delimiter, b"\r\n--b-1");
        }
        for kind in ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\""] {
            assert!(announced(kind).unwrap().is_err(), "{kind}");
        }
        assert!(announced(&format!("multipart/form-data; boundary={}", "b".repeat(71))).unwrap().is_err());
    }

    #[test]
    fn what_is_not_a_form_is_refused() {
        let part = b"--b-1\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n";
        assert!(read([&part.repeat(17)[..]]).is_err());
        assert!(read([&part.repeat(16)[..], b"--b-1--"]).is_ok());
        for bad in [
            &b""[..],
            b"--b-1",
            b"--b-1x\r\n",
            &FORM[..FORM.len() - 8],
            b"--b-1\r\n\r\nx\r\n--b-1--",
            b"--b-1\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b-1--",
            &[b"--b-1\r\n", &[b'x'; 9000][..]].concat(),
        ] {
            assert!(read([bad]).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    proptest! {
        #[test]
        fn a_form_says_the_same_in_whatever_pieces_it_arrives(cuts in prop::collection::vec(0..FORM.len(), 0..20)) {
            let mut cuts = [vec![0, FORM.len()], cuts].concat();
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|cut| &FORM[cut[0]..cut[1]]);
            prop_assert_eq!(read(pieces).unwrap(), read([FORM]).unwrap());
        }

        #[test]
        fn no_bytes_make_it_keep_more_than_a_head(text in "(\r\n|--b-1|[a-z:;=\" -]{1,9}){0,40}") {
            let mut form = Form::new("b-1");
            for byte in text.as_bytes() {
                if form.take(&[*byte]).is_err() {
                    break;
                }
                prop_assert!(form.arrived.len() <= HEAD_MAX + 4);
            }
        }
    }
}
