//! Baselines in the data folder: the weeks, written each hour, and the hour under way, written each minute.

use super::week::{Hour, Week};
use crate::disk;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The most bytes of a file before it was compressed. A full one has some 15 MB.
const FILE_MAX: u64 = 64 << 20;
const WEEK: &str = "normal-week";
const HOUR: &str = "normal-hour";

/// The hour under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct HourUnderWay {
    /// Hours since the beginning of 1970. `None`: none has begun.
    pub(super) hour: Option<i64>,
    pub(super) times: Hour,
}

/// The folder of both files. `None`: nothing is kept.
#[derive(Debug, Default)]
pub(super) struct Keeping(pub(super) Option<PathBuf>);

impl Keeping {
    /// Both as they were kept. A file that is not there, or cannot be read, begins again: it is a summary, and new figures fill it.
    pub(super) fn read(&self) -> (Week, HourUnderWay) {
        (self.load(WEEK).unwrap_or_default(), self.load(HOUR).unwrap_or_default())
    }

    /// The files of a folder.
    pub(super) fn files(folder: &Path) -> [PathBuf; 2] {
        [WEEK, HOUR].map(|name| folder.join(name))
    }

    pub(super) fn write_week(&self, week: &Week) -> io::Result<()> {
        self.store(WEEK, week)
    }

    pub(super) fn write_hour(&self, hour: &HourUnderWay) -> io::Result<()> {
        self.store(HOUR, hour)
    }

    fn load<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let file = File::open(self.0.as_ref()?.join(name)).ok()?;
        let mut text = Vec::new();
        zstd::Decoder::new(file).ok()?.take(FILE_MAX).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes a new file and puts it in the place of the old one. It is not synced: a power cut costs some minutes.
    fn store<T: Serialize>(&self, name: &str, what: &T) -> io::Result<()> {
        let Some(folder) = &self.0 else { return Ok(()) };
        disk::make_folder(folder)?;
        let mut packed = zstd::Encoder::new(Vec::new(), 1)?;
        serde_json::to_writer(&mut packed, what)?;
        disk::replace_unsynced(&folder.join(name), &packed.finish()?)
    }
}
