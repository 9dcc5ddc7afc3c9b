//! Repositories and their settings, as the journal has them.

use crate::PolicyRecord;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// The number of a change. The first is 1; 0 means that there is none yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// Identifies a repository, whatever its name becomes: the number of the change that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepositoryId(pub u64);

/// The three kinds of repository. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RepositoryKind {
    /// Holds packages of its own.
    Hosted,
    /// Stands for one upstream.
    Remote,
    /// Joins others behind one URL.
    Group,
}

/// A repository's settings, after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryRecord {
    /// Its name in URLs.
    pub name: String,
    /// `gem`, `maven`: names a format; opaque here.
    pub format: String,
    /// Hosted, remote or group.
    pub kind: RepositoryKind,
    /// Whether reading needs a token.
    pub private: bool,
    /// Names of a group's members, in order.
    #[serde(default)]
    pub members: Vec<String>,
    /// Names of index protocols that are switched off; opaque here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols_off: Vec<String>,
    /// Whether only the owners of a package may change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owners_enforced: bool,
    /// Where its index of lines was last begun anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_base: Option<IndexBase>,
    /// Name of the form its index lines have, where that is not the usual one; opaque here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info_format: Option<String>,
    /// What a remote repository stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Box<RemoteRecord>>,
    /// Names which versions a hosted repository takes, where that is not all of them; opaque here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// Whether what is published may be published again with other bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaceable: bool,
    /// How much of what is published again and again is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// What of it may be seen, where that is not everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<PolicyRecord>>,
    /// When it was made.
    pub created: Millis,
    /// Set when it was removed: the name is free again, the content stays until the horizon.
    #[serde(default)]
    pub removed: Option<Millis>,
}

impl RepositoryRecord {
    /// One in which nothing is set yet.
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
            replaceable: false,
            retention: None,
            policy: None,
            created,
            removed: None,
        }
    }
}

impl RepositoryKind {
    /// All of them.
    pub const ALL: &'static [RepositoryKind] = &[RepositoryKind::Hosted, RepositoryKind::Remote, RepositoryKind::Group];

    /// Its name in settings, journal rows and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            RepositoryKind::Hosted => "hosted",
            RepositoryKind::Remote => "remote",
            RepositoryKind::Group => "group",
        }
    }
}

/// The upstream that a remote repository stands for, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RemoteRecord {
    /// Its base URLs: the upstream, then its mirrors in the order in which they are asked. At least one.
    pub urls: Vec<String>,
    /// Where the credentials for it are, never they themselves: `env:NAME` or `file:PATH` of `user:password` or a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
    /// URL of the HTTP proxy on the way to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Where the credentials for the proxy are, like those of the upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_credentials: Option<String>,
    /// Hosts that are reached without the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<Vec<String>>,
    /// Path of a PEM file with certificates that are trusted besides the machine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// Path of a PEM file with the certificate shown to it, and its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// Names what becomes of a file whose bytes are not those that it promises, where that is not the usual; opaque here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<String>,
    /// How long what may change is good before it is asked for again, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_s: Option<u64>,
    /// How long what is proven missing counts as missing, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_s: Option<u64>,
    /// How many bytes of it are kept; those used least go first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Whether what it says of the beginnings of all its paths tells groups whom to ask first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<bool>,
}

/// What of a version that is published again and again, as snapshots are, is kept: what satisfies the first or the second, and
/// always the newest. The third takes away whatever these keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Retention {
    /// The newest so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds: Option<u64>,
    /// Those younger than so many days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u64>,
    /// Nothing that was published before what it became has been out for so many days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_days: Option<u64>,
}

/// An index of lines that was begun anew: with what its lines up to a change come to, which they tell for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexBase {
    /// The last change whose line is in what it begins with; those after it follow as they are.
    pub through: Seq,
    /// The moment that the index says it was begun.
    pub created: Millis,
}
