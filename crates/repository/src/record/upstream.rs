//! The stored settings of an upstream.

use crate::record::KojiRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The upstream that a remote repository stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Remote")]
pub struct RemoteRecord {
    /// The upstream, then its mirrors in the order in which they are asked. Without user or password. `rubygems` of a new data folder has
    /// none until one is named.
    #[schemars(default, length(max = 8))]
    pub urls: Vec<String>,
    /// A Koji hub, in place of `urls` (Maven).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub koji: Option<Box<KojiRecord>>,
    /// Where they are, on the server: `env:NAME` or `file:PATH`, with `user:password` or a token in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
    /// URL of the HTTP proxy on the way to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Where the proxy's are, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_credentials: Option<String>,
    /// Hosts that are reached without the proxy: names, each with all names below it, and addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub no_proxy: Option<Vec<String>>,
    /// Path of a PEM file with certificates that are trusted besides the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// Path of a PEM file with the certificate that is shown, and its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// What becomes of a file whose bytes do not match the upstream's checksums: it is refused (strict, as where nothing is said; so
    /// is a file whose `.sha1` cannot be had or read), it is taken and the event says so (warn), or they are not looked at
    /// (ignore).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["strict", "warn", "ignore", null]))]
    pub checksums: Option<String>,
    /// How long what may change is good before it is asked for again, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_s: Option<u64>,
    /// How long a file that is proven missing counts as missing, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_s: Option<u64>,
    /// How many bytes are kept; those used least go first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16_777_216))]
    pub max_bytes: Option<u64>,
    /// Whether groups ask it last for what its `.meta/prefixes.txt` does not have (Maven).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<bool>,
    /// What becomes of a request with a query, in a repository of raw files: it is refused (refuse, as where nothing is said), or the
    /// query is passed on and is a part of the name of the cached file (keep).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["refuse", "keep", null]))]
    pub query: Option<String>,
}

impl RemoteRecord {
    /// Whether it names an upstream. The one of a new data folder may name none yet.
    pub fn is_set(&self) -> bool {
        self.koji.is_some() || !self.urls.is_empty()
    }

    /// The URLs that are called.
    pub fn called_urls(&self) -> impl Iterator<Item = &String> {
        let koji = self.koji.iter().flat_map(|koji| [&koji.hub, &koji.files]);
        self.urls.iter().chain(koji)
    }

    /// The URLs that files come from. Credentials and the certificate go to their hosts only.
    pub fn file_urls(&self) -> impl Iterator<Item = &String> {
        self.urls.iter().chain(self.koji.iter().map(|koji| &koji.files))
    }
}
