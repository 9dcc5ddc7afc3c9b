//! Checks the line ends of heads. RFC 9112 (2.2) lets a server accept a lone LF as the end of a line, and hyper does. A
//! proxy in front may reject it, and then reads one long line where this server reads two: a smuggled header. So a lone
//! LF in a head is replaced by a NUL, which hyper refuses. Bodies stay unchanged; their length is read as hyper reads
//! it.

/// The most bytes of a line that are kept. A longer line that declares the length of a body is invalidated.
const LINE: usize = 256;

/// The position in the stream of messages on a connection.
#[derive(Debug, Default)]
pub(crate) struct LineEnds {
    position: Position,
    /// The last byte was a CR.
    after_cr: bool,
    /// The part of a line that has arrived, if its end has not.
    line: Vec<u8>,
    /// A part of the head has arrived.
    begun: bool,
    body: Framing,
    replaced: bool,
}

/// The part of a message that the next bytes belong to.
#[derive(Debug, Default, Clone, Copy)]
enum Position {
    #[default]
    Head,
    /// The remaining bytes of a body.
    Body(u64),
    /// The line with the size of a chunk.
    Size,
    /// The remaining bytes of a chunk, including its line end.
    Chunk(u64),
    /// Headers after the last chunk.
    Trailer,
    /// Bytes that hyper refuses, so nothing after them is read.
    Refused,
}

/// The kind of body after the head, as far as it is known.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Framing {
    #[default]
    None,
    Sized(u64),
    Chunked,
    Refused,
}

/// Whether a line of these bytes, which begin with a head, ends with a lone LF. The loop looks at every pair of
/// bytes, so the compiler can check sixteen at a time.
pub(crate) fn has_lone_lf(bytes: &[u8]) -> bool {
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    let found = pairs.fold(false, |found, (before, at)| found | ((*at == b'\n') & (*before != b'\r')));
    found || bytes.first() == Some(&b'\n')
}

impl LineEnds {
    /// Replaces the lone LFs in the heads of these bytes. They directly follow the bytes of the last call.
    pub(crate) fn check(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let taken = match self.position {
                Position::Head | Position::Trailer | Position::Size => self.line(bytes),
                Position::Body(left) | Position::Chunk(left) => self.pass(left, bytes.len()),
                Position::Refused => return,
            };
            bytes = &mut bytes[taken..];
        }
    }

    /// Whether the bytes so far do not end within a body. An end within a head, or before one, is the beginning of a
    /// message.
    pub(crate) fn whole(&self) -> bool {
        matches!(self.position, Position::Head)
    }

    /// Whether a byte was replaced.
    pub(crate) fn has_replaced(&self) -> bool {
        self.replaced
    }

    /// Skips the remaining bytes of a body or a chunk.
    fn pass(&mut self, left: u64, there: usize) -> usize {
        let taken = usize::try_from(left).map_or(there, |left| left.min(there));
        let left = left - taken as u64;
        self.position = match self.position {
            Position::Chunk(_) if left > 0 => Position::Chunk(left),
            Position::Chunk(_) => Position::Size,
            _ if left > 0 => Position::Body(left),
            _ => Position::Head,
        };
        taken
    }

    /// Reads to the end of a line, or as far as it has arrived.
    fn line(&mut self, bytes: &mut [u8]) -> usize {
        let lf = bytes.iter().position(|byte| *byte == b'\n');
        let end = lf.unwrap_or(bytes.len());
        let after_cr = end.checked_sub(1).map_or(self.after_cr, |last| bytes[last] == b'\r');
        self.after_cr = lf.is_none() && after_cr;
        if lf.is_some() && after_cr {
            let told = if self.line.is_empty() {
                self.ended(bytes[..end].strip_suffix(b"\r").unwrap_or_default())
            } else {
                self.keep(&bytes[..end]);
                let line = std::mem::take(&mut self.line);
                self.ended(line.strip_suffix(b"\r").unwrap_or(&line))
            };
            if told.is_none() {
                self.replaced = true;
                bytes[end] = 0;
            }
            return end + 1;
        }
        let Some(lf) = lf else {
            self.keep(bytes);
            return bytes.len();
        };
        if matches!(self.position, Position::Size) {
            self.position = Position::Refused;
        } else {
            self.replaced = true;
            bytes[lf] = 0;
            self.keep(&bytes[..=lf]);
        }
        lf + 1
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = (LINE + 1).saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Handles a complete line. `None`: it declares the length of a body and is too long.
    fn ended(&mut self, line: &[u8]) -> Option<()> {
        self.position = match self.position {
            // Empty lines before a head are ignored.
            Position::Head if line.is_empty() && !self.begun => Position::Head,
            Position::Head if line.is_empty() => {
                self.begun = false;
                match std::mem::take(&mut self.body) {
                    Framing::None | Framing::Sized(0) => Position::Head,
                    Framing::Sized(len) => Position::Body(len),
                    Framing::Chunked => Position::Size,
                    Framing::Refused => Position::Refused,
                }
            }
            Position::Head => {
                if self.begun {
                    self.body = self.body.and(line)?;
                }
                self.begun = true;
                Position::Head
            }
            Position::Size if line.len() > LINE => return None,
            Position::Size => match size(line) {
                Some(0) => Position::Trailer,
                Some(len) => Position::Chunk(len + 2),
                None => Position::Refused,
            },
            Position::Trailer if line.is_empty() => Position::Head,
            position => position,
        };
        Some(())
    }
}

impl Framing {
    /// The framing with this header line added.
    fn and(self, line: &[u8]) -> Option<Self> {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return Some(self) };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let said = if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if value.eq_ignore_ascii_case(b"chunked") { Framing::Chunked } else { Framing::Refused }
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let len = std::str::from_utf8(value).ok().filter(|len| len.bytes().all(|byte| byte.is_ascii_digit()));
            len.and_then(|len| len.parse().ok()).map_or(Framing::Refused, Framing::Sized)
        } else {
            return Some(self);
        };
        if line.len() > LINE {
            return None;
        }
        Some(match (self, said) {
            (Framing::None, said) => said,
            (Framing::Sized(one), Framing::Sized(other)) if one == other => self,
            // Two codings are refused. hyper reads nothing after a body with both a coding and a length.
            _ => Framing::Refused,
        })
    }
}

/// The size of a chunk (RFC 9112, 7.1).
fn size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    u64::from_str_radix(std::str::from_utf8(&line[..end]).ok()?, 16).ok().filter(|len| *len < u64::MAX / 2)
}

#[cfg(test)]
mod tests;
