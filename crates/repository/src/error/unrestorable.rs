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
    /// Its owners yanked it, and can undo that themselves.
    #[error("`{0}` was yanked, and not removed by a cleanup")]
    Yanked(String),
    /// It was yanked too long ago.
    #[error("`{0}` was yanked longer ago than `store.undo`, which makes the yank final")]
    YankedTooLate(String),
    /// A cleanup removed it, and not its owners.
    #[error("`{0}` was not yanked: a cleanup removed it")]
    NotYanked(String),
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
            Self::Yanked(_) | Self::YankedTooLate(_) | Self::NotYanked(_) | Self::TooLate(_) => Reason::Withdrawn,
        }
    }

    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Nothing(_) | Self::NotCleaned(_) | Self::TooLate(_) => {
                Some("`daylight explain` shows what happened to a path, and until when it could be restored".into())
            }
            Self::Yanked(_) => Some(
                "within `store.undo` its owners undo a yank: `PUT api/v1/gems/unyank`, or `gem yank --undo` of RubyGems before 3"
                    .into(),
            ),
            Self::YankedTooLate(_) => Some("publish another version".into()),
            Self::NotYanked(_) => Some("an operator restores it: `daylight repo restore REPOSITORY NAME:VERSION`".into()),
            Self::Repository(_) => None,
        }
    }
}
