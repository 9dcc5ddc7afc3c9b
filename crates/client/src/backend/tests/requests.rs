//! Requests as they are sent, and the ways to a backend.

use super::*;
use hyper::body::Frame;
use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[derive(Debug, Default)]
struct Pieces {
    len: Option<u64>,
    trailers: Option<HeaderMap>,
    pieces: VecDeque<&'static str>,
}

impl BodySource for Pieces {
    fn len(&self) -> Option<u64> {
        self.len
    }

    fn trailers(&self) -> Option<&HeaderMap> {
        self.trailers.as_ref()
    }

    fn poll_frame(&mut self, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = self.pieces.pop_front().map(|piece| Frame::data(Bytes::from_static(piece.as_bytes())));
        Poll::Ready(piece.or_else(|| self.trailers.take().map(Frame::trailers)).map(Ok))
    }
}

fn source(len: Option<u64>, pieces: &[&'static str]) -> BackendBody {
    BackendBody::Source(Box::new(Pieces { len, trailers: None, pieces: pieces.iter().copied().collect() }))
}

/// What an origin reads, up to `end`.
async fn sent(method: &str, headers: &[(&str, &str)], body: BackendBody, end: &'static str) -> String {
    let origin = Origin::reading_to(end, &[OK]);
    let mut connection = connected(&origin.url).await;
    let request = Request::builder().method(method).uri("/a?b").header("host", "app");
    let request = headers.iter().fold(request, |built, (name, value)| built.header(*name, *value));
    let mut response = connection.send(request.body(body).unwrap(), None).await.unwrap();
    assert_eq!(whole(&mut connection, response.body_mut()).await.unwrap().0, "hi");
    assert!(connection.is_reusable());
    origin.read.recv().unwrap()
}

#[tokio::test]
async fn a_request_goes_out_as_it_is_with_the_framing_of_its_body() {
    let plain = sent("GET", &[("x-a", "1")], BackendBody::Empty, "\r\n\r\n").await;
    assert_eq!(plain, "GET /a?b HTTP/1.1\r\nhost: app\r\nx-a: 1\r\n\r\n");
    let empty = sent("POST", &[("content-length", "0")], BackendBody::Empty, "\r\n\r\n").await;
    assert_eq!(empty, "POST /a?b HTTP/1.1\r\nhost: app\r\ncontent-length: 0\r\n\r\n");
    // Whatever the headers said: the body counts.
    let lying = [("content-length", "99"), ("transfer-encoding", "chunked"), ("trailer", "x")];
    let bytes = sent("PUT", &lying, BackendBody::Bytes("hello".into()), "hello").await;
    assert_eq!(bytes, "PUT /a?b HTTP/1.1\r\nhost: app\r\ncontent-length: 5\r\n\r\nhello");
    let none = sent("DELETE", &lying, BackendBody::Empty, "\r\n\r\n").await;
    assert_eq!(none, "DELETE /a?b HTTP/1.1\r\nhost: app\r\ncontent-length: 0\r\n\r\n");
    let pieces = sent("POST", &[], source(Some(5), &["he", "llo"]), "hello").await;
    assert_eq!(pieces, "POST /a?b HTTP/1.1\r\nhost: app\r\ncontent-length: 5\r\n\r\nhello");
    for method in ["GET", "POST", "QUERY"] {
        let chunks = sent(method, &lying, source(None, &["he", "llo"]), "\r\n0\r\n\r\n").await;
        let head = format!("{method} /a?b HTTP/1.1\r\nhost: app\r\ntransfer-encoding: chunked\r\n\r\n");
        assert_eq!(chunks, format!("{head}2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"));
    }
}

#[tokio::test]
async fn trailers_are_named_in_the_head_and_sent_in_chunks() {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", "7".parse().unwrap());
    let body = Pieces { len: Some(5), trailers: Some(trailers), pieces: ["hello"].into() };
    let sent = sent("POST", &[], BackendBody::Source(Box::new(body)), "x-sum: 7\r\n\r\n").await;
    let head = "POST /a?b HTTP/1.1\r\nhost: app\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n";
    assert_eq!(sent, format!("{head}5\r\nhello\r\n0\r\nx-sum: 7\r\n\r\n"));
}

#[tokio::test]
async fn a_body_that_is_not_as_long_as_it_said_breaks_the_connection() {
    for piece in ["hel", "hello!"] {
        let origin = Origin::reading_to("nothing", &["never"]);
        let mut connection = connected(&origin.url).await;
        let request = Request::post("/").header("host", "app").body(source(Some(5), &[piece])).unwrap();
        let failed = connection.send(request, None).await.unwrap_err();
        assert_eq!((failed.error.label(), failed.unanswered), ("not_read", false), "{piece}");
        assert!(failed.unsent.is_none() && !connection.is_reusable());
        assert!(!origin.read.recv().unwrap().ends_with("hello!"));
    }
}

#[tokio::test]
async fn a_backend_may_be_a_socket_of_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.sock");
    let origin = Origin::on_socket(&path, &[OK]);
    let mut connection = connected(&origin.url).await;
    let mut response = connection.send(get("/"), None).await.unwrap();
    assert_eq!(whole(&mut connection, response.body_mut()).await.unwrap().0, "hi");
    assert!(connection.is_reusable());
}

#[tokio::test]
async fn where_nothing_listens_the_error_says_so_with_the_url_of_the_backend() {
    let folder = tempfile::tempdir().unwrap();
    let missing = format!("unix:{}", folder.path().join("app.sock").display());
    let dead = folder.path().join("dead.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    for url in [origin::nobody(), missing, format!("unix:{}", dead.display())] {
        let mut event = Event::job("test", Millis(1));
        let error = Backend::new(&url).unwrap().connect(&mut event).await.unwrap_err();
        assert_eq!((error.label(), error.to_string()), ("not_listening", format!("nothing listens on `{url}`")));
        assert_eq!(event.tallies().map(|(op, _)| op).collect::<Vec<_>>(), [telemetry::Op::AppConnect]);
    }
    let folder = format!("unix:{}", folder.path().display());
    let error = Backend::new(&folder).unwrap().connect(&mut Event::job("test", Millis(1))).await.unwrap_err();
    assert!(["not_listening", "unreachable"].contains(&error.label()), "{error}");
}

#[tokio::test]
async fn a_full_backlog_of_a_socket_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.sock");
    let (listener, _waiting) = origin::full(&path);
    let url = format!("unix:{}", path.display());
    let backend = Backend::new(&url).unwrap();
    let mut event = Event::job("test", Millis(1));
    let mut connecting = std::pin::pin!(backend.connect(&mut event));
    let waker = std::task::Waker::noop();
    assert!(connecting.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    // The application takes a connection: there is room again.
    listener.accept().unwrap();
    connecting.await.unwrap();
}

#[tokio::test]
async fn a_backend_that_does_not_speak_tls_fails_in_the_handshake() {
    // It speaks before it has read anything.
    let origin = Origin::reading_to("", &["HTTP/1.1 400 Bad Request\r\n\r\n"]);
    let url = origin.url.replace("http:", "https:");
    let error = Backend::new(&url).unwrap().connect(&mut Event::job("test", Millis(1))).await.unwrap_err();
    assert_eq!((error.label(), error.to_string().contains(&url)), ("tls", true), "{error}");
}
