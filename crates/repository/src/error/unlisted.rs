//! The error for a path that an index of all files of an upstream lacks.

use crate::error::Error;
use telemetry::{Millis, Reason};

/// No build in the tags of a Koji hub has the file, by the map of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no file `{path}` here")]
pub struct Unlisted {
    /// The path below the repository.
    pub(crate) path: String,
    /// Until when this is certain; `None`: without end, because it is about a moment.
    pub(crate) until: Option<Millis>,
    /// Why the hub could not confirm it.
    pub(crate) stale: Option<Reason>,
}

impl Error {
    /// Why the upstream could not confirm that there is no such file.
    pub fn stale(&self) -> Option<Reason> {
        match self {
            Error::Unlisted(Unlisted { stale, .. }) => *stale,
            _ => None,
        }
    }
}
