//! Segments: the journal as files that can be copied anywhere. Each has rows from `first` to `last`, one JSON line each. Its name has
//! both numbers and the start of its hash. New ones are text; `merge` makes large compressed ones of them.

mod merge;

use crate::blobs::digest::hex;
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::truth::catalog::{Catalog, JournalRow};
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};
use std::cmp::Reverse;
use std::io::Read;

pub(crate) use merge::{merge, weight};

/// The most bytes in a segment, unless a single row has more.
const SEGMENT_BYTES: usize = 8 << 20;
/// The most rows in a segment.
pub(crate) const SEGMENT_ROWS: usize = 4096;
/// The digits of a number in a name.
const NUMBER_DIGITS: usize = 20;
/// The name of a segment while it is written. A killed process leaves it behind, and the next one overwrites it.
pub(crate) const TEMPORARY: &str = "arriving";

const OTHER_HASH: &str = "its bytes do not have the hash in its name";
/// The most bytes of a segment, and of text in a compressed one. It is far more than any segment has, and limits decompression.
pub(crate) const TEXT_BYTES: u64 = 1 << 30;

/// The encoding of a segment, which is the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// Compressed with gzip. The hash is that of the compressed bytes. It is the first variant, so that it is sorted before the
    /// same rows as text.
    Gzip,
    Text,
}

impl Form {
    fn ending(self) -> &'static str {
        match self {
            Form::Gzip => ".jsonl.gz",
            Form::Text => ".jsonl",
        }
    }
}

/// The parts of a segment's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    form: Form,
    hash: String,
}

impl Segment {
    /// The segment of these rows, whose text has these bytes. `None`: there are no rows.
    pub(crate) fn of(rows: &[(Seq, String)], bytes: &[u8]) -> Option<Self> {
        Some(Self { first: rows.first()?.0, last: rows.last()?.0, form: Form::Text, hash: hash(bytes) })
    }

    pub(crate) fn name(&self) -> String {
        format!("{:0NUMBER_DIGITS$}-{:0NUMBER_DIGITS$}-{}{}", self.first.0, self.last.0, self.hash, self.form.ending())
    }

    /// `None`: this is not the name of a segment.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let form = if name.ends_with(Form::Gzip.ending()) { Form::Gzip } else { Form::Text };
        let mut parts = name.strip_suffix(form.ending())?.splitn(3, '-');
        let mut number = || {
            let digits = parts.next()?;
            let is_name = digits.len() == NUMBER_DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
            is_name.then(|| digits.parse().ok().map(Seq)).flatten()
        };
        let segment = Self { first: number()?, last: number()?, form, hash: parts.next()?.to_owned() };
        (Seq(0) < segment.first && segment.first <= segment.last && segment.last < Seq(u64::MAX)).then_some(segment)
    }

    /// Reads the text of the segment, and checks its hash.
    pub(crate) fn read(&self, disk: &dyn Disk, layout: &Layout) -> Result<String> {
        self.text(self.bytes(disk, layout)?)
    }

    /// Reads the bytes of the segment, and checks their hash.
    pub(crate) fn bytes(&self, disk: &dyn Disk, layout: &Layout) -> Result<Vec<u8>> {
        let path = layout.segments().join(self.name());
        let mut bytes = Vec::new();
        let read = disk.open(&path).and_then(|file| file.take(TEXT_BYTES).read_to_end(&mut bytes));
        read.map_err(Error::io("read", &path))?;
        self.check(&bytes).map(|()| bytes)
    }

    /// The text of a copy of the segment with these bytes, whose hash is checked.
    pub(crate) fn text_of(&self, bytes: Vec<u8>) -> Result<String> {
        self.check(&bytes)?;
        self.text(bytes)
    }

    /// The number of its rows.
    pub(crate) fn rows_count(&self) -> usize {
        (self.last.0 - self.first.0 + 1) as usize
    }

    /// Whether it was made of small ones.
    pub(crate) fn is_merged(&self) -> bool {
        self.form == Form::Gzip
    }

    /// Whether it was made of small ones and has all rows of another.
    pub(crate) fn has_merged(&self, other: &Self) -> bool {
        self.is_merged() && self.first <= other.first && self.last >= other.last
    }

    /// Whether others have all of its rows: merged ones, if it is merged, so that small ones can go in the end.
    pub(crate) fn is_covered_by(&self, others: &[Self]) -> bool {
        let mut others: Vec<Self> =
            others.iter().filter(|other| other.is_merged() || !self.is_merged()).cloned().collect();
        others.sort();
        let lacks = |gap: &Gap| gap.after < self.last && gap.last >= self.first;
        last_row(&others) >= self.last && !gaps(&others).iter().any(lacks)
    }

    fn check(&self, bytes: &[u8]) -> Result<()> {
        if hash(bytes) == self.hash { Ok(()) } else { Err(self.damaged(OTHER_HASH)) }
    }

    /// The text of the segment, from its bytes.
    fn text(&self, bytes: Vec<u8>) -> Result<String> {
        let Form::Gzip = self.form else {
            return String::from_utf8(bytes).map_err(|_| self.damaged("it is not UTF-8"));
        };
        let mut text = String::new();
        let read = GzDecoder::new(&*bytes).take(TEXT_BYTES).read_to_string(&mut text);
        read.map(|_| text).map_err(|_| self.damaged("it cannot be decompressed"))
    }

    /// The rows in the text. They run from first to last without a gap.
    pub(crate) fn rows(&self, text: &str) -> Result<Vec<JournalRow>> {
        let mut last = Seq(self.first.0.saturating_sub(1));
        let mut rows = Vec::new();
        for line in text.lines() {
            let row: JournalRow = serde_json::from_str(line).map_err(Error::row(Seq(last.0 + 1)))?;
            row.follows(last)?;
            last = row.seq;
            rows.push(row);
        }
        if last != self.last {
            return Err(self.damaged("it ends before the last row in its name"));
        }
        Ok(rows)
    }

    fn damaged(&self, why: &str) -> Error {
        Error::Segment { name: self.name(), why: why.to_owned() }
    }
}

/// The rows of a copied segment. `None`: this is not the name of a segment.
pub fn segment(name: &str, bytes: &[u8]) -> Option<Result<Vec<JournalRow>>> {
    let segment = Segment::parse(name)?;
    Some(segment.text_of(bytes.to_owned()).and_then(|text| segment.rows(&text)))
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

/// All segments, ordered by their rows, without those whose rows are all in others.
pub(crate) fn list(disk: &dyn Disk, layout: &Layout) -> Result<Vec<Segment>> {
    Ok(all(disk, layout)?.0)
}

/// All segments, and separately those whose rows are all in others: a merge made the larger one, or the folder is a copy of both.
fn all(disk: &dyn Disk, layout: &Layout) -> Result<(Vec<Segment>, Vec<Segment>)> {
    let folder = layout.segments();
    let names = disk.list(&folder).map_err(Error::io("list", &folder))?;
    let mut segments: Vec<_> = names.iter().filter_map(|name| Segment::parse(name)).collect();
    segments.sort_by_key(|segment| (segment.first, Reverse(segment.last), segment.form));
    let mut reached = Seq(0);
    let adds = |segment: &Segment| {
        let before = reached;
        reached = reached.max(segment.last);
        segment.last > before
    };
    Ok(segments.into_iter().partition(adds))
}

/// The last row of all segments.
pub(crate) fn last_row(segments: &[Segment]) -> Seq {
    segments.iter().map(|segment| segment.last).max().unwrap_or_default()
}

/// Rows between segments that no segment has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The last row before the gap.
    pub(crate) after: Seq,
    /// The last row of the gap.
    pub(crate) last: Seq,
}

/// The gaps between segments, in the order of their rows.
pub(crate) fn gaps(segments: &[Segment]) -> Vec<Gap> {
    let mut reached = Seq(0);
    let mut gaps = Vec::new();
    for segment in segments {
        if segment.first.0 > reached.0 + 1 {
            gaps.push(Gap { after: reached, last: Seq(segment.first.0 - 1) });
        }
        reached = reached.max(segment.last);
    }
    gaps
}

/// A segment that was written.
pub(crate) struct Shipped {
    /// Its last row.
    pub(crate) last: Seq,
    pub(crate) size_bytes: u64,
    /// Its weight for a merge.
    pub(crate) weight: usize,
}

/// Copies the next rows after `after`, up to `until`, into one segment. `None`: there are none.
pub(crate) fn ship(
    truth: &mut dyn Catalog,
    space: &Space,
    layout: &Layout,
    after: Seq,
    until: Seq,
) -> Result<Option<Shipped>> {
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
    space.put(&folder.join(TEMPORARY), &folder.join(segment.name()), text.as_bytes())?;
    Ok(Some(Shipped { last: segment.last, size_bytes: text.len() as u64, weight: weight(&segment) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: u64, last: u64) -> Segment {
        Segment { first: Seq(first), last: Seq(last), form: Form::Text, hash: "0123456789abcdef".into() }
    }

    #[test]
    fn a_name_has_the_rows_and_the_hash_and_no_other_name_is_a_segment() {
        let name = segment(1, 20).name();
        assert_eq!(name, "00000000000000000001-00000000000000000020-0123456789abcdef.jsonl");
        assert_eq!(Segment::parse(&name), Some(segment(1, 20)));
        let compressed = Segment { form: Form::Gzip, ..segment(1, 20) };
        assert_eq!(Segment::parse(&format!("{name}.gz")), Some(compressed));
        for other in [TEMPORARY, "1-20-0123456789abcdef.jsonl", &segment(3, 2).name(), &name[..40]] {
            assert_eq!(Segment::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_rows_of_a_segment_may_be_in_others_that_are_cut_elsewhere() {
        let merged = |first, last| Segment { form: Form::Gzip, ..segment(first, last) };
        let others = [segment(7, 12), merged(1, 4), segment(4, 6)];
        for (one, is_covered) in [
            (segment(3, 9), true),
            (segment(12, 12), true),
            (segment(12, 13), false),
            (merged(2, 4), true),
            (merged(3, 9), false),
            (segment(1, 1), true),
        ] {
            assert_eq!(one.is_covered_by(&others), is_covered, "{}", one.name());
        }
        assert!(!segment(5, 7).is_covered_by(&[segment(1, 5), segment(7, 9)]) && !segment(1, 1).is_covered_by(&[]));
    }

    #[test]
    fn gaps_are_the_rows_that_no_segment_has() {
        let gap = |after, last| Gap { after: Seq(after), last: Seq(last) };
        assert_eq!(gaps(&[segment(1, 3), segment(4, 9)]), []);
        assert_eq!(gaps(&[segment(3, 5), segment(5, 6), segment(9, 9)]), [gap(0, 2), gap(6, 8)]);
    }
}
