//! Why a request has no answer. One type with four readers: the client, the operator, the metric, the page. `status` has the
//! status of each error.

use crate::access;
use repository::RepositoryRemoval;
use std::borrow::Cow;
use telemetry::{EventId, Millis, Reason};

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No URL has this path.
    #[error("there is nothing at `{0}`")]
    NoSuchRoute(String),
    /// The URL does not take the method.
    #[error("`{method}` is not for this URL; it takes {allow}")]
    MethodNotAllowed {
        /// The method of the request.
        method: String,
        /// The methods of the URL, as in `Allow`.
        allow: Cow<'static, str>,
    },
    /// The caller may not do that.
    #[error(transparent)]
    Access(access::Error),
    /// A hook for a repository whose hooks have no secret, from elsewhere and without a token that may write.
    #[error("a hook for `{0}` is taken from the server's own machine, or with a token that may write")]
    HookUnproven(String),
    /// A hook that does not show that its sender knows the secret.
    #[error("this hook for `{0}` has no right signature")]
    HookForged(String),
    /// The secret of a repository's hooks cannot be read. Where it is, senders need not know.
    #[error("the secret of the hooks for `{0}` cannot be read on the server")]
    HookSecretUnread(String),
    /// There are no security devices. `gem` asks for a one-time password then.
    #[error("there are no security devices here, only one-time passwords")]
    NoDevice,
    /// A parameter or a body does not have the right form.
    #[error("{0}")]
    Input(String),
    /// The upload did not arrive completely.
    #[error(transparent)]
    Upload(#[from] front::UploadError),
    /// The upload is not the form that its headers announce.
    #[error(transparent)]
    Form(#[from] crate::multipart::Malformed),
    /// Too many requests of its class are under way.
    #[error("too many {0} are under way")]
    Busy(&'static str),
    /// Too many requests of its class by one client, or with one token, are under way.
    #[error("too many {0} of this client or token are under way")]
    BusyForOne(&'static str),
    /// No event with that id is in memory.
    #[error("the event `{0}` is not kept here")]
    NoSuchEvent(EventId),
    /// The repository of that name was removed.
    #[error("there is no repository `{name}`: it was removed on {}", removal.at)]
    RepositoryRemoved {
        /// Its name.
        name: String,
        /// Its removal.
        removal: RepositoryRemoval,
    },
    /// A repository could not answer.
    #[error(transparent)]
    Repository(#[from] repository::Error),
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A defect of ours.
    #[error("the work on this request was given up")]
    GivenUp,
}

impl From<access::Error> for Error {
    /// Errors that are not about access are the same as everywhere.
    fn from(error: access::Error) -> Self {
        match error {
            access::Error::Input(text) => Error::Input(text),
            access::Error::Repository(error) => Error::Repository(error),
            access::Error::Store(error) => Error::Store(error),
            access::Error::GivenUp => Error::GivenUp,
            error => Error::Access(error),
        }
    }
}

impl Error {
    /// The reason, for events and metrics.
    pub fn reason(&self) -> Reason {
        match self {
            Error::NoSuchRoute(_) | Error::NoDevice => Reason::NoSuchRoute,
            Error::RepositoryRemoved { .. } => Reason::NoSuchRepository,
            Error::MethodNotAllowed { .. } => Reason::MethodNotAllowed,
            Error::HookUnproven(_) => Reason::CredentialsMissing,
            Error::HookForged(_) => Reason::SignatureWrong,
            Error::HookSecretUnread(_) => Reason::UpstreamMisset,
            Error::Access(error) => error.reason(),
            Error::Input(_) | Error::Form(_) | Error::NoSuchEvent(_) => Reason::InputInvalid,
            Error::Upload(front::UploadError::TooLarge { .. }) => Reason::TooLarge,
            Error::Upload(front::UploadError::TooSlow) => Reason::BodyTooSlow,
            Error::Upload(front::UploadError::Short) => Reason::BodyShort,
            Error::Busy(_) | Error::BusyForOne(_) => Reason::BoundFull,
            Error::Repository(error) => error.reason(),
            Error::Store(error) => repository::store_reason(error),
            Error::GivenUp => Reason::Panicked,
        }
    }

    /// When another attempt may succeed, where that is known.
    pub fn until(&self) -> Option<Millis> {
        match self {
            Error::Repository(error) => error.until(),
            _ => None,
        }
    }

    /// The remedy, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Access(error) => error.hint(),
            Error::Busy(_) => Some("try again in a moment".into()),
            Error::BusyForOne(_) => Some("try again in a moment; `server.client_share_percent` is the part of one".into()),
            Error::RepositoryRemoved { name, removal } => {
                Some(format!("until {} `daylight repo restore {name}` brings it back", removal.restorable_until))
            }
            Error::HookUnproven(name) => {
                Some(format!("`daylight repo set {name} --hook-secret env:NAME` has senders sign, too"))
            }
            Error::HookSecretUnread(name) => {
                Some(format!("`daylight repo show {name}` says where it is; the server reads it, as the user it runs as"))
            }
            Error::HookForged(_) => Some("sign it with the repository's `hook_secret`: docs/hooks.md says how".into()),
            Error::NoSuchEvent(_) => Some(
                "newer ones took its place (`telemetry.events_recent_bytes`), or it is under way; the folder `events` has more".into(),
            ),
            Error::Repository(error) => error.hint(),
            Error::Store(error) => error.hint(),
            _ => None,
        }
    }
}
