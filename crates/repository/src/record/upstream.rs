//! The stored settings of an upstream.

use serde::{Deserialize, Serialize};

/// The upstream of a remote repository, and how it is called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RemoteRecord {
    /// The base URLs: the upstream, then its mirrors in the order of attempts. At least one.
    pub urls: Vec<String>,
    /// A reference to the credentials, never the credentials: `env:NAME` or `file:PATH`. Their value is `user:password`
    /// or a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
    /// The URL of the HTTP proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// A reference to the credentials for the proxy, in the same form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_credentials: Option<String>,
    /// Hosts that are called without the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<Vec<String>>,
    /// The path of a PEM file with certificates that are trusted in addition to those of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// The path of a PEM file with the client certificate and its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// The policy for files that do not match their checksums, if it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<String>,
    /// The time to live of files that may change, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_s: Option<u64>,
    /// The time to live of negative answers, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_s: Option<u64>,
    /// Maximum size of its cached files, in bytes. The least recently used are evicted first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Whether groups use its list of path prefixes to decide which member to ask first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<bool>,
    /// What becomes of the queries of requests, if it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}
