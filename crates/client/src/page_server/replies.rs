//! The replies of a server that keeps pages, from any pieces of bytes. A value is bounded before memory is reserved for it.

use super::command::{Dialect, PageProtocol};
use super::line::{self, Figure, Line, Marks};
use bytes::buf::Limit;
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// The longest line of a reply, in bytes.
const LINE_MAX_BYTES: usize = 2048;
/// How much is read at once, in bytes. The rest of a longer value is read into its own memory.
const PIECE_BYTES: usize = 32 << 10;
const BREAK: &[u8] = b"\r\n";
/// The most lines of a reply to `stats`. memcached 1.6.18 has some 90.
const FIGURES_MAX: u32 = 1000;
/// The numbers of processes are below this (proc(5): `pid_max`).
const PROCESSES_MAX: u64 = 1 << 22;

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageReply {
    /// There is no item; a lock is held by another client.
    Missing,
    /// The item is there, with this version.
    Present {
        /// The CAS of memcached.
        version: Option<u64>,
        /// This client is to write it again (`W`).
        won: bool,
        /// It was marked as stale (`X`).
        stale: bool,
    },
    /// An item.
    Item {
        /// Its bytes.
        value: Bytes,
        /// The flags of memcached; 0 in Redis.
        flags: u32,
        /// The CAS of memcached; `None` in Redis.
        version: Option<u64>,
        /// This client is to write it again (`W`).
        won: bool,
        /// It was marked as stale (`X`).
        stale: bool,
    },
    /// An item that is longer than the limit. Its bytes were skipped.
    TooLarge {
        /// Its version, if the server told.
        version: Option<u64>,
    },
    /// The command was carried out.
    Done,
    /// The server refuses the command.
    Refused {
        /// In its words, without control characters.
        why: String,
        /// Whether the connection can no longer be used.
        ends: bool,
    },
}

/// The wanted parts of the next reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageWant {
    /// The most bytes of a value.
    pub limit_bytes: usize,
    /// The bytes of an item with this version are skipped: the reply is [`PageReply::Present`].
    pub known: Option<u64>,
}

/// Reads replies, one after the other.
#[derive(Debug)]
pub struct PageReplies {
    dialect: Dialect,
    buffer: BytesMut,
    state: State,
    /// Counts replies.
    turn: u8,
    /// The figures of a reply to `stats`. `None`: none is expected.
    figures: Option<Figures>,
}

/// The figures that tell one process of a server from another.
#[derive(Debug, Default)]
struct Figures {
    lines: u32,
    process: Option<u64>,
    uptime_s: Option<u64>,
    time_s: Option<u64>,
    is_memcached: bool,
}

impl Figures {
    fn add(&mut self, figure: Figure) -> Result<(), &'static str> {
        self.lines += 1;
        match figure {
            Figure::Process(process) => self.process = Some(process),
            Figure::Uptime(seconds) => self.uptime_s = Some(seconds),
            Figure::Time(seconds) => self.time_s = Some(seconds),
            Figure::Pointers => self.is_memcached = true,
            Figure::Other => {}
        }
        if self.lines > FIGURES_MAX { Err(line::NOT_READ) } else { Ok(()) }
    }

    /// The second of its start is the same whenever a process of memcached is asked: both figures come from one clock.
    fn instance(&self) -> Option<u64> {
        // A proxy such as mcrouter tells its own process, and not that of the server which has an item.
        let started_s = self.time_s.filter(|_| self.is_memcached)?.checked_sub(self.uptime_s?)?;
        started_s.checked_mul(PROCESSES_MAX)?.checked_add(self.process?)
    }
}

#[derive(Debug)]
enum State {
    /// A reply begins.
    Line,
    /// The bytes of a value, and a line break.
    Value { kept: BytesMut, whole: usize, marks: Marks },
    /// So many bytes of a value are skipped, and a line break.
    Skipped { left: usize, reply: PageReply },
    /// The last line of a reply to `gets`.
    End(PageReply),
}

impl PageReplies {
    /// The replies of a server with this protocol. `meta`: to meta commands of memcached.
    pub fn new(protocol: PageProtocol, meta: bool) -> Self {
        Self::of(match protocol {
            PageProtocol::Memcached if meta => Dialect::Meta,
            PageProtocol::Memcached => Dialect::Gets,
            PageProtocol::Redis { .. } => Dialect::Resp,
        })
    }

    pub(super) fn of(dialect: Dialect) -> Self {
        Self { dialect, buffer: BytesMut::new(), state: State::Line, turn: 0, figures: None }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The next reply is one to `stats`, which ends as a read that found nothing.
    pub(super) fn expect_figures(&mut self) {
        self.figures = Some(Figures::default());
    }

    /// The process of the server, if its figures told.
    pub(super) fn instance(&mut self) -> Option<u64> {
        self.figures.take()?.instance()
    }

    /// Where the next bytes of the server go. It has room for at least one.
    pub fn room(&mut self) -> Limit<&mut BytesMut> {
        match &mut self.state {
            // With its line break, so that a long value and its end need no further read.
            State::Value { kept, whole, .. } if self.buffer.is_empty() => {
                let left = *whole - kept.len();
                kept.limit(left)
            }
            _ => {
                if self.buffer.capacity() - self.buffer.len() < PIECE_BYTES / 2 {
                    self.buffer.reserve(PIECE_BYTES);
                }
                let room = self.buffer.capacity() - self.buffer.len();
                (&mut self.buffer).limit(room)
            }
        }
    }

    /// The next reply; `None`: more bytes are needed. After an error nothing more can be read.
    pub fn next(&mut self, want: PageWant) -> Result<Option<PageReply>, &'static str> {
        loop {
            let reply = match &mut self.state {
                State::Line => match self.line()? {
                    Some(line) => self.begin(line, want)?,
                    None => return Ok(None),
                },
                State::Value { .. } => self.value()?,
                State::Skipped { left, .. } => {
                    let piece = left.saturating_sub(BREAK.len()).min(self.buffer.len());
                    self.buffer.advance(piece);
                    *left -= piece;
                    if *left > BREAK.len() || self.buffer.len() < BREAK.len() {
                        return Ok(None);
                    }
                    let ends = self.buffer.starts_with(BREAK);
                    self.buffer.advance(BREAK.len());
                    match std::mem::replace(&mut self.state, State::Line) {
                        State::Skipped { reply, .. } if ends => self.after_value(reply),
                        _ => return Err(line::NOT_READ),
                    }
                }
                State::End(_) => match self.line()? {
                    Some(Line::Missing) => match std::mem::replace(&mut self.state, State::Line) {
                        State::End(reply) => Some(reply),
                        _ => return Err(line::NOT_READ),
                    },
                    Some(_) => return Err(line::NOT_READ),
                    None => return Ok(None),
                },
            };
            if reply.is_some() {
                return Ok(reply);
            }
            if let State::Value { kept, whole, .. } = &self.state
                && self.buffer.is_empty()
                && kept.len() < *whole
            {
                return Ok(None);
            }
        }
    }

    /// The next line, if all of it is there.
    fn line(&mut self) -> Result<Option<Line>, &'static str> {
        let within = &self.buffer[..self.buffer.len().min(LINE_MAX_BYTES)];
        let Some(end) = within.iter().position(|byte| *byte == b'\n') else {
            let is_long = self.buffer.len() >= LINE_MAX_BYTES;
            return if is_long { Err("it has a line of more than 2048 bytes") } else { Ok(None) };
        };
        let line = self.buffer[..end].strip_suffix(b"\r").ok_or(line::NOT_READ)?;
        let read = line::read(line, self.dialect, self.turn)?;
        self.buffer.advance(end + 1);
        if matches!(self.state, State::Line) {
            self.turn = (self.turn + 1) % 26;
        }
        Ok(Some(read))
    }

    /// A reply begins with a line. `None`: more of it follows.
    fn begin(&mut self, line: Line, want: PageWant) -> Result<Option<PageReply>, &'static str> {
        let (len, marks) = match line {
            Line::Missing => return Ok(Some(PageReply::Missing)),
            Line::Present(Marks { version, won, stale, .. }) => {
                return Ok(Some(PageReply::Present { version, won, stale }));
            }
            Line::Done => return Ok(Some(PageReply::Done)),
            Line::Refused { why, ends } => return Ok(Some(PageReply::Refused { why, ends })),
            Line::Figure(figure) => {
                self.figures.as_mut().ok_or(line::NOT_READ)?.add(figure)?;
                return Ok(None);
            }
            Line::Value { len, marks } => (len, marks),
        };
        let Marks { version, won, stale, .. } = marks;
        let whole = len.saturating_add(BREAK.len());
        self.state = if version.is_some() && version == want.known {
            State::Skipped { left: whole, reply: PageReply::Present { version, won, stale } }
        } else if len > want.limit_bytes {
            State::Skipped { left: whole, reply: PageReply::TooLarge { version: marks.version } }
        } else {
            State::Value { kept: BytesMut::with_capacity(whole), whole, marks }
        };
        Ok(None)
    }

    /// Takes bytes of a value. `None`: more of it follows.
    fn value(&mut self) -> Result<Option<PageReply>, &'static str> {
        let State::Value { kept, whole, marks } = &mut self.state else { return Ok(None) };
        let piece = (*whole - kept.len()).min(self.buffer.len());
        kept.extend_from_slice(&self.buffer[..piece]);
        self.buffer.advance(piece);
        if kept.len() < *whole {
            return Ok(None);
        }
        if !kept.ends_with(BREAK) {
            return Err("a value is longer than it was announced");
        }
        kept.truncate(*whole - BREAK.len());
        let Marks { flags, version, won, stale } = *marks;
        let value = std::mem::take(kept).freeze();
        self.state = State::Line;
        Ok(self.after_value(PageReply::Item { value, flags, version, won, stale }))
    }

    /// After its value a reply to `gets` has one more line.
    fn after_value(&mut self, reply: PageReply) -> Option<PageReply> {
        if self.dialect != Dialect::Gets {
            return Some(reply);
        }
        self.state = State::End(reply);
        None
    }
}

#[cfg(test)]
mod tests;
