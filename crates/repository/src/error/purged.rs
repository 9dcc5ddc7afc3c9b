//! The errors about files and versions that were purged, or are to be, or were yanked upstream.

use telemetry::{Millis, Reason};

/// Why a purged file or version is refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Purged {
    /// It was there at an earlier moment, and its bytes are gone.
    #[error("`{what}` was purged on {at}, with its bytes")]
    Gone {
        /// The file or version.
        what: String,
        /// When.
        at: Millis,
    },
    /// It stays taken, also for the same bytes.
    #[error("`{what}` was purged and cannot be published again: {why}")]
    Taken {
        /// The file or version.
        what: String,
        /// The reason that was given.
        why: String,
    },
    /// Its upstream yanked it, and its bytes are not kept.
    #[error("`{what}` was yanked upstream, which was seen on {at}, and its bytes are not kept here")]
    Yanked {
        /// The version.
        what: String,
        /// When that was seen.
        at: Millis,
    },
    /// There is nothing of that name to purge.
    #[error("`{what}` names nothing here that is not purged already")]
    Nothing {
        /// What was named.
        what: String,
    },
}

impl Purged {
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Gone { .. } | Self::Yanked { .. } => Reason::Unkept,
            Self::Taken { .. } => Reason::VersionTaken,
            Self::Nothing { .. } => Reason::NoSuchFile,
        }
    }
}
