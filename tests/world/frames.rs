//! HTTP/2 frames by hand: valid or invalid ones as the test writes them, and the frames of the server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The largest window.
pub(crate) const ALL: u32 = i32::MAX as u32;

/// A received frame.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// The end of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A reply: its status and body.
    Answered(u16, Vec<u8>),
    /// Reset, with this code.
    Reset(u32),
    /// The connection ended. With the code and the last stream of a GOAWAY, if there was one.
    Closed(Option<(u32, u32)>),
}

impl Ended {
    /// Whether it was anything but a successful reply.
    pub(crate) fn is_refused(&self) -> bool {
        !matches!(self, Self::Answered(..400, _))
    }

    /// The status, or 0.
    pub(crate) fn status(&self) -> u16 {
        if let Self::Answered(status, _) = self { *status } else { 0 }
    }
}

/// A connection without TLS that uses HTTP/2 from the first byte.
pub(crate) struct Frames {
    stream: TcpStream,
    next: u32,
    /// The GOAWAY of the server.
    goaway: Option<(u32, u32)>,
    /// Received frames that were not read yet.
    come: Vec<Frame>,
}

impl Frames {
    /// Connects and sends the preface with these settings.
    pub(crate) fn open(address: SocketAddr, settings: &[(u16, u32)]) -> Self {
        let mut frames = Self::silent(address);
        // Without a header table, so that a status can be read without one.
        let settings = [&[(1, 0)], settings].concat();
        let payload: Vec<u8> =
            settings.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
        frames.raw(PREFACE).unwrap();
        frames.send(SETTINGS, 0, 0, &payload).unwrap();
        frames
    }

    /// Connects.
    pub(crate) fn silent(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, next: 1, goaway: None, come: Vec::new() }
    }

    /// Sends these bytes.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a frame.
    pub(crate) fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        self.raw(&frame(kind, flags, stream, payload))
    }

    /// Sends a GET request. Returns the stream.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<u32> {
        self.ask("GET", path, &[], END_STREAM)
    }

    /// Sends the head of a request. Returns the stream.
    pub(crate) fn ask(&mut self, method: &str, path: &str, more: &[(&str, &str)], flags: u8) -> io::Result<u32> {
        let stream = self.next_stream();
        self.send(HEADERS, END_HEADERS | flags, stream, &[request(method, path), fields(more)].concat())?;
        Ok(stream)
    }

    /// The number of the next stream.
    pub(crate) fn next_stream(&mut self) -> u32 {
        self.next += 2;
        self.next - 2
    }

    /// Closes the sending half.
    pub(crate) fn hang_up(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The GOAWAY of the server: the code, and the last stream that it accepted.
    pub(crate) fn goaway(&self) -> Option<(u32, u32)> {
        self.goaway
    }

    /// The next frame; `None` at the end of the connection. Settings and pings are acknowledged.
    pub(crate) fn frame(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let [high, middle, low, kind, flags, id @ ..] = head;
        let mut payload = vec![0; usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low)];
        self.stream.read_exact(&mut payload).ok()?;
        if matches!(kind, SETTINGS | PING) && flags & ACK == 0 {
            // The server may be closing the connection, which the next read shows.
            let _ = self.send(kind, ACK, 0, if kind == PING { &payload } else { &[] });
        }
        if kind == GOAWAY {
            self.goaway = Some((number(&payload[4..8]), number(&payload[..4])));
        }
        Some(Frame { kind, flags, stream: number(&id) & ALL, payload })
    }

    /// Reads until this stream has ended. Frames of other streams are kept.
    pub(crate) fn ended(&mut self, stream: u32) -> Ended {
        let (mut status, mut body) = (0, Vec::new());
        loop {
            let waits = self.come.iter().position(|frame| frame.stream == stream);
            let Some(frame) = waits.map(|at| self.come.remove(at)).or_else(|| self.frame()) else {
                return Ended::Closed(self.goaway);
            };
            match frame.kind {
                HEADERS | DATA | RST_STREAM if frame.stream != stream => self.come.push(frame),
                RST_STREAM => return Ended::Reset(number(&frame.payload)),
                HEADERS | DATA => {
                    if frame.kind == HEADERS {
                        status = status_of(&frame.payload);
                    } else {
                        body.extend_from_slice(&frame.payload);
                    }
                    if frame.flags & END_STREAM > 0 {
                        return Ended::Answered(status, body);
                    }
                }
                _ => {}
            }
        }
    }

    /// Sends a GET request and reads the reply.
    pub(crate) fn fetch(&mut self, path: &str) -> Ended {
        match self.get(path) {
            Ok(stream) => self.ended(stream),
            Err(_) => Ended::Closed(self.goaway),
        }
    }

    /// Reads until the connection ends.
    pub(crate) fn until_closed(&mut self) {
        while self.frame().is_some() {}
        // A timeout is not the end of the connection.
        if let Err(error) = self.stream.read(&mut [0]) {
            let silent = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
            assert!(!silent, "the connection is open, and nothing comes");
        }
    }

    /// The socket itself.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

/// The bytes of a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The fields that every request has.
pub(crate) fn request(method: &str, path: &str) -> Vec<u8> {
    fields(&[(":method", method), (":scheme", "http"), (":authority", "localhost"), (":path", path)])
}

/// Fields as literals without indexing (RFC 7541, 6.2.2).
pub(crate) fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    fields.iter().flat_map(|(name, value)| [&[0], &text(name)[..], &text(value)].concat()).collect()
}

/// A text without Huffman coding: its length with a prefix of 7 bits, then the bytes.
pub(crate) fn text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    if text.len() < 127 {
        bytes.push(u8::try_from(text.len()).unwrap());
    } else {
        bytes.push(127);
        let mut rest = text.len() - 127;
        while rest > 127 {
            bytes.push((rest % 128) as u8 | 128);
            rest /= 128;
        }
        bytes.push(rest as u8);
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().unwrap())
}

/// The status at the beginning of a head whose sender uses no header table.
fn status_of(head: &[u8]) -> u16 {
    // The size update of the table, sent once.
    let head = if head[0] & 0xe0 == 0x20 { &head[1..] } else { head };
    if let indexed @ 0x88..=0x8e = head[0] {
        return [200, 204, 206, 304, 400, 404, 500][usize::from(indexed - 0x88)];
    }
    assert!(matches!(head[0], 0x08 | 0x48 | 0x18), "no status: {head:?}");
    let text = &head[2..2 + usize::from(head[1] & 127)];
    if head[1] & 128 == 0 {
        return std::str::from_utf8(text).unwrap().parse().unwrap();
    }
    // Huffman-coded digits: 0, 1 and 2 have five bits, the others six (RFC 7541, B).
    let bits: String = text.iter().map(|byte| format!("{byte:08b}")).collect();
    let (mut at, mut status) = (0, 0);
    for _ in 0..3 {
        let five = u16::from_str_radix(&bits[at..at + 5], 2).unwrap();
        let (digit, len) =
            if five < 3 { (five, 5) } else { (u16::from_str_radix(&bits[at..at + 6], 2).unwrap() - 0x16, 6) };
        status = status * 10 + digit;
        at += len;
    }
    status
}
