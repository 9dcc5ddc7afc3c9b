//! The types of settings about programs that get events and figures: an OpenTelemetry receiver, a statsd server.

use super::value::{Prefix, UpstreamUrl, Value};
use client::Datagrams;

/// The base URL of a receiver, without a slash at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiverUrl(pub Option<String>);

impl Value for ReceiverUrl {
    const EXPECTS: &'static str = "a URL without credentials, such as `http://127.0.0.1:4318`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        UpstreamUrl::parse(text).map(|UpstreamUrl(url)| Self(Some(url)))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

/// The name of an environment variable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableName(pub Option<String>);

impl Value for VariableName {
    const EXPECTS: &'static str = "the name of a variable, such as `OTLP_HEADERS`, and never the secret itself";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        Prefix::parse(text).map(|Prefix(name)| Self(Some(name)))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

/// A host and a port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPort(pub Option<String>);

impl Value for HostPort {
    const EXPECTS: &'static str = "a host and a port, such as `127.0.0.1:8125`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        Datagrams::new(text).ok().map(|_| Self(Some(text.to_owned())))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}
