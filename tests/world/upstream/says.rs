//! An answer of the upstream: a status, headers, bytes, and the way in which they are sent.

use super::{Asked, Script, TIMEOUT};
use crate::world::hex;
use sha1::{Digest, Sha1};
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// One answer, for any number of requests.
#[derive(Debug, Clone)]
pub(crate) struct Says {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// The announced length, if it is not the true one; `Some(None)`: none, so the body is chunked.
    announced: Option<Option<usize>>,
    pace: Pace,
    /// Closes the connection after this number of bytes of the body.
    cut: Option<usize>,
    /// How it handles `Range`; `None`: it ignores it.
    parts: Option<Parts>,
}

/// How it handles `Range: bytes=N-`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parts {
    /// It sends the rest.
    Right,
    /// It sends the rest with a `Content-Range` that begins a byte later.
    Shifted,
    /// It answers 416.
    Refused,
}

/// When the bytes are sent.
#[derive(Debug, Clone, Copy)]
enum Pace {
    AtOnce,
    /// Nothing, not even the head, until it is released.
    Silent,
    /// Nothing, not even the head, for this long.
    After(Duration),
    /// The head and this number of bytes, then nothing until it is released.
    HeldAt(usize),
    /// This number of bytes at a time, with this delay, until it is released.
    Drip(usize, Duration),
}

impl Says {
    /// A status with a line of text.
    pub(crate) fn status(status: u16) -> Self {
        let body = format!("the upstream says {status}\n").into_bytes();
        Self { status, headers: Vec::new(), body, announced: None, pace: Pace::AtOnce, cut: None, parts: None }
    }

    /// A status with this text.
    pub(crate) fn saying(status: u16, text: String) -> Self {
        Self { body: text.into_bytes(), ..Self::status(status) }
    }

    /// 200 with these bytes and without a media type.
    pub(crate) fn bytes(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..Self::status(200) }
    }

    /// 200 with these bytes, their SHA-1 as ETag, and a date. Conditional requests get 304.
    pub(crate) fn file(body: impl Into<Vec<u8>>) -> Self {
        let says = Self::bytes(body);
        let etag = format!("\"{}\"", hex(&Sha1::digest(&says.body)));
        says.header("ETag", &etag).header("Last-Modified", "Thu, 01 Oct 2026 12:00:00 GMT")
    }

    /// 200 with an HTML page, as captive portals and login walls send it.
    pub(crate) fn html() -> Self {
        Self::bytes("<!DOCTYPE html><html><body>Please sign in</body></html>").header("Content-Type", "text/html")
    }

    /// A redirect (302).
    pub(crate) fn redirect(location: &str) -> Self {
        Self::status(302).header("Location", location)
    }

    /// Adds this header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets how it handles `Range`.
    pub(crate) fn parts(self, parts: Parts) -> Self {
        Self { parts: Some(parts), ..self }
    }

    /// Chunked, without a length.
    pub(crate) fn chunked(self) -> Self {
        Self { announced: Some(None), ..self }
    }

    /// Announces this length.
    pub(crate) fn announces(self, length: usize) -> Self {
        Self { announced: Some(Some(length)), ..self }
    }

    /// Closes the connection after this number of bytes of the body.
    pub(crate) fn cut_after(self, bytes: usize) -> Self {
        Self { cut: Some(bytes), ..self }
    }

    /// Sends nothing until it is released.
    pub(crate) fn silent(self) -> Self {
        Self { pace: Pace::Silent, ..self }
    }

    /// Sends nothing for this long.
    pub(crate) fn after(self, delay: Duration) -> Self {
        Self { pace: Pace::After(delay), ..self }
    }

    /// Stops after this number of bytes of the body until it is released.
    pub(crate) fn held_at(self, bytes: usize) -> Self {
        Self { pace: Pace::HeldAt(bytes), ..self }
    }

    /// Sends this number of bytes at a time, with this delay, until it is released.
    pub(crate) fn drips(self, bytes: usize, apart: Duration) -> Self {
        Self { pace: Pace::Drip(bytes, apart), ..self }
    }

    /// Whether the validators of a request match (RFC 9110, 13.2.2).
    fn unchanged(&self, asked: &Asked) -> bool {
        let own = |name: &str| self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
        let same = |theirs: &str, ours: &str| asked.header(theirs).map(|theirs| own(ours) == Some(theirs));
        self.status == 200
            && same("If-None-Match", "ETag").or_else(|| same("If-Modified-Since", "Last-Modified")) == Some(true)
    }

    /// The status of the answer, and the first byte that it sends.
    pub(super) fn begin(&self, asked: &Asked) -> (u16, usize) {
        let first =
            asked.header("Range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        match self.parts.zip(first.filter(|first: &usize| *first < self.body.len())) {
            _ if self.unchanged(asked) => (304, 0),
            None => (self.status, 0),
            Some((Parts::Refused, _)) => (416, self.body.len()),
            Some((_, first)) => (206, first),
        }
    }

    /// Sends the answer. Returns whether the connection stays open.
    pub(super) fn answer(&self, asked: &Asked, stream: &mut TcpStream, script: &Script) -> io::Result<bool> {
        if let Pace::Silent = self.pace {
            script.wait(&asked.path, TIMEOUT)?;
        }
        if let Pace::After(delay) = self.pace {
            script.wait(&asked.path, delay)?;
        }
        let (status, begin) = self.begin(asked);
        let bare = status == 304 || asked.method == "HEAD" || status == 204;
        let mut head = format!("HTTP/1.1 {status} Said\r\n");
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if matches!(status, 206 | 416) && self.status == 200 {
            let claimed = if matches!(self.parts, Some(Parts::Shifted)) { begin + 1 } else { begin };
            let (last, len) = (self.body.len() - 1, self.body.len());
            head += &format!("Content-Range: bytes {claimed}-{last}/{len}\r\n");
        }
        let chunked = self.announced == Some(None);
        if chunked && !bare {
            head += "Transfer-Encoding: chunked\r\n";
        } else if status != 304 && status != 204 && !chunked {
            let length = self.announced.flatten().unwrap_or(self.body.len() - begin);
            head += &format!("Content-Length: {length}\r\n");
        }
        stream.write_all((head + "\r\n").as_bytes())?;
        if bare {
            return Ok(true);
        }
        let whole = self.body.len() - begin;
        let body = &self.body[begin..][..self.cut.unwrap_or(whole).min(whole)];
        let send = |stream: &mut TcpStream, part: &[u8]| {
            if part.is_empty() {
                Ok(())
            } else if chunked {
                stream.write_all(&[format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat())
            } else {
                stream.write_all(part)
            }
        };
        match self.pace {
            Pace::AtOnce | Pace::Silent | Pace::After(_) => send(stream, body)?,
            Pace::HeldAt(at) => {
                let (before, after) = body.split_at(at.min(body.len()));
                send(stream, before)?;
                script.wait(&asked.path, TIMEOUT)?;
                send(stream, after)?;
            }
            Pace::Drip(bytes, apart) => {
                let mut over = false;
                for part in body.chunks(bytes) {
                    send(stream, part)?;
                    over = over || script.wait(&asked.path, apart)?;
                }
            }
        }
        if self.cut.is_some() {
            return Ok(false);
        }
        if chunked {
            stream.write_all(b"0\r\n\r\n")?;
        }
        // After fewer bytes than announced, the connection cannot be used again.
        Ok(chunked || self.announced.flatten().is_none_or(|length| length == body.len()))
    }
}
