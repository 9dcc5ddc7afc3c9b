//! Requests that two servers could read differently: the front refuses them, or the origin gets exactly one request, of the same
//! meaning, and the connection to it stays in step.

use crate::origin::{Origin, ok};
use crate::running_apps::RunningApps;

/// Each one contains or could contain a second request, to `/smuggled`. With the number of requests that the origin may get.
const CORPUS: &[(&str, &str)] = &[
    (
        "CL.TE",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 39\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "TE.CL",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n23\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n\r\n0\r\n\r\n",
    ),
    (
        "TE.TE",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "coding with a tab",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "coding with a vertical tab",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "coding that is unknown",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "space before a colon",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "space before a name",
        "POST / HTTP/1.1\r\nHost: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "folded line",
        "POST / HTTP/1.1\r\nHost: a\r\nX: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "two lengths",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a list of lengths",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a signed length",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a negative length",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a huge length",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a bare LF in the head",
        "POST / HTTP/1.1\nHost: a\nContent-Length: 35\n\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a bare CR in a value",
        "POST / HTTP/1.1\r\nHost: a\r\nX: y\rContent-Length: 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a chunk size with a sign",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a chunk size with 0x",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a chunk extension with LF",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;\na\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a chunk that ends with LF",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "chunks over HTTP/1.0",
        "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    ("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a line end in the target", "GET /\rx HTTP/1.1\r\nHost: a\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
];

/// Each one is valid, and its body looks like a request or its headers name the framing: one request reaches the origin, with this body.
const VALID: &[(&str, &str, &str)] = &[
    (
        "a GET with a body",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "Connection names the length",
        "POST / HTTP/1.1\r\nHost: a\r\nConnection: content-length\r\nContent-Length: 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a length with an underscore",
        "POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 0\r\nContent-Length: 2\r\n\r\nhi",
        "hi",
    ),
    (
        "a coding with an underscore",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "0\r\n\r\n",
    ),
    (
        "an upgrade to HTTP/2",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
        "",
    ),
    (
        "chunk extensions and leading zeros",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0005;a=b\r\nhello\r\n0;x\r\n\r\n",
        "hello",
    ),
    (
        "trailers that frame",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "hi",
    ),
];

#[test]
fn no_request_hides_in_another_one() {
    for (name, request) in CORPUS {
        let origin = Origin::replying(|request| ok(request.path()));
        let apps = RunningApps::before(&origin);
        let mut client = apps.client();
        client.send(request);
        // In front of a server that reads it otherwise, these bytes are the rest of a body or of a head.
        client.send("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let sent = String::from_utf8_lossy(&client.rest()).into_owned();
        let received = origin.received();
        let lines: Vec<&str> = received.iter().map(|request| request.line.as_str()).collect();
        assert_eq!(sent.matches("HTTP/1.1 200 ").count(), lines.len(), "{name}: {lines:?}\n{sent}");
        assert!(lines.len() <= 2 && !lines.iter().any(|line| line.contains("/smuggled")), "{name}: {lines:?}\n{sent}");
        // Another client gets its own answer.
        assert_eq!(apps.client().get("/mine").text(), "/mine", "{name}");
    }
}

#[test]
fn a_body_that_looks_like_a_request_stays_a_body() {
    for (name, request, body) in VALID {
        let origin = Origin::replying(|request| ok(request.path()));
        let apps = RunningApps::before(&origin);
        let mut client = apps.client();
        for _ in 0..2 {
            let answer = client.ask(request);
            assert_eq!((answer.status, answer.text()), (200, "/"), "{name}");
        }
        let received = origin.received();
        assert_eq!(received.len(), 2, "{name}: {received:?}");
        for request in received {
            assert_eq!(String::from_utf8(request.body).unwrap(), *body, "{name}");
            let framing = ["transfer-encoding", "content_length", "transfer_encoding", "upgrade", "http2-settings"];
            assert!(framing.iter().all(|name| request.headers.iter().all(|(key, _)| key != name)), "{name}");
            assert!(request.trailers.is_empty(), "{name}");
        }
        assert_eq!(apps.client().get("/mine").text(), "/mine", "{name}");
    }
}
