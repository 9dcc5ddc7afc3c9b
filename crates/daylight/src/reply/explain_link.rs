//! The link to the explanation of a refused request, at the end of the text that clients print.

use crate::access;
use crate::error::Error;
use crate::reply::status;
use crate::route::{self, Content, Route};
use front::Request;
use http::{Method, StatusCode};
use repository::{Error as OfRepository, ServerUrl};
use web::Links;

/// Longest path that a link has, in bytes. People copy links from the output of a build.
const PATH_MAX: usize = 1024;

/// The link for a refused request: where a GET of the same path is explained and that explains the refusal. A caller who may not know
/// whether a private repository exists gets the same link for a name that does not exist.
pub(crate) fn of_refusal(error: &Error, request: &Request, server: &impl ServerUrl) -> Option<String> {
    let status = status::of(error);
    let met = [401, 403, 404, 409, 410].contains(&status.as_u16());
    let reads = matches!(request.method, Method::GET | Method::HEAD);
    // Of an upload the state of its path explains only that it is taken.
    let is_taken = request.method == Method::PUT && status == StatusCode::CONFLICT;
    if !met || !(reads || is_taken) || !explains(error) {
        return None;
    }
    let Ok(Route::Content(url)) = route::read(&request.method, request.path()) else { return None };
    // The calls of a gem server are no files.
    if url.path.starts_with("api/") { None } else { of_path(&url, server) }
}

/// The link for a path.
pub(crate) fn of_path(url: &Content, server: &impl ServerUrl) -> Option<String> {
    if url.path.is_empty() || url.path.len() > PATH_MAX {
        return None;
    }
    let links = Links::absolute(&server.url());
    Some(match url.segment.split_once('@') {
        Some((_, as_of)) => links.explain_as_of(&url.repository, &url.path, as_of),
        None => links.explain(&url.repository, &url.path),
    })
}

/// Whether the explanation of a path says more than the error.
fn explains(error: &Error) -> bool {
    use access::Error as E;
    match error {
        Error::Access(E::CrossSite | E::FormForged | E::OnlyPosted | E::Password { .. }) => false,
        Error::Access(_) => true,
        Error::Repository(error) => {
            !matches!(error, OfRepository::NoSuchRepository(_) | OfRepository::NoSuchPath { .. })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;
    use std::net::{IpAddr, Ipv4Addr};

    #[derive(Debug)]
    struct Here;

    impl ServerUrl for Here {
        fn url(&self) -> String {
            "http://here.test/prefix".into()
        }
    }

    fn link(method: Method, uri: &'static str, error: OfRepository) -> Option<String> {
        let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let request = Request::new(method, http::Uri::from_static(uri), HeaderMap::new(), client);
        of_refusal(&error.into(), &request, &Here)
    }

    #[test]
    fn a_link_names_the_path_and_nothing_in_the_path_ends_the_link() {
        let gone = || OfRepository::Removed("x".into());
        let get = |uri| link(Method::GET, uri, gone()).unwrap();
        assert_eq!(
            get("/repository/maven/org/a/1/a-1.jar"),
            "http://here.test/prefix/explain?repository=maven&path=org/a/1/a-1.jar"
        );
        assert_eq!(
            get("/repository/maven/a%20b%26path=x%23y"),
            "http://here.test/prefix/explain?repository=maven&path=a%20b%26path%3Dx%23y"
        );
        assert_eq!(
            get("/repository/maven@2026-11-01/a"),
            "http://here.test/prefix/explain?repository=maven&path=a&as_of=2026-11-01"
        );
    }

    #[test]
    fn an_explanation_that_would_say_nothing_more_is_not_linked() {
        let gone = || OfRepository::Removed("x".into());
        assert_eq!(link(Method::GET, "/repository/maven/", gone()), None);
        assert_eq!(link(Method::DELETE, "/repository/maven/a", gone()), None);
        assert_eq!(link(Method::GET, "/repository/gems/api/v1/gems/a.json", OfRepository::NoSuchPackage), None);
        assert_eq!(link(Method::GET, "/api/v1/tokens", gone()), None);
        assert_eq!(link(Method::GET, "/repository/none/a", OfRepository::NoSuchRepository("none".into())), None);
        assert!(link(Method::PUT, "/repository/maven/a", OfRepository::PathTaken("a".into())).is_some());
        assert_eq!(link(Method::PUT, "/repository/maven/a", gone()), None);
    }
}
