//! The reasons why a fetch ends without the file: a failure of the upstream, a failure of the store, or no client waits
//! any more.

use crate::error::{Error, store_reason};
use crate::upstream::failure::Failure;
use telemetry::Reason;

/// The reason why a fetch ends without the file.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Upstream(#[from] Failure),
    #[error(transparent)]
    Store(#[from] store::Error),
    /// All clients left before the upstream answered.
    #[error("nobody waited for it any more")]
    Left,
}

impl Trouble {
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self {
            Trouble::Upstream(failure) => Some(failure.reason),
            Trouble::Store(error) => Some(store_reason(error)),
            Trouble::Left => None,
        }
    }

    /// The detailed text for the event.
    pub(crate) fn detail(&self) -> String {
        match self {
            Trouble::Upstream(failure) => failure.detail(),
            Trouble::Store(_) | Trouble::Left => self.to_string(),
        }
    }
}

impl From<client::Error> for Trouble {
    fn from(error: client::Error) -> Self {
        Trouble::Upstream(error.into())
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Upstream(failure) => Error::Upstream(failure),
            Trouble::Store(error) => Error::Store(error),
            Trouble::Left => Error::GivenUp,
        }
    }
}
