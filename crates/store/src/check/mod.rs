//! Checks the data folder: compares rows, blobs and segments with each other.

mod cached_files;
mod objects;
mod problem;

pub use problem::{Problem, Report};

use crate::backup::lock_target;
use crate::blobs::digest::{Digest, Hashes, hex};
use crate::blobs::files;
use crate::blobs::orphans::find_orphans;
use crate::disk::confined::Confined;
use crate::disk::layout::Layout;
use crate::disk::{Disk, RealDisk, is_irregular};
use crate::error::{Error, Result};
use crate::journal::recent_rows::{self, is_recent};
use crate::journal::record::Seq;
use crate::journal::segments::{self, Segment};
use crate::objects::Objects;
use crate::store::progress::Progress;
use crate::truth::catalog::Catalog;
use crate::truth::sqlite::Sqlite;
use objects::CheckedObjects;
use sha2::{Digest as _, Sha256};
use std::io::Read;
use std::path::Path;

/// The number of rows or blobs that are read at a time.
const PAGE: usize = 1024;

/// Checks the folder of a server that is not running. Changes nothing: it does not open the store, which would remove and
/// complete the files of a killed process.
pub fn check(data: &Path, verify: bool, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
    check_with(data, verify, None, progress)
}

/// The same with the object storage that has the blobs of the folder. Without it, blobs that are not on the disk are only counted.
pub fn check_with(
    data: &Path,
    verify: bool,
    objects: Option<&Objects>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let layout = Layout::new(data);
    if layout.is_being_restored() {
        return Err(Error::Unrestored(data.to_owned()));
    }
    if layout.is_backup() && !layout.truth().is_file() {
        return Err(Error::NoBackup(data.to_owned()));
    }
    if !layout.truth().is_file() {
        return Err(layout.no_truth());
    }
    // A backup may be on a network file system.
    let _lock = if layout.is_backup() { lock_target(&layout)? } else { Some(layout.lock()?) };
    if !layout.is_backup() {
        return check_on(&RealDisk, &layout, verify, objects, progress);
    }
    // Others may have written the backup.
    let disk = Confined::open(data).map_err(Error::io("open", data))?;
    disk.size(&layout.truth()).map_err(Error::io("look at", &layout.truth()))?;
    check_on(&disk, &layout, verify, objects, progress)
}

/// Checks everything. With `verify`, reads every byte of every blob and of every cached file; without it, reads only a sample of
/// the cached files. No process may write to the folder meanwhile.
pub(crate) fn check_on(
    disk: &dyn Disk,
    layout: &Layout,
    verify: bool,
    objects: Option<&Objects>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let open = if layout.is_backup() { Sqlite::copied } else { Sqlite::reader };
    let truth: &mut dyn Catalog = &mut open(&layout.truth())?;
    let mut report = Report::default();
    journal(truth, &mut report, progress)?;
    let objects = objects.map(CheckedObjects::new);
    BlobCheck { disk, layout, verify, objects, elsewhere: layout.objects_url(disk)? }.all(
        truth,
        &mut report,
        progress,
    )?;
    report.empty_files = empty_files(truth)?;
    cached_files::check_cached_files(disk, layout, verify, &mut report, progress)?;
    let segments = segments::list(disk, layout)?;
    for segment in &segments {
        report.problems.extend(compare(truth, disk, layout, segment)?);
        report.segments += 1;
    }
    for gap in segments::gaps(&segments) {
        report.problems.push(Problem::SegmentMissing { first: Seq(gap.after.0 + 1), last: gap.last });
    }
    let names = |folder: &Path| files::names(disk, folder);
    let differing = recent_rows::differing(truth, disk, layout)?;
    report.problems.extend(differing.map(Problem::RecentRowDiffers));
    let segment = |name: &str| name == segments::TEMPORARY || is_recent(name) || Segment::parse(name).is_some();
    let (folder, temporary) = (layout.segments(), layout.temporary_blobs());
    let strays = names(&folder)?.into_iter().filter(|name| !segment(name));
    report.problems.extend(strays.map(|name| Problem::Stray(folder.join(name))));
    report.leftovers = names(&temporary)?.into_iter().map(|name| temporary.join(name)).collect();
    report.orphans = find_orphans(truth, disk, layout, progress)?;
    Ok(report)
}

fn journal(truth: &mut dyn Catalog, report: &mut Report, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    let end = truth.last()?;
    let mut last = Seq(0);
    loop {
        let rows = match truth.journal(last, PAGE) {
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
        let why = format!("the journal ends at `{}` and the counter is at `{}`", last.0, end.0);
        report.problems.push(Problem::Journal(why));
    }
    Ok(())
}

/// The check of all blobs that rows name.
struct BlobCheck<'a> {
    disk: &'a dyn Disk,
    layout: &'a Layout,
    verify: bool,
    objects: Option<CheckedObjects>,
    /// The place that has blobs which are not on the disk.
    elsewhere: Option<String>,
}

impl BlobCheck<'_> {
    fn all(mut self, truth: &mut dyn Catalog, report: &mut Report, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        let total = truth.blob_count()?;
        let mut after = None;
        loop {
            let page = truth.blobs(after, PAGE)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = Some(*last);
            for (digest, expected) in page {
                let is_on_disk = self.on_disk(digest, expected, report)?;
                if self.objects.is_some() {
                    self.in_objects(truth, digest, expected, report)?;
                } else if !is_on_disk && self.elsewhere.is_some() {
                    report.unchecked += 1;
                } else if !is_on_disk {
                    report.problems.push(Problem::BlobMissing(digest));
                }
                report.blobs += 1;
            }
            progress(Progress { done: report.blobs, total, of: "blobs" });
        }
    }

    /// Checks the file of a blob. `false`: there is none.
    fn on_disk(&self, digest: Digest, expected: u64, report: &mut Report) -> Result<bool> {
        let path = self.layout.blob(&digest).file;
        let size = match self.disk.size(&path) {
            Err(error) if is_irregular(&error) => {
                report.problems.push(Problem::Stray(path));
                return Ok(true);
            }
            size => size.map_err(Error::io("look at", &path))?,
        };
        match size {
            None => return Ok(false),
            Some(found) if found != expected => report.problems.push(Problem::BlobSize { digest, expected, found }),
            Some(_) if self.verify => {
                let found = self.disk.open(&path).and_then(sha256).map_err(Error::io("read", &path))?;
                if found != digest.to_string() {
                    report.problems.push(Problem::BlobDamaged { digest, found });
                }
            }
            Some(_) => {}
        }
        Ok(true)
    }

    /// Checks the object of a blob.
    fn in_objects(
        &mut self,
        truth: &mut dyn Catalog,
        digest: Digest,
        expected: u64,
        report: &mut Report,
    ) -> Result<()> {
        let Some(objects) = &mut self.objects else { return Ok(()) };
        let generation = truth.generation(&digest)?;
        match objects.size(&digest, generation)? {
            Some(found) if found == expected && self.verify => {
                let found = objects.sha256(&digest, generation, expected)?;
                if found != digest.to_string() {
                    report.problems.push(Problem::ObjectDamaged { digest, found });
                }
            }
            Some(found) if found == expected => {}
            _ => report.problems.push(Problem::ObjectMissing(digest)),
        }
        report.objects += 1;
        Ok(())
    }
}

/// The published files without a byte, by repository and path.
fn empty_files(truth: &mut dyn Catalog) -> Result<Vec<(String, String)>> {
    let (nothing, mut found) = (Hashes::of(b"").sha256.to_string(), Vec::new());
    for (id, record) in truth.repositories()? {
        let keys = truth.keys_of_digest(id, &nothing)?;
        found.extend(keys.into_iter().map(|key| (record.name.clone(), key)));
    }
    Ok(found)
}

fn compare(truth: &mut dyn Catalog, disk: &dyn Disk, layout: &Layout, segment: &Segment) -> Result<Option<Problem>> {
    let text = match segment.read(disk, layout).and_then(|text| segment.rows(&text).map(|_| text)) {
        Ok(text) => text,
        Err(Error::Io { source, .. }) if is_irregular(&source) => {
            return Ok(Some(Problem::Stray(layout.segments().join(segment.name()))));
        }
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
