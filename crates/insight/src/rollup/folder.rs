//! The folder of counted rows. The names of its files are all that is known of it: there is no other list.

use super::log::recover;
use super::name::{Level, Name};
use super::parquet::{CountsFile, encode};
use super::rows::{Rows, TEXTS, Table};
use super::{DAY, HOUR, HOURS_KEPT, MINUTES_KEPT, OTHER};
use crate::column::Column;
use crate::disk::{self, NewFile};
use crate::part::Unreadable;
use bytes::Bytes;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of counted rows.
#[derive(Debug)]
pub(crate) struct RollupFile {
    pub(crate) name: Name,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// The largest file that is read. Files are written long before they are as large.
const READ_MAX: u64 = 64 << 20;
/// Files of minutes become one of hours when there are so many of them, or when they have so many rows.
const MINUTES_FILES_MAX: usize = 240;
const MINUTES_ROWS_MAX: u64 = 64 << 10;

impl RollupFile {
    /// Reads the file, and checks it.
    pub(crate) fn open(&self) -> Result<CountsFile, Unreadable> {
        let bytes = disk::read(&self.path, READ_MAX).map_err(|error| Unreadable::file(&self.path, error))?;
        if crc32fast::hash(&bytes) != self.name.crc {
            return Err(Unreadable::file(&self.path, "its bytes have changed since it was written"));
        }
        CountsFile::open(Bytes::from(bytes)).map_err(|error| Unreadable::file(&self.path, error))
    }

    /// All its rows.
    pub(crate) fn rows(&self) -> Result<Rows, Unreadable> {
        self.open()?.rows().map_err(|error| Unreadable::file(&self.path, error))
    }
}

/// The files of a folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    /// In the order of their numbers.
    pub(super) minutes: Vec<Arc<RollupFile>>,
    pub(super) hours: Vec<Arc<RollupFile>>,
}

/// The content of a folder when it was opened.
pub(super) struct Found {
    pub(super) files: Files,
    /// The rows of the logs.
    pub(super) pieces: Vec<Rows>,
    /// The number of the next log.
    pub(super) number: u64,
    /// Files that have a name of ours and cannot be read or removed, with the cause.
    pub(super) unreadable: Vec<String>,
}

/// Opens a folder. It is made if it is not there. Logs whose rows are in a file are removed, and so are files of minutes that nobody needs.
pub(super) fn open(folder: &Path) -> io::Result<Found> {
    let mut found = Found { files: Files::default(), pieces: Vec::new(), number: 1, unreadable: Vec::new() };
    let mut logs = Vec::new();
    for (text, bytes) in disk::open_folder(folder)? {
        if let Some(number) = Name::read_log(&text) {
            logs.push((number, folder.join(text)));
        } else if let Some(name) = Name::read(&text) {
            let file = Arc::new(RollupFile { name, path: folder.join(text), bytes });
            found.files.of(name.level).push(file);
        }
    }
    found.files.sort();
    let written = found.files.all().map(|file| file.name.last).max().unwrap_or_default();
    found.number = logs.iter().map(|(number, _)| *number).max().unwrap_or_default().max(written) + 1;
    for (number, path) in logs {
        let read = if number <= written { disk::remove(&path).map(|()| Vec::new()) } else { recover(&path) };
        match read {
            Ok(pieces) => found.pieces.extend(pieces),
            Err(error) => found.unreadable.push(format!("{}: {error}", path.display())),
        }
    }
    Ok(found)
}

/// Writes a file, and makes it durable.
pub(super) fn write(folder: &Path, level: Level, numbers: (u64, u64), rows: &Rows) -> io::Result<RollupFile> {
    let bytes = encode(rows).map_err(io::Error::other)?;
    let (from, to) = rows.times().unwrap_or_default();
    let place = |column| TEXTS.iter().position(|own| *own == column).unwrap_or_default();
    let events = |of: Column| -> u64 {
        let folded = rows.rows.iter().filter(|(key, _)| rows.text(key.texts[place(of)]) == OTHER);
        folded.map(|(_, counts)| counts.events).sum()
    };
    let name = Name {
        level,
        first: numbers.0,
        last: numbers.1,
        from,
        to,
        rows: rows.rows.len() as u64,
        events: rows.rows.iter().map(|(_, counts)| counts.events).sum(),
        folded: events(Column::Repository),
        unknown: events(Column::Kind),
        crc: crc32fast::hash(&bytes),
    };
    let path = folder.join(name.text());
    let mut file = NewFile::begin(&path)?;
    file.write_all(&bytes)?;
    Ok(RollupFile { name, path, bytes: file.finish()? })
}

impl Files {
    fn of(&mut self, level: Level) -> &mut Vec<Arc<RollupFile>> {
        match level {
            Level::Minutes => &mut self.minutes,
            Level::Hours => &mut self.hours,
        }
    }

    fn sort(&mut self) {
        self.minutes.sort_by_key(|file| file.name.last);
        self.hours.sort_by_key(|file| file.name.last);
    }

    fn all(&self) -> impl Iterator<Item = &Arc<RollupFile>> {
        self.minutes.iter().chain(&self.hours)
    }

    /// Adds a file that was written.
    pub(super) fn add(&mut self, file: RollupFile) {
        self.of(file.name.level).push(Arc::new(file));
        self.sort();
    }

    /// The bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.all().map(|file| file.bytes).sum()
    }

    /// Files of minutes whose rows no file of hours has.
    pub(super) fn not_in_hours(&self) -> &[Arc<RollupFile>] {
        let in_hours = self.hours.iter().map(|file| file.name.last).max().unwrap_or_default();
        &self.minutes[self.minutes.partition_point(|file| file.name.last <= in_hours)..]
    }

    /// Questions about minutes before this moment need files of hours: files of minutes are missing. In milliseconds since the epoch.
    pub(super) fn minutes_begin(&self) -> i64 {
        let first = self.minutes.first().map_or(u64::MAX, |file| file.name.first);
        let without = self.hours.iter().filter(|hours| hours.name.first < first);
        without.map(|hours| hours.name.to + hours.name.level.millis()).max().unwrap_or(i64::MIN)
    }

    /// The files of minutes that are to become one of hours: after each day, or when there are many.
    pub(super) fn due(&self, now: i64) -> Option<Vec<Arc<RollupFile>>> {
        let waiting = self.not_in_hours();
        let rows: u64 = waiting.iter().map(|file| file.name.rows).sum();
        let day_is_over = waiting.iter().any(|file| file.name.to / DAY < now / DAY);
        let due = day_is_over || waiting.len() >= MINUTES_FILES_MAX || rows >= MINUTES_ROWS_MAX;
        (due && !waiting.is_empty()).then(|| waiting.to_vec())
    }

    /// Takes the files that are too old, and the oldest ones while all have more than `bytes`: minutes first, of which hours have the sums.
    pub(super) fn take_old(&mut self, now: i64, bytes: u64) -> Vec<Arc<RollupFile>> {
        let mut old = Vec::new();
        loop {
            let many = self.bytes() > bytes;
            // Minutes go together with all others of their file of hours, so that the moment from which on none is missing is known.
            let first = self.minutes.first().map_or(u64::MAX, |file| file.name.last);
            let of_first = self.hours.iter().find(|hours| (hours.name.first..=hours.name.last).contains(&first));
            let next = match of_first {
                Some(hours) if many || hours.name.to < now - MINUTES_KEPT => {
                    let end = self.minutes.partition_point(|file| file.name.last <= hours.name.last);
                    self.minutes.drain(..end).collect()
                }
                _ => match self.hours.first() {
                    Some(hours) if hours.name.to < now - HOURS_KEPT || (many && of_first.is_none()) => {
                        vec![self.hours.remove(0)]
                    }
                    _ => Vec::new(),
                },
            };
            if next.is_empty() {
                return old;
            }
            old.extend(next);
        }
    }
}

/// The rows of these files by hour, in order.
pub(super) fn hours(files: &[Arc<RollupFile>]) -> (Table, Vec<Unreadable>) {
    let (mut table, mut unreadable) = (Table::default(), Vec::new());
    for file in files {
        match file.rows() {
            Ok(rows) => table.merge_as(&rows, |at| at - at.rem_euclid(HOUR)),
            Err(error) => {
                // Its name has their number.
                table.add_unknown(file.name.from - file.name.from.rem_euclid(HOUR), file.name.events);
                unreadable.push(error);
            }
        }
    }
    (table, unreadable)
}

/// Removes the logs before that of a number.
pub(super) fn remove_logs(folder: &Path, before: u64) -> io::Result<()> {
    let names = disk::files(folder)?.into_iter().map(|(name, _)| name);
    let mut old = names.filter(|name| Name::read_log(name).is_some_and(|number| number < before));
    old.try_for_each(|name| disk::remove(&folder.join(name)))
}
