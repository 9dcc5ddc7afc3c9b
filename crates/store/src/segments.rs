//! The journal as files that can be copied anywhere: each holds rows `first` to `last`, one JSON line each, and its
//! name says which, and the start of its hash.

use crate::disk::Disk;
use crate::layout::Layout;
use crate::space::Space;
use crate::{Error, JournalRow, Seq, Sqlite};
use sha2::{Digest as _, Sha256};
use std::io::Read;

/// Most bytes in a segment, unless one row alone has more.
const SEGMENT_BYTES: usize = 8 << 20;
/// The name of a segment that is being written. A killed process leaves it; the next one writes over it.
pub(crate) const ARRIVING: &str = "arriving";
/// Most rows in a segment.
const SEGMENT_ROWS: usize = 4096;

const OTHER_HASH: &str = "its bytes do not have the hash that its name says";

/// What the name of a segment says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    hash: String,
}

impl Segment {
    fn of(rows: &[(Seq, String)], bytes: &[u8]) -> Option<Self> {
        Some(Self { first: rows.first()?.0, last: rows.last()?.0, hash: hash(bytes) })
    }

    pub(crate) fn name(&self) -> String {
        format!("{:020}-{:020}-{}.jsonl", self.first.0, self.last.0, self.hash)
    }

    /// `None`: the file is not a segment.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(".jsonl")?.splitn(3, '-');
        let mut number = || parts.next()?.parse().ok().map(Seq);
        let segment = Self { first: number()?, last: number()?, hash: parts.next()?.to_owned() };
        (segment.name() == name && segment.first <= segment.last).then_some(segment)
    }

    /// The text of the segment, which is what its name says.
    pub(crate) fn read(&self, disk: &dyn Disk, layout: &Layout) -> Result<String, Error> {
        let path = layout.segments().join(self.name());
        let mut text = Vec::new();
        disk.open(&path).and_then(|mut file| file.read_to_end(&mut text)).map_err(Error::io("read", &path))?;
        if hash(&text) != self.hash {
            return Err(self.damaged(OTHER_HASH));
        }
        String::from_utf8(text).map_err(|_| self.damaged("it is not UTF-8"))
    }

    /// The rows in the text, without a gap from first to last.
    pub(crate) fn rows(&self, text: &str) -> Result<Vec<JournalRow>, Error> {
        let mut last = Seq(self.first.0.saturating_sub(1));
        let mut rows = Vec::new();
        for line in text.lines() {
            let row: JournalRow = serde_json::from_str(line).map_err(Error::row(Seq(last.0 + 1)))?;
            row.follows(last)?;
            last = row.seq;
            rows.push(row);
        }
        if last != self.last {
            return Err(self.damaged("it ends before the row that its name says"));
        }
        Ok(rows)
    }

    fn damaged(&self, why: &str) -> Error {
        Error::Segment { name: self.name(), why: why.to_owned() }
    }
}

/// The rows of a segment that was copied somewhere. `None`: the name is not a segment's.
pub fn segment(name: &str, text: &str) -> Option<Result<Vec<JournalRow>, Error>> {
    let segment = Segment::parse(name)?;
    let whole = hash(text.as_bytes()) == segment.hash;
    Some(if whole { segment.rows(text) } else { Err(segment.damaged(OTHER_HASH)) })
}

fn hash(bytes: &[u8]) -> String {
    crate::blobs::hex(&Sha256::digest(bytes)[..8])
}

/// All segments in the order of their rows.
pub(crate) fn list(disk: &dyn Disk, layout: &Layout) -> Result<Vec<Segment>, Error> {
    let folder = layout.segments();
    let names = disk.list(&folder).map_err(Error::io("list", &folder))?;
    let mut segments: Vec<_> = names.iter().filter_map(|name| Segment::parse(name)).collect();
    segments.sort();
    Ok(segments)
}

/// The last row that any of them holds.
pub(crate) fn reached(segments: &[Segment]) -> Seq {
    segments.iter().map(|segment| segment.last).max().unwrap_or_default()
}

/// What lies between the segments: (last row before it, last row of it) each.
pub(crate) fn holes(segments: &[Segment]) -> Vec<(Seq, Seq)> {
    let mut reached = Seq(0);
    let mut holes = Vec::new();
    for segment in segments {
        if segment.first.0 > reached.0 + 1 {
            holes.push((reached, Seq(segment.first.0 - 1)));
        }
        reached = reached.max(segment.last);
    }
    holes
}

/// Copies the next rows after `after`, none beyond `until`, into one segment; what was reached and its bytes.
/// `None`: there are none.
pub(crate) fn ship(
    truth: &Sqlite,
    space: &Space,
    layout: &Layout,
    after: Seq,
    until: Seq,
) -> Result<Option<(Seq, u64)>, Error> {
    let most = until.0.saturating_sub(after.0).min(SEGMENT_ROWS as u64) as usize;
    let rows = truth.journal_text(after, most, SEGMENT_BYTES)?;
    let mut text = String::new();
    for ((seq, row), before) in rows.iter().zip(after.0..) {
        if seq.0 != before + 1 {
            return Err(Error::Gap { after: Seq(before), found: *seq });
        }
        text.push_str(row);
        text.push('\n');
    }
    let Some(segment) = Segment::of(&rows, text.as_bytes()) else { return Ok(None) };
    let folder = layout.segments();
    space.put(&folder.join(ARRIVING), &folder.join(segment.name()), text.as_bytes())?;
    Ok(Some((segment.last, text.len() as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: u64, last: u64) -> Segment {
        Segment { first: Seq(first), last: Seq(last), hash: "0123456789abcdef".into() }
    }

    #[test]
    fn a_name_says_what_is_in_it_and_nothing_else_is_a_segment() {
        let name = segment(1, 20).name();
        assert_eq!(name, "00000000000000000001-00000000000000000020-0123456789abcdef.jsonl");
        assert_eq!(Segment::parse(&name), Some(segment(1, 20)));
        for other in [ARRIVING, "1-20-0123456789abcdef.jsonl", &segment(3, 2).name(), &name[..40]] {
            assert_eq!(Segment::parse(other), None, "{other}");
        }
    }

    #[test]
    fn holes_are_what_no_segment_covers() {
        assert_eq!(holes(&[segment(1, 3), segment(4, 9)]), []);
        assert_eq!(holes(&[segment(3, 5), segment(5, 6), segment(9, 9)]), [(Seq(0), Seq(2)), (Seq(6), Seq(8))]);
    }
}
