//! The only reader of URLs: from a method and a path to a question, without I/O.

pub(crate) mod admin;
pub(crate) mod plain_http;
pub mod public_url;
mod site;

use crate::conformance::call::ConformanceCall;
use crate::error::{Error, Result};
use crate::hooks::HookCall;
use format::percent;
use front::PageUrl;
use http::Method;
use repository::{About, AsOf, Format, Question, Reading, RefusedUpload, Repository, Unread, moment};
use std::borrow::Cow;
use store::RepositoryKind;
use telemetry::Event;

pub use admin::{Admin, AdminVerb, OwnVerb, RepositoryVerb, ServerVerb};
pub use site::SiteUrl;

/// What a URL asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// Content of a repository, or an account there: see [`Content::read`].
    Content(Content),
    /// The admin API.
    Admin(Admin),
    /// A call of a conformance suite, for the repository of that name.
    Conformance(ConformanceCall, String),
    /// A hook that upstreams changed.
    Hook(HookCall),
    /// Is the process alive?
    Live,
    /// Can it answer?
    Ready,
    /// Its metrics.
    Metrics,
    /// A web page for people.
    Site(SiteUrl),
}

/// A path below a repository, decoded, without doubled slashes and without one at the beginning. That of a folder ends with a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The repository's name, not looked up yet.
    pub repository: String,
    /// The moment as of which it is seen; `None`: now.
    pub as_of: Option<AsOf>,
    /// The name as the URL has it, with the moment.
    pub segment: String,
    /// The path below it, with the query where the repository keeps it.
    pub path: String,
    /// The method.
    pub method: Method,
}

impl Content {
    /// Makes a query that the repository keeps a part of the path. `Err`: it cannot be kept, or would be lost. The error is told to
    /// clients that may read the repository.
    pub(crate) fn keep_query(&mut self, repository: &Repository, query: Option<&str>) -> Result<(), repository::Error> {
        let reads = matches!(self.method, Method::GET | Method::HEAD);
        let is_file = !self.path.is_empty() && !self.path.ends_with('/');
        let Some(query) = query.filter(|query| reads && is_file && !query.is_empty()) else { return Ok(()) };
        if repository.keeps_query(&self.path, query)? {
            self.path = format!("{}?{query}", self.path);
        }
        Ok(())
    }

    /// What the format of the repository, which is of this kind, reads in the method and the path. An account has no past, and reading one may make a key.
    pub fn read(&self, format: Format, kind: RepositoryKind) -> Result<Reading<Question<'_>>> {
        let reading = format.read(kind, self.method.as_str(), &self.path);
        let reading = reading.map_err(|allow| not_allowed(&self.method, allow))?;
        match reading.about {
            About::Account(_) if self.as_of.is_some() => {
                Err(Error::NoSuchRoute(Event::text(&format!("{}/{}", self.segment, self.path))))
            }
            _ => Ok(reading),
        }
    }

    /// Why the method and the path are no question.
    pub fn unread(&self, why: Unread, repository: &Repository) -> Error {
        match why {
            Unread::NoSuchPath => {
                let (path, format) = (Event::text(&self.path), repository.format.as_str());
                repository::Error::NoSuchPath { path, format }.into()
            }
            Unread::NotAllowed(allow) => not_allowed(&self.method, allow),
        }
    }
}

/// The capacity for the segments of a path. Most paths have fewer.
const SEGMENTS: usize = 16;

/// Whether it is a probe or asks for metrics: these are answered on reserved connections when all others are taken.
pub fn is_vital(method: &Method, raw: &str) -> bool {
    matches!(read(method, raw), Ok(Route::Live | Route::Ready | Route::Metrics))
}

/// Reads a request's method and raw path.
pub fn read(method: &Method, raw: &str) -> Result<Route> {
    let path = decode(raw).ok_or_else(|| Error::NoSuchRoute(Event::text(raw)))?;
    let mut segments = Vec::with_capacity(SEGMENTS);
    segments.extend(path.split('/').filter(|segment| !segment.is_empty()));
    let got = matches!(*method, Method::GET | Method::HEAD);
    if let ["repository", name, call] = segments[..]
        && *method == Method::POST
        && let Some(call) = ConformanceCall::read(call)
    {
        return Ok(Route::Conformance(call, name.to_owned()));
    }
    match segments.as_slice() {
        ["repository", name, below @ ..] => {
            let slash = if !below.is_empty() && path.ends_with('/') { "/" } else { "" };
            below_repository(method, name, below.join("/") + slash)
        }
        ["api", "v1", ..] => admin::read(method, &segments.split_off(2)).map(Route::Admin),
        ["hooks", below @ ..] => hook(method, below).unwrap_or_else(|| Err(Error::NoSuchRoute(Event::text(raw)))),
        ["health", "live"] if got => Ok(Route::Live),
        ["health", "ready"] if got => Ok(Route::Ready),
        ["metrics"] if got => Ok(Route::Metrics),
        ["health", "live" | "ready"] | ["metrics"] => Err(not_allowed(method, "GET, HEAD")),
        below => {
            site::read(method, below).unwrap_or_else(|| Err(Error::NoSuchRoute(Event::text(raw)))).map(Route::Site)
        }
    }
}

/// The key of a page. Below a repository only calls under `api` depend on a query, and raw files of upstreams; elsewhere it is left
/// out, so that made-up queries make no pages. `ignores`: whether the repository of a name ignores queries for files.
pub(crate) fn canon<'a>(path: &'a str, query: Option<&'a str>, ignores: impl Fn(&str) -> bool) -> PageUrl<'a> {
    // An escape may hide an `api`, or another name.
    let may_depend = |segment: &str| {
        let name = segment.split_once('@').map_or(segment, |(name, _)| name);
        path.contains("/api/") || path.contains('%') || !ignores(name)
    };
    let depends = |_: &&str| match path.strip_prefix("/repository/") {
        Some(below) => may_depend(below.split('/').next().unwrap_or(below)),
        None => true,
    };
    PageUrl { path: path.into(), query: query.filter(|query| !query.is_empty()).filter(depends) }
}

fn below_repository(method: &Method, segment: &str, path: String) -> Result<Route> {
    // Clients of Artifactory append properties to the name of the repository, too. No name has this character.
    if let Some((name, _)) = segment.split_once(';') {
        let below = format::tree::without_parameters(&path).unwrap_or_else(|| path.clone());
        let whole = |name: &str, path: &str| Event::text(&format!("/repository/{name}/{path}"));
        let (path, right) = (whole(segment, &path), whole(name, &below));
        return Err(repository::Error::from(RefusedUpload::Parameters { path, right }).into());
    }
    let (name, as_of) = match segment.split_once('@') {
        Some((name, moment)) => (name, Some(moment::as_of(moment)?)),
        None => (segment, None),
    };
    // No name has a `?`: in a path it would be taken for the beginning of a query.
    if path.contains('?') {
        return Err(Error::NoSuchRoute(Event::text(&format!("{segment}/{path}"))));
    }
    if as_of.is_some() && !matches!(*method, Method::GET | Method::HEAD) {
        return Err(not_allowed(method, "GET, HEAD"));
    }
    let (repository, segment) = (name.to_owned(), segment.to_owned());
    Ok(Route::Content(Content { repository, as_of, segment, path, method: method.clone() }))
}

/// A hook; `None`: no hook has this path.
fn hook(method: &Method, below: &[&str]) -> Option<Result<Route>> {
    let call = HookCall::read(below)?;
    Some(if *method == Method::POST { Ok(Route::Hook(call)) } else { Err(not_allowed(method, "POST")) })
}

fn not_allowed(method: &Method, allow: &'static str) -> Error {
    Error::MethodNotAllowed { method: Event::text(method.as_str()), allow: allow.into() }
}

/// The path with its percent-escapes decoded. `None` for paths that later code could understand in two ways: broken escapes,
/// an escaped slash, a control character, a `.` or `..` segment, bytes that are not UTF-8.
fn decode(raw: &str) -> Option<Cow<'_, str>> {
    let path = match raw.contains('%') {
        true => Cow::Owned(String::from_utf8(percent::decode(raw)?).ok()?),
        false => Cow::Borrowed(raw),
    };
    let odd = path.bytes().fold(false, |found, byte| found | byte.is_ascii_control() | (byte == b'\\'));
    let slashes = |text: &str| text.bytes().filter(|byte| *byte == b'/').count();
    let straight = !path.contains("/.") || path.split('/').all(|segment| segment != "." && segment != "..");
    let escaped = matches!(path, Cow::Owned(_)) && slashes(&path) != slashes(raw);
    (straight && !odd && !escaped).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn content(method: &Method, raw: &str) -> (String, String) {
        match read(method, raw) {
            Ok(Route::Content(content)) => (content.repository, content.path),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn doubled_slashes_collapse_as_gem_push_sends_them() {
        assert_eq!(content(&Method::POST, "/repository/gems//api/v1/gems"), ("gems".into(), "api/v1/gems".into()));
        assert_eq!(content(&Method::HEAD, "//repository/gems/"), ("gems".into(), String::new()));
        assert_eq!(content(&Method::GET, "/repository/gems/info/a%2Db"), ("gems".into(), "info/a-b".into()));
    }

    #[test]
    fn behind_an_at_stands_as_of_when() {
        let read = |method: &Method, raw: &str| read(method, raw);
        match read(&Method::GET, "/repository/gems@seq-7/info/a") {
            Ok(Route::Content(content)) => {
                assert_eq!((content.repository.as_str(), content.segment.as_str()), ("gems", "gems@seq-7"));
                assert_eq!(content.as_of, Some(AsOf::Change(store::Seq(7))));
            }
            other => panic!("{other:?}"),
        }
        for raw in ["/repository/gems@/", "/repository/gems@x/", "/repository/gems@seq-1@seq-2/"] {
            assert!(matches!(read(&Method::GET, raw), Err(Error::Repository(repository::Error::Input(_)))), "{raw}");
        }
        for method in [Method::GET, Method::PUT] {
            let refused = read(&method, "/repository/gems;x=1/a").unwrap_err().to_string();
            assert!(refused.contains("`;name=value`"), "{refused}");
        }
        for method in [Method::PUT, Method::POST, Method::DELETE] {
            let refused = read(&method, "/repository/gems@seq-7/a");
            assert!(matches!(refused, Err(Error::MethodNotAllowed { allow, .. }) if allow == "GET, HEAD"));
        }
    }

    #[test]
    fn an_account_has_no_past() {
        let read = |raw, format| match read(&Method::GET, raw) {
            Ok(Route::Content(content)) => content.read(format, RepositoryKind::Hosted).map(|reading| reading.cost),
            other => panic!("{other:?}"),
        };
        let key = read("/repository/gems@seq-7/api/v1/api_key", Format::Gem);
        assert!(matches!(key, Err(Error::NoSuchRoute(_))), "{key:?}");
        assert!(read("/repository/gems/api/v1/api_key", Format::Gem).is_ok());
        assert!(read("/repository/tools@seq-7/api/v1/api_key", Format::Raw).is_ok());
    }

    #[test]
    fn a_query_that_nothing_reads_stands_for_the_same_page() {
        let canon = |path, query| canon(path, Some(query), |name| name == "gems").query;
        assert_eq!(
            (canon("/repository/gems/info/rack", "x=1"), canon("/repository/gems@seq-1/names", "x=1")),
            (None, None)
        );
        assert_eq!(canon("/repository/gems/api/v1/dependencies", "gems=rack"), Some("gems=rack"));
        assert_eq!(canon("/repository/gems/%61pi/v1/dependencies", "gems=rack"), Some("gems=rack"));
        assert_eq!((canon("/repository/tools/a", "x=1"), canon("/repository/tools/a", "")), (Some("x=1"), None));
        assert_eq!(canon("/repository//gems/names", "x=1"), Some("x=1"));
        assert_eq!(canon("/api/v1/repositories", "after=a"), Some("after=a"));
    }

    #[test]
    fn the_path_of_a_folder_ends_with_a_slash_and_an_escaped_question_mark_is_in_none() {
        let path = |raw| content(&Method::GET, raw).1;
        assert_eq!((path("/repository/m/a/b"), path("/repository/m/a//b//")), ("a/b".into(), "a/b/".into()));
        assert_eq!((path("/repository/m"), path("/repository/m/")), (String::new(), String::new()));
        assert!(matches!(read(&Method::GET, "/repository/m/a%3Fb"), Err(Error::NoSuchRoute(_))));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_nothing() {
        for raw in [
            "/repository/g/..",
            "/repository/g/%2e%2e/x",
            "/repository/g/a%2fb",
            "/repository/g/%00",
            "/%",
            "/%zz",
            "/repository/g/%ff",
            "/repository/g/a\\b",
            "/repository/./x",
        ] {
            assert!(matches!(read(&Method::GET, raw), Err(Error::NoSuchRoute(_))), "{raw}");
        }
    }

    #[test]
    fn a_wrong_method_is_told_which_are_right() {
        for (raw, allow) in
            [("/metrics", "GET, HEAD"), ("/api/v1/tokens/x", "DELETE"), ("/api/v1/tokens", "GET, HEAD, POST")]
        {
            assert!(
                matches!(read(&Method::PUT, raw), Err(Error::MethodNotAllowed { allow: told, .. }) if told == allow),
                "{raw}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_path_makes_it_panic_or_step_outside(raw in "(/|[ -~]{0,12}|%[0-9a-f]{2}|\\.\\.){0,12}") {
            if let Ok(Route::Content(content)) = read(&Method::GET, &raw) {
                prop_assert!(content.path.split('/').all(|segment| segment != ".." && segment != "."));
            }
        }
    }
}
