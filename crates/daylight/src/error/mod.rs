//! Why a request has no answer. One type with four readers: the client, the operator, the metric, the page. `status` has the
//! status of each error.

mod hint;

use crate::access;
use crate::upload::elsewhere::Elsewhere;
use insight::NotAnswered;
use repository::RepositoryRemoval;
use std::borrow::Cow;
use telemetry::{EventId, Millis, Reason};

/// What may fail with an [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No URL has this path.
    #[error("no URL of this server is `{0}`")]
    NoSuchRoute(String),
    /// The URL does not take the method.
    #[error("this URL does not take the method `{method}`; it takes {allow}")]
    MethodNotAllowed {
        /// The method of the request.
        method: String,
        /// The methods of the URL, as in `Allow`.
        allow: Cow<'static, str>,
    },
    /// A change over plain HTTP, at a server that speaks TLS.
    #[error("this address is plain HTTP, where the method `{method}` is not taken")]
    PlainHttp {
        /// The method of the request.
        method: String,
        /// The URL with `https`, if the request names a valid host.
        url: Option<String>,
        /// Whether the request had credentials.
        sent_key: bool,
    },
    /// The repository does not take the change, and another one does.
    #[error(transparent)]
    Elsewhere(Box<Elsewhere>),
    /// The caller may not do that.
    #[error(transparent)]
    Access(access::Error),
    /// A hook for a repository whose hooks have no secret, from elsewhere and without a token that may write.
    #[error(
        "the hooks of `{0}` have no secret, so a hook is only taken from the server's own machine or with a token that has the scope `write`"
    )]
    HookUnproven(String),
    /// A hook that does not show that its sender knows the secret.
    #[error("the signature of this hook for `{0}` is missing or wrong")]
    HookForged(String),
    /// The secret of a repository's hooks cannot be read. Where it is, senders need not know.
    #[error("the server cannot read the secret of the hooks for `{0}`")]
    HookSecretUnread(String),
    /// There are no security devices. `gem` asks for a one-time password then.
    #[error("this server has one-time passwords and no security devices")]
    NoDevice,
    /// A parameter or a body does not have the right form.
    #[error("{0}")]
    Input(String),
    /// The upload did not arrive completely.
    #[error(transparent)]
    Upload(#[from] front::UploadError),
    /// The upload is not the form that its headers announce.
    #[error(transparent)]
    Form(#[from] crate::upload::multipart::Malformed),
    /// The request means another write than to store its bytes at its path, or its bytes are not the declared ones.
    #[error(transparent)]
    Write(#[from] crate::upload::write_refusal::WriteRefusal),
    /// Too many requests of its class are under way.
    #[error("too many {what} are under way")]
    Busy {
        /// The requests of which there are too many.
        what: &'static str,
        /// The setting that is the limit, where there is one.
        setting: Option<&'static str>,
    },
    /// Too many requests of its class by one client, or with one token, are under way.
    #[error("too many {what} of this client or token are under way")]
    BusyForOne {
        /// The requests of which there are too many.
        what: &'static str,
    },
    /// The question about events cannot be read.
    #[error(transparent)]
    Question(#[from] insight::Mistake),
    /// The question about events has no answer.
    #[error(transparent)]
    NotAnswered(#[from] NotAnswered),
    /// No application in front of which the server stands has this name.
    #[error("there is no application `{0}`")]
    NoSuchApp(String),
    /// No event with that id is kept.
    #[error("the server does not have the event `{0}`")]
    NoSuchEvent(EventId),
    /// All nodes were asked, and none has the event.
    #[error("none of the nodes has the event `{0}`; all of them answered")]
    EventOfNoNode(EventId),
    /// No node that answered has the event, and some did not answer.
    #[error("none of the nodes that answered has the event `{id}`; {silent}")]
    EventOfSilent {
        /// The id.
        id: EventId,
        /// The nodes that did not answer, and why.
        silent: String,
    },
    /// There is no finding with this id.
    #[error("there is no finding `{id}`")]
    NoSuchFinding {
        /// The id.
        id: String,
        /// The most similar id.
        nearest: Option<String>,
    },
    /// There is no receiver of alerts with this name.
    #[error("there is no receiver of alerts `{name}`")]
    NoSuchReceiver {
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The finding is not muted.
    #[error("the finding `{id}` is not muted")]
    NotMuted {
        /// The id.
        id: String,
        /// The most similar id of a muted finding.
        nearest: Option<String>,
    },
    /// The repository of that name was removed.
    #[error("there is no repository `{name}`: it was removed on {}", removal.at)]
    RepositoryRemoved {
        /// Its name.
        name: String,
        /// Its removal.
        removal: RepositoryRemoval,
    },
    /// Nothing of the package is known in this server, and its upstream may have it.
    #[error("nothing of `{package}` is known in `{repository}` yet, and this page calls no upstream{}", trouble.as_ref().map(|trouble| format!("; {trouble}")).unwrap_or_default())]
    NothingKnown {
        /// The repository.
        repository: String,
        /// The package.
        package: String,
        /// The failure of the upstream, in words for the caller.
        trouble: Option<String>,
    },
    /// A web page about a package that a repository does not have.
    #[error("`{repository}` has no versions of `{package}`")]
    NoPackage {
        /// The repository.
        repository: String,
        /// The package.
        package: String,
    },
    /// A repository could not answer.
    #[error(transparent)]
    Repository(#[from] repository::Error),
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Stored events cannot be read.
    #[error(transparent)]
    Unreadable(#[from] insight::Unreadable),
    /// A change of something that this node lacks, while it may lack changes of others.
    #[error("this node does not have what the request would change, and changes of other nodes may be missing here")]
    Unconfirmed,
    /// A bug in Daylight.
    #[error("the server gave up the work on this request because of a defect")]
    GivenUp,
    /// A web page cannot be rendered: a bug in Daylight.
    #[error("the page cannot be rendered: {0}")]
    NotRendered(web::NotRendered),
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
            Error::NoSuchApp(_) => Reason::NoSuchApp,
            Error::RepositoryRemoved { .. } => Reason::NoSuchRepository,
            Error::NothingKnown { .. } | Error::NoPackage { .. } => Reason::NoSuchPackage,
            Error::MethodNotAllowed { .. } | Error::PlainHttp { .. } => Reason::MethodNotAllowed,
            Error::Elsewhere(elsewhere) => elsewhere.reason(),
            Error::HookUnproven(_) => Reason::CredentialsMissing,
            Error::HookForged(_) => Reason::SignatureWrong,
            Error::HookSecretUnread(_) => Reason::UpstreamMisset,
            Error::Access(error) => error.reason(),
            Error::Input(_)
            | Error::Form(_)
            | Error::NoSuchEvent(_)
            | Error::EventOfNoNode(_)
            | Error::EventOfSilent { .. } => Reason::InputInvalid,
            Error::Question(_)
            | Error::NoSuchFinding { .. }
            | Error::NoSuchReceiver { .. }
            | Error::NotMuted { .. } => Reason::InputInvalid,
            Error::NotAnswered(NotAnswered::NoHandle(_) | NotAnswered::TooFew { .. }) => Reason::InputInvalid,
            Error::NotAnswered(NotAnswered::Busy(_) | NotAnswered::BusyForCaller(_) | NotAnswered::Stopped) => {
                Reason::BoundFull
            }
            Error::NotAnswered(NotAnswered::Failed) => Reason::Panicked,
            Error::Upload(front::UploadError::TooLarge { .. }) => Reason::TooLarge,
            Error::Upload(front::UploadError::TooSlow) => Reason::BodyTooSlow,
            Error::Upload(front::UploadError::Short) => Reason::BodyShort,
            Error::Write(refusal) => refusal.reason(),
            Error::Busy { .. } | Error::BusyForOne { .. } => Reason::BoundFull,
            Error::Repository(error) => error.reason(),
            Error::Store(error) => repository::store_reason(error),
            Error::Unconfirmed => Reason::TruthUnreachable,
            Error::Unreadable(_) => Reason::Io,
            Error::GivenUp | Error::NotRendered(_) => Reason::Panicked,
        }
    }

    /// Whether it says that something does not exist that another node may have made.
    pub(crate) fn is_absence(&self) -> bool {
        use Reason::{NoSuchFile, NoSuchOwner, NoSuchPackage, NoSuchRepository, NoSuchVersion, Withdrawn};
        let reasons = [NoSuchFile, NoSuchOwner, NoSuchPackage, NoSuchRepository, NoSuchVersion, Withdrawn];
        reasons.contains(&self.reason()) || matches!(self, Error::Access(access::Error::NoSuchToken(_)))
    }

    /// What clients are told instead of its text, which is for operators alone.
    pub(crate) fn withheld(&self) -> Option<&'static str> {
        use repository::Error::{Store, Unsaved};
        match self {
            Error::Repository(Store(error) | Unsaved(error)) | Error::Store(error) => error.withheld(),
            _ => None,
        }
    }

    /// The text for clients.
    pub fn shown(&self) -> String {
        self.withheld().map_or_else(|| self.to_string(), str::to_owned)
    }

    /// When another attempt may succeed, where that is known.
    pub fn until(&self) -> Option<Millis> {
        match self {
            Error::Repository(error) => error.until(),
            _ => None,
        }
    }
}
