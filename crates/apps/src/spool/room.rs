//! The room of an application for bodies that wait in files.

use crate::options::AppOptions;
use std::path::Path;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Full, Recorder};

/// The spool of an application.
#[derive(Debug, Clone)]
pub(crate) struct Spool {
    bound: Arc<Bound>,
    pub(super) folder: Arc<Path>,
}

/// Bytes of files that count in the bound of the spool, until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    bound: Arc<Bound>,
    pub(super) bytes: u64,
}

impl Spool {
    pub(crate) fn new(options: &AppOptions, recorder: &Recorder) -> Self {
        let bound = Bound::new(BoundName::AppSpool, &options.name, options.spool_bytes);
        recorder.register(bound.clone());
        Self { bound, folder: options.spool_folder.as_path().into() }
    }

    /// Its figures, in bytes of files.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    pub(super) fn held(&self) -> Held {
        Held { bound: self.bound.clone(), bytes: 0 }
    }

    /// Whether so many bytes more would fit now.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.bound.used().saturating_add(bytes) <= self.bound.capacity()
    }
}

impl Held {
    /// Takes room for more bytes.
    pub(super) fn more(&mut self, bytes: u64) -> Result<(), Full> {
        self.bound.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.bound.give(self.bytes);
    }
}
