//! Changes of settings that take something away, and that the request does not confirm.

use crate::policy::hidden_hosted::HiddenHosted;
use crate::repositories::cached::Cached;

/// A change of settings that needs a confirmation. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unconfirmed {
    /// A change of the upstream's URL would delete cached files, and the request does not say whether it may.
    #[error(
        "the cache of `{name}` has {} files ({} bytes) of its present upstream, and drops them with another URL; {} of them ({} bytes) are \
         releases with verified checksums, which can be kept",
        cached.files, cached.size_bytes, cached.verified_files, cached.verified_bytes
    )]
    WouldLoseCached {
        /// The repository's name.
        name: String,
        /// The files in the cache.
        cached: Cached,
    },
    /// The rules of a group would hide versions of its hosted members.
    #[error("{}", hosted(name, hidden))]
    WouldHideHosted {
        /// The name of the group.
        name: String,
        /// The hosted members and versions.
        hidden: Box<HiddenHosted>,
    },
}

impl Unconfirmed {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::WouldLoseCached { .. } => {
                "`keep_cached` true keeps these releases, false drops all files (`daylight repo set`: `--keep-cached`, `--yes`)".into()
            }
            Self::WouldHideHosted { hidden, .. } => {
                let confirm = "`include_hosted` true confirms it (`daylight repo set`: `--include-hosted`)";
                match &hidden.remotes[..] {
                    [] => confirm.to_owned(),
                    remotes => format!("set it on {} instead, so that it hides no release of your own; {confirm}", listed(remotes)),
                }
            }
        }
    }
}

fn hosted(name: &str, hidden: &HiddenHosted) -> String {
    format!(
        "the policy of the group `{name}` would apply to {}: {}; nothing was changed",
        listed(&hidden.members),
        hidden.describe()
    )
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}
