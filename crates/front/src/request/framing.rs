//! Refuses requests that two servers in a row could parse differently: bytes that are a body to one of them may be the
//! next client's request to the other (request smuggling). hyper refuses most of them; the rest is refused here.

use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, Version, header};

/// Why a request is refused: the status, and a sentence for the client.
pub(crate) fn refusal(head: &Parts) -> Option<(StatusCode, &'static str)> {
    if head.version > Version::HTTP_11 {
        return refusal_http2(head); // HTTP/2 frames carry the length of a body
    }
    let mut hosts = head.headers.get_all(header::HOST).iter();
    // RFC 9112, 3.2: exactly one. HTTP/1.0 did not have `Host`.
    if (hosts.next().is_none() && head.version == Version::HTTP_11) || hosts.next().is_some() {
        return Some((StatusCode::BAD_REQUEST, "a request has exactly one `Host`\n"));
    }
    if has_credentials(head) {
        return Some((StatusCode::BAD_REQUEST, "the host of a URL contains no credentials\n"));
    }
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    // RFC 9112, 6.1: `chunked`, once. Clients do not compress uploads in transfer.
    match (codings.next(), codings.next()) {
        (None, _) => None,
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => None,
        _ => Some((StatusCode::NOT_IMPLEMENTED, "the only supported `Transfer-Encoding` is one `chunked`\n")),
    }
}

/// Whether the host of the URL is preceded by a user (RFC 9110, 4.2.4).
fn has_credentials(head: &Parts) -> bool {
    head.uri.authority().is_some_and(|name| name.as_str().contains('@'))
}

/// For HTTP/2. h2 refuses connection headers and invalid names; the other rules of RFC 9113, 8.3.1 are here.
fn refusal_http2(head: &Parts) -> Option<(StatusCode, &'static str)> {
    let (authority, mut hosts) = (head.uri.authority(), head.headers.get_all(header::HOST).iter());
    let (host, second) = (hosts.next(), hosts.next());
    let differ = |host: &HeaderValue| {
        authority.is_some_and(|name| !host.as_bytes().eq_ignore_ascii_case(name.as_str().as_bytes()))
    };
    if second.is_some() || host.is_some_and(differ) || (host.is_none() && authority.is_none()) {
        return Some((StatusCode::BAD_REQUEST, "a request has one `:authority`, or one `Host`\n"));
    }
    if has_credentials(head) {
        return Some((StatusCode::BAD_REQUEST, "`:authority` contains no credentials\n"));
    }
    let path = head.uri.path();
    if path.starts_with('/') || head.method == Method::CONNECT || (path == "*" && head.method == Method::OPTIONS) {
        return None;
    }
    Some((StatusCode::BAD_REQUEST, "`:path` begins with `/`\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn refused(headers: &[(&str, &str)], version: Version) -> Option<u16> {
        let mut request = Request::builder().version(version);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        refusal(&request.body(()).unwrap().into_parts().0).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn a_request_names_one_host_unless_it_is_older_or_newer_than_that_rule() {
        assert_eq!(refused(&[("host", "a")], Version::HTTP_11), None);
        assert_eq!(refused(&[], Version::HTTP_11), Some(400));
        assert_eq!(refused(&[("host", "a"), ("host", "a")], Version::HTTP_11), Some(400));
        assert_eq!(refused(&[], Version::HTTP_10), None);
        let of_user = Request::builder().uri("http://user@a/").header("host", "a").body(()).unwrap().into_parts().0;
        assert!(refusal(&of_user).is_some());
    }

    #[test]
    fn the_only_coding_of_a_transfer_is_chunked_and_once() {
        let coded = |codings: &[&str]| {
            let mut headers = vec![("host", "a")];
            headers.extend(codings.iter().map(|coding| ("transfer-encoding", *coding)));
            refused(&headers, Version::HTTP_11)
        };
        assert_eq!(coded(&["chunked"]), None);
        assert_eq!(coded(&["Chunked"]), None);
        for codings in [&["gzip, chunked"][..], &["chunked, chunked"], &["chunked", "chunked"], &["", "chunked"]] {
            assert_eq!(coded(codings), Some(501), "{codings:?}");
        }
    }

    #[test]
    fn a_request_in_frames_names_one_host_without_credentials_and_a_path_from_the_root() {
        let refused = |method: &str, uri: &str, hosts: &[&str]| {
            let mut request = Request::builder().version(Version::HTTP_2).method(method).uri(uri);
            for host in hosts {
                request = request.header("host", *host);
            }
            refusal(&request.body(()).unwrap().into_parts().0).map(|(status, _)| status.as_u16())
        };
        assert_eq!(refused("GET", "http://a/b", &[]), None);
        assert_eq!(refused("GET", "http://a/b", &["A"]), None);
        assert_eq!(refused("GET", "/b", &["a"]), None);
        assert_eq!(refused("OPTIONS", "*", &["a"]), None);
        assert_eq!(refused("CONNECT", "a:1", &[]), None);
        for (method, uri, hosts) in [
            ("GET", "/b", &[][..]),
            ("GET", "/b", &["a", "a"]),
            ("GET", "http://a/b", &["c"]),
            ("GET", "http://user@a/b", &[]),
            ("GET", "*", &["a"]),
        ] {
            assert_eq!(refused(method, uri, hosts), Some(400), "{method} {uri} {hosts:?}");
        }
    }
}
