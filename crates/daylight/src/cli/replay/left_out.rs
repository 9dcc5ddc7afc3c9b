//! Which recorded requests are not sent again, and why. Only reads are.

use super::line::EventLine;
use crate::route::{self, Route};
use client::host_of;
use format::gem::{call, path};
use format::percent;
use http::{Method, Uri};
use telemetry::{Event, Layer, is_unseen};

/// Why a request is left out. The order is that of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeftOut {
    Change,
    Query,
    Api,
    Token,
    Part,
    Cut,
    Unanswered,
    Odd,
}

impl LeftOut {
    /// All of them.
    pub(super) const ALL: [LeftOut; 8] = [
        LeftOut::Change,
        LeftOut::Query,
        LeftOut::Api,
        LeftOut::Token,
        LeftOut::Part,
        LeftOut::Cut,
        LeftOut::Unanswered,
        LeftOut::Odd,
    ];

    /// Its key in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            LeftOut::Change => "change",
            LeftOut::Query => "query",
            LeftOut::Api => "api",
            LeftOut::Token => "token",
            LeftOut::Part => "part",
            LeftOut::Cut => "cut",
            LeftOut::Unanswered => "unanswered",
            LeftOut::Odd => "odd",
        }
    }

    /// Its text for people.
    pub(super) fn text(self) -> &'static str {
        match self {
            LeftOut::Change => "uploads, deletions and other changes: a replay only reads",
            LeftOut::Query => "searches and lists of dependencies: events do not have the queries",
            LeftOut::Api => "calls of the admin API and about accounts, and web pages",
            LeftOut::Token => "with a token, while DAYLIGHT_TOKEN is empty",
            LeftOut::Part => {
                "new ends of gem indexes: a client proves that it has the rest, and events do not have the proof"
            }
            LeftOut::Cut => "paths that the event has cut, or without a secret that they contained",
            LeftOut::Unanswered => "ended before there was an answer",
            LeftOut::Odd => "paths that cannot be sent",
        }
    }

    /// Why this request is left out of a replay against the server with this URL, which has no slash at its end. `None`: it is sent.
    pub(super) fn of(event: &EventLine<'_>, against: &str, has_token: bool) -> Option<Self> {
        if !matches!(&*event.method, "GET" | "HEAD") {
            return Some(LeftOut::Change);
        }
        if event.path.contains("***") || event.path.len() + 4 > Event::TEXT_MAX {
            return Some(LeftOut::Cut);
        }
        if !is_sendable(against, &event.path) {
            return Some(LeftOut::Odd);
        }
        // A recording may have been written by anybody, so what it says of its layer opens no call of the target's own.
        if names_key(&event.path) || matches!(route::read(&Method::GET, &event.path), Ok(Route::Admin(_))) {
            return Some(LeftOut::Api);
        }
        if !is_of_application(event)
            && let Some(why) = by_route(event)
        {
            return Some(why);
        }
        if event.status == 0 {
            return Some(LeftOut::Unanswered);
        }
        if is_end_of_index(event) {
            return Some(LeftOut::Part);
        }
        (!event.token.is_empty() && !has_token).then_some(LeftOut::Token)
    }
}

/// Whether an application answered, whose paths have another meaning.
fn is_of_application(event: &EventLine<'_>) -> bool {
    [Layer::App, Layer::AppCache, Layer::AppPages].iter().any(|layer| layer.as_str() == event.layer)
}

fn by_route(event: &EventLine<'_>) -> Option<LeftOut> {
    match route::read(&Method::GET, &event.path) {
        Ok(Route::Content(content)) => of_content(&content.path),
        Ok(Route::Admin(_) | Route::Site(_) | Route::Hook(_) | Route::Conformance(..)) => Some(LeftOut::Api),
        // Whatever is not found stays so, and is a part of the load.
        Ok(Route::Live | Route::Ready | Route::Metrics) | Err(_) => None,
    }
}

/// Whether a part of the path could be read as the call that makes keys, whatever is around it.
fn names_key(path: &str) -> bool {
    let parts = path.split('/').map(percent_decode);
    parts.into_iter().any(|part| part.split('.').next().is_some_and(|stem| stem.eq_ignore_ascii_case("api_key")))
}

/// Whether a part of the path leads upwards, in plain or encoded form. A proxy in front of the target may follow it.
fn climbs(path: &str) -> bool {
    path.split('/').any(|part| matches!(&*percent_decode(part), "." | ".."))
}

/// A part as a server decodes it; what cannot be decoded stays.
fn percent_decode(part: &str) -> String {
    percent::decode(part).map_or_else(|| part.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether only the end of a compact index was sent. Bundler sends the MD5 of the rest with its request.
fn is_end_of_index(event: &EventLine<'_>) -> bool {
    event.status == 206 && matches!(&*event.file, "versions" | "info" | "names")
}

/// By the path below a repository, of whatever format: elsewhere these paths are rare.
fn of_content(below: &str) -> Option<LeftOut> {
    // Reading a key may make one.
    if call::read_account(below).is_some() {
        return Some(LeftOut::Api);
    }
    let reads_query = matches!(
        call::read(below),
        Some((call::Call::Search | call::Call::Autocomplete | call::Call::TimeframeVersions, _))
    );
    (reads_query || matches!(path::read(below), Some(path::Question::Dependencies(_)))).then_some(LeftOut::Query)
}

/// Whether the path is one of this server in every reading: a request never leaves it.
fn is_sendable(against: &str, path: &str) -> bool {
    let odd = |c: char| is_unseen(c) || c.is_whitespace() || matches!(c, '\u{fffd}' | '?' | '#' | '\\');
    if !path.starts_with('/') || path.contains(odd) || climbs(path) {
        return false;
    }
    let url = format!("{against}{path}");
    let parsed: Option<Uri> = url.parse().ok();
    host_of(&url).is_some()
        && host_of(&url) == host_of(against)
        && parsed.is_some_and(|uri| uri.query().is_none() && uri.path().ends_with(path))
}

#[cfg(test)]
mod tests {
    use super::super::line::{self, Line};
    use super::*;
    use proptest::prelude::*;

    const AGAINST: &str = "http://here.test:8080";

    fn why(method: &str, path: &str, more: &str) -> Option<LeftOut> {
        let text = format!(
            r#"{{"at":"2026-11-01T12:00:00Z","kind":"request","method":"{method}","path":{},"status":200{more}}}"#,
            serde_json::to_string(path).unwrap()
        );
        match line::read(text.as_bytes()) {
            Some(Line::Event(event)) => LeftOut::of(&event, AGAINST, false),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_reads_are_sent_again_whose_whole_url_is_known() {
        let gem = |path: &str| why("GET", &format!("/repository/gems/{path}"), "");
        for path in ["versions", "info/rack", "gems/rack-3.0.gem", "api/v1/gems/rack.json", "", "nothing/such"] {
            assert_eq!(gem(path), None, "{path}");
        }
        for path in
            ["api/v1/dependencies", "api/v1/dependencies.json", "%61pi/v1/search.json", "api/v1/search/autocomplete"]
        {
            assert_eq!(gem(path), Some(LeftOut::Query), "{path}");
        }
        for path in [
            "api/v1/api_key",
            "api/v1/api%5fkey",
            "api//v1/api_key.json",
            "api/v1/api_key/",
            "/api/v1/api_key",
            "api/v1/%61pi_key/",
        ] {
            assert_eq!(gem(path), Some(LeftOut::Api), "{path}");
            let of_application = why("GET", &format!("/repository/gems/{path}"), r#","layer":"app""#);
            assert_eq!(of_application, Some(LeftOut::Api), "{path}");
        }
        assert_eq!(why("GET", "/api/v1/tokens", r#","layer":"app""#), Some(LeftOut::Api));
        for path in ["/", "/search", "/api/v1/tail", "/api/v1/nothing-that-there-is"] {
            assert!(matches!(why("GET", path, ""), Some(LeftOut::Api) | None), "{path}");
        }
        assert_eq!(why("GET", "/api/v1/tail", ""), Some(LeftOut::Api));
        assert_eq!(why("HEAD", "/health/live", ""), None);
        for method in ["PUT", "POST", "DELETE", "PATCH", "", "get"] {
            assert_eq!(why(method, "/repository/m/a", ""), Some(LeftOut::Change), "{method}");
        }
        assert_eq!(why("GET", "/repository/m/token=***", ""), Some(LeftOut::Cut));
        assert_eq!(why("GET", &format!("/repository/m/{}", "a".repeat(600)), ""), Some(LeftOut::Cut));
        assert_eq!(why("GET", "/repository/m/a", r#","token":"ci""#), Some(LeftOut::Token));
        assert_eq!(why("GET", "/search", r#","layer":"app""#), None);
        assert_eq!(why("GET", "/repository/gems/info/rack", r#","file":"info""#), None);
    }

    #[test]
    fn the_new_end_of_an_index_is_not_sent_again_and_a_part_of_a_file_is() {
        let partial = |file: &str| {
            let text = format!(
                r#"{{"at":"2026-11-01T12:00:00Z","kind":"request","method":"GET","path":"/repository/gems/a","status":206,"file":"{file}"}}"#
            );
            match line::read(text.as_bytes()) {
                Some(Line::Event(event)) => LeftOut::of(&event, AGAINST, false),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(["versions", "info", "names"].map(partial), [Some(LeftOut::Part); 3]);
        assert_eq!((partial("gem"), partial("file")), (None, None));
    }

    #[test]
    fn a_path_that_could_lead_elsewhere_is_not_sent() {
        for path in [
            "http://elsewhere.test/a",
            "elsewhere.test/a",
            "@elsewhere.test/a",
            ":81/a",
            "",
            "/a b",
            "/a\r\nHost: elsewhere.test",
            "/a\u{202e}",
            "/a?b",
            "/a#b",
            "\\\\elsewhere.test\\a",
            "/..//../api/v1/tokens",
            "/repository/maven/%2e%2e/a",
            "/%2e/a",
        ] {
            assert_eq!(why("GET", path, ""), Some(LeftOut::Odd), "{path:?}");
        }
        for path in ["//elsewhere.test/a", "/@elsewhere.test/a", "/a%0d%0aHost:x", "/%2e%2ea/b"] {
            assert!(is_sendable(AGAINST, path) && host_of(&format!("{AGAINST}{path}")) == host_of(AGAINST), "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_server(path in "(/|@|:|\\?|#|%[0-9a-f]{2}|\\PC{0,4}|[a-z.]{0,8}){0,9}") {
            if is_sendable(AGAINST, &path) {
                prop_assert_eq!(host_of(&format!("{AGAINST}{path}")), host_of(AGAINST));
                prop_assert!(!path.contains(char::is_whitespace));
            }
        }
    }
}
