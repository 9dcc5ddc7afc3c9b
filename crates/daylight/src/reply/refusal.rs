//! The reply with an error: its form, its headers, and its text.

use super::phrase::phrase;
use super::{TEXT, asked_again, cache_headers, json, page, put};
use crate::access::{self, OtpError};
use crate::error::Error;
use crate::face::Words;
use crate::formats;
use crate::reply::audience::Audience;
use crate::reply::status;
use front::{Body, Reply, Request};
use http::StatusCode;
use http::header::{self, HeaderValue};
use repository::Ask;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use telemetry::{EventId, Millis, Reason};
use web::{Refusal, RefusalPage, Shell};

/// Longest reason phrase with a link, in bytes.
const PHRASE_MAX: usize = 600;
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
/// The challenge that makes `gem`, `bundle` and scripts in browsers send their credentials (RFC 7617 section 2).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Daylight\", charset=\"UTF-8\"");

/// The reply with an error, as a problem (RFC 9457), as text, or inside `shell` as a web page. The API answers with problems, and [`Audience::reads_problems`] has who else
/// is shown one. A 404 of a repository is always text: to the resolver of Maven 4.0.0-rc-4 a 404 that comes as a problem is a failure of
/// the transfer, and not a file that does not exist.
///
/// `why` is the URL of the explanation, with which the text ends.
pub(crate) fn refusal(
    error: &Error,
    (audience, shell): (Audience, Option<&Shell>),
    request: &Request,
    why: Option<&str>,
    (id, now): (EventId, Millis),
) -> Reply {
    let status = status::of(error);
    let mut reply = if request.path().starts_with("/api/") {
        problem(status, error, None, why, id)
    } else if let Some(shell) = shell {
        web_page(status, error, shell, why, id)
    } else if status != StatusCode::NOT_FOUND
        // Clients whose headers say more than their bytes read problems, in every format.
        && (audience.reads_problems() || (matches!(error, Error::Write(_)) && !audience.prints_bodies()))
    {
        problem(status, error, audience.words(), why, id)
    } else {
        plain(status, error, audience.words(), why, Some(id))
    };
    reply.phrase = phrase(error).map(|phrase| with_link(phrase, why.filter(|_| audience.shows_phrases())));
    let headers = &mut reply.headers;
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match error {
        Error::Access(access::Error::Password { why: OtpError::TooMany(seconds), .. }) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
        }
        _ if status == StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, if shell.is_some() { CHALLENGE_OF_PAGES } else { CHALLENGE });
        }
        Error::MethodNotAllowed { allow, .. } => {
            put(headers, header::ALLOW, allow.to_string());
        }
        Error::PlainHttp { .. } => {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        Error::Elsewhere(_) if status == StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        _ if status == StatusCode::SERVICE_UNAVAILABLE => {
            // A server that starts again needs some seconds.
            let restarts = matches!(error.reason(), Reason::TruthUnreachable | Reason::ObjectsAway);
            let usual_s = if restarts { 5 } else { 1 };
            let after_s = error.until().map_or(usual_s, |until| (until.0.saturating_sub(now.0) / 1000).max(1));
            headers.insert(header::RETRY_AFTER, HeaderValue::from(after_s));
        }
        _ => {}
    }
    reply
}

/// The reply that something is proven not to exist, until it is published. It may be a page, so its words are those of the format, and
/// `why` is a URL that is the same for all clients.
pub(crate) fn missing(error: &Error, ask: &Ask<'_>, why: Option<&str>) -> Reply {
    let mut reply = plain(status::of(error), error, None, why, None);
    reply.headers.insert(header::CACHE_CONTROL, asked_again(ask.repository.record.private));
    if let Error::Repository(error) = error
        && let Some(why) = error.stale()
    {
        cache_headers::mark_stale(&mut reply.headers, why);
    }
    reply
}

/// The challenge for a browser in which a person opened the URL. The page leads to the form to sign in; after a challenge that the browser
/// knows it would show a dialog in front of the page.
const CHALLENGE_OF_PAGES: HeaderValue = HeaderValue::from_static("Bearer realm=\"Daylight\"");

/// A reason phrase with the link, for clients that show nothing else. One that is too long for the status lines that proxies take has none.
fn with_link(phrase: &'static str, why: Option<&str>) -> Cow<'static, str> {
    match why {
        Some(why) if phrase.len() + why.len() <= PHRASE_MAX => format!("{phrase}; why: {why}").into(),
        _ => phrase.into(),
    }
}

/// The heading of the web page with an error.
pub(crate) fn heading(error: &Error) -> &'static str {
    let status = status::of(error);
    match status {
        StatusCode::UNAUTHORIZED => "Sign in to see this",
        StatusCode::FORBIDDEN => "This is not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::SERVICE_UNAVAILABLE => "The server is busy",
        StatusCode::INTERNAL_SERVER_ERROR => "The server failed",
        _ => status.canonical_reason().unwrap_or("This did not work"),
    }
}

/// For a browser in which a person opened the URL.
fn web_page(status: StatusCode, error: &Error, shell: &Shell, why: Option<&str>, id: EventId) -> Reply {
    let (message, hint) = (message(status, error, Some(id)), hint(error, None, Some(id)));
    let (why, event) = (why.map(str::to_owned), id.to_string());
    let refusal = Refusal { status: status.as_u16(), heading: heading(error), message, hint, why, event };
    match web::html(&RefusalPage { shell, refusal: &refusal }) {
        Ok(html) => Reply { status, ..page(html, true) },
        Err(_) => plain(status, error, None, refusal.why.as_deref(), Some(id)),
    }
}

fn plain(status: StatusCode, error: &Error, words: Words, why: Option<&str>, id: Option<EventId>) -> Reply {
    let mut body = message(status, error, id);
    if let Some(hint) = hint(error, words, id) {
        body.push_str("\nhint: ");
        body.push_str(&hint);
    }
    if let Some(why) = why {
        body.push_str("\nwhy: ");
        body.push_str(why);
    }
    body.push('\n');
    let mut reply = Reply::new(status).body(Body::Bytes(body.into()));
    reply.headers.insert(header::CONTENT_TYPE, TEXT);
    reply
}

/// RFC 9457.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Problem<'a> {
    #[serde(rename = "type")]
    class: String,
    title: &'static str,
    status: u16,
    /// The error, for people.
    detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    hint: Option<String>,
    /// The page that explains the answer, for a request below a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    explain: Option<&'a str>,
    /// The repository that takes the change, of a change that another one does not take.
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<Option<&'a str>>,
    /// The id under which the server recorded the request.
    event: String,
}

fn problem(status: StatusCode, error: &Error, words: Words, why: Option<&str>, id: EventId) -> Reply {
    let hint = hint(error, words, Some(id));
    let mut detail = message(status, error, Some(id));
    if formats::speaking(words).shows_details_only {
        hint.iter().for_each(|hint| detail.push_str(&format!("; hint: {hint}")));
        why.iter().for_each(|why| detail.push_str(&format!("; why: {why}")));
    }
    let repository = match error {
        Error::Elsewhere(elsewhere) => Some(elsewhere.target.as_ref().map(|place| place.name.as_str())),
        _ => None,
    };
    let problem = Problem {
        class: format!("about:blank#{}", error.reason().as_str()),
        title: status.canonical_reason().unwrap_or_default(),
        status: status.as_u16(),
        detail,
        hint,
        explain: why,
        repository,
        event: id.to_string(),
    };
    let mut reply = json(status, &serde_json::json!(problem));
    reply.headers.insert(header::CONTENT_TYPE, PROBLEM);
    reply
}

/// The remedy. Of a failure of an upstream, of the database or of object storage clients learn no cause, so it names the event, which has the
/// cause: many clients show no headers.
fn hint(error: &Error, words: Words, id: Option<EventId>) -> Option<String> {
    let is_of_others = matches!(error, Error::Repository(repository::Error::Upstream(_))) || error.withheld().is_some();
    error.hint(words).or_else(|| {
        let id = id.filter(|_| is_of_others)?;
        Some(format!("an administrator finds the cause with `daylight explain --event {id}`"))
    })
}

/// The message for the client. The cause of an internal failure is in the event only.
fn message(status: StatusCode, error: &Error, id: Option<EventId>) -> String {
    let under = id.map(|id| format!(" `{id}`")).unwrap_or_default();
    match status {
        StatusCode::INTERNAL_SERVER_ERROR if matches!(error, Error::Repository(repository::Error::Unsaved(_))) => {
            format!(
                "There was a problem saving your gem. Please try again.\nThe server's log has the cause, under the id{under}"
            )
        }
        // Only a caller who may see events gets this.
        StatusCode::INTERNAL_SERVER_ERROR if matches!(error, Error::Unreadable(_)) => error.to_string(),
        StatusCode::INTERNAL_SERVER_ERROR => {
            format!("Daylight failed to answer this request; its log has the cause, under the id{under}")
        }
        _ => error.shown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_has_a_link_that_fits_into_a_status_line() {
        assert_eq!(with_link("hidden", Some("http://a/explain")), "hidden; why: http://a/explain");
        assert_eq!(with_link("hidden", None), "hidden");
        assert_eq!(with_link("hidden", Some(&"x".repeat(PHRASE_MAX))), "hidden");
    }
}
