//! A client with as little work per request as possible, which leaves the machine to the server.

use anyhow::{Context, Result, ensure};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The parts of a reply that are checked.
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Whether it has `Retry-After`.
    pub(crate) retry: bool,
    /// The number of bytes of its body.
    pub(crate) bytes: usize,
    /// The time from the request to the first bytes of the reply.
    pub(crate) first: Duration,
}

/// A persistent connection.
pub(crate) struct Caller {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Caller {
    /// Connects.
    pub(crate) fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Self { stream, buffer: vec![0; 64 << 10] })
    }

    /// Sends these bytes, and reads a whole reply.
    pub(crate) fn call(&mut self, request: &[u8]) -> Result<Reply> {
        let began = Instant::now();
        self.stream.write_all(request)?;
        let (mut filled, mut first) = (0, None);
        let end = loop {
            let read = self.stream.read(&mut self.buffer[filled..])?;
            ensure!(read > 0, "the connection ended");
            filled += read;
            first.get_or_insert_with(|| began.elapsed());
            if let Some(end) = self.buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let head = std::str::from_utf8(&self.buffer[..end])?.to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("a status")?;
        let retry = head.contains("\r\nretry-after:");
        let length = head.split("\r\ncontent-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let bytes = length.context("a length")?.parse::<usize>()?;
        let mut left = bytes.saturating_sub(filled - end);
        while left > 0 {
            let room = left.min(self.buffer.len());
            let read = self.stream.read(&mut self.buffer[..room])?;
            ensure!(read > 0, "the connection ended");
            left -= read;
        }
        Ok(Reply { status, retry, bytes, first: first.unwrap_or_default() })
    }
}
