//! The URLs whose stored responses a request outdates (RFC 9111, 4.4): a change that succeeded, of its own URL and of the URLs that the
//! response names in `Location` and `Content-Location`, if they have the same host.

use http::{HeaderMap, Method, StatusCode, Uri, header};

/// Whether a request with this method and this answer may have changed something. A method that is not known may have.
pub(crate) fn outdates(method: &Method, status: StatusCode) -> bool {
    let safe = [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE].contains(method);
    !safe && (status.is_success() || status.is_redirection())
}

/// The paths and queries of other URLs that the answer names. `target`: that of the request.
pub(crate) fn others(headers: &HeaderMap, host: &str, target: &str) -> Vec<String> {
    let named =
        [header::LOCATION, header::CONTENT_LOCATION].into_iter().filter_map(|name| headers.get(name)?.to_str().ok());
    named.filter_map(|url| resolved(url, host, target)).filter(|other| other != target).collect()
}

/// The path and query of a reference, if it has this host (RFC 3986, 5.2).
fn resolved(url: &str, host: &str, target: &str) -> Option<String> {
    let url = url.split('#').next().unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    if url.is_empty() {
        return None;
    }
    if let Some(rest) = url.strip_prefix("//") {
        return of_host(&format!("http://{rest}"), host);
    }
    if url.starts_with('/') {
        return Some(url.to_owned());
    }
    if url.split(['/', '?']).next().is_some_and(|first| first.contains(':')) {
        return of_host(url, host);
    }
    if url.starts_with('?') {
        return Some(format!("{path}{url}"));
    }
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    let (relative, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let mut parts = relative.split('/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            "." if is_last => folders.push(""),
            "." => {}
            ".." => {
                if folders.len() > 1 {
                    folders.pop();
                }
                if is_last {
                    folders.push("");
                }
            }
            part => folders.push(part),
        }
    }
    let path = folders.join("/");
    Some(match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    })
}

fn of_host(url: &str, host: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    let named = url.authority().filter(|_| matches!(url.scheme_str(), Some("http" | "https")))?;
    let bare = |host: &str| {
        host.strip_suffix(":80").or_else(|| host.strip_suffix(":443")).unwrap_or(host).to_ascii_lowercase()
    };
    (bare(named.as_str()) == bare(host)).then(|| url.path_and_query().map_or("/", |both| both.as_str()).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_succeeded_outdates_and_a_read_or_a_failure_does_not() {
        let unknown = Method::from_bytes(b"M-SEARCH").unwrap();
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH, unknown] {
            assert!(outdates(&method, StatusCode::OK) && outdates(&method, StatusCode::FOUND), "{method}");
            assert!(!outdates(&method, StatusCode::INTERNAL_SERVER_ERROR) && !outdates(&method, StatusCode::NOT_FOUND));
        }
        assert!(!outdates(&Method::GET, StatusCode::OK) && !outdates(&Method::HEAD, StatusCode::OK));
    }

    #[test]
    fn references_are_resolved_and_other_hosts_are_none() {
        for (url, expected) in [
            ("/x", Some("/x")),
            ("x", Some("/a/b/x")),
            ("x?y=/..", Some("/a/b/x?y=/..")),
            ("../x", Some("/a/x")),
            ("./x", Some("/a/b/x")),
            ("..", Some("/a/")),
            ("../../../../x", Some("/x")),
            ("?z", Some("/a/b/c?z")),
            ("http://Shop:80/x#y", Some("/x")),
            ("https://shop", Some("/")),
            ("//shop/x", Some("/x")),
            ("http://other/x", None),
            ("//other/x", None),
            ("mailto:a@b", None),
            ("ftp://shop/x", None),
            ("", None),
            ("#a", None),
        ] {
            assert_eq!(resolved(url, "shop", "/a/b/c?d").as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn both_headers_count_and_the_url_itself_is_not_repeated() {
        let lines = [(header::LOCATION, "/x"), (header::CONTENT_LOCATION, "/a")]
            .map(|(name, url)| (name, url.parse().unwrap()));
        assert_eq!(others(&HeaderMap::from_iter(lines), "shop", "/a"), ["/x"]);
    }
}
