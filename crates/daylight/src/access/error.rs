//! Why a request is not allowed, and why a token cannot be changed.

use super::otp::OtpError;
use repository::Scope;
use telemetry::Reason;

/// Why a request is not allowed, or a token cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A token is needed, and none was sent.
    #[error("{}", needed(*.scope, .repository.as_deref()))]
    CredentialsMissing {
        /// What it is needed for.
        scope: Scope,
        /// Where; `None`: the server as a whole.
        repository: Option<String>,
    },
    /// A token is needed to learn whether there is a repository of that name.
    #[error("`{0}` is private, or there is no such repository: a token is needed")]
    PrivateOrMissing(String),
    /// The credentials are no valid token.
    #[error("the token is not known here, has expired or was revoked")]
    CredentialsUnknown,
    /// A browser sent its stored credentials for a page of another site.
    #[error("this was sent by a page of another site")]
    CrossSite,
    /// Every page can make a browser send a GET with its stored credentials.
    #[error("a key is made with POST; a GET is for RubyGems before 3.2 alone")]
    OnlyPosted,
    /// The token demands a one-time password. `gem` prompts for it when the message begins like this.
    #[error("You have enabled multifactor authentication: {}", password_problem(.token, *.why))]
    Password {
        /// The token's name.
        token: String,
        /// Why the password was refused.
        why: OtpError,
    },
    /// Signing in needs a token.
    #[error("nobody is signed in: show a token as user name or password, or use one that has the scope already")]
    AccountMissing,
    /// The token lacks the scope. `gem` asks for a password and adds the scope when the message begins like this.
    #[error("The API key doesn't have access: token `{token}` may not {scope}{}", .repository.as_ref().map(|name| format!(" in `{name}`")).unwrap_or_default())]
    ScopeMissing {
        /// The token's name.
        token: String,
        /// What it lacks.
        scope: Scope,
        /// Where; `None`: the server as a whole.
        repository: Option<String>,
    },
    /// The token has the scope, but is not for this repository.
    #[error("token `{token}` is not for `{repository}`")]
    RepositoryNotNamed {
        /// The token's name.
        token: String,
        /// Where.
        repository: String,
    },
    /// The token is an admin's, but for some repositories, and this is about the server.
    #[error(
        "token `{0}` has the scope `admin` for certain repositories alone, and calls of the admin API are about the whole server"
    )]
    OnlyForRepositories(String),
    /// Only an admin may say when something was published elsewhere.
    #[error("token `{0}` may not say when a version was published elsewhere (`Daylight-Published`)")]
    OriginNotAllowed(String),
    /// A key would have a scope that the token does not have with which it is made.
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
    /// A token has that name already.
    #[error("there is a token `{0}` already")]
    TokenNameTaken(String),
    /// Somebody else changed the token meanwhile.
    #[error("others change the token at the same time")]
    TokenChanged,
    /// No token has the name.
    #[error("there is no token `{0}`")]
    NoSuchToken(String),
    /// A value does not have the right form.
    #[error("{0}")]
    Input(String),
    /// A repository could not answer.
    #[error(transparent)]
    Repository(#[from] repository::Error),
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The machine gives no random bits.
    #[error("the machine gives no randomness for a new token")]
    NoRandomness(#[from] getrandom::Error),
    /// A defect of ours.
    #[error("the work on this request was given up")]
    GivenUp,
}

fn password_problem(token: &str, why: OtpError) -> String {
    match why {
        OtpError::Missing => format!("token `{token}` demands a one-time password"),
        OtpError::Wrong => format!("this one-time password of token `{token}` is wrong, or was used"),
        OtpError::TooMany(seconds) => {
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
    /// The reason, for events and metrics.
    pub fn reason(&self) -> Reason {
        match self {
            Error::CredentialsMissing { .. } | Error::PrivateOrMissing(_) | Error::AccountMissing => {
                Reason::CredentialsMissing
            }
            Error::Password { why: OtpError::Missing, .. } => Reason::PasswordMissing,
            Error::Password { why: OtpError::Wrong, .. } => Reason::PasswordWrong,
            Error::Password { why: OtpError::TooMany(_), .. } => Reason::TooManyPasswords,
            Error::CredentialsUnknown => Reason::CredentialsUnknown,
            Error::CrossSite | Error::OnlyPosted => Reason::CrossSite,
            Error::ScopeMissing { .. }
            | Error::RepositoryNotNamed { .. }
            | Error::OnlyForRepositories(_)
            | Error::OriginNotAllowed(_)
            | Error::Wider { .. }
            | Error::NotItsMaker { .. } => Reason::ScopeMissing,
            Error::TokenNameTaken(_) | Error::TokenChanged => Reason::Conflict,
            Error::NoSuchToken(_) | Error::Input(_) => Reason::InputInvalid,
            Error::Repository(error) => error.reason(),
            Error::Store(error) => repository::store_reason(error),
            Error::NoRandomness(_) => Reason::Io,
            Error::GivenUp => Reason::Panicked,
        }
    }

    /// Whether the token is right, and its one-time password is not.
    pub(crate) fn is_of_password(&self) -> bool {
        matches!(self, Error::Password { .. })
    }

    /// The remedy, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::CredentialsMissing { .. } | Error::PrivateOrMissing(_) => {
                Some("`daylight token create` makes one; gem takes it in GEM_HOST_API_KEY, bundle in its config for the host".into())
            }
            Error::CredentialsUnknown => Some("`daylight token list` shows which there are".into()),
            Error::RepositoryNotNamed { .. } => Some("it is limited to others: `daylight token list` shows which".into()),
            Error::ScopeMissing { scope, .. } => Some(format!("use a token that has the scope `{scope}`")),
            Error::OnlyForRepositories(_) => {
                Some("use a token with the scope `admin` that was made without `--repository`".into())
            }
            Error::OriginNotAllowed(_) => {
                Some("use a token that has the scope `admin`, or upload without that header".into())
            }
            Error::AccountMissing => Some("`daylight token create` makes one".into()),
            Error::TokenChanged => Some("try again".into()),
            Error::Wider { .. } => Some("sign in with a token that has it, or ask for less".into()),
            Error::NotItsMaker { .. } => Some("sign in with the token the key was made with, or anew".into()),
            Error::Repository(error) => error.hint(),
            Error::Store(error) => error.hint(),
            _ => None,
        }
    }
}
