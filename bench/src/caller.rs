//! A client that does as little as possible for each request, so that the machine is left to the server.

use anyhow::{Context, Result, ensure};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What of a reply is looked at.
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// It says when to come again.
    pub(crate) retry: bool,
    /// Of its body.
    pub(crate) bytes: usize,
}

/// A connection that is kept.
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

    /// Sends these bytes, and reads a reply to its end.
    pub(crate) fn call(&mut self, request: &[u8]) -> Result<Reply> {
        self.stream.write_all(request)?;
        let mut filled = 0;
        let end = loop {
            let read = self.stream.read(&mut self.buffer[filled..])?;
            ensure!(read > 0, "the connection ended");
            filled += read;
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
        Ok(Reply { status, retry, bytes })
    }
}
