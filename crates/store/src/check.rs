//! Whether what is on disk is what the journal says: rows, blobs and segments held against each other.

mod kept;

use crate::blobs::hex;
use crate::disk::{Disk, RealDisk};
use crate::layout::Layout;
use crate::rebuild::Progress;
use crate::segments::{self, Segment};
use crate::unnamed::{Unnamed, unnamed};
use crate::{Catalog, Digest, Error, Seq, Sqlite};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Rows or blobs read at a time.
const PIECE: usize = 1024;

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A row refers to bytes that are not on disk.
    BlobMissing(Digest),
    /// A blob has another size than its row says.
    BlobSize {
        /// Which.
        digest: Digest,
        /// Bytes by the row.
        expected: u64,
        /// Bytes on disk.
        found: u64,
    },
    /// A blob's bytes do not have the digest that is its name.
    BlobDamaged {
        /// Its name.
        digest: Digest,
        /// What its bytes have, hexadecimal.
        found: String,
    },
    /// The journal is not without a gap, or a row cannot be read.
    Journal(String),
    /// Rows that no segment holds, though later ones are in one.
    SegmentMissing {
        /// The first of them.
        first: Seq,
        /// The last of them.
        last: Seq,
    },
    /// A segment cannot be read or is not what its name says.
    SegmentDamaged(String),
    /// A segment says something else than the journal.
    SegmentDiffers(String),
    /// The bytes of a file that is kept of an upstream are not those that arrived. It is fetched again when it is asked for.
    KeptDamaged {
        /// A path that it is kept for.
        path: String,
        /// What it must have.
        digest: Digest,
        /// What its bytes have, hexadecimal.
        found: String,
    },
    /// A file that has no place here: somebody put it there.
    Stray(PathBuf),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlobMissing(digest) => write!(f, "the blob `{digest}` is not on disk"),
            Self::BlobSize { digest, expected, found } => {
                write!(f, "the blob `{digest}` has {found} bytes instead of {expected}")
            }
            Self::BlobDamaged { digest, found } => write!(f, "the blob `{digest}` has the digest `{found}`"),
            Self::Journal(why) | Self::SegmentDamaged(why) => f.write_str(why),
            Self::SegmentMissing { first, last } => write!(f, "no segment holds the rows {} to {}", first.0, last.0),
            Self::SegmentDiffers(name) => write!(f, "the segment `{name}` differs from the journal"),
            Self::KeptDamaged { path, digest, found } => {
                write!(f, "the file `{digest}`, kept of an upstream for `{path}`, has the digest `{found}`")
            }
            Self::Stray(path) => write!(f, "the file `{}` has no place here", path.display()),
        }
    }
}

/// What was looked at, and what was wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Journal rows read.
    pub rows: u64,
    /// Blobs looked at.
    pub blobs: u64,
    /// Segments read.
    pub segments: u64,
    /// Files that are kept of upstreams.
    pub kept: u64,
    /// How many of those were read.
    pub kept_read: u64,
    /// Empty: all is well.
    pub problems: Vec<Problem>,
    /// Files of uploads that a killed process left half-written. No damage: the next start of the server removes them.
    pub leftovers: Vec<PathBuf>,
    /// Blobs that no row names. No damage to what is served; after a lost truth they are what a rebuild cannot name.
    pub unnamed: Unnamed,
}

/// Checks the folder of a server that is not running, and mends nothing: it does not even open the store, which
/// removes and completes what a killed process left.
pub fn check(data: &Path, verify: bool, progress: &mut dyn FnMut(Progress)) -> Result<Report, Error> {
    let layout = Layout::new(data);
    if !layout.truth().is_file() {
        return Err(Error::NoTruth(data.to_owned()));
    }
    let _lock = layout.lock()?;
    check_on(&RealDisk, &layout, verify, progress)
}

/// Reads everything; with `verify` every byte of every blob and of every file of upstreams too, without
/// it a sample of the latter. Meant for a store that nobody else writes to.
pub(crate) fn check_on(
    disk: &dyn Disk,
    layout: &Layout,
    verify: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, Error> {
    let mut truth = Sqlite::reader(&layout.truth())?;
    let mut report = Report::default();
    journal(&mut truth, &mut report, progress)?;
    blobs(&mut truth, disk, layout, verify, &mut report, progress)?;
    kept::kept(disk, layout, verify, &mut report, progress)?;
    let segments = segments::list(disk, layout)?;
    for segment in &segments {
        report.problems.extend(compare(&truth, disk, layout, segment)?);
        report.segments += 1;
    }
    for (after, last) in segments::holes(&segments) {
        report.problems.push(Problem::SegmentMissing { first: Seq(after.0 + 1), last });
    }
    let names = |folder: &Path| disk.list(folder).map_err(Error::io("list", folder));
    let segment = |name: &str| name == segments::ARRIVING || Segment::parse(name).is_some();
    let (folder, arriving) = (layout.segments(), layout.arriving());
    let strays = names(&folder)?.into_iter().filter(|name| !segment(name));
    report.problems.extend(strays.map(|name| Problem::Stray(folder.join(name))));
    report.leftovers = names(&arriving)?.into_iter().map(|name| arriving.join(name)).collect();
    report.unnamed = unnamed(&truth, disk, layout, progress)?;
    Ok(report)
}

fn journal(truth: &mut Sqlite, report: &mut Report, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
    let end = truth.last()?;
    let mut last = Seq(0);
    loop {
        let rows = match truth.journal(last, PIECE) {
            Err(error @ Error::Row { .. }) => {
                report.problems.push(Problem::Journal(error.to_string()));
                return Ok(());
            }
            rows => rows?,
        };
        for row in &rows {
            if let Err(error) = row.follows(last) {
                report.problems.push(Problem::Journal(error.to_string()));
            }
            last = row.seq;
        }
        report.rows += rows.len() as u64;
        progress(Progress { done: last.0, total: end.0, of: "rows" });
        if rows.is_empty() {
            break;
        }
    }
    if last < end {
        let why = format!("the journal ends at `{}` and the counter says `{}`", last.0, end.0);
        report.problems.push(Problem::Journal(why));
    }
    Ok(())
}

fn blobs(
    truth: &mut Sqlite,
    disk: &dyn Disk,
    layout: &Layout,
    verify: bool,
    report: &mut Report,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Error> {
    let total = truth.blob_count()?;
    let mut after = None;
    loop {
        let piece = truth.blobs(after, PIECE)?;
        let Some((last, _)) = piece.last() else { return Ok(()) };
        after = Some(*last);
        for (digest, expected) in piece {
            let (_, _, path) = layout.blob(&digest);
            match disk.size(&path).map_err(Error::io("look at", &path))? {
                None => report.problems.push(Problem::BlobMissing(digest)),
                Some(found) if found != expected => {
                    report.problems.push(Problem::BlobSize { digest, expected, found });
                }
                Some(_) if verify => {
                    let found = disk.open(&path).and_then(sha256).map_err(Error::io("read", &path))?;
                    if found != digest.to_string() {
                        report.problems.push(Problem::BlobDamaged { digest, found });
                    }
                }
                Some(_) => {}
            }
            report.blobs += 1;
        }
        progress(Progress { done: report.blobs, total, of: "blobs" });
    }
}

fn compare(truth: &Sqlite, disk: &dyn Disk, layout: &Layout, segment: &Segment) -> Result<Option<Problem>, Error> {
    let text = match segment.read(disk, layout).and_then(|text| segment.rows(&text).map(|_| text)) {
        Ok(text) => text,
        Err(error @ Error::Io { .. }) => return Err(error),
        Err(error) => return Ok(Some(Problem::SegmentDamaged(error.to_string()))),
    };
    let many = (segment.last.0 + 1 - segment.first.0) as usize;
    let rows = truth.journal_text(Seq(segment.first.0 - 1), many, usize::MAX)?;
    let same = rows.iter().map(|(_, row)| row.as_str()).eq(text.lines());
    Ok((!same).then(|| Problem::SegmentDiffers(segment.name())))
}

fn sha256(mut file: std::fs::File) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&piece[..read]),
        }
    }
}
