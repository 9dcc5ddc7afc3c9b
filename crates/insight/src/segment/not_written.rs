//! Why a segment was not written.

use crate::part::Unreadable;
use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};

/// A segment was not written, and there is no file.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// The parts have no row.
    #[error("there are no events")]
    Empty,
    /// A part cannot be read.
    #[error(transparent)]
    Part(#[from] Unreadable),
    /// The file cannot be written.
    #[error("cannot write `{}`: {cause}", .path.display())]
    Disk {
        /// The segment.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The rows do not fit the form of a segment.
    #[error("the events do not fit the form of a segment: {0}")]
    Form(String),
}

impl From<ParquetError> for NotWritten {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(cause) => Self::Disk { path: PathBuf::new(), cause: *cause },
                Err(cause) => Self::Form(cause.to_string()),
            },
            error => Self::Form(error.to_string()),
        }
    }
}

impl NotWritten {
    /// Names the file.
    pub(super) fn of(self, segment: &Path) -> Self {
        match self {
            Self::Disk { cause, .. } => Self::Disk { path: segment.to_owned(), cause },
            other => other,
        }
    }
}
