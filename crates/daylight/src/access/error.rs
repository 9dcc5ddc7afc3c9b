//! Why a request is not allowed, and why a token cannot be changed.

use super::otp::OtpError;
use super::suggested_token::SuggestedToken;
use repository::Scope;
use telemetry::Reason;

/// Why a request is not allowed, or a token cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A token is needed, and none was sent.
    #[error("{}", needed(*.scope, .repository.as_deref()))]
    CredentialsMissing {
        /// The scope that the request needs.
        scope: Scope,
        /// The repository; `None`: the whole server.
        repository: Option<String>,
    },
    /// A token is needed to learn whether there is a repository of that name.
    #[error("`{name}` is a private repository, or does not exist: a token is needed")]
    PrivateOrMissing {
        /// The name.
        name: String,
        /// The scope that the request needs.
        scope: Scope,
    },
    /// The credentials are no valid token.
    #[error("the server does not know the token that was sent, or it has expired or was revoked")]
    CredentialsUnknown,
    /// Maven sent the name of an environment variable that is not set.
    #[error("the password is the text `${{env.{0}}}`: the variable is not set where Maven runs")]
    VariableUnset(String),
    /// An empty text stands where the token should.
    #[error(
        "the token is empty: no password was sent, and the user name, if there is one, is no token that the server knows"
    )]
    TokenEmpty,
    /// A browser sent its stored credentials for a page of another site.
    #[error("a page of another site made a browser send this request, so it is refused")]
    CrossSite,
    /// A form without the secret of the session.
    #[error("the form is not one of this session: its secret is missing or wrong")]
    FormForged,
    /// Every page can make a browser send a GET with its stored credentials.
    #[error("a key is made with POST; only RubyGems before 3.2 may use GET")]
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
    #[error("this request is about an account, and no token was sent")]
    AccountMissing,
    /// The token lacks the scope.
    #[error("{}", lacks(.token, *.scope, .repository.as_deref(), .signed_in.as_deref()))]
    ScopeMissing {
        /// The token's name.
        token: String,
        /// The scope that it lacks.
        scope: Scope,
        /// The repository; `None`: the whole server.
        repository: Option<String>,
        /// The token that would have it.
        suggested: Box<SuggestedToken>,
        /// Of a key that a client made by signing in: the token that it was made with, where that one has the scope. `gem` can then add the
        /// scope to the key.
        signed_in: Option<String>,
    },
    /// The token is not for this repository, which may not exist: a token for other repositories does not learn that.
    #[error("token `{token}` is limited to certain repositories, and `{repository}` is not one of them")]
    RepositoryNotNamed {
        /// The token's name.
        token: String,
        /// Where it would be used.
        repository: String,
        /// The token that would be for it.
        suggested: Box<SuggestedToken>,
    },
    /// The token has the scope, but for some repositories, and this is about the server.
    #[error(
        "token `{token}` has the scope `{scope}` in certain repositories only, and this call of the API is about the whole server"
    )]
    OnlyForRepositories {
        /// The token's name.
        token: String,
        /// The scope that the request needs.
        scope: Scope,
    },
    /// Only an admin may say when something was published elsewhere.
    #[error("token `{0}` may not say when a version was published elsewhere (`Daylight-Published`)")]
    OriginNotAllowed(String),
    /// A key would have a scope that the token does not have with which it is made.
    #[error("token `{token}` lacks the scope `{scope}`, so it cannot give it to a key")]
    Wider {
        /// The token's name.
        token: String,
        /// The scope that it lacks.
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
    #[error("a token named `{0}` exists already")]
    TokenNameTaken(String),
    /// Somebody else changed the token meanwhile.
    #[error("somebody else changed the token at the same time")]
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
    #[error("the operating system gave no random bytes for a new token")]
    NoRandomness(#[from] getrandom::Error),
    /// A bug in Daylight.
    #[error("the work on this request was given up")]
    GivenUp,
}

fn password_problem(token: &str, why: OtpError) -> String {
    match why {
        OtpError::Missing => format!("a change with token `{token}` needs a one-time password"),
        OtpError::Wrong => format!("this one-time password of token `{token}` is wrong, or was used before"),
        OtpError::TooMany(seconds) => {
            format!("too many wrong one-time passwords of token `{token}`; try again in {seconds} seconds")
        }
    }
}

fn needed(scope: Scope, repository: Option<&str>) -> String {
    match repository {
        Some(name) if scope == Scope::Read => format!("`{name}` is a private repository: a token is needed to read it"),
        Some(name) => format!("a token is needed to {} `{name}`", verb(scope)),
        None => format!("a token with the scope `{scope}` is needed"),
    }
}

/// `gem` asks for a password and adds the scope to its key when the message begins as that of a key does here, so no other does.
fn lacks(token: &str, scope: Scope, repository: Option<&str>, signed_in: Option<&str>) -> String {
    let needs = match repository {
        Some(name) => format!("which is needed to {} `{name}`", verb(scope)),
        None => "which this call of the API needs".to_owned(),
    };
    match signed_in {
        Some(maker) => format!(
            "The API key doesn't have access: key `{token}` lacks the scope `{scope}`, {needs}; token `{maker}`, with which it was made, has it"
        ),
        None => format!("token `{token}` lacks the scope `{scope}`, {needs}"),
    }
}

/// What a token with this scope does, before the name of a repository.
fn verb(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Write => "publish to",
        Scope::Delete => "yank or delete in",
        Scope::AddOwner | Scope::RemoveOwner | Scope::UpdateOwner => "change owners in",
        Scope::Observe => "observe",
        Scope::Admin => "administer",
    }
}

impl Error {
    /// The reason, for events and metrics.
    pub fn reason(&self) -> Reason {
        match self {
            Error::CredentialsMissing { .. } | Error::PrivateOrMissing { .. } | Error::AccountMissing => {
                Reason::CredentialsMissing
            }
            Error::Password { why: OtpError::Missing, .. } => Reason::PasswordMissing,
            Error::Password { why: OtpError::Wrong, .. } => Reason::PasswordWrong,
            Error::Password { why: OtpError::TooMany(_), .. } => Reason::TooManyPasswords,
            Error::CredentialsUnknown | Error::VariableUnset(_) | Error::TokenEmpty => Reason::CredentialsUnknown,
            Error::CrossSite | Error::FormForged | Error::OnlyPosted => Reason::CrossSite,
            Error::ScopeMissing { .. }
            | Error::RepositoryNotNamed { .. }
            | Error::OnlyForRepositories { .. }
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

    /// Whether something was sent that is no valid token. For what anyone may read it counts as nothing.
    pub(super) fn is_of_no_token(&self) -> bool {
        matches!(self, Error::CredentialsUnknown | Error::VariableUnset(_) | Error::TokenEmpty)
    }

    /// Whether no token is believed now.
    pub(crate) fn is_of_doubt(&self) -> bool {
        matches!(self, Error::Store(store::Error::TokensDoubted(_)))
    }

    /// Whether the token is right, and its one-time password is not.
    pub(crate) fn is_of_password(&self) -> bool {
        matches!(self, Error::Password { .. })
    }
}
