//! The reasons why something removed cannot be restored.

use telemetry::Reason;

/// The reason why something removed cannot be restored.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Unrestorable {
    /// Nothing at the path or below it was deleted.
    #[error("no file at `{0}` or below it was deleted")]
    Nothing(String),
    /// No version of the package was removed by a cleanup.
    #[error("no cleanup removed `{0}`")]
    NotCleaned(String),
    /// A yank is final, because clients rely on it.
    #[error("`{0}` was yanked, which is final")]
    Yanked(String),
    /// No repository of the name was removed.
    #[error("no repository `{0}` was removed within `store.undo`")]
    Repository(String),
    /// The undo window has ended.
    #[error("`{0}` was deleted longer ago than `store.undo`, which is final")]
    TooLate(String),
}

impl Unrestorable {
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Nothing(_) | Self::NotCleaned(_) => Reason::NoSuchFile,
            Self::Repository(_) => Reason::NoSuchRepository,
            Self::Yanked(_) | Self::TooLate(_) => Reason::Withdrawn,
        }
    }

    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Nothing(_) | Self::NotCleaned(_) | Self::TooLate(_) => {
                Some("`daylight explain` shows what happened to a path, and until when it could be restored".into())
            }
            Self::Yanked(_) => Some("publish another version".into()),
            Self::Repository(_) => None,
        }
    }
}
