//! The refusal of a change that another repository takes, with that repository.

use repository::{Format, VersionPolicy};
use telemetry::Reason;

/// A change that the repository does not take, and another one does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", self.text(), .target.as_ref().map(|target| format!(": publish to the hosted repository `{}`", target.name)).unwrap_or_default())]
pub struct Elsewhere {
    /// The repository's name.
    pub(crate) name: String,
    pub(crate) refusal: Refusal,
    /// Its format.
    pub(crate) format: Format,
    /// A hosted repository that takes the change, where the caller may know one.
    pub(crate) target: Option<PublishTarget>,
}

/// Why the repository does not take the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A group takes no changes.
    Group,
    /// A remote repository takes no changes.
    Remote,
    /// The version policy of a hosted repository refuses the version.
    Version {
        /// The version.
        version: String,
        /// The policy.
        policy: VersionPolicy,
    },
}

/// Where a change is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublishTarget {
    /// The repository's name.
    pub(crate) name: String,
    /// Its URL, without a slash at the end.
    pub(crate) url: String,
    /// The path below it that was asked for.
    pub(crate) path: String,
}

impl Elsewhere {
    fn text(&self) -> String {
        let name = &self.name;
        match &self.refusal {
            Refusal::Group => format!("`{name}` is a group of repositories, which takes no changes"),
            Refusal::Remote => format!("`{name}` is a remote repository, which takes no changes"),
            Refusal::Version { version, policy } => {
                format!("`{name}` takes {} only, and `{version}` is not one", policy.as_str())
            }
        }
    }

    /// The reason, for events and metrics.
    pub(crate) fn reason(&self) -> Reason {
        match self.refusal {
            Refusal::Group | Refusal::Remote => Reason::MethodNotAllowed,
            Refusal::Version { .. } => Reason::VersionRefused,
        }
    }

    /// The reason phrase.
    pub(crate) fn phrase(&self) -> &'static str {
        match &self.refusal {
            Refusal::Group => "a group takes no uploads; publish to one of its hosted members",
            Refusal::Remote => "a remote repository takes no uploads; publish to a hosted repository",
            Refusal::Version { policy: VersionPolicy::Snapshots, .. } => "this repository takes only snapshots",
            Refusal::Version { .. } => "this repository takes no snapshots",
        }
    }
}
