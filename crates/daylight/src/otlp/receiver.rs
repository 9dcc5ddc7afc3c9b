//! The receiver: where requests of OTLP go, with which headers, and what its responses mean (OTLP 1.x, OTLP/HTTP).

use super::proto::Response as Answer;
use bytes::Bytes;
use client::{ClientOptions, Connection, Secret, Trust};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use prost::Message;
use std::io::Write;
use std::time::Duration;
use telemetry::Millis;

/// How long a request may take, as the exporters of OpenTelemetry have it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest response that is read. It tells only what was rejected.
const ANSWER_MAX_BYTES: u64 = 64 << 10;
/// The longest pause that a receiver can ask for.
const PAUSE_MAX: Duration = Duration::from_secs(600);

/// Where requests go. Headers may have secrets, so it cannot be printed.
#[derive(Clone)]
pub(super) struct Receiver {
    url: String,
    headers: HeaderMap,
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The result of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It was taken, but for so many spans or points.
    Taken { rejected: u64 },
    /// It must not be sent again.
    Refused { why: String },
    /// It may be sent again, after this pause if the receiver asks for one.
    Away { why: String, pause: Option<Duration> },
}

impl Receiver {
    /// The receiver at a base URL. `headers`: the text of the variable that the setting names.
    ///
    /// # Errors
    /// If the text is not `key=value,...`. The message does not repeat it.
    pub(super) fn new(url: &str, headers: Option<&Secret>) -> Result<Self, &'static str> {
        let headers = headers.map(|text| read_headers(text.expose())).transpose()?.unwrap_or_default();
        Ok(Self { url: url.trim_end_matches('/').to_owned(), headers })
    }

    /// The base URL.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// A connection for one kind of requests.
    pub(super) fn connection() -> Connection {
        Connection::new(ClientOptions {
            connect_timeout: TIMEOUT,
            total_timeout: TIMEOUT,
            max_body_bytes: ANSWER_MAX_BYTES,
            trust: Trust::MACHINE,
        })
    }

    /// Sends a compressed request to `path`: `/v1/traces` or `/v1/metrics`.
    pub(super) async fn send(&self, connection: &mut Connection, path: &str, body: Bytes, now: Millis) -> Sent {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        let (url, body) = (format!("{}{path}", self.url), body.into());
        let request = client::Request { method: Method::POST, url, headers, token: None, body };
        match connection.call(request).await {
            Ok(response) => read(&response, now),
            // Without a response it is unknown whether the request was taken. The protocol says to send it again.
            Err(error) => Sent::Away { why: error.to_string(), pause: None },
        }
    }
}

/// Compresses a message. Level 1: the receiver is usually near.
pub(super) fn compressed(message: &impl Message) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing into memory does not fail.
    let _ = encoder.write_all(&message.encode_to_vec());
    encoder.finish().unwrap_or_default().into()
}

/// The meaning of a response: 429, 502, 503 and 504 ask for the same request later, and other errors do not.
fn read(response: &client::Response, now: Millis) -> Sent {
    let status = response.status.as_u16();
    if response.status.is_success() {
        // A body that cannot be read says nothing about rejected items.
        let answer = Answer::decode(response.body.clone()).unwrap_or_default();
        let rejected = answer.partial_success.map_or(0, |partial| partial.rejected);
        return Sent::Taken { rejected: u64::try_from(rejected).unwrap_or(0) };
    }
    let why = format!("status {status}");
    if !matches!(status, 429 | 502..=504) {
        return Sent::Refused { why };
    }
    let pause = response.headers.get(RETRY_AFTER).and_then(|text| client::retry_after(text.to_str().ok()?, now));
    Sent::Away { why, pause: pause.map(|pause| pause.min(PAUSE_MAX)) }
}

/// Reads `key=value,...` (OTEL_EXPORTER_OTLP_HEADERS: W3C Baggage without properties, values percent-encoded).
fn read_headers(text: &str) -> Result<HeaderMap, &'static str> {
    let mut headers = HeaderMap::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').ok_or("a part has no `=`")?;
        let name: HeaderName = name.trim().parse().map_err(|_| "a part has no name of a header before `=`")?;
        let decoded = format::percent::decode(value.trim()).ok_or("a value is not percent-encoded correctly")?;
        let mut value = HeaderValue::from_bytes(&decoded).map_err(|_| "a value cannot be sent as a header")?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if headers.is_empty() { Err("it has no `key=value`") } else { Ok(headers) }
}

#[cfg(test)]
mod tests;
