//! The types a setting can have: how each is read from text, and how it is shown.

use crate::config::duration;
use front::{ClientFrom, Network};
use http::Uri;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use telemetry::ClientAddresses;
use telemetry::log::{Level, LineFormat};

/// A type that settings can have.
pub(super) trait Value: Sized {
    /// The form of the value, after the words "must be" in messages.
    const EXPECTS: &'static str;
    /// Whether it is a string in the file; else it is a number, or `true` or `false`.
    const QUOTED: bool;
    /// Whether it may also be of the other form.
    const EITHER: bool = false;
    /// Parses the value. `None`: the text does not have the right form.
    fn parse(text: &str) -> Option<Self>;
    /// The value as JSON.
    fn json(&self) -> serde_json::Value;
    /// The number, to compare it with the limits of its key.
    fn number(&self) -> Option<u64> {
        None
    }
}

impl Value for u64 {
    const EXPECTS: &'static str = "a whole number";
    const QUOTED: bool = false;

    fn parse(text: &str) -> Option<Self> {
        text.replace('_', "").parse().ok()
    }

    fn json(&self) -> serde_json::Value {
        (*self).into()
    }

    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

impl Value for usize {
    const EXPECTS: &'static str = "a whole number";
    const QUOTED: bool = false;

    fn parse(text: &str) -> Option<Self> {
        u64::parse(text).and_then(|number| number.try_into().ok())
    }

    fn json(&self) -> serde_json::Value {
        (*self).into()
    }

    fn number(&self) -> Option<u64> {
        u64::try_from(*self).ok()
    }
}

impl Value for bool {
    const EXPECTS: &'static str = "`true` or `false`";
    const QUOTED: bool = false;

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn json(&self) -> serde_json::Value {
        (*self).into()
    }
}

impl Value for Duration {
    const EXPECTS: &'static str = duration::EXPECTS;
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        duration::parse(text).ok()
    }

    fn json(&self) -> serde_json::Value {
        duration::show(*self).into()
    }
}

impl Value for SocketAddr {
    const EXPECTS: &'static str = "an address and a port, such as `127.0.0.1:8080` or `[::]:8080`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

/// An address to listen on, or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OptionalAddress(pub Option<SocketAddr>);

impl Value for OptionalAddress {
    const EXPECTS: &'static str = "an address and a port, such as `0.0.0.0:80` or `[::]:80`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(|address| Self(Some(address)))
    }

    fn json(&self) -> serde_json::Value {
        self.0.map(|address| address.to_string()).unwrap_or_default().into()
    }
}

impl Value for PathBuf {
    const EXPECTS: &'static str = "a path";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains('\0')).then(|| text.into())
    }

    fn json(&self) -> serde_json::Value {
        self.to_string_lossy().into()
    }
}

/// Implements [`Value`] for a type with a closed list of words.
macro_rules! words {
    ($type:ty, $expects:literal) => {
        impl Value for $type {
            const EXPECTS: &'static str = $expects;
            const QUOTED: bool = true;

            fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }

            fn json(&self) -> serde_json::Value {
                self.as_str().into()
            }
        }
    };
}

words!(Level, "`error`, `warn`, `info` or `debug`");
words!(LineFormat, "`text` or `json`");
words!(AccessLog, "`off`, `text` or `json`");
words!(JsonLines, "`off` or `on`");
words!(ClientAddresses, "`full`, `truncated` or `off`");
words!(ServerTiming, "`off`, `observe` or `on`");

words!(ClientFrom, "`connection`, `proxy-protocol`, `x-forwarded-for` or `forwarded`");

/// The URL at which clients reach the server, without a slash at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicUrl(pub Option<String>);

impl Value for PublicUrl {
    const EXPECTS: &'static str = "a URL without a path, such as `https://gems.example`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let url: Uri = text.parse().ok()?;
        let known = matches!(url.scheme_str(), Some("http" | "https")) && url.path() == "/" && url.query().is_none();
        let plain = url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        (known && plain).then(|| Self(Some(text.trim_end_matches('/').to_owned())))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

/// The URL of an upstream, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamUrl(pub String);

impl UpstreamUrl {
    /// The public mirror of Maven Central that Google hosts.
    pub(crate) fn maven_central() -> Self {
        Self("https://maven-central.storage-download.googleapis.com/maven2".to_owned())
    }
}

impl Value for UpstreamUrl {
    const EXPECTS: &'static str = "a URL, such as `https://repository.example/maven2`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let url: Uri = text.parse().ok()?;
        let known = matches!(url.scheme_str(), Some("http" | "https")) && url.query().is_none();
        let plain = url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        (known && plain).then(|| Self(text.trim_end_matches('/').to_owned()))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().into()
    }
}

/// The URL of an upstream, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionalUpstream(pub Option<UpstreamUrl>);

impl OptionalUpstream {
    /// The word for none.
    const NONE: &str = "none";

    /// The public index of gems.
    pub(crate) fn rubygems() -> Self {
        Self(Some(UpstreamUrl("https://rubygems.org".to_owned())))
    }
}

impl Value for OptionalUpstream {
    const EXPECTS: &'static str = "a URL, such as `https://gems.example`, or `none`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        if text == Self::NONE { Some(Self(None)) } else { UpstreamUrl::parse(text).map(|url| Self(Some(url))) }
    }

    fn json(&self) -> serde_json::Value {
        self.0.as_ref().map_or_else(|| Self::NONE.into(), Value::json)
    }
}

/// The prefix of names of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix(pub String);

impl Default for Prefix {
    fn default() -> Self {
        Self("UPSTREAM_".to_owned())
    }
}

impl Value for Prefix {
    const EXPECTS: &'static str = "the beginning of a variable's name, such as `UPSTREAM_`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        (!text.is_empty() && text.bytes().all(named)).then(|| Self(text.to_owned()))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().into()
    }
}

/// A list of networks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Networks(pub Vec<Network>);

impl Value for Networks {
    const EXPECTS: &'static str = "addresses and networks, such as `127.0.0.1, 10.0.0.0/8`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::parse).collect::<Result<_, _>>().ok().map(Self)
    }

    fn json(&self) -> serde_json::Value {
        self.0.iter().map(Network::to_string).collect::<Vec<_>>().join(", ").into()
    }
}

telemetry::closed_list! {
    /// Whether events are written to a file, as JSON lines.
    pub enum JsonLines {
        /// They are not.
        Off = "off",
        /// Each one is.
        On = "on",
    }
}

/// How many events are stored for each second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredPerSecond {
    /// The rate at which the events fit into the bytes for them.
    Auto,
    /// This number, beside the events that are stored whole.
    Number(u32),
}

impl StoredPerSecond {
    const MAX: u32 = 100_000;

    /// The number, if one is set.
    pub fn number(self) -> Option<u32> {
        match self {
            StoredPerSecond::Auto => None,
            StoredPerSecond::Number(number) => Some(number),
        }
    }
}

impl Value for StoredPerSecond {
    const EXPECTS: &'static str = "`auto` or a whole number from 1 to 100000";
    const QUOTED: bool = true;
    const EITHER: bool = true;

    fn parse(text: &str) -> Option<Self> {
        if text == "auto" {
            return Some(Self::Auto);
        }
        let number = u32::try_from(<u64 as Value>::parse(text)?).ok()?;
        (1..=Self::MAX).contains(&number).then_some(Self::Number(number))
    }

    fn json(&self) -> serde_json::Value {
        StoredPerSecond::number(*self).map_or_else(|| "auto".into(), Into::into)
    }
}

telemetry::closed_list! {
    /// Who gets the header `Server-Timing`.
    pub enum ServerTiming {
        /// No caller gets it.
        Off = "off",
        /// Callers who may observe the server.
        Observe = "observe",
        /// Every caller gets it.
        On = "on",
    }
}

/// Whether each request is logged, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLog {
    /// Requests are not logged.
    Off,
    /// Each request is logged in this form.
    On(LineFormat),
}

impl AccessLog {
    const ALL: &'static [AccessLog] =
        &[AccessLog::Off, AccessLog::On(LineFormat::Text), AccessLog::On(LineFormat::Json)];

    /// The word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            AccessLog::Off => "off",
            AccessLog::On(format) => format.as_str(),
        }
    }
}
