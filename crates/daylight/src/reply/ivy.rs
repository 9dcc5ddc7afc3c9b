//! The requests by which Ivy asks, while it publishes, whether a checksum exists already.
//!
//! After each upload Ivy sends `HEAD` for the checksums of the file. If one exists, Ivy ends with "destination file exists and overwrite ==
//! false" before it uploads its own. This server computes checksums, so they exist as soon as the file does. For a minute after a
//! file was published, Ivy gets 404 for its checksums. After that Ivy finds them, and compares what it downloads.

use front::{Reply, Request};
use http::Method;
use http::header::{LAST_MODIFIED, USER_AGENT};
use repository::Ask;
use std::time::{Duration, UNIX_EPOCH};
use store::RepositoryKind;
use telemetry::Millis;

/// The `User-Agent` of Ivy begins so (`AbstractURLHandler.getUserAgent`).
const AGENT: &str = "Apache Ivy/";
/// Ivy uploads the checksums of a file within this time after the file.
const RECENT: Duration = Duration::from_secs(60);

/// Whether Ivy asks for a checksum because it is about to upload it.
pub(crate) fn is_about_to_upload(
    request: &Request,
    ask: &Ask<'_>,
    reply: &Reply,
    now: impl FnOnce() -> Millis,
) -> bool {
    request.method == Method::HEAD
        && ask.repository.record.kind == RepositoryKind::Hosted
        && ask.question.is_checksum()
        && request.headers.get(USER_AGENT).is_some_and(|agent| agent.as_bytes().starts_with(AGENT.as_bytes()))
        && is_recent(reply, now())
}

/// Whether the file of the reply was published a moment ago.
fn is_recent(reply: &Reply, now: Millis) -> bool {
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0).unwrap_or_default());
    let date = reply.headers.get(LAST_MODIFIED).and_then(|date| date.to_str().ok());
    date.and_then(|date| httpdate::parse_http_date(date).ok()).is_some_and(|published| now < published + RECENT)
}
