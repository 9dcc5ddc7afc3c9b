//! The errors of questions to repositories, one variant for each situation. Only `reply` maps them to HTTP.

pub(crate) mod hint;
pub(crate) mod purged;
pub(crate) mod query_refused;
pub(crate) mod refused_upload;
pub(crate) mod shadows;
mod store_reason;
pub(crate) mod unconfirmed;
pub(crate) mod unlisted;
pub(crate) mod unrestorable;

pub use store_reason::store_reason;

use format::gem::{Fault, Invalid};
use telemetry::{Millis, Reason};

/// What may fail with an [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a question to a repository.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No repository has the name.
    #[error("there is no repository `{0}`")]
    NoSuchRepository(String),
    /// The format defines no such path.
    #[error("`{path}` is not a path of a {format} repository")]
    NoSuchPath {
        /// The path below the repository.
        path: String,
        /// The format's name.
        format: &'static str,
    },
    /// A parameter of the request is missing or invalid.
    #[error("{0}")]
    Input(String),
    /// The repository has no gem of this name. The text is the one that users of `gem` know.
    #[error("This gem could not be found")]
    NoSuchPackage,
    /// The gem that a request wants to change does not exist. The text is the one that users of `gem` know; it differs
    /// from the one above.
    #[error("This rubygem could not be found.")]
    NoSuchGem,
    /// The package has no such version.
    #[error("The version {0} does not exist.")]
    NoSuchVersion(String),
    /// The version was yanked.
    #[error("`{0}` was yanked")]
    Withdrawn(String),
    /// The token is for one package, and this is about another.
    #[error("This API key cannot perform the specified action on this gem: token `{token}` is for `{package}` alone")]
    OnlyFor {
        /// The token's name.
        token: String,
        /// The package.
        package: String,
    },
    /// The uploaded bytes are not a valid package.
    #[error("{}", refused(.0))]
    Invalid(#[from] format::gem::Invalid),
    /// A change of settings takes something away, and the request does not confirm it.
    #[error(transparent)]
    Unconfirmed(#[from] unconfirmed::Unconfirmed),
    /// The name exists in another spelling. Clients that store files by name would confuse the two.
    #[error(
        "There was a problem saving your gem: `{name}` differs only in case from `{there}`, which has versions here"
    )]
    OtherCase {
        /// The name that was pushed.
        name: String,
        /// The existing name.
        there: String,
    },
    /// An upstream lists the same name in a group that has both repositories.
    #[error(transparent)]
    Shadows(#[from] shadows::Shadows),
    /// The package is valid, but storing it failed.
    #[error("{0}")]
    Unsaved(#[source] store::Error),
    /// The version exists with other bytes.
    #[error(
        "Repushing of gem versions is not allowed.\nPlease bump the version number and push a new different release \
         of `{0}`.\nhint: `gem yank` does not free a version; it stays taken"
    )]
    Taken(String),
    /// The version was yanked, so its number cannot be used again.
    #[error(
        "A yanked version already exists ({0}).\nRepushing of gem versions is not allowed. Please use a new version \
         and retry"
    )]
    TakenByWithdrawn(String),
    /// The version is there, so there is no yank to undo. The message is that of the public registry.
    #[error("The version {0} is already indexed.")]
    NotYanked(String),
    /// The gem has no such version. Calls that describe versions return this.
    #[error("This version could not be found.")]
    NoSuchGemVersion,
    /// Only owners may publish this gem.
    #[error("You do not have permission to push to this gem. Ask an owner to add you with: gem owner {0} --add EMAIL")]
    NotAnOwner(String),
    /// Only owners may yank this gem.
    #[error("You do not have permission to delete this gem.")]
    NotAnOwnerToWithdraw,
    /// No token has this owner name, and no owner of the gem has it.
    #[error("Owner could not be found.")]
    NoSuchOwner,
    /// The gem would be left without an owner who can name others.
    #[error("Unable to remove owner.")]
    LastOwner,
    /// The person owns the gem already.
    #[error("`{0}` owns the gem already")]
    OwnerAlready(String),
    /// The gem has the maximum number of owners.
    #[error("a gem has 100 owners at most")]
    TooManyOwners,
    /// Nothing is published at the path.
    #[error("there is no file `{0}` here")]
    NoSuchFile(String),
    /// The file at the path was deleted.
    #[error("`{0}` was deleted")]
    Removed(String),
    /// The layout has no such file, so nobody can publish it.
    #[error("`{0}` is not a path of the Maven layout")]
    NotInLayout(String),
    /// The server generates this file, so nobody can publish it.
    #[error("`{0}` is generated by the server from the published files, so nobody can upload it")]
    MadeHere(String),
    /// The version policy of the repository refuses this version.
    #[error("this repository takes {} only, and `{version}` is not one", .policy.as_str())]
    VersionRefused {
        /// The version.
        version: String,
        /// The version policy.
        policy: crate::maven::version_policy::VersionPolicy,
    },
    /// The path has other bytes, and published files never change.
    #[error("`{0}` is published already, with other bytes, and a published file never changes")]
    PathTaken(String),
    /// The path had other bytes and was deleted. It stays reserved.
    #[error("`{0}` was published with other bytes and deleted, and its path cannot be used for other bytes")]
    PathTakenByRemoved(String),
    /// The path exists in another spelling. Clients that store files by name would confuse the two.
    #[error("`{path}` differs only in case from `{there}`, which is published here")]
    PathInOtherCase {
        /// The path that was uploaded.
        path: String,
        /// The existing path.
        there: String,
    },
    /// The upload is refused for what it is, or for the place where it was sent.
    #[error(transparent)]
    RefusedUpload(refused_upload::RefusedUpload),
    /// The token is for another part of the tree.
    #[error("token `{token}` is for `{package}` alone")]
    NotForToken {
        /// The token's name.
        token: String,
        /// The part that the token is for.
        package: String,
    },
    /// Something that was removed cannot be restored.
    #[error(transparent)]
    Unrestorable(#[from] unrestorable::Unrestorable),
    /// The name is not valid for a repository.
    #[error(transparent)]
    BadName(#[from] crate::name::BadName),
    /// A repository of that name exists already.
    #[error("a repository named `{0}` exists already")]
    NameTaken(String),
    /// No format has the name.
    #[error("there is no format `{0}`")]
    NoSuchFormat(String),
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] crate::bad_setting::BadSetting),
    /// The query of a request would be lost, or cannot be kept.
    #[error(transparent)]
    Query(#[from] query_refused::QueryRefused),
    /// No index protocol has the name.
    #[error("there is no index protocol `{0}`")]
    NoSuchProtocol(String),
    /// The protocol is switched off in this repository.
    #[error("the index protocol `{}` is switched off here", .0.as_str())]
    ProtocolOff(crate::gem::protocol::Protocol),
    /// The request names more gems than one answer may have. The text is the one that users of Bundler know.
    #[error("Too many gems (use --full-index instead)")]
    TooManyNames,
    /// This version of Daylight does not support the request.
    #[error("{0}")]
    Unsupported(String),
    /// The as-of moment is in the future.
    #[error("{0} is in the future")]
    Future(String),
    /// The as-of moment is before the first record of the repository or file.
    #[error("nothing is known of `{what}` before {since}")]
    BeforeItsTime {
        /// The repository, or the file in it.
        what: String,
        /// The moment of the first record.
        since: Millis,
    },
    /// The file had other bytes at the as-of moment, and they are not stored here.
    #[error("the server no longer has the content of `{0}` at that moment")]
    Unkept(String),
    /// The bytes were deleted, because nothing referred to them for longer than the horizon.
    #[error("the bytes of `{0}` were deleted on {1}")]
    BytesDeleted(String, Millis),
    /// The file was purged.
    #[error(transparent)]
    Purged(#[from] purged::Purged),
    /// It is not known whether the file existed at the as-of moment: the budget for first-seen rows of the upstream was
    /// used up.
    #[error(
        "what the upstream of `{0}` had at that moment is not known: `upstream.first_seen_bytes`, the budget of each repository, was \
         used up"
    )]
    FirstSeenFull(String),
    /// Concurrent changes of the same thing made every attempt fail.
    #[error("too many other requests change `{0}` at the same time")]
    Contended(String),
    /// The upstream answered 404 or 410 for the path.
    #[error("there is no file `{path}` here")]
    Missing {
        /// The path below the repository.
        path: String,
        /// When the TTL of this negative answer ends.
        until: Millis,
    },
    /// No build in the tags of a Koji hub has the file.
    #[error(transparent)]
    Unlisted(#[from] unlisted::Unlisted),
    /// No hosted member has the file, and the group asks no upstream, because a hosted member has the name.
    #[error(
        "the group `{group}` has no file `{path}`: `{name}` was published in one of its hosted members, so it asks no upstream for that name"
    )]
    Guarded {
        /// The path below the group.
        path: String,
        /// The name: `org.example:lamp`.
        name: String,
        /// The group.
        group: String,
        /// The command that shares the name with upstreams; `None`: the name is private, so no upstream is asked in any case.
        share: Option<String>,
        /// When a negative answer of another upstream expires.
        until: Option<Millis>,
    },
    /// A policy hides the file. It may or may not exist.
    #[error("{0}")]
    Hidden(Box<crate::policy::hidden::Hidden>),
    /// No newer index of the upstream waits for acceptance.
    #[error("no change of the upstream index of `{0}` is held back")]
    NothingHeldBack(String),
    /// The upstream failed, so it is not known whether it has the file.
    #[error(transparent)]
    Upstream(#[from] crate::upstream::failure::Failure),
    /// Too many requests wait for upstreams already.
    #[error("too many requests wait for upstreams: {}", .0.0.doc())]
    TooManyWait(telemetry::Full),
    /// The answer needs a request to the upstream, and this caller makes none.
    #[error("only the upstream knows the answer, and it was not asked")]
    Unasked,
    /// The stored facts of an entry cannot be parsed.
    #[error("the database row of `{key}` cannot be read: {source}")]
    Unreadable {
        /// The entry's key.
        key: String,
        /// The parse error.
        source: serde_json::Error,
    },
    /// A part of an index in memory or in the data folder is damaged. The index is made again.
    #[error("its content cannot be decoded")]
    Undecodable,
    /// A defect of Daylight: the task that worked on the request ended without a result.
    #[error("the server gave up the work on this request because of a defect")]
    GivenUp,
    /// A defect of Daylight: an upload is missing, or an answer in a cache is not of the kind that the question needs.
    #[error("the server gave up the work on this request because of a defect")]
    Mismatched,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Why an upload is refused, in the words that begin such answers since `gem` prints them.
fn refused(invalid: &Invalid) -> String {
    match invalid.fault() {
        Fault::Package => format!(
            "Daylight cannot process this gem.\nPlease try rebuilding it and installing it locally to make sure it's \
             valid.\nError:\n{invalid}"
        ),
        Fault::Aliases => {
            format!("Pushing gems where there are aliases in the YAML gemspec is no longer supported.\n{invalid}")
        }
        Fault::Rule => format!("There was a problem saving your gem: {invalid}"),
        Fault::Platform => {
            format!("There was a problem saving your gem: the uploaded spec has {invalid}")
        }
    }
}

impl Error {
    /// For the event.
    pub fn reason(&self) -> Reason {
        match self {
            Error::NoSuchRepository(_) => Reason::NoSuchRepository,
            Error::Unrestorable(error) => error.reason(),
            Error::NoSuchPath { .. } => Reason::NoSuchRoute,
            Error::NoSuchPackage | Error::NoSuchGem => Reason::NoSuchPackage,
            Error::NoSuchVersion(_) => Reason::NoSuchVersion,
            Error::Withdrawn(_) | Error::Removed(_) => Reason::Withdrawn,
            Error::NoSuchFile(_) => Reason::NoSuchFile,
            Error::NotInLayout(_) | Error::MadeHere(_) => Reason::InputInvalid,
            Error::VersionRefused { .. } => Reason::VersionRefused,
            Error::PathTaken(_) | Error::PathTakenByRemoved(_) => Reason::VersionTaken,
            Error::PathInOtherCase { .. } => Reason::Conflict,
            Error::RefusedUpload(refused) => refused.reason(),
            Error::NoSuchGemVersion => Reason::NoSuchVersion,
            Error::NoSuchOwner => Reason::NoSuchOwner,
            Error::NotAnOwner(_) | Error::NotAnOwnerToWithdraw | Error::LastOwner => Reason::NotAnOwner,
            Error::OwnerAlready(_) | Error::TooManyOwners | Error::NotYanked(_) | Error::NothingHeldBack(_) => {
                Reason::Conflict
            }
            Error::OnlyFor { .. } | Error::NotForToken { .. } => Reason::ScopeMissing,
            Error::Invalid(error) if error.is_ours() => Reason::Io,
            Error::Invalid(error) => match error.fault() {
                Fault::Package | Fault::Aliases => Reason::PackageInvalid,
                Fault::Rule => Reason::RuleBroken,
                Fault::Platform => Reason::PlatformUnclear,
            },
            Error::Taken(_) | Error::TakenByWithdrawn(_) => Reason::VersionTaken,
            Error::ProtocolOff(_) => Reason::ProtocolOff,
            Error::BadName(_) | Error::NoSuchFormat(_) | Error::NoSuchProtocol(_) => Reason::InputInvalid,
            Error::Setting(_) | Error::Query(_) | Error::Future(_) | Error::Input(_) => Reason::InputInvalid,
            Error::BeforeItsTime { .. } => Reason::BeforeItsTime,
            Error::Unkept(_) | Error::BytesDeleted(..) => Reason::Unkept,
            Error::Purged(purged) => purged.reason(),
            Error::FirstSeenFull(_) => Reason::FirstSeenFull,
            Error::TooManyNames => Reason::TooLarge,
            Error::Unconfirmed(_) | Error::NameTaken(_) | Error::Contended(_) | Error::OtherCase { .. } => {
                Reason::Conflict
            }
            Error::Shadows(shadows) => shadows.reason(),
            Error::Unsupported(_) => Reason::Unsupported,
            Error::Hidden(_) => Reason::HiddenByPolicy,
            Error::Unreadable { .. } | Error::Undecodable => Reason::Io,
            Error::Missing { .. } | Error::Unlisted(_) | Error::Guarded { .. } => Reason::NoSuchFile,
            Error::Upstream(failure) => failure.reason,
            Error::TooManyWait(_) => Reason::WaitersFull,
            Error::Unasked => Reason::UpstreamUnasked,
            Error::GivenUp | Error::Mismatched => Reason::Panicked,
            Error::Store(error) | Error::Unsaved(error) => store_reason(error),
        }
    }

    /// Whether it proves that there is no such file, as far as the repository goes that says so.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(
            self,
            Error::NoSuchFile(_)
                | Error::Missing { .. }
                | Error::Unlisted(_)
                | Error::Guarded { .. }
                | Error::Removed(_)
                | Error::BeforeItsTime { .. }
        )
    }

    /// Until when it is the answer, where it ends by itself.
    pub fn fresh_until(&self) -> Option<Millis> {
        match self {
            Error::Missing { until, .. } => Some(*until),
            Error::Guarded { until, .. } | Error::Unlisted(unlisted::Unlisted { until, .. }) => *until,
            _ => None,
        }
    }

    /// From when on trying again may help, where that is known.
    pub fn until(&self) -> Option<Millis> {
        match self {
            Error::Upstream(failure) => failure.until,
            _ => None,
        }
    }
}

impl From<crate::policy::hidden::Hidden> for Error {
    fn from(hidden: crate::policy::hidden::Hidden) -> Self {
        Error::Hidden(Box::new(hidden))
    }
}

impl From<crate::write_conditions::FailedCondition> for Error {
    fn from(failed: crate::write_conditions::FailedCondition) -> Self {
        Error::RefusedUpload(failed.into())
    }
}
