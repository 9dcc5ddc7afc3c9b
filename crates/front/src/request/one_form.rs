//! Brings into one form what the versions of HTTP send in different ways, for handlers that pass requests on.

use crate::request::Request;
use http::{HeaderMap, HeaderValue, Version, header};

/// `Host` names the host of the URL where the client sent one (RFC 9112, 3.2.2), and the cookies are one line: HTTP/2 clients send them in
/// several, which HTTP/1 servers do not join (RFC 9113, 8.2.3).
pub(crate) fn of(request: &mut Request) {
    if request.version >= Version::HTTP_2 {
        join_cookies(&mut request.headers);
    } else if let Some(host) = request.url_host().and_then(|host| host.parse().ok()) {
        request.headers.insert(header::HOST, host);
    }
}

fn join_cookies(headers: &mut HeaderMap) {
    let mut lines = headers.get_all(header::COOKIE).iter();
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return };
    let mut joined = first.as_bytes().to_vec();
    for line in std::iter::once(second).chain(lines) {
        joined.extend_from_slice(b"; ");
        joined.extend_from_slice(line.as_bytes());
    }
    // Values that are valid alone are valid together.
    if let Ok(joined) = HeaderValue::from_maybe_shared(bytes::Bytes::from(joined)) {
        headers.insert(header::COOKIE, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(name: header::HeaderName, version: Version, uri: &str, sent: &[(&str, &str)]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(name.parse::<header::HeaderName>().unwrap(), value.parse().unwrap());
        }
        let client = std::net::Ipv4Addr::LOCALHOST.into();
        let mut request = Request::new(http::Method::GET, uri.parse().unwrap(), headers, client);
        request.version = version;
        of(&mut request);
        request.headers.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_cookies_of_http2_are_one_line() {
        let cookies = |version, sent: &[(&str, &str)]| lines(header::COOKIE, version, "/", sent);
        let three = [("cookie", "a=1"), ("cookie", "b=2; c=3"), ("cookie", "d=4")];
        assert_eq!(cookies(Version::HTTP_2, &three), ["a=1; b=2; c=3; d=4"]);
        assert_eq!(cookies(Version::HTTP_2, &three[..1]), ["a=1"]);
        assert_eq!(cookies(Version::HTTP_2, &[]), [""; 0]);
        assert_eq!(cookies(Version::HTTP_11, &three).len(), 3, "as they were sent");
    }

    #[test]
    fn the_host_of_a_url_wins() {
        let host = |uri, sent| lines(header::HOST, Version::HTTP_11, uri, sent);
        assert_eq!(host("http://B:80/", &[("host", "a")]), ["B:80"]);
        assert_eq!(host("/", &[("host", "A")]), ["A"]);
    }
}
