//! The log of recent rows, which no segment has yet.
//!
//! Segments are up to a second behind. The committer appends the rows of each commit here and syncs them before it acknowledges
//! the change, so a rebuild after a crash that lost the truth restores every acknowledged change. A file is removed once segments
//! have all of its rows.

use crate::blobs::digest::hex;
use crate::disk::database_files::with_suffix;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, DiskFile};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::truth::catalog::Catalog;
use sha2::{Digest as _, Sha256};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use telemetry::log::Incident;
use telemetry::{Log, lock};

/// A file of this size gets no further rows.
const FILE_BYTES: usize = 1 << 20;
/// Digits of the checksum in front of each row.
const SUM_DIGITS: usize = 16;

/// The log. The committer writes it, and the shipper removes its files.
#[derive(Debug)]
pub(crate) struct RecentRows {
    disk: Arc<dyn Disk>,
    space: Arc<Space>,
    layout: Layout,
    log: Log,
    /// Rows could not be appended. Logged once.
    failing: Incident,
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    open: Option<OpenFile>,
    /// Files that get no further rows, each with the last row that it may have.
    complete: Vec<(PathBuf, Seq)>,
}

struct OpenFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    bytes: usize,
    last: Seq,
}

impl RecentRows {
    /// A log that continues after the row `last` of the truth. Files of earlier processes have rows up to there.
    pub(crate) fn new(disk: Arc<dyn Disk>, space: Arc<Space>, layout: Layout, log: Log, last: Seq) -> Result<Self> {
        let complete = list(&*disk, &layout)?.into_iter().map(|path| (path, last)).collect();
        let files = Mutex::new(Files { open: None, complete });
        Ok(Self { disk, space, layout, log, failing: Incident::default(), files })
    }

    /// Appends committed rows and syncs them. If they cannot be written, for example because the disk is full, the change is made
    /// nevertheless: the truth has it, and the next segment will have it. Only a failed sync is an error.
    pub(crate) fn append(&self, rows: &[(Seq, String)]) -> Result<()> {
        let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else { return Ok(()) };
        let mut text = String::new();
        for (_, row) in rows {
            text.push_str(&line(row));
        }
        let mut files = lock(&self.files);
        match self.written(&mut files, *first, text.as_bytes()) {
            Ok(()) => self.failing.end(|| self.log.info("recent changes are logged again", &[])),
            Err(error) => {
                let text =
                    "recent changes cannot be logged: until they are in a segment, only the truth database has them";
                self.failing.begin(|| self.log.error(text, &[("error", &error)]));
                // The file may end in the middle of a row, after which nothing can be read.
                files.complete_open();
                return self.space.check_sound();
            }
        }
        let Some(open) = &mut files.open else { return Ok(()) };
        open.bytes += text.len();
        open.last = *last;
        match open.file.sync().map_err(Error::io("sync", &open.path)) {
            Err(error) if !error.is_disk_full() => return self.space.synced(Err(error)),
            Err(_) => files.complete_open(),
            Ok(()) if open.bytes >= FILE_BYTES => files.complete_open(),
            Ok(()) => {}
        }
        Ok(())
    }

    fn written(&self, files: &mut Files, first: Seq, bytes: &[u8]) -> Result<()> {
        if files.open.is_none() {
            let folder = self.layout.segments();
            let path = folder.join(name(first));
            // A file of this name has no complete row: otherwise its first row would be in the truth, and this row would have
            // another number.
            if self.disk.size(&path).map_err(Error::io("look at", &path))?.is_some() {
                files.complete.retain(|(complete, _)| *complete != path);
                self.disk.unlink(&path).map_err(Error::io("remove", &path))?;
            }
            let file = self.disk.create(&path).map_err(Error::io("create", &path))?;
            files.open = Some(OpenFile { file, path, bytes: 0, last: first });
            self.space.sync_folder(&folder)?;
        }
        match &mut files.open {
            Some(open) => open.file.write(bytes).map_err(Error::io("write", &open.path)),
            None => Ok(()),
        }
    }

    /// Removes the files whose rows are all in segments.
    pub(crate) fn remove_shipped(&self, shipped: Seq) {
        let removable = |(_, last): &mut (PathBuf, Seq)| *last <= shipped;
        let paths: Vec<_> = lock(&self.files).complete.extract_if(.., removable).collect();
        for (path, last) in paths {
            if self.disk.unlink(&path).is_err() {
                // The next attempt repeats it.
                lock(&self.files).complete.push((path, last));
            }
        }
    }

    /// The store closes: no more rows are appended, so the last file is removed too if segments have all of its rows.
    pub(crate) fn close(&self, shipped: Seq) {
        lock(&self.files).complete_open();
        self.remove_shipped(shipped);
    }
}

impl Files {
    fn complete_open(&mut self) {
        self.complete.extend(self.open.take().map(|open| (open.path, open.last)));
    }
}

fn name(first: Seq) -> String {
    format!("{:020}.recent", first.0)
}

/// Whether this is the name of such a file.
pub(crate) fn is_recent(file: &str) -> bool {
    let number = file.strip_suffix(".recent").and_then(|number| number.parse().ok());
    number.is_some_and(|number| name(Seq(number)) == file)
}

/// A row with its checksum in front: after a crash the bytes may be anything, even a part of another row.
fn line(row: &str) -> String {
    format!("{} {row}\n", sum(row))
}

fn sum(row: &str) -> String {
    hex(&Sha256::digest(row)[..SUM_DIGITS / 2])
}

/// The files, ordered by their rows.
fn list(disk: &dyn Disk, layout: &Layout) -> Result<Vec<PathBuf>> {
    let folder = layout.segments();
    let names = disk.list(&folder).map_err(Error::io("list", &folder))?;
    Ok(names.into_iter().filter(|name| is_recent(name)).map(|name| folder.join(name)).collect())
}

/// The rows of a file, up to the first incomplete one.
fn read(disk: &dyn Disk, path: &Path) -> Result<Vec<String>> {
    let mut bytes = Vec::new();
    disk.open(path).and_then(|mut file| file.read_to_end(&mut bytes)).map_err(Error::io("read", path))?;
    let whole = |line: &[u8]| {
        let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
        let (said, row) = line.split_once(' ')?;
        (said == sum(row)).then(|| row.to_owned())
    };
    Ok(bytes.split_inclusive(|byte| *byte == b'\n').map_while(whole).collect())
}

/// Moves files with rows after `last` out of the folder: rows after a gap can never be used, and would look as if the truth were
/// an old copy.
pub(crate) fn put_aside(disk: &dyn Disk, layout: &Layout, last: Seq) -> Result<()> {
    for path in list(disk, layout)? {
        let rows = numbered(read(disk, &path)?)?;
        if rows.last().is_some_and(|(seq, _)| *seq > last) {
            let name = path.file_name().unwrap_or_default();
            let aside = with_suffix(&layout.data().join(name), ".old");
            disk.rename(&path, &aside).map_err(Error::io("rename", &path))?;
        }
    }
    Ok(())
}

/// All logged rows in order, with their numbers. There may be gaps where rows could not be logged.
pub(crate) fn logged(disk: &dyn Disk, layout: &Layout) -> Result<Vec<(Seq, String)>> {
    let mut rows = Vec::new();
    for path in list(disk, layout)? {
        rows.extend(numbered(read(disk, &path)?)?);
    }
    Ok(rows)
}

fn numbered(rows: Vec<String>) -> Result<Vec<(Seq, String)>> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        seq: Seq,
    }
    let number = |row: String| {
        let numbered: Numbered = serde_json::from_str(&row).map_err(Error::row(Seq(0)))?;
        Ok((numbered.seq, row))
    };
    rows.into_iter().map(number).collect()
}

/// A row of the log that differs from the journal, or that is missing in the journal. `None`: there is none.
pub(crate) fn differing(truth: &mut dyn Catalog, disk: &dyn Disk, layout: &Layout) -> Result<Option<Seq>> {
    for (seq, row) in logged(disk, layout)? {
        let kept = truth.journal_text(Seq(seq.0.saturating_sub(1)), 1, usize::MAX)?;
        if kept.first() != Some(&(seq, row)) {
            return Ok(Some(seq));
        }
    }
    Ok(None)
}

impl std::fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenFile").field("path", &self.path).finish_non_exhaustive()
    }
}
