//! Why a request has no answer. One type with four readers: the client, the operator, the metric, the page. Only
//! `reply` knows what HTTP calls it.

use crate::access::Scope;
use crate::class::Class;
use telemetry::Reason;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No URL looks like that.
    #[error("there is nothing at `{0}`")]
    NoSuchRoute(String),
    /// The URL does not take the method.
    #[error("`{method}` is not for this URL; it takes {allow}")]
    MethodNotAllowed {
        /// What was used.
        method: String,
        /// What can be used, as `Allow` lists it.
        allow: &'static str,
    },
    /// A token is needed and none was shown.
    #[error("{}", needed(*.scope, .repository.as_deref()))]
    CredentialsMissing {
        /// What for.
        scope: Scope,
        /// Where; `None`: the server as a whole.
        repository: Option<String>,
    },
    /// What was shown is not a token that works.
    #[error("the token is not known here, has expired or was revoked")]
    CredentialsUnknown,
    /// A browser sends what it remembers of a person for somebody else's page.
    #[error("this was sent by a page of another site")]
    CrossSite,
    /// The token is good, but not for this.
    #[error("token `{token}` may not {scope}{}", .repository.as_ref().map(|name| format!(" in `{name}`")).unwrap_or_default())]
    ScopeMissing {
        /// The token's name.
        token: String,
        /// What it lacks.
        scope: Scope,
        /// Where; `None`: the server as a whole.
        repository: Option<String>,
    },
    /// The token is good for this, but not in this repository.
    #[error("token `{token}` is not for `{repository}`")]
    RepositoryNotNamed {
        /// The token's name.
        token: String,
        /// Where.
        repository: String,
    },
    /// A parameter or a body does not have the right form.
    #[error("{0}")]
    Input(String),
    /// The upload did not arrive as it should.
    #[error(transparent)]
    Upload(#[from] front::UploadError),
    /// The upload is not the form that it says it is.
    #[error(transparent)]
    Form(#[from] crate::multipart::Malformed),
    /// Too many of its kind at once.
    #[error("too many {} are under way", .0.doc())]
    Busy(Class),
    /// A token of that name is there.
    #[error("there is a token `{0}` already")]
    TokenNameTaken(String),
    /// No token has the name.
    #[error("there is no token `{0}`")]
    NoSuchToken(String),
    /// A repository could not answer.
    #[error(transparent)]
    Repository(#[from] repository::Error),
    /// The store could not.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The machine gives no random bits.
    #[error("the machine gives no randomness for a new token")]
    NoRandomness(#[from] getrandom::Error),
    /// A defect of ours.
    #[error("the work on this request was given up")]
    GivenUp,
}

fn needed(scope: Scope, repository: Option<&str>) -> String {
    match (scope, repository) {
        (Scope::Read, Some(name)) => format!("`{name}` is private: a token is needed to read it"),
        (Scope::Write, Some(name)) => format!("a token is needed to publish to `{name}`"),
        (Scope::Delete, Some(name)) => format!("a token is needed to withdraw from `{name}`"),
        _ => "a token with the scope `admin` is needed".to_owned(),
    }
}

impl Error {
    /// For the event and the metrics.
    pub fn reason(&self) -> Reason {
        match self {
            Error::NoSuchRoute(_) => Reason::NoSuchRoute,
            Error::MethodNotAllowed { .. } => Reason::MethodNotAllowed,
            Error::CredentialsMissing { .. } => Reason::CredentialsMissing,
            Error::CredentialsUnknown => Reason::CredentialsUnknown,
            Error::CrossSite => Reason::CrossSite,
            Error::ScopeMissing { .. } | Error::RepositoryNotNamed { .. } => Reason::ScopeMissing,
            Error::Input(_) | Error::Form(_) | Error::NoSuchToken(_) => Reason::InputInvalid,
            Error::Upload(front::UploadError::TooLarge { .. }) => Reason::TooLarge,
            Error::Upload(front::UploadError::TooSlow) => Reason::BodyTooSlow,
            Error::Upload(front::UploadError::Short) => Reason::BodyShort,
            Error::Busy(_) => Reason::BoundFull,
            Error::TokenNameTaken(_) => Reason::Conflict,
            Error::Repository(error) => error.reason(),
            Error::Store(error) => repository::store_reason(error),
            Error::NoRandomness(_) => Reason::Io,
            Error::GivenUp => Reason::Panicked,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::CredentialsMissing { .. } => {
                Some("`daylight token create` makes one; gem takes it in GEM_HOST_API_KEY, bundle in its config for the host".into())
            }
            Error::CredentialsUnknown => Some("`daylight token list` shows which there are".into()),
            Error::RepositoryNotNamed { .. } => Some("it is limited to others: `daylight token list` shows which".into()),
            Error::ScopeMissing { scope, .. } => Some(format!("use a token that has the scope `{scope}`")),
            Error::Busy(_) => Some("try again in a moment".into()),
            Error::Repository(error) => error.hint(),
            Error::Store(error) => error.hint(),
            _ => None,
        }
    }
}
