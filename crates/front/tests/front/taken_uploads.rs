//! Uploads that are taken out of their request, and their trailers.

use crate::http2;
use crate::running_front::{Front, HANGS, options};
use front::{Answering, Handler, Limits, Reply, Request, Upload};
use http::{HeaderMap, HeaderValue, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Op, Outcome};

/// Takes the upload, and reads as much of it as the path says.
struct Taker;

impl Taker {
    async fn reply(&self, request: &mut Request, event: &mut Event) -> Reply {
        let mut upload: Upload = std::mem::take(&mut request.upload);
        assert!(request.upload.is_none());
        let mut read = 0;
        while request.path() != "/leaves" {
            let Some(piece) = upload.next(event).await else { break };
            read += piece.unwrap().len();
            if request.path() != "/reads" {
                break;
            }
        }
        let trailers = upload.trailers().unwrap_or_default();
        let sum = trailers.get("x-sum").map_or("none", |sum| sum.to_str().unwrap());
        let text = format!("{:?} {read} {sum}", request.version);
        if request.query() == Some("holds") {
            tokio::task::spawn_local(async move {
                std::future::pending::<()>().await;
                drop(upload);
            });
        }
        Reply::text(StatusCode::OK, text)
    }
}

impl Handler for Taker {
    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(self.reply(request, event))
    }
}

fn front() -> Front {
    let limits = Limits { linger: Duration::from_millis(100), ..Limits::default() };
    Front::of(options(limits), None, Arc::new(Taker))
}

fn post(path: &str, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: a\r\n{more}")
}

#[test]
fn an_upload_that_was_taken_is_read_and_its_rest_discarded_like_any_other() {
    let front = front();
    let mut client = front.client();
    let chunks = "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Sum: 7\r\nx-more: 1\r\n\r\n";
    for path in ["/reads", "/reads?holds"] {
        client.send(post(path, chunks));
        assert_eq!(client.answer().body, b"HTTP/1.1 7 7");
        client.send(post(path, "content-length: 2\r\n\r\nab"));
        assert_eq!(client.answer().body, b"HTTP/1.1 2 none");
        let event = front.event();
        assert!(event.bytes_in == 7 && event.tally(Op::BodyReceive).count > 0, "{event:?}");
        assert_eq!(front.event().bytes_in, 2);
    }
    for path in ["/begins", "/leaves"] {
        client.send(post(path, "content-length: 100000\r\n\r\n"));
        client.send(vec![b'u'; 100_000]);
        assert_eq!(client.answer().status, 200, "a small remainder is discarded");
    }
    client.send(post("/leaves", "content-length: 1000000\r\n\r\n"));
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "a large one ends the connection");
}

#[test]
fn an_upload_that_is_held_longer_than_the_reply_ends_with_it() {
    let front = front();
    for path in ["/begins?holds", "/leaves?holds"] {
        let mut client = front.client();
        client.send(post(path, "content-length: 100\r\n\r\nabc"));
        let answer = client.answer();
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
        client.send("GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(client.rest(), b"");
        assert_eq!(front.event().outcome, Some(Outcome::Answered));
    }
}

#[test]
fn trailers_come_on_http2_too() {
    let front = front();
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 100_000).await;
        for trailers in [true, false] {
            let request = http::Request::post("http://front/reads").body(()).unwrap();
            let (answer, mut stream) = sender.send_request(request, false).unwrap();
            stream.send_data("abc".into(), !trailers).unwrap();
            if trailers {
                stream
                    .send_trailers(HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from_static("3"))]))
                    .unwrap();
            }
            let mut body = answer.await.unwrap().into_body();
            let text = body.data().await.unwrap().unwrap();
            assert_eq!(text, if trailers { "HTTP/2.0 3 3" } else { "HTTP/2.0 3 none" });
        }
    });
    assert!(front.recorder.flush(HANGS));
}
