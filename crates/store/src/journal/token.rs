//! Tokens in the journal.

use crate::blobs::digest::Digest;
use crate::journal::record::RepositoryId;
use serde::{Deserialize, Serialize};
use std::fmt;
use telemetry::Millis;

/// A token after a change. The store never sees its secret, only the hash.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its name, unique among the tokens that are not revoked.
    pub name: String,
    /// The account that it belongs to.
    pub owner: String,
    /// SHA-256 of the secret. Secrets have 256 random bits, so a slow hash would add nothing.
    pub hash: Digest,
    /// `read`, `write`, `delete`, `admin`: opaque here.
    pub scopes: Vec<String>,
    /// Names of the repositories that it is valid for; empty: all.
    #[serde(default)]
    pub repositories: Vec<String>,
    /// The ids of those repositories. A token is not valid for another repository that takes over the name.
    #[serde(default)]
    pub repository_ids: Vec<RepositoryId>,
    /// The one unit that it may change; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The hash of the token that created it. Both are revoked together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maker: Option<Digest>,
    /// The key of its one-time passwords (RFC 6238) in base64; `None`: it requires none. Checking a password requires the key
    /// itself, so this is the one secret in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otp: Option<String>,
    /// When it was created.
    pub created: Millis,
    /// When it expires.
    #[serde(default)]
    pub expires: Option<Millis>,
    /// When it was revoked.
    #[serde(default)]
    pub revoked: Option<Millis>,
}

impl fmt::Debug for TokenRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRecord").field("name", &self.name).field("owner", &self.owner).finish_non_exhaustive()
    }
}
