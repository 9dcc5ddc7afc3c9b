//! The URL that a request gets, and invalid hosts.

use super::*;
use crate::config::{self, Machine};
use http::{HeaderMap, Method};

fn server(settings: &[(&str, &str)]) -> Server {
    let variable = |(key, value): &(&str, &str)| (format!("DAYLIGHT_SERVER_{key}"), (*value).to_owned());
    let machine = Machine { cores: 2, memory_bytes: 4 << 30, descriptors: 100_000, disk_bytes: None };
    config::load(None, &settings.iter().map(variable).collect(), &[], machine).unwrap().0.server
}

/// The URL for a request from `peer`, and the `Cache-Control` of a reply that contains it.
fn asked(
    settings: &[(&str, &str)],
    peer: &str,
    headers: &[(&'static str, &str)],
    tls: bool,
) -> (String, Option<String>) {
    let urls = PublicUrls::new(&server(settings), "http://0.0.0.0:8080".into(), ClientAddresses::Full, Log::silent());
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let mut request = Request::new(Method::GET, "/".parse().unwrap(), map, peer.parse().unwrap());
    request.tls = tls;
    let url = urls.of(&request);
    let mut reply = Reply::new(http::StatusCode::OK);
    url.protect(&mut reply);
    assert!(reply.headers.is_empty(), "nothing was shown yet");
    let shown = url.url();
    url.protect(&mut reply);
    (shown, reply.headers.get(header::CACHE_CONTROL).map(|value| value.to_str().unwrap().to_owned()))
}

const PROXY: [(&str, &str); 2] = [("TRUSTED_PROXIES", "10.0.0.0/8"), ("CLIENT_FROM", "x-forwarded-for")];

#[test]
fn the_configured_url_is_everybodys_and_may_be_cached() {
    let headers = [("host", "evil.example"), ("x-forwarded-host", "evil.example")];
    let got = asked(&[("PUBLIC_URL", "https://gems.example"), PROXY[0], PROXY[1]], "10.0.0.1", &headers, false);
    assert_eq!(got, ("https://gems.example".into(), None));
}

#[test]
fn a_trusted_proxy_tells_the_url_and_no_one_else() {
    let headers = [
        ("host", "127.0.0.1:8080"),
        ("x-forwarded-for", "192.0.2.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "gems.example"),
        ("x-forwarded-port", "8443"),
        ("x-forwarded-prefix", "/packages/"),
    ];
    let alone = || Some("private, no-store".to_owned());
    assert_eq!(asked(&PROXY, "10.0.0.1", &headers, false), ("https://gems.example:8443/packages".into(), alone()));
    assert_eq!(asked(&PROXY, "192.0.2.9", &headers, false), ("http://127.0.0.1:8080".into(), alone()));
    assert_eq!(asked(&[], "10.0.0.1", &headers, false), ("http://127.0.0.1:8080".into(), alone()));
    // A proxy that sends only the scheme leaves the host as it came.
    let some = [("host", "Gems.Example"), ("x-forwarded-proto", "https")];
    assert_eq!(asked(&PROXY, "10.0.0.1", &some, false).0, "https://gems.example");
    // A forwarded value that the proxy did not check is not a URL.
    let junk =
        [("host", "a"), ("x-forwarded-host", "b/c"), ("x-forwarded-proto", "gopher"), ("x-forwarded-prefix", "//b")];
    assert_eq!(asked(&PROXY, "10.0.0.1", &junk, false).0, "http://a");
}

#[test]
fn without_a_proxy_it_is_the_host_that_the_client_used_and_without_a_host_the_address() {
    for (host, tls, url) in [
        ("gems.example", false, "http://gems.example"),
        ("gems.example:80", false, "http://gems.example"),
        ("gems.example:443", true, "https://gems.example"),
        ("gems.example:8080", true, "https://gems.example:8080"),
        ("[::1]:8080", false, "http://[::1]:8080"),
        ("192.0.2.1", false, "http://192.0.2.1"),
        ("my_host", false, "http://my_host"),
        ("gems.example.", false, "http://gems.example"),
    ] {
        assert_eq!(asked(&[], "192.0.2.9", &[("host", host)], tls).0, url, "{host}");
    }
    let long = "a".repeat(254);
    for host in [
        "", "a b", "a/b", "user@a", "a..b", ".a", "a:b", "a:0", "a:65536", "a:+1", "[::1", "[x]", "[::1]a", "<a>",
        "%61", &long,
    ] {
        // Other clients have a valid host, so they must not get this answer.
        let alone = ("http://0.0.0.0:8080".to_owned(), Some("private, no-store".to_owned()));
        assert_eq!(asked(&[], "192.0.2.9", &[("host", host)], false), alone, "{host}");
    }
}
