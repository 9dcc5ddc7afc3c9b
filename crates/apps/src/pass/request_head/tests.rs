//! Which headers of a client a backend gets.

use super::*;
use crate::options::AppOptions;
use front::{ClientFrom, Proxies};
use std::sync::Arc;
use telemetry::{Clock, Recorder};

const NOW: Millis = Millis(1_793_534_400_250);
const CLIENT: &str = "192.0.2.1";
/// Headers that each of these requests gets, if the table says nothing else of them.
const OURS: &[&str] = &[
    "host: shop.example",
    "x-forwarded-for: 192.0.2.1",
    "x-forwarded-host: shop.example",
    "x-forwarded-proto: http",
    "x-real-ip: 192.0.2.1",
    "x-request-start: t=1793534400250",
];

fn app(proxies: Proxies, roots: &[&str]) -> Arc<App> {
    let roots = roots.iter().map(|root| (*root).to_owned()).collect();
    let options =
        AppOptions { to: vec!["http://127.0.0.1:1".to_owned()], sendfile_roots: roots, ..AppOptions::of("shop") };
    App::new(options, Arc::new(proxies), &Recorder::silent(Clock::default())).unwrap()
}

fn request(lines: &[&str]) -> Request {
    let mut headers = HeaderMap::new();
    for line in
        ["host: shop.example"].iter().filter(|_| !lines.iter().any(|line| line.starts_with("host:"))).chain(lines)
    {
        let (name, value) = line.split_once(": ").unwrap();
        headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    Request::new(Method::GET, "/".parse().unwrap(), headers, CLIENT.parse().unwrap())
}

/// The lines that go out, without ours where they are as usual.
fn out(app: &App, request: &Request) -> Vec<String> {
    let wanted = upgrade(request);
    let mut copy = Request::new(request.method.clone(), "/".parse().unwrap(), request.headers.clone(), request.client);
    (copy.peer, copy.tls) = (request.peer, request.tls);
    let headers = of(app, &mut copy, NOW, wanted.as_ref());
    let line = |(name, value): (&HeaderName, &HeaderValue)| format!("{name}: {}", value.to_str().unwrap());
    let mut lines: Vec<String> = headers.iter().map(line).collect();
    let all = OURS.iter().all(|ours| lines.iter().any(|line| line == ours));
    if all {
        lines.retain(|line| !OURS.contains(&line.as_str()));
    }
    lines.sort();
    lines
}

#[test]
fn each_header_of_a_client_goes_on_or_stays() {
    let app = app(Proxies::default(), &[]);
    for (lines, expected) in [
        (&[][..], &[][..]),
        (
            &["cookie: a=1", "cookie: b=2", "authorization: Basic x"],
            &["authorization: Basic x", "cookie: a=1", "cookie: b=2"],
        ),
        (
            &["accept-encoding: br", "range: bytes=0-1", "if-none-match: \"1\""],
            &["accept-encoding: br", "if-none-match: \"1\"", "range: bytes=0-1"],
        ),
        (&["connection: close, X-Mine", "x-mine: 1", "x-other: 1"], &["x-other: 1"]),
        (
            &["connection: cookie, x-forwarded-for, host, cache-control", "cookie: a", "cache-control: no-cache"],
            &["cache-control: no-cache"],
        ),
        (
            &[
                "keep-alive: 5",
                "proxy-connection: x",
                "proxy-authorization: x",
                "proxy: x",
                "upgrade: foo",
                "trailer: x",
            ],
            &[],
        ),
        (&["te: gzip, trailers;q=0.5"], &["connection: te", "te: trailers"]),
        (&["te: gzip"], &[]),
        (&["expect: 100-continue", "content-length: 5", "transfer-encoding: chunked"], &[]),
        (&["x-forwarded-for: 10.0.0.1", "forwarded: for=10.0.0.1", "x-real-ip: 10.0.0.1", "client-ip: 1"], &[]),
        (&["x-forwarded-proto: https", "x-forwarded-host: evil", "x-forwarded-port: 1", "x-forwarded-ssl: on"], &[]),
        (&["x-original-url: /admin", "x-rewrite-url: /admin", "x-host: evil", "x-forwarded-prefix: /x"], &[]),
        (&["x-request-start: t=1", "x-queue-start: t=1"], &[]),
        (&["x-sendfile-type: X-Accel-Redirect", "x-accel-mapping: /=/"], &[]),
        (&["x-http-method-override: DELETE"], &["x-http-method-override: DELETE"]),
        (&["x_forwarded_for: 1", "content_length: 5", "transfer_encoding: chunked", "x_real-ip: 1", "proxy_x: 1"], &[]),
        (&["x-token: 1", "x_token: 2", "my_own: 3"], &["my_own: 3", "x-token: 1"]),
        (&["connection: upgrade", "upgrade: websocket"], &["connection: upgrade", "upgrade: websocket"]),
        (
            &["connection: keep-alive, Upgrade", "upgrade: websocket", "sec-websocket-key: k"],
            &["connection: upgrade", "sec-websocket-key: k", "upgrade: websocket"],
        ),
        (&["connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: x"], &[]),
        (&["connection: upgrade", "upgrade: websocket, H2C"], &[]),
        (&["connection: upgrade", "upgrade: TLS/1.2"], &[]),
        (&["connection: upgrade", "upgrade: websocket", "upgrade: websocket"], &[]),
        (&["upgrade: websocket"], &[]),
    ] {
        assert_eq!(out(&app, &request(lines)), expected, "{lines:?}");
    }
}

#[test]
fn trailers_change_nothing_of_the_request() {
    let mut trailers = request(&[
        "content-length: 5",
        "transfer-encoding: chunked",
        "x-forwarded-for: 10.0.0.1",
        "x_forwarded_for: 10.0.0.1",
        "cookie: a",
        "if-match: \"1\"",
        "content-md5: x",
        "x-sum: 7",
    ])
    .headers;
    clean_trailers(&mut trailers);
    assert_eq!(
        trailers.iter().collect::<Vec<_>>(),
        [(&HeaderName::from_static("x-sum"), &HeaderValue::from_static("7"))]
    );
}

#[test]
fn a_request_that_may_not_change_the_protocol_does_not_ask_for_it() {
    let lines = ["connection: upgrade", "upgrade: websocket"];
    let mut post = request(&lines);
    post.method = Method::POST;
    let mut older = request(&lines);
    older.version = Version::HTTP_10;
    let mut uploads = request(&lines);
    uploads.upload = front::Upload::whole(bytes::Bytes::from_static(b"x"));
    for request in [post, older, uploads] {
        assert_eq!(upgrade(&request), None);
    }
}

#[test]
fn a_trusted_proxy_tells_of_the_client_and_no_other_does() {
    let trusted = Proxies { trusted: vec!["10.0.0.0/8".parse().unwrap()], client_from: ClientFrom::XForwardedFor };
    let app = app(trusted, &[]);
    let lines = [
        "x-forwarded-for: 203.0.113.9, 192.0.2.1",
        "x-forwarded-proto: HTTPS",
        "x-forwarded-host: public.example",
        "x-request-start: t=1793534400.150",
    ];
    let mut through = request(&lines);
    through.peer = "10.0.0.7".parse().unwrap();
    assert_eq!(
        out(&app, &through),
        [
            "host: shop.example",
            "x-forwarded-for: 192.0.2.1, 10.0.0.7",
            "x-forwarded-host: public.example",
            "x-forwarded-proto: https",
            "x-real-ip: 192.0.2.1",
            "x-request-start: t=1793534400.150",
        ]
    );
    assert!(out(&app, &request(&lines)).is_empty(), "the peer is no proxy");
    through.headers.insert(X_FORWARDED_PROTO, HeaderValue::from_static("javascript"));
    through.headers.insert(X_REQUEST_START, HeaderValue::from_static("yesterday"));
    let lines = out(&app, &through);
    assert!(lines.contains(&"x-forwarded-proto: http".to_owned()), "{lines:?}");
    assert!(lines.contains(&"x-request-start: t=1793534400250".to_owned()), "{lines:?}");
}

#[test]
fn tls_here_is_https_and_a_request_without_a_host_gets_one() {
    let app = app(Proxies::default(), &[]);
    let mut request = request(&[]);
    request.tls = true;
    assert!(out(&app, &request).contains(&"x-forwarded-proto: https".to_owned()));
    request.headers.remove(header::HOST);
    let lines = out(&app, &request);
    assert!(lines.contains(&"host: localhost".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("x-forwarded-host")), "{lines:?}");
}

#[test]
fn an_application_is_offered_the_files_of_declared_folders() {
    let app = app(Proxies::default(), &["/srv/files", "/private=/srv/private/"]);
    let lines = ["x-sendfile-type: X-Accel-Redirect", "x-accel-mapping: /=/etc"];
    let expected = ["x-accel-mapping: /srv/private/=/private/", "x-sendfile-type: X-Sendfile"];
    assert_eq!(out(&app, &request(&lines)), expected);
}
