//! Clients that speak HTTP/2, with h2 as a client.

use crate::origin::{Origin, ok};
use crate::responses::pattern;
use crate::running_apps::{HANGS, RunningApps};
use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use http::{HeaderMap, Request, Response};
use std::future::poll_fn;
use telemetry::{Outcome, Reason};

const LEN: usize = 3_000_001;

fn run<T>(work: impl Future<Output = T>) -> T {
    // Its thread waits for events while the connections continue. A test that hangs fails.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(HANGS, work).await.unwrap() })
}

async fn connected(apps: &RunningApps) -> SendRequest<Bytes> {
    let stream = apps.client().stream;
    stream.set_nonblocking(true).unwrap();
    let stream = tokio::net::TcpStream::from_std(stream).unwrap();
    let (sender, connection) = Builder::new().handshake(stream).await.unwrap();
    tokio::spawn(connection);
    sender.ready().await.unwrap()
}

/// The body of a response, and its trailers.
async fn body(response: Response<h2::RecvStream>) -> Result<(Vec<u8>, Option<HeaderMap>), h2::Error> {
    let mut stream = response.into_body();
    let mut all = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece?;
        stream.flow_control().release_capacity(piece.len())?;
        all.extend_from_slice(&piece);
    }
    Ok((all, stream.trailers().await?))
}

#[test]
fn bodies_and_trailers_go_both_ways_and_the_host_is_the_authority() {
    let origin = Origin::new(|connection| {
        while let Some(request) = connection.request() {
            connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n");
            for chunk in pattern(LEN).chunks(70_001) {
                connection.send(format!("{:x}\r\n", chunk.len()));
                connection.send(chunk);
                connection.send("\r\n");
            }
            connection.send(format!("0\r\nx-sum: {}\r\n\r\n", request.body.len()));
        }
    });
    let apps = RunningApps::before(&origin);
    run(async {
        let mut sender = connected(&apps).await;
        let request = Request::post("http://shop.example/a?b").header("te", "trailers").body(()).unwrap();
        let (response, mut upload) = sender.send_request(request, false).unwrap();
        upload.send_data(Bytes::from_static(b"hello"), false).unwrap();
        let trailers = HeaderMap::from_iter([("x-mine".parse().unwrap(), "1".parse().unwrap())]);
        upload.send_trailers(trailers).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.status(), 200);
        let (bytes, trailers) = body(response).await.unwrap();
        assert!(bytes == pattern(LEN));
        assert_eq!(trailers.unwrap()["x-sum"], "5");
    });
    let received = origin.received().pop().unwrap();
    assert_eq!((received.line.as_str(), received.header("host")), ("POST /a?b HTTP/1.1", Some("shop.example")));
    assert_eq!((received.body, received.trailers), (b"hello".to_vec(), vec!["x-mine: 1".to_owned()]));
}

#[test]
fn a_response_that_breaks_off_resets_its_stream_and_no_other() {
    let origin = Origin::new(|connection| {
        while let Some(request) = connection.request() {
            if request.path() == "/whole" {
                connection.send(ok("whole"));
                continue;
            }
            connection.send("HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n");
            connection.send(pattern(100_000));
            return;
        }
    });
    let apps = RunningApps::before(&origin);
    run(async {
        let mut sender = connected(&apps).await;
        let get = |path: &str| Request::get(format!("http://a{path}")).body(()).unwrap();
        let broken = sender.send_request(get("/broken"), true).unwrap().0.await.unwrap();
        assert!(body(broken).await.is_err());
        let whole = sender.send_request(get("/whole"), true).unwrap().0.await.unwrap();
        assert_eq!(body(whole).await.unwrap().0, b"whole");
    });
    let events = [apps.event(), apps.event()];
    let event = events.iter().find(|event| event.path == "/broken").unwrap();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::AppCut)));
}

#[test]
fn interim_responses_come_before_the_response() {
    let origin = Origin::replying(|_| format!("HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n{}", ok("page")));
    let apps = RunningApps::before(&origin);
    run(async {
        let mut sender = connected(&apps).await;
        let (mut response, _) = sender.send_request(Request::get("http://a/").body(()).unwrap(), true).unwrap();
        let interim = poll_fn(|cx| response.poll_informational(cx)).await.unwrap().unwrap();
        assert_eq!((interim.status().as_u16(), &interim.headers()["link"]), (103, &"</a.css>".parse().unwrap()));
        assert_eq!(body(response.await.unwrap()).await.unwrap().0, b"page");
    });
}

#[test]
fn a_client_that_resets_its_stream_ends_the_work_of_the_backend() {
    let origin = Origin::new(|connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
        connection.ended();
    });
    let apps = RunningApps::before(&origin);
    run(async {
        let mut sender = connected(&apps).await;
        let response = sender.send_request(Request::get("http://a/").body(()).unwrap(), true).unwrap().0.await.unwrap();
        assert_eq!(apps.busy(), 1);
        drop(response);
    });
    apps.until("the backend is free", |view| view.lanes.iter().all(|lane| lane.busy == 0));
    assert_eq!(apps.event().outcome, Some(Outcome::ClientGone));
}
