//! What the journal says: facts, the state after each change. Readable for ever, so fields are only ever added.

use crate::PolicyRecord;
use serde::{Deserialize, Serialize};
use std::fmt;
use telemetry::Millis;

/// The number of a change, from one row that the writing transaction updates. The first is 1; 0 is "nothing yet".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// A repository for ever, whatever its name becomes: the number of the change that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepositoryId(pub u64);

/// SHA-256 of bytes: their name in the blob store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl std::str::FromStr for Digest {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        unhex(text).map(Self)
    }
}

impl TryFrom<String> for Digest {
    type Error = NotHex;

    fn try_from(text: String) -> Result<Self, NotHex> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// The text was not hexadecimal of the right length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not hexadecimal digits of the right length")]
pub struct NotHex;

pub(crate) fn unhex<const N: usize>(text: &str) -> Result<[u8; N], NotHex> {
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return Err(NotHex);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| NotHex)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| NotHex)?;
    }
    Ok(bytes)
}

/// Everything a client may ask about stored bytes, computed in one pass while they arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashes {
    /// Their name in the blob store.
    pub sha256: Digest,
    /// For Maven's `.sha512`, hexadecimal.
    pub sha512: String,
    /// For Maven's `.sha1`, hexadecimal.
    pub sha1: String,
    /// For `.md5`, hexadecimal.
    pub md5: String,
    /// How many bytes.
    pub size_bytes: u64,
}

impl Hashes {
    /// All digests of bytes at hand.
    pub fn of(bytes: &[u8]) -> Self {
        crate::blobs::hashes(bytes)
    }
}

/// Whether an entry is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Published.
    Live,
    /// Yanked or deleted: a tombstone. Its key can never carry other bytes.
    Withdrawn,
}

/// One published thing, as it is after its last change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What revisions are counted for: a gem's name; a Maven directory. A key is never in another unit later.
    pub unit: String,
    /// Unique in its repository: a gem's full name; a Maven path.
    pub key: String,
    /// Whether it is offered.
    pub state: State,
    /// When it was first published.
    pub published: Millis,
    /// When it last changed.
    pub changed: Millis,
    /// Its bytes.
    pub hashes: Hashes,
    /// What the format took out of it. Written and read by the format alone, which versions it.
    pub facts: serde_json::Value,
    /// The line this change appends to the repository's index, rendered once and never recomputed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

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

/// A token, after a change. Only the hash of its secret is ever known here.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its name; unique among those not revoked.
    pub name: String,
    /// Whose it is.
    pub owner: String,
    /// SHA-256 of the secret. Secrets have 256 random bits, so a slow hash would add nothing.
    pub hash: Digest,
    /// `read`, `write`, `delete`, `admin`: opaque here.
    pub scopes: Vec<String>,
    /// Names of the repositories it is for; empty: all.
    #[serde(default)]
    pub repositories: Vec<String>,
    /// Those repositories for ever, whatever their names become: a token is not good for another that takes a name.
    #[serde(default)]
    pub repository_ids: Vec<RepositoryId>,
    /// The one unit it may change; `None`: any. A key for one gem alone, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The hash of the token that it was made with. It ends with that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maker: Option<Digest>,
    /// The key of its one-time passwords (RFC 6238) in base64; `None`: it demands none. To check a password the key
    /// itself must be known, so this is the one secret that the journal holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otp: Option<String>,
    /// When it was made.
    pub created: Millis,
    /// When it stops to work.
    #[serde(default)]
    pub expires: Option<Millis>,
    /// Set when it was revoked.
    #[serde(default)]
    pub revoked: Option<Millis>,
}

impl fmt::Debug for TokenRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRecord").field("name", &self.name).field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// One change of what we answer for: the state after it. One journal row each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub enum Change {
    /// An entry was published, withdrawn or otherwise changed.
    Entry {
        /// Where.
        repository: RepositoryId,
        /// Its state now.
        entry: Entry,
    },
    /// What is known of a unit beside its entries became another: who owns a package, say.
    Unit {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
        /// What is known now; null: nothing. Written and read by who keeps repositories.
        facts: serde_json::Value,
    },
    /// Something of an upstream's was seen for the first time. It adds to what the rows of the same unit before it say, so a row has
    /// only what is new; or it says everything, and no row before it is read any more.
    FirstSeen {
        /// Where.
        repository: RepositoryId,
        /// Of which unit.
        unit: String,
        /// Whether it says everything that is known of the unit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        whole: bool,
        /// What is new. Written and read by who keeps repositories.
        seen: serde_json::Value,
    },
    /// A repository was made (`id` 0: takes this change's number), changed or removed.
    Repository {
        /// Which; 0 makes a new one.
        id: RepositoryId,
        /// Its settings now.
        record: RepositoryRecord,
    },
    /// A token was made, changed or revoked. Identified by its hash.
    Token {
        /// Its state now.
        record: TokenRecord,
    },
    /// A setting of the server.
    Setting {
        /// Its name.
        key: String,
        /// Its value now; null: back to the default.
        value: serde_json::Value,
    },
}

impl Change {
    /// Whether it says something, and not that nothing is known any more.
    pub(crate) fn tells(&self) -> bool {
        !matches!(self, Change::Unit { facts, .. } if facts.is_null())
    }
}
