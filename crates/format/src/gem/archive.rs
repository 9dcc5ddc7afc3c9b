//! Reads the tar archive of a gem.
//!
//! If two readers understand an odd archive differently, they see different gems. So of a pushed gem everything that
//! RubyGems does not write is refused: GNU and PAX extensions, links, prefixes, sizes that are not octal, bytes after
//! the end. Of a gem that was published elsewhere, the archive is read as RubyGems installs it: up to the first empty
//! block, whatever its headers say apart from names and sizes. Headers that would rename the next member are refused.

use super::Invalid;
use super::invalid::quoted;
use super::standard::Standard;
use std::io::{self, Read};

const BLOCK: usize = 512;

/// An archive that is read sequentially.
pub(crate) struct Archive<R> {
    reader: R,
    standard: Standard,
    /// Unread bytes of the current member, without padding.
    left: u64,
    /// Padding of the current member's last block.
    padding: usize,
    /// The current position, for messages.
    within: String,
    first: bool,
}

impl<R: Read> Archive<R> {
    pub(crate) fn new(reader: R, standard: Standard) -> Self {
        Self { reader, standard, left: 0, padding: 0, within: String::new(), first: true }
    }

    /// The name and size of the next member; `None` at the end, when every byte of a pushed gem has been read. The
    /// unread rest of the previous member is skipped.
    pub(crate) fn next(&mut self) -> Result<Option<(String, u64)>, Invalid> {
        let mut skipped = [0; 8 * 1024];
        while self.read(&mut skipped)? > 0 {}
        let mut block = [0; BLOCK];
        let padding = std::mem::take(&mut self.padding);
        match self.standard {
            Standard::Push => self.fill(&mut block[..padding])?,
            Standard::Install => drop(self.up_to(&mut block[..padding])?),
        }
        block = [0; BLOCK];
        "a header".clone_into(&mut self.within);
        let first = std::mem::take(&mut self.first);
        match self.up_to(&mut block)? {
            BLOCK => {}
            _ if first => return Err(Invalid::NotAnArchive),
            0 if self.standard.is_install() => return Ok(None),
            _ => return Err(Invalid::Truncated(self.within.clone())),
        }
        if block == [0; BLOCK] {
            return if self.standard.is_install() { Ok(None) } else { self.end().map(|()| None) };
        }
        if first && &block[257..262] != b"ustar" {
            return Err(Invalid::NotAnArchive);
        }
        let (name, size) = match self.standard {
            Standard::Push => header(&block)?,
            Standard::Install => odd_header(&block)?,
        };
        self.left = size;
        self.padding = (BLOCK - (size % BLOCK as u64) as usize) % BLOCK;
        self.within = quoted(&name);
        Ok(Some((name, size)))
    }

    /// The bytes that it is read from.
    pub(crate) fn reader(&self) -> &R {
        &self.reader
    }

    /// Reads from the current member. Returns 0 at its end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Invalid> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = if wanted == 0 { 0 } else { self.some(&mut buffer[..wanted])? };
        if read == 0 && wanted > 0 {
            return Err(Invalid::Truncated(self.within.clone()));
        }
        self.left -= read as u64;
        Ok(read)
    }

    /// A second empty block, and then only zeros: some writers pad the archive to 20 blocks.
    fn end(&mut self) -> Result<(), Invalid> {
        "its end".clone_into(&mut self.within);
        let mut block = [0; BLOCK];
        self.fill(&mut block)?;
        let mut read = BLOCK;
        while read > 0 {
            if block[..read].iter().any(|byte| *byte != 0) {
                return Err(Invalid::TrailingBytes);
            }
            read = self.some(&mut block)?;
        }
        Ok(())
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Invalid> {
        if self.up_to(buffer)? == buffer.len() { Ok(()) } else { Err(Invalid::Truncated(self.within.clone())) }
    }

    /// Fills the buffer, or the part of it for which there are bytes. Returns the length of that part.
    fn up_to(&mut self, buffer: &mut [u8]) -> Result<usize, Invalid> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.some(&mut buffer[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    fn some(&mut self, buffer: &mut [u8]) -> Result<usize, Invalid> {
        loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(Invalid::Unreadable),
            }
        }
    }
}

/// The types of members that say something about the next member (GNU, PAX), and of sparse files.
const EXTENDED: [u8; 5] = *b"xgLKS";

/// The name and size of a member as RubyGems reads them: it does not look at checksums and types
/// (`Gem::Package::TarHeader.from`).
fn odd_header(block: &[u8; BLOCK]) -> Result<(String, u64), Invalid> {
    if EXTENDED.contains(&block[156]) {
        return Err(Invalid::BadHeader("extended headers are not supported"));
    }
    let text =
        |field: &[u8]| String::from_utf8_lossy(field.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
    // A writer of GNU's has other fields in place of the prefix.
    let prefix = if &block[257..263] == b"ustar\0" { text(&block[345..500]) } else { String::new() };
    let name = text(&block[..100]);
    let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
    let size = block[124..136].trim_ascii_start();
    let size = if matches!(size.first(), Some(0) | None) { Some(0) } else { octal(size) };
    Ok((name, size.ok_or(Invalid::BadHeader("a size is not an octal number"))?))
}

/// The name and size of a regular file in plain ustar.
fn header(block: &[u8; BLOCK]) -> Result<(String, u64), Invalid> {
    let sum: u64 =
        block.iter().enumerate().map(|(at, byte)| u64::from(if (148..156).contains(&at) { b' ' } else { *byte })).sum();
    if octal(&block[148..156]) != Some(sum) {
        return Err(Invalid::BadHeader("its checksum is wrong"));
    }
    if &block[257..265] != b"ustar\x0000" {
        return Err(Invalid::BadHeader("it is not a POSIX ustar header"));
    }
    let name = text(&block[..100]).ok_or(Invalid::BadHeader("a name is not plain text"))?;
    match block[156] {
        0 | b'0' => {}
        kind if EXTENDED.contains(&kind) => return Err(Invalid::BadHeader("extended headers are not supported")),
        _ => return Err(Invalid::NotAFile(name)),
    }
    if block[157] != 0 {
        return Err(Invalid::NotAFile(name));
    }
    if block[345] != 0 {
        return Err(Invalid::BadHeader("a name has a prefix"));
    }
    let size = octal(&block[124..136]).ok_or(Invalid::BadHeader("a size is not an octal number"))?;
    Ok((name, size))
}

/// Digits up to the first NUL or space. At most 12 of them fit, so they do not overflow.
fn octal(field: &[u8]) -> Option<u64> {
    let end = field.iter().position(|byte| matches!(byte, 0 | b' ')).unwrap_or(field.len());
    let (digits, rest) = field.split_at(end);
    if digits.is_empty() || rest.iter().any(|byte| !matches!(byte, 0 | b' ')) {
        return None;
    }
    digits.iter().try_fold(0, |number, digit| match digit {
        b'0'..=b'7' => Some(number * 8 + u64::from(digit - b'0')),
        _ => None,
    })
}

/// Printable ASCII up to the first NUL, with only NULs after it.
fn text(field: &[u8]) -> Option<String> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let (text, rest) = field.split_at(end);
    let plain = !text.is_empty() && text.iter().all(u8::is_ascii_graphic) && rest.iter().all(|byte| *byte == 0);
    plain.then(|| text.iter().copied().map(char::from).collect())
}
