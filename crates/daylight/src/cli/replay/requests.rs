//! From a recorded request to the request that is sent: with the client's own agent, and with what makes a server answer alike.

use super::recording::{Recorded, Recording};
use client::{Request, Secret};
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_NONE_MATCH, RANGE, USER_AGENT};
use http::{Method, StatusCode};

/// How the names of browsers begin.
const BROWSER: &str = "Mozilla/";
/// How the names of clients begin that ask for compressed answers wherever they do not ask for a range.
const COMPRESSED: [&str; 6] = ["bundler/", "Ruby, ", "RubyGems/", "Apache-Maven/", "Gradle/", BROWSER];

/// Makes requests for one server.
pub(super) struct Requests<'a> {
    pub(super) recording: &'a Recording,
    /// The URL of the server, without a slash at its end.
    pub(super) url: &'a str,
    pub(super) token: Option<Secret>,
}

impl Requests<'_> {
    /// The request of this place in the recording. It has the token where the recorded one had one.
    pub(super) fn at(&self, place: usize) -> Request {
        let recorded = &self.recording.requests[place];
        Request {
            method: if recorded.head { Method::HEAD } else { Method::GET },
            url: format!("{}{}", self.url, recorded.path),
            headers: headers(recorded, self.recording.text(recorded.agent)),
            token: self.token.clone().filter(|_| recorded.token),
            ..Request::default()
        }
    }
}

/// Events do not have the headers of requests. What the status tells of them is sent: a 304 needs a condition, and a 206 a range of as many
/// bytes.
fn headers(recorded: &Recorded, agent: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(agent)
        && !agent.is_empty()
    {
        headers.insert(USER_AGENT, value);
    }
    if agent.starts_with(BROWSER) {
        headers.insert(ACCEPT, HeaderValue::from_static("text/html,*/*;q=0.8"));
    }
    let status = StatusCode::from_u16(recorded.status).ok();
    let range = match status {
        Some(StatusCode::PARTIAL_CONTENT) => Some(format!("bytes=0-{}", recorded.bytes.max(1) - 1)),
        // No file is so long.
        Some(StatusCode::RANGE_NOT_SATISFIABLE) => Some(format!("bytes={}-", i64::MAX)),
        _ => None,
    };
    if let Some(range) = range.and_then(|range| HeaderValue::from_str(&range).ok()) {
        headers.insert(RANGE, range);
    } else if COMPRESSED.iter().any(|name| agent.starts_with(name)) {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if status == Some(StatusCode::NOT_MODIFIED) {
        headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::super::recording::Against;
    use super::*;

    /// The request that is sent for an event with these fields and the usual ones.
    fn sent(more: &str) -> Request {
        let text = format!(
            r#"{{"at":"2026-11-01T12:00:00Z","kind":"request","path":"/repository/m/a"{}{more}}}"#,
            if more.contains("method") { "" } else { r#","method":"GET""# }
        );
        let against = Against { url: "http://here.test", has_token: true };
        let recording = Recording::read(text.as_bytes(), against).unwrap();
        let token = Some(Secret::new("hush".to_owned()));
        Requests { recording: &recording, url: against.url, token }.at(0)
    }

    fn header(request: &Request, name: http::HeaderName) -> Option<&str> {
        request.headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[test]
    fn a_request_is_that_of_the_recorded_client() {
        let bundler = "bundler/2.6.9 rubygems/3.6.9 ruby/3.3.8";
        let request = sent(&format!(r#","status":200,"agent":"{bundler}","token":"ci""#));
        assert_eq!((&request.method, request.url.as_str()), (&Method::GET, "http://here.test/repository/m/a"));
        assert_eq!(header(&request, USER_AGENT), Some(bundler));
        assert_eq!((header(&request, ACCEPT_ENCODING), request.token.is_some()), (Some("gzip"), true));
        let request = sent(r#","method":"HEAD","status":404,"agent":"curl/8""#);
        assert_eq!((&request.method, request.token.is_none()), (&Method::HEAD, true));
        assert_eq!((header(&request, ACCEPT_ENCODING), header(&request, ACCEPT)), (None, None));
        // What no header can carry is left out.
        assert_eq!(header(&sent(r#","status":200,"agent":"a\nb""#), USER_AGENT), None);
    }

    #[test]
    fn a_status_that_needs_a_condition_or_a_range_gets_one() {
        assert_eq!(header(&sent(r#","status":304"#), IF_NONE_MATCH), Some("*"));
        let partial = sent(r#","status":206,"bytes_out":100,"agent":"bundler/2.6""#);
        assert_eq!((header(&partial, RANGE), header(&partial, ACCEPT_ENCODING)), (Some("bytes=0-99"), None));
        assert_eq!(header(&sent(r#","status":206"#), RANGE), Some("bytes=0-0"));
        assert_eq!(header(&sent(r#","status":416"#), RANGE), Some("bytes=9223372036854775807-"));
    }
}
