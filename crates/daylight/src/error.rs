//! Why a request has no answer. One type with four readers: the client, the operator, the metric, the page. `status` has the
//! status of each error.

use crate::access::Refused;
use crate::class::Class;
use repository::Scope;
use std::borrow::Cow;
use telemetry::{EventId, Millis, Reason};

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
        allow: Cow<'static, str>,
    },
    /// A token is needed and none was shown.
    #[error("{}", needed(*.scope, .repository.as_deref()))]
    CredentialsMissing {
        /// What for.
        scope: Scope,
        /// Where; `None`: the server as a whole.
        repository: Option<String>,
    },
    /// A token is needed to learn whether there is a repository of that name.
    #[error("`{0}` is private, or there is no such repository: a token is needed")]
    PrivateOrMissing(String),
    /// What was shown is not a token that works.
    #[error("the token is not known here, has expired or was revoked")]
    CredentialsUnknown,
    /// A browser sends what it remembers of a person for somebody else's page.
    #[error("this was sent by a page of another site")]
    CrossSite,
    /// Any page can have a browser send a GET with what the browser remembers of a person.
    #[error("a key is made with POST; a GET is for RubyGems before 3.2 alone")]
    OnlyPosted,
    /// The token demands a password of the moment. `gem` prompts for it when the first words are these.
    #[error("You have enabled multifactor authentication: {}", wanted(.token, *.why))]
    Password {
        /// The token's name.
        token: String,
        /// What is wrong with what was shown.
        why: Refused,
    },
    /// Nobody can sign in without showing who it is.
    #[error("nobody is signed in: show a token as user name or password, or use one that has the scope already")]
    AccountMissing,
    /// The token is good, but not for this. `gem` asks for a password and adds the scope when the first words are these.
    #[error("The API key doesn't have access: token `{token}` may not {scope}{}", .repository.as_ref().map(|name| format!(" in `{name}`")).unwrap_or_default())]
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
    /// A key would be good for more than the token it is made with.
    #[error("token `{token}` cannot make a key with the scope `{scope}`, which it does not have itself")]
    Wider {
        /// The token's name.
        token: String,
        /// What it lacks.
        scope: Scope,
    },
    /// A key can only be changed by the token it was made with.
    #[error("key `{key}` was not made with token `{token}`")]
    NotItsMaker {
        /// The key's name.
        key: String,
        /// The token's name.
        token: String,
    },
    /// There is nothing to touch or look into; `gem` then asks for a code.
    #[error("there are no security devices here, only one-time passwords")]
    NoDevice,
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
    /// Too many of its kind at once of one client, or with one token: the others are for others.
    #[error("too many {} of this client or token are under way", .0.doc())]
    BusyForOne(Class),
    /// A token of that name is there.
    #[error("there is a token `{0}` already")]
    TokenNameTaken(String),
    /// No token has the name.
    #[error("there is no token `{0}`")]
    NoSuchToken(String),
    /// No event of that id is kept.
    #[error("the event `{0}` is not kept here")]
    NoSuchEvent(EventId),
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

fn wanted(token: &str, why: Refused) -> String {
    match why {
        Refused::Missing => format!("token `{token}` demands a one-time password"),
        Refused::Wrong => format!("this one-time password of token `{token}` is wrong, or was used"),
        Refused::TooMany(seconds) => {
            format!("too many wrong one-time passwords of token `{token}`; try again in {seconds} seconds")
        }
    }
}

fn needed(scope: Scope, repository: Option<&str>) -> String {
    match (scope, repository) {
        (Scope::Read, Some(name)) => format!("`{name}` is private: a token is needed to read it"),
        (Scope::Write, Some(name)) => format!("a token is needed to publish to `{name}`"),
        (Scope::Delete, Some(name)) => format!("a token is needed to withdraw from `{name}`"),
        (Scope::AddOwner | Scope::RemoveOwner | Scope::UpdateOwner, Some(name)) => {
            format!("a token is needed to change owners in `{name}`")
        }
        _ => "a token with the scope `admin` is needed".to_owned(),
    }
}

impl Error {
    /// For the event and the metrics.
    pub fn reason(&self) -> Reason {
        match self {
            Error::NoSuchRoute(_) | Error::NoDevice => Reason::NoSuchRoute,
            Error::MethodNotAllowed { .. } => Reason::MethodNotAllowed,
            Error::CredentialsMissing { .. } | Error::PrivateOrMissing(_) | Error::AccountMissing => {
                Reason::CredentialsMissing
            }
            Error::Password { why: Refused::Missing, .. } => Reason::PasswordMissing,
            Error::Password { why: Refused::Wrong, .. } => Reason::PasswordWrong,
            Error::Password { why: Refused::TooMany(_), .. } => Reason::TooManyPasswords,
            Error::CredentialsUnknown => Reason::CredentialsUnknown,
            Error::CrossSite | Error::OnlyPosted => Reason::CrossSite,
            Error::ScopeMissing { .. }
            | Error::RepositoryNotNamed { .. }
            | Error::Wider { .. }
            | Error::NotItsMaker { .. } => Reason::ScopeMissing,
            Error::Input(_) | Error::Form(_) | Error::NoSuchToken(_) | Error::NoSuchEvent(_) => Reason::InputInvalid,
            Error::Upload(front::UploadError::TooLarge { .. }) => Reason::TooLarge,
            Error::Upload(front::UploadError::TooSlow) => Reason::BodyTooSlow,
            Error::Upload(front::UploadError::Short) => Reason::BodyShort,
            Error::Busy(_) | Error::BusyForOne(_) => Reason::BoundFull,
            Error::TokenNameTaken(_) => Reason::Conflict,
            Error::Repository(error) => error.reason(),
            Error::Store(error) => repository::store_reason(error),
            Error::NoRandomness(_) => Reason::Io,
            Error::GivenUp => Reason::Panicked,
        }
    }

    /// From when on trying again may help, where that is known.
    pub fn until(&self) -> Option<Millis> {
        match self {
            Error::Repository(error) => error.until(),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::CredentialsMissing { .. } | Error::PrivateOrMissing(_) => {
                Some("`daylight token create` makes one; gem takes it in GEM_HOST_API_KEY, bundle in its config for the host".into())
            }
            Error::CredentialsUnknown => Some("`daylight token list` shows which there are".into()),
            Error::RepositoryNotNamed { .. } => Some("it is limited to others: `daylight token list` shows which".into()),
            Error::ScopeMissing { scope, .. } => Some(format!("use a token that has the scope `{scope}`")),
            Error::AccountMissing => Some("`daylight token create` makes one".into()),
            Error::Wider { .. } => Some("sign in with a token that has it, or ask for less".into()),
            Error::NotItsMaker { .. } => Some("sign in with the token the key was made with, or anew".into()),
            Error::Busy(_) => Some("try again in a moment".into()),
            Error::BusyForOne(_) => Some("try again in a moment; `server.client_share_percent` is the part of one".into()),
            Error::NoSuchEvent(_) => Some(
                "newer ones took its place (`telemetry.events_recent_bytes`), or it is under way; the folder `events` has more".into(),
            ),
            Error::Repository(error) => error.hint(),
            Error::Store(error) => error.hint(),
            _ => None,
        }
    }
}
