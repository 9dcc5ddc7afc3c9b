//! Interim responses before a reply.

use crate::growing::ask;
use crate::http2;
use crate::running_front::{Front, options};
use front::{Answering, Handler, Interim, Limits, Reply, Request};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use telemetry::{Event, Outcome};
use tokio::sync::Notify;

/// Sends interim responses by the path, before its reply.
#[derive(Default)]
struct Hints {
    goes_on: Arc<Notify>,
    kept: Mutex<Option<Interim>>,
}

fn hint(interim: &Interim, status: u16, link: &str) {
    let link = (HeaderName::from_static("link"), HeaderValue::from_str(link).unwrap());
    interim.send(StatusCode::from_u16(status).unwrap(), HeaderMap::from_iter([link]));
}

impl Hints {
    async fn reply(&self, request: &mut Request, event: &mut Event) -> Reply {
        let possible = request.interim.is_possible();
        match request.path() {
            "/at-once" => hint(&request.interim, 103, "a"),
            "/waits" => {
                hint(&request.interim, 103, "a");
                self.goes_on.notified().await;
                hint(&request.interim, 102, "b");
            }
            "/other-task" => {
                let (interim, goes_on, told) = (request.interim.clone(), self.goes_on.clone(), Arc::new(Notify::new()));
                let tells = told.clone();
                tokio::task::spawn_local(async move {
                    goes_on.notified().await;
                    hint(&interim, 103, "a");
                    goes_on.notified().await;
                    tells.notify_one();
                });
                told.notified().await;
            }
            "/many" => {
                [100, 101, 200].iter().for_each(|status| hint(&request.interim, *status, "no"));
                hint(&request.interim, 103, &"l".repeat(17_000));
                (0..30).for_each(|number| hint(&request.interim, 103, &number.to_string()));
            }
            "/large" => (0..16).for_each(|number| hint(&request.interim, 103, &number.to_string().repeat(7_000))),
            "/keeps" => *self.kept.lock().unwrap() = Some(request.interim.clone()),
            "/late" => {
                let kept = self.kept.lock().unwrap().take();
                hint(&kept.unwrap(), 103, "late");
            }
            _ => {}
        }
        let upload = request.upload.collect(100, event).await.unwrap();
        Reply::text(StatusCode::OK, format!("{possible} {}", String::from_utf8_lossy(&upload)))
    }
}

impl Handler for Hints {
    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(self.reply(request, event))
    }
}

fn front() -> (Front, Arc<Notify>) {
    let handler = Hints::default();
    let goes_on = handler.goes_on.clone();
    (Front::of(options(Limits::default()), None, Arc::new(handler)), goes_on)
}

const EARLY: &str = "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n";

#[test]
fn an_interim_response_arrives_while_the_handler_works_and_before_the_reply() {
    let (front, goes_on) = front();
    let mut client = front.client();
    for more in ["", "content-length: 0\r\n", "te: x\r\n"] {
        ask(&mut client, "1.1", "GET", "/waits", more);
        assert_eq!(client.head(), (103, EARLY.to_owned()));
        goes_on.notify_one();
        assert_eq!(client.head().0, 102);
        assert_eq!(client.answer().body, b"true ");
        ask(&mut client, "1.1", "GET", "/other-task", more);
        goes_on.notify_one();
        assert_eq!(client.head(), (103, EARLY.to_owned()));
        goes_on.notify_one();
        assert_eq!(client.answer().status, 200);
        ask(&mut client, "1.1", "GET", "/at-once", more);
        assert_eq!((client.head().0, client.answer().status), (103, 200));
        for _ in 0..3 {
            let event = front.event();
            assert_eq!((event.status, event.outcome, event.bytes_out), (200, Some(Outcome::Answered), 5));
        }
    }
}

#[test]
fn a_client_that_waits_to_be_told_and_one_that_pipelines_get_all_in_order() {
    let (front, goes_on) = front();
    let mut client = front.client();
    client.send("POST /waits HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n");
    assert_eq!(client.head().0, 103);
    goes_on.notify_one();
    let mut told = [client.head().0, client.head().0];
    told.sort_unstable();
    assert_eq!(told, [100, 102]);
    client.send("abc");
    assert_eq!(client.answer().body, b"true abc");
    let hinted = "GET /at-once HTTP/1.1\r\nhost: a\r\n\r\n";
    let sent = "POST /at-once HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc";
    client.send([hinted, sent, hinted].concat());
    for body in ["true ", "true abc", "true "] {
        assert_eq!(client.head().0, 103);
        assert_eq!(client.answer().body, body.as_bytes());
    }
}

#[test]
fn a_client_that_reads_late_gets_all_in_order() {
    let (front, _) = front();
    let mut client = front.client();
    // More than both sockets hold.
    let requests = 80;
    client.send("POST /large HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc".repeat(requests));
    for _ in 0..requests {
        for number in 0..16 {
            let (status, head) = client.head();
            assert!(status == 103 && head.contains(&format!("link: {}\r\n", number.to_string().repeat(7_000))));
        }
        assert_eq!(client.answer().body, b"true abc");
        assert_eq!(front.event().outcome, Some(Outcome::Answered));
    }
}

#[test]
fn an_older_client_gets_none() {
    let (front, _) = front();
    let mut client = front.client();
    ask(&mut client, "1.0", "GET", "/at-once", "");
    let answer = client.answer();
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"false "[..]));
}

#[test]
fn there_are_only_so_many_and_none_after_the_reply() {
    let (front, _) = front();
    let mut client = front.client();
    ask(&mut client, "1.1", "GET", "/many", "");
    for number in 0..16 {
        let (status, head) = client.head();
        assert!(status == 103 && head.contains(&format!("link: {number}\r\n")), "{head}");
    }
    assert_eq!(client.answer().status, 200);
    for path in ["/keeps", "/late", "/at-once"] {
        ask(&mut client, "1.1", "GET", path, "");
        if path == "/at-once" {
            assert_eq!(client.head(), (103, EARLY.to_owned()));
        }
        assert_eq!(client.answer().status, 200);
    }
}

#[test]
fn on_http2_they_belong_to_their_stream() {
    let (front, goes_on) = front();
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 100_000).await;
        let mut send = |path: &str| {
            let request = http::Request::get(format!("http://front{path}")).body(()).unwrap();
            sender.send_request(request, true).unwrap().0
        };
        let (mut waits, mut at_once) = (send("/waits"), send("/at-once"));
        let told = poll_fn(|cx| at_once.poll_informational(cx)).await.unwrap().unwrap();
        assert_eq!((told.status().as_u16(), &told.headers()["link"]), (103, &HeaderValue::from_static("a")));
        assert_eq!(at_once.await.unwrap().status(), 200);
        assert_eq!(poll_fn(|cx| waits.poll_informational(cx)).await.unwrap().unwrap().status(), 103);
        goes_on.notify_one();
        assert_eq!(poll_fn(|cx| waits.poll_informational(cx)).await.unwrap().unwrap().status(), 102);
        assert_eq!(waits.await.unwrap().status(), 200);
    });
}
