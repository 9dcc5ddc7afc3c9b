//! Reserves disk space, so that tokens can be revoked and space can be freed while the disk is full.
//!
//! Every such change is a row of the journal, and a row needs some pages of the database. These changes are still written when
//! free space is below the floor, but other programs may use the last bytes. Then the file is removed, and these changes use its
//! space, as does a start of the server.

use crate::disk::Disk;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::lock;

/// Bytes that are written at a time.
const PIECE: usize = 64 << 10;

/// The file `reserve` of the data folder.
#[derive(Debug)]
pub(crate) struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// 0: there is no file.
    size_bytes: u64,
    /// Whether the file exists, as far as is known.
    present: AtomicBool,
    /// Locked while the file is made or removed.
    turn: Mutex<()>,
}

impl Reserve {
    pub(crate) fn new(disk: Arc<dyn Disk>, path: PathBuf, size_bytes: u64) -> Self {
        let present = size_bytes > 0 && disk.size(&path).is_ok_and(|found| found == Some(size_bytes));
        Self { disk, path, size_bytes, present: AtomicBool::new(present), turn: Mutex::default() }
    }

    /// The bytes that are missing in the file.
    pub(crate) fn missing_bytes(&self) -> u64 {
        if self.present.load(Ordering::Acquire) { 0 } else { self.size_bytes }
    }

    /// Makes the file if it is missing. The caller knows that there is space.
    pub(crate) fn make(&self) -> io::Result<()> {
        if self.size_bytes == 0 || self.present.load(Ordering::Acquire) {
            return Ok(());
        }
        let _turn = lock(&self.turn);
        let found = self.disk.size(&self.path)?;
        if found != Some(self.size_bytes) {
            if found.is_some() {
                self.disk.unlink(&self.path)?;
            }
            // The bytes are written and not only allocated: some file systems guarantee no space for a hole.
            let mut file = self.disk.create(&self.path)?;
            let mut left = self.size_bytes;
            while left > 0 {
                let piece = left.min(PIECE as u64);
                file.write(&vec![0; piece as usize])?;
                left -= piece;
            }
        }
        self.present.store(true, Ordering::Release);
        Ok(())
    }

    /// Removes the file. Returns whether it existed, so that a retry may succeed.
    pub(crate) fn release(&self) -> bool {
        let _turn = lock(&self.turn);
        self.present.store(false, Ordering::Release);
        self.size_bytes > 0 && self.disk.unlink(&self.path).is_ok()
    }
}
