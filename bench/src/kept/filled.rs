//! What a folder was filled with, in a file beside it, so that it can be used again.

use super::SPAN;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use telemetry::{EventId, Millis};

/// What a folder was filled with.
pub(super) struct Filled {
    pub(super) events: usize,
    /// The end of their time.
    pub(super) to: Millis,
    /// Segments and their bytes.
    pub(super) files: usize,
    pub(super) bytes: u64,
    /// The ids of some of them.
    pub(super) ids: Vec<EventId>,
}

impl Filled {
    /// The moment so many days before the end, as questions name it.
    pub(super) fn before(&self, days: i64) -> String {
        Millis(self.to.0 - days * 24 * 60 * 60 * 1000).to_string()
    }

    /// The moment at which the events begin.
    pub(super) fn from(&self) -> Result<String> {
        Ok(Millis(self.to.0 - i64::try_from(SPAN.as_millis())?).to_string())
    }

    /// Notes what a folder was filled with.
    pub(super) fn write(data: &Path, events: usize, to: Millis, ids: Vec<EventId>) -> Result<Self> {
        let (mut files, mut bytes) = (0, 0);
        for file in fs::read_dir(data.join("events"))? {
            let file = file?;
            if file.path().extension().is_some_and(|extension| extension == "parquet") {
                (files, bytes) = (files + 1, bytes + file.metadata()?.len());
            }
        }
        let all: String = ids.iter().map(|id| format!("\n{id}")).collect();
        fs::write(place(data), format!("{events} {} {files} {bytes}{all}", to.0))?;
        Ok(Self { events, to, files, bytes, ids })
    }

    /// What a folder was filled with. `None`: it was not filled.
    pub(super) fn read(data: &Path) -> Result<Option<Self>> {
        let Ok(text) = fs::read_to_string(place(data)) else { return Ok(None) };
        let mut lines = text.lines();
        let first: Vec<i64> =
            lines.next().unwrap_or_default().split(' ').map(str::parse).collect::<Result<_, _>>().context("a note")?;
        let [events, to, files, bytes] = first.try_into().ok().context("a note has four numbers")?;
        let ids: Result<Vec<EventId>, _> = lines.map(|id| u64::from_str_radix(id, 16).map(EventId)).collect();
        let (events, files, bytes) = (usize::try_from(events)?, usize::try_from(files)?, u64::try_from(bytes)?);
        Ok(Some(Self { events, to: Millis(to), files, bytes, ids: ids? }))
    }
}

fn place(data: &Path) -> PathBuf {
    data.with_file_name("filled")
}
