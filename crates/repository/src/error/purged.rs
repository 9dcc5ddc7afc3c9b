//! The errors about files and versions that were purged or were yanked upstream.

use telemetry::{Millis, Reason};

/// Why a purged file or version is refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Purged {
    /// It existed at the as-of moment, and a purge deleted its bytes.
    #[error("`{what}` was purged on {at}, with its bytes")]
    Gone {
        /// The file or version.
        what: String,
        /// When.
        at: Millis,
    },
    /// The path stays reserved, also for the same bytes.
    #[error("`{what}` was purged and cannot be published again: {why}")]
    Taken {
        /// The file or version.
        what: String,
        /// The reason that was given.
        why: String,
    },
    /// The upstream yanked it, and its bytes are not stored here.
    #[error("`{what}` was yanked upstream, which was seen on {at}, and its bytes are not kept here")]
    Yanked {
        /// The version.
        what: String,
        /// When Daylight first saw the yank.
        at: Millis,
    },
    /// The name matches nothing that could be purged.
    #[error("`{what}` names nothing here that is not purged already")]
    Nothing {
        /// The name in the request.
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
