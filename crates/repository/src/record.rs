//! The settings of a repository in their stored form.
//!
//! The store keeps most of them byte for byte. So fields are only ever added, each at its place, and a field with its
//! default value is not written.

mod koji;
mod members_since;
mod policy;
mod retention;
pub(crate) mod tag_pattern;
mod upstream;

pub use koji::KojiRecord;
pub use policy::{Exception, ExceptionRecord, PolicyRecord};
pub use retention::Retention;
pub use upstream::RemoteRecord;

use serde::{Deserialize, Serialize};
use store::{RepositoryKind, Seq};
use telemetry::Millis;

/// The settings of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryRecord {
    /// Its name in URLs.
    pub name: String,
    /// The name of its format: `gem`, `maven`, `raw`.
    pub format: String,
    /// Hosted, remote or group.
    pub kind: RepositoryKind,
    /// Whether reading needs a token.
    pub private: bool,
    /// The names of a group's members, in order.
    #[serde(default)]
    pub members: Vec<String>,
    /// The names of the index protocols that are switched off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols_off: Vec<String>,
    /// Whether only the owners of a package may change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owners_enforced: bool,
    /// The last compaction of its index of lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_base: Option<IndexBase>,
    /// The format version of its index lines, if it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info_format: Option<String>,
    /// The upstream of a remote repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Box<RemoteRecord>>,
    /// The policy for the versions that a hosted repository accepts, if it does not accept all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// The name of the layout that the paths of a hosted repository follow, if it is not the one of its format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// Whether a published file may be replaced by one with other bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaceable: bool,
    /// Whether the folders of a tree of files are listed, if it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<bool>,
    /// The retention of the builds of a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// Cleanup keeps this many of the most recently published versions of each package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_versions: Option<u64>,
    /// Cleanup keeps what was used within this time, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_unused_s: Option<u64>,
    /// A reference to the secret of its hooks, never the secret: `env:NAME` or `file:PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_secret: Option<String>,
    /// Its policy, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<PolicyRecord>>,
    /// The names of packages that this repository claims: in every group they are its own, even if other members have
    /// them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// Since when each of `members` has had its place, in their order; see [`Self::member_since`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members_since: Vec<Millis>,
    /// When it was created.
    pub created: Millis,
    /// When it was removed. Its name is free from then on, and its content stays for a while.
    #[serde(default)]
    pub removed: Option<Millis>,
}

/// A compaction of an index of lines. The index keeps a summary of all lines up to a change, and later lines follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexBase {
    /// The last change whose line is in the summary. Later lines follow unchanged.
    pub through: Seq,
    /// When the index was compacted, as the index itself says.
    pub created: Millis,
}

impl RepositoryRecord {
    /// A repository without further settings.
    pub fn new(name: &str, format: &str, kind: RepositoryKind, created: Millis) -> Self {
        Self {
            name: name.to_owned(),
            format: format.to_owned(),
            kind,
            private: false,
            members: Vec::new(),
            protocols_off: Vec::new(),
            owners_enforced: false,
            index_base: None,
            info_format: None,
            remote: None,
            versions: None,
            layout: None,
            replaceable: false,
            listing: None,
            retention: None,
            keep_versions: None,
            keep_unused_s: None,
            hook_secret: None,
            policy: None,
            claims: Vec::new(),
            members_since: Vec::new(),
            created,
            removed: None,
        }
    }

    /// The hub whose builds it has, if it is a repository of Koji.
    pub fn koji(&self) -> Option<&KojiRecord> {
        self.remote.as_ref()?.koji.as_deref()
    }

    /// Reads a stored record.
    pub fn read(stored: &store::RepositoryRecord) -> Result<Self, store::Error> {
        let text = serde_json::to_string(stored).map_err(unreadable)?;
        serde_json::from_str(&text).map_err(unreadable)
    }

    /// The record as it is stored.
    pub fn stored(&self) -> Result<store::RepositoryRecord, store::Error> {
        let text = serde_json::to_string(self).map_err(unreadable)?;
        serde_json::from_str(&text).map_err(unreadable)
    }
}

fn unreadable(why: serde_json::Error) -> store::Error {
    store::Error::Row { seq: Seq(0), why: why.to_string() }
}

#[cfg(test)]
mod tests;
