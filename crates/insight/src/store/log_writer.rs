//! Writes the newest rows into a log in the folder of the events.

use super::names::log_name;
use crate::block::Block;
use crate::log::Log;
use crate::options::AboveFloor;
use std::io;
use std::path::{Path, PathBuf};

/// Names of logs that are tried, if other files or folders have the first ones.
const NAMES: usize = 100;

/// Writes the newest rows into a log in the folder of the events.
pub(super) struct LogWriter {
    folder: PathBuf,
    above_floor: AboveFloor,
    /// The number of the log.
    number: u64,
    /// `None`: no row was written into it.
    log: Option<Log>,
}

impl LogWriter {
    /// For a folder in which a log has this number.
    pub(super) fn new(folder: PathBuf, above_floor: AboveFloor, number: u64) -> Self {
        Self { folder, above_floor, number, log: None }
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Tells whether the disk has enough free space.
    pub(super) fn above_floor(&self) -> AboveFloor {
        self.above_floor.clone()
    }

    /// Writes a batch into the log.
    pub(super) fn append(&mut self, block: &Block) -> io::Result<()> {
        if !(self.above_floor)() {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "free space on the disk is below the floor"));
        }
        if self.log.is_none() {
            self.log = Some(self.create()?);
        }
        self.log.as_mut().map_or(Ok(()), |log| log.append(block))
    }

    /// Creates the log, with the next name that is free.
    fn create(&mut self) -> io::Result<Log> {
        for _ in 1..NAMES {
            match Log::create(&self.log_path(self.number)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.number += 1,
                created => return created,
            }
        }
        Log::create(&self.log_path(self.number))
    }

    /// The size of the log in bytes.
    pub(super) fn log_bytes(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::bytes)
    }

    /// Ends the log and begins the next one. Returns the number of the ended one, and its file with its size.
    pub(super) fn next_log(&mut self) -> (u64, Option<(PathBuf, u64)>) {
        let number = self.number;
        self.number += 1;
        (number, self.log.take().map(|log| (log.path().to_owned(), log.bytes())))
    }

    /// The file of a log.
    pub(super) fn log_path(&self, number: u64) -> PathBuf {
        self.folder.join(log_name(number))
    }
}
