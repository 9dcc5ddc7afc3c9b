//! A look at an upstream's `/versions`: one poll that finds out whether the file is unchanged, continued or another
//! one. The response is verified while it arrives.
//!
//! A look requests `Range: bytes=<length-1>-` with `If-None-Match`. The response is appended to the known bytes only if
//! the whole file then has the digests in the headers. If not ([`Refusal::Tail`]), a request for the last 256 KiB and
//! the bytes after them may show that only these changed ([`Kept::overlap`]). The last resort is one request without
//! conditions.

use super::digests::{Digests, Verified};
use super::kept::Kept;
use super::refusal::{Refusal, Tail};
use super::response::Response;
use super::{HEADER_BYTES, VERSIONS_BYTES};

/// An HTML page has `<` within this many bytes.
const PAGE_BYTES: usize = 1 << 10;
/// The end of the header.
const LINE: &[u8] = b"\n---\n";

/// The start of a response.
#[derive(Debug)]
pub enum Begun {
    /// 304.
    Unchanged,
    /// A body, to be read.
    Body(Box<Look>),
}

/// The difference between the file and the known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is unchanged.
    Unchanged,
    /// It continues at this byte.
    Appended {
        /// The previous length.
        from: u64,
    },
    /// Its end changed, from this byte on, where a line starts.
    Spliced {
        /// The offset.
        from: u64,
    },
    /// It is another file.
    Replaced,
}

/// The result of a look.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The new state of the file.
    pub kept: Kept,
    /// The difference.
    pub outcome: Outcome,
    /// The digest that verified it.
    pub verified: Verified,
}

/// A body that is being received.
#[derive(Debug)]
pub struct Look {
    /// The known part of the file.
    file: Kept,
    announced: Digests,
    part: Part,
}

#[derive(Debug)]
enum Part {
    /// The body continues the known file, which has this length. `left` is the number of bytes that are still to come;
    /// `overlap`: the byte that both have is among them.
    Tail {
        before: u64,
        left: u64,
        overlap: bool,
    },
    /// The body replaces the last known lines. `left` is the number of bytes that are still to come.
    Splice {
        from: u64,
        left: u64,
    },
    Whole(Box<Whole>),
}

/// A whole file, compared with the known one.
#[derive(Debug)]
struct Whole {
    kept: Option<Kept>,
    /// Whether it starts with the known bytes. Set once that many bytes were received.
    continues: bool,
    /// Its beginning, until the line `---` was found.
    header: Option<Vec<u8>>,
}

impl Look {
    /// Reads the head of a response. `opaque_etags`: the ETags of this upstream are known not to be MD5s.
    pub fn begin(kept: Option<&Kept>, response: &Response<'_>, opaque_etags: bool) -> Result<Begun, Refusal> {
        let announced = Digests::announced(response, opaque_etags);
        let look = match response.status {
            304 if kept.is_some() => return Ok(Begun::Unchanged),
            304 => return Err(Tail::NothingKept.into()),
            416 => return Err(Tail::NotSatisfiable.into()),
            206 => {
                let kept = kept.filter(|kept| !kept.is_empty()).ok_or(Tail::NothingKept)?;
                if response.encoded {
                    return Err(Tail::Encoded.into());
                }
                let (first, left) = response.content_range.and_then(part).ok_or(Tail::Range)?;
                if !announced.any() {
                    return Err(Tail::NoDigest.into());
                }
                let before = kept.len();
                let (file, part) = match first {
                    _ if first + 1 == before => (kept.clone(), Part::Tail { before, left, overlap: true }),
                    _ if kept.overlap() == Some(first) => (kept.before_overlap(), Part::Splice { from: first, left }),
                    _ => return Err(Tail::Range.into()),
                };
                Self { file, announced, part }
            }
            200 => {
                let whole = Whole { kept: kept.cloned(), continues: false, header: Some(Vec::new()) };
                let file = kept.map(Kept::emptied).unwrap_or_default();
                Self { file, announced, part: Part::Whole(Box::new(whole)) }
            }
            other => return Err(Refusal::Status(other)),
        };
        Ok(Begun::Body(Box::new(look)))
    }

    /// Whether the body is the whole file. Otherwise it continues the known part, or replaces its last lines.
    pub fn is_whole(&self) -> bool {
        matches!(self.part, Part::Whole(_))
    }

    /// The digests of the whole file in the response's head: its MD5 in hexadecimal, and its SHA-256.
    pub fn promised(&self) -> (Option<String>, Option<[u8; 32]>) {
        self.announced.promised()
    }

    /// Adds the next bytes of the body, and returns the bytes that extend the file.
    pub fn add<'a>(&mut self, mut bytes: &'a [u8]) -> Result<&'a [u8], Refusal> {
        if self.file.len() + bytes.len() as u64 > VERSIONS_BYTES {
            return Err(Refusal::TooLarge(VERSIONS_BYTES));
        }
        match &mut self.part {
            Part::Tail { left, overlap, .. } => {
                *left = left.checked_sub(bytes.len() as u64).ok_or(Tail::Length)?;
                if let (true, Some((first, rest))) = (*overlap, bytes.split_first()) {
                    if Some(*first) != self.file.last() {
                        return Err(Tail::Overlap.into());
                    }
                    (*overlap, bytes) = (false, rest);
                }
                self.file.add(bytes);
            }
            Part::Splice { left, .. } => {
                *left = left.checked_sub(bytes.len() as u64).ok_or(Tail::Length)?;
                self.file.add(bytes);
            }
            Part::Whole(whole) => whole.add(&mut self.file, bytes)?,
        }
        Ok(bytes)
    }

    /// Verifies the file.
    pub fn end(self) -> Result<Seen, Refusal> {
        let Self { file, announced, part } = self;
        let outcome = match part {
            Part::Tail { left: 1.., .. } | Part::Splice { left: 1.., .. } => return Err(Tail::Length.into()),
            Part::Tail { .. } | Part::Splice { .. } if announced.verify(&file).is_err() => {
                return Err(Tail::Digest.into());
            }
            Part::Tail { .. } | Part::Splice { .. } if file.last() != Some(b'\n') => {
                return Err(Tail::CutInLine.into());
            }
            Part::Tail { before, .. } if file.len() == before => Outcome::Unchanged,
            Part::Tail { before, .. } => Outcome::Appended { from: before },
            Part::Splice { from, .. } => Outcome::Spliced { from },
            Part::Whole(whole) => {
                if whole.header.is_some() {
                    return Err(Refusal::NoHeader);
                }
                if file.last() != Some(b'\n') {
                    return Err(Refusal::CutInLine);
                }
                match whole.kept {
                    Some(kept) if whole.continues && kept.len() == file.len() => Outcome::Unchanged,
                    Some(kept) if whole.continues => Outcome::Appended { from: kept.len() },
                    _ => Outcome::Replaced,
                }
            }
        };
        let verified = announced.verify(&file)?;
        Ok(Seen { kept: file, outcome, verified })
    }
}

impl Whole {
    fn add(&mut self, file: &mut Kept, bytes: &[u8]) -> Result<(), Refusal> {
        if let Some(header) = &mut self.header {
            let before = header.len();
            let room = HEADER_BYTES.saturating_sub(before);
            header.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if before < PAGE_BYTES
                && header[..before].trim_ascii().is_empty()
                && header.trim_ascii_start().starts_with(b"<")
            {
                return Err(Refusal::Html);
            }
            // Each byte is read only a few times, however small the pieces are.
            let unseen = &header[before.saturating_sub(LINE.len())..];
            if header.starts_with(&LINE[1..]) || unseen.windows(LINE.len()).any(|line| line == LINE) {
                self.header = None;
            } else if header.len() >= HEADER_BYTES {
                return Err(Refusal::NoHeader);
            }
        }
        let Some(kept) = &self.kept else {
            file.add(bytes);
            return Ok(());
        };
        // The known length may be reached within these bytes.
        let until = kept.len().saturating_sub(file.len()).min(bytes.len() as u64);
        let (before, behind) = bytes.split_at(usize::try_from(until).unwrap_or(bytes.len()));
        file.add(before);
        if !before.is_empty() && file.len() == kept.len() {
            self.continues = file.sha256() == kept.sha256();
        }
        file.add(behind);
        Ok(())
    }
}

/// The offset and the length of a part that ends where the file ends: `bytes 41-99/100`.
fn part(content_range: &str) -> Option<(u64, u64)> {
    let (range, total) = content_range.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let end = last.checked_add(1)?;
    let ends = total.trim() == "*" || total.trim().parse() == Ok(end);
    (last >= first && ends).then(|| (first, end - first))
}
