//! The URLs of plain HTTP beside TLS: the questions of an authority, and the URL with `https` of every other request.

use super::public_url::host_and_port;
use front::Request;

/// The folder of the answers to an authority (RFC 8555, 8.3).
const CHALLENGES: &str = "/.well-known/acme-challenge/";
/// Longest token, in bytes. Tokens of authorities have some 43 (RFC 8555, 8.1: at least 128 bits).
const TOKEN_MAX: usize = 256;
/// The usual ports of `http` and `https`.
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// The token for which an authority asks: letters and digits of base64url. `None`: the path is of another request.
pub(crate) fn challenge(path: &str) -> Option<&str> {
    let token = path.strip_prefix(CHALLENGES)?;
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    ((1..=TOKEN_MAX).contains(&token.len()) && token.bytes().all(known)).then_some(token)
}

/// The ports on which the server listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) http: u16,
    pub(crate) https: u16,
}

/// The URL with `https` of a request over plain HTTP. `public`: `server.public_url`. `None`: the request names no valid host.
pub(crate) fn secure_url(request: &Request, public: Option<&str>, ports: Ports) -> Option<String> {
    let target = request.target()?;
    let target = target.as_str();
    // That of `OPTIONS *` is no path.
    let target = if target.starts_with('/') { target } else { "/" };
    if let Some(url) = public.filter(|url| url.starts_with("https:")) {
        return Some(format!("{url}{target}"));
    }
    let (host, named) = host_and_port(request.host()?)?;
    // The client reached another port than that of the socket, so something maps the usual ports to ours.
    let mapped = named.unwrap_or(HTTP_PORT) == HTTP_PORT && ports.http != HTTP_PORT;
    let port = if mapped { HTTPS_PORT } else { ports.https };
    let port = if port == HTTPS_PORT { String::new() } else { format!(":{port}") };
    Some(format!("https://{host}{port}{target}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, HeaderValue, Method, header};
    use std::net::Ipv4Addr;

    fn url(host: &str, target: &str, public: Option<&str>, ports: (u16, u16)) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        let request = Request::new(Method::GET, target.parse().unwrap(), headers, Ipv4Addr::LOCALHOST.into());
        secure_url(&request, public, Ports { http: ports.0, https: ports.1 })
    }

    #[test]
    fn a_request_is_sent_to_the_same_host_and_path_at_the_port_of_tls() {
        let of = |host: &str, ports: (u16, u16)| url(host, "/a/b%2Fc?d=e", None, ports);
        assert_eq!(of("Gems.Example", (80, 443)).unwrap(), "https://gems.example/a/b%2Fc?d=e");
        assert_eq!(of("gems.example", (80, 8443)).unwrap(), "https://gems.example:8443/a/b%2Fc?d=e");
        assert_eq!(of("gems.example:8080", (8080, 8443)).unwrap(), "https://gems.example:8443/a/b%2Fc?d=e");
        assert_eq!(of("[::1]:8080", (8080, 443)).unwrap(), "https://[::1]/a/b%2Fc?d=e");
        // A container whose ports are published as 80 and 443.
        assert_eq!(of("gems.example", (8080, 8443)).unwrap(), "https://gems.example/a/b%2Fc?d=e");
        for host in ["ann@gems.example", "a b", "gems.example:x", ""] {
            assert_eq!(of(host, (80, 443)), None, "{host}");
        }
        assert_eq!(url("a", "//b.example/c", None, (80, 443)).unwrap(), "https://a//b.example/c");
        assert_eq!(url("a", "http://b.example/c", None, (80, 443)).unwrap(), "https://b.example/c");
    }

    #[test]
    fn the_public_url_comes_first_if_it_has_tls() {
        let of = |public: &str| url("a:80", "/b", Some(public), (80, 443)).unwrap();
        assert_eq!(of("https://gems.example"), "https://gems.example/b");
        assert_eq!(of("http://gems.example"), "https://a/b");
        assert_eq!(url("not a host", "/b", Some("https://gems.example"), (80, 443)).unwrap(), "https://gems.example/b");
    }

    #[test]
    fn only_a_token_is_a_question_of_an_authority() {
        assert_eq!(challenge("/.well-known/acme-challenge/a-B_9"), Some("a-B_9"));
        let long = format!("/.well-known/acme-challenge/{}", "a".repeat(TOKEN_MAX + 1));
        for path in [
            "/.well-known/acme-challenge/",
            "/.well-known/acme-challenge",
            "/.well-known/acme-challenge/a/b",
            "/.well-known/acme-challenge/..",
            "/.well-known/acme-challenge/%61",
            "/a/.well-known/acme-challenge/a",
            &long,
        ] {
            assert_eq!(challenge(path), None, "{path}");
        }
    }
}
