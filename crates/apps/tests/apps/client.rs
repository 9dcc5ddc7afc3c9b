//! A client that sends raw bytes.

use crate::running_apps::HANGS;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

/// A connection to the front.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    ahead: Vec<u8>,
}

/// A received reply.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let values = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        values.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, ahead: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))
    }

    pub(crate) fn ask(&mut self, request: &str) -> Answer {
        self.send(request);
        self.answer()
    }

    /// The next reply, with its body: chunked, or of its declared length.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let chunk = self.chunk();
                if chunk.is_empty() {
                    break;
                }
                answer.body.extend(chunk);
            }
        } else {
            let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
            answer.body = self.body(length);
        }
        answer
    }

    /// The head of the next reply, which may be an interim one.
    pub(crate) fn head(&mut self) -> Answer {
        let head = String::from_utf8(self.until(b"\r\n\r\n")).unwrap();
        Answer { status: head.split(' ').nth(1).unwrap().parse().unwrap(), head, body: Vec::new() }
    }

    /// The next chunk; empty: the last one, with the lines of trailers in `ahead` consumed.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let size = self.line();
        let size = usize::from_str_radix(&size, 16).unwrap();
        if size == 0 {
            self.trailers();
            return Vec::new();
        }
        let chunk = self.body(size);
        assert_eq!(self.body(2), b"\r\n");
        chunk
    }

    /// The lines after the last chunk.
    pub(crate) fn trailers(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.line() {
                line if line.is_empty() => return lines,
                line => lines.push(line),
            }
        }
    }

    pub(crate) fn line(&mut self) -> String {
        let line = String::from_utf8(self.until(b"\r\n")).unwrap();
        line.trim_end().to_owned()
    }

    fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.ahead.windows(end.len()).position(|bytes| bytes == end) {
                return self.ahead.drain(..at + end.len()).collect();
            }
            assert!(self.more() > 0, "closed too early: {:?}", String::from_utf8_lossy(&self.ahead));
        }
    }

    /// The next `length` bytes.
    pub(crate) fn body(&mut self, length: usize) -> Vec<u8> {
        while self.ahead.len() < length {
            assert!(self.more() > 0, "closed within a body, {} of {length} bytes", self.ahead.len());
        }
        self.ahead.drain(..length).collect()
    }

    /// Reads until the other end closes; a reset is a close too.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.more() > 0 {}
        std::mem::take(&mut self.ahead)
    }

    fn more(&mut self) -> usize {
        let mut piece = [0; 64 << 10];
        let read = match self.stream.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}"),
        };
        self.ahead.extend_from_slice(&piece[..read]);
        read
    }
}
