//! Replies that a handler has stored, sent without its future.

use crate::growing::ask;
use crate::running_front::{Front, options, pattern};
use bytes::Bytes;
use front::{
    Answering, ClientFrom, Confirming, Handler, KernelCopies, KernelCopy, Limits, Options, PlainHead, Proxies, Reply,
    Request, StoredReply,
};
use http::StatusCode;
use std::sync::Arc;
use telemetry::{BoundName, Class, Clock, Event, Layer, Millis, Op, Outcome, Recorder, Subject};

/// Has stored `/stored` and `/large` for clients without `Cookie`.
struct Store {
    recorder: Arc<Recorder>,
    copies: KernelCopies,
    large: (Bytes, KernelCopy),
}

const LARGE: usize = 100_000;

impl Store {
    fn new() -> Self {
        let recorder = Recorder::silent(Clock::default());
        let copies = KernelCopies::new("apps", 1, &recorder);
        Self { recorder, copies, large: (pattern(LARGE).into(), KernelCopy::default()) }
    }
}

impl Handler for Store {
    fn stored(&self, head: &PlainHead<'_>, now: Millis) -> Option<StoredReply> {
        assert!(now.0 > 0 && !head.tls);
        assert_eq!(head.values("host").collect::<Vec<_>>(), [b"a"]);
        if head.values("cookie").next().is_some() {
            return None;
        }
        let (status, body, file) = match head.target {
            "/stored?a=%20" => (StatusCode::OK, Bytes::from_static(b"stored"), None),
            "/gone" => (StatusCode::GONE, Bytes::new(), None),
            "/large" => (StatusCode::OK, self.large.0.clone(), self.copies.of(&self.large.0, &self.large.1)),
            _ => return None,
        };
        let lines = format!(
            "HTTP/1.1 {} Kept\r\ncontent-length: {}\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\ncache-status: d; hit\r\n",
            status.as_u16(),
            body.len()
        );
        let subject = Subject { repository: "shop".into(), ..Subject::default() };
        let layer = Layer::AppCache;
        Some(StoredReply { status, head: lines.into(), age: Some(12), body, file, layer, subject })
    }

    fn confirmed(&self, head: &PlainHead<'_>) -> Option<Confirming> {
        let (status, layer, subject) = (StatusCode::OK, Layer::AppPages, Subject::default());
        let confirming = |reply| Some(Confirming { subject: Subject::default(), reply });
        let head = match head.target {
            "/confirmed" => Some("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n".into()),
            "/outdated" => None,
            "/panics" => return confirming(Box::pin(async { panic!("on purpose") })),
            "/never" => return confirming(Box::pin(std::future::pending())),
            _ => return None,
        };
        confirming(Box::pin(async move {
            tokio::task::yield_now().await;
            let body = Bytes::from_static(b"confirmed");
            Some(StoredReply { status, head: head?, age: None, body, file: None, layer, subject })
        }))
    }

    fn answer<'a>(&'a self, _: &'a mut Request, _: &'a mut Event) -> Answering<'a> {
        Box::pin(async { Reply::text(StatusCode::OK, "answered") })
    }
}

fn of_behind(proxies: Proxies) -> Front {
    let limits = Limits { uri: 100, ..Limits::default() };
    Front::of(Options { proxies, ..options(limits) }, None, Arc::new(Store::new()))
}

fn front() -> Front {
    of_behind(Proxies::default())
}

#[test]
fn a_stored_reply_is_sent_as_it_is_with_its_age_and_its_event() {
    let front = front();
    let mut client = front.client();
    for (method, target, status, body) in
        [("GET", "/stored?a=%20", 200, "stored"), ("HEAD", "/stored?a=%20", 200, ""), ("GET", "/gone", 410, "")]
    {
        ask(&mut client, "1.1", method, target, "user-agent: tester\r\n");
        let (told, head) = client.head();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        assert_eq!((told, length), (status, if status == 200 { "6" } else { "0" }));
        assert_eq!(client.body(body.len()), body.as_bytes());
        let event = front.event();
        let start = format!("HTTP/1.1 {status} Kept\r\ncontent-length: {length}\r\ndate: Thu");
        let end = format!("age: 12\r\ndaylight-event: {}\r\n\r\n", event.id);
        assert!(head.starts_with(&start) && head.ends_with(&end) && head.matches("date").count() == 1, "{head}");
        assert_eq!((event.method, event.path.as_str()), (method, target.split('?').next().unwrap()));
        assert_eq!((event.status, event.bytes_out, &*event.agent), (status, body.len() as u64, "tester"));
        assert_eq!((event.layer, event.class), (Layer::AppCache, Some(Class::Apps)));
        assert_eq!((event.subject.repository.as_str(), event.tally(Op::AppCacheLookup).count), ("shop", 1));
        let outcome = if status == 200 { Outcome::Answered } else { Outcome::NotFound };
        assert_eq!(event.outcome, Some(outcome));
    }
}

#[test]
fn a_reply_that_is_confirmed_is_sent_with_the_date_of_now_and_its_event() {
    let front = front();
    let mut client = front.client();
    for (method, body) in [("GET", "confirmed"), ("HEAD", ""), ("GET", "confirmed")] {
        ask(&mut client, "1.1", method, "/confirmed", "user-agent: tester\r\n");
        let (_, head) = client.head();
        assert_eq!(client.body(body.len()), body.as_bytes());
        let event = front.event();
        let start = format!("HTTP/1.1 200 OK\r\ncontent-length: 9\r\ndaylight-event: {}\r\ndate: ", event.id);
        assert!(head.starts_with(&start) && head.ends_with(" GMT\r\n\r\n") && !head.contains("age:"), "{head}");
        assert_eq!(
            (event.layer, event.class, event.outcome),
            (Layer::AppPages, Some(Class::Apps), Some(Outcome::Answered))
        );
        let count = |op| event.tally(op).count;
        assert_eq!([Op::AppCacheLookup, Op::AppPagesRead, Op::HeadParse].map(count), [1, 1, 0]);
        assert!(event.tallies().map(|(_, tally)| tally.nanos).sum::<u64>() <= event.duration, "{event:?}");
    }
}

#[test]
fn the_handler_answers_where_a_reply_does_not_hold() {
    let front = front();
    let mut client = front.client();
    for path in ["/outdated", "/panics"] {
        assert_eq!(
            [path, "/confirmed", path].map(|path| client.get(path).body),
            [&b"answered"[..], b"confirmed", b"answered"]
        );
        let events = [front.event(), front.event(), front.event()];
        let layers = events.iter().map(|event| event.layer);
        assert!(layers.eq([Layer::None, Layer::AppPages, Layer::None]), "{path}");
        assert_eq!(events[2].tally(Op::AppPagesRead).count, 1);
        assert!(events[2].tallies().map(|(_, tally)| tally.nanos).sum::<u64>() <= events[2].duration);
    }
    client.send("GET /never HTTP/1.1\r\nhost: a\r\n\r\n");
    while front.recorder.totals().attempts() < 7 {
        std::thread::yield_now();
    }
    drop(client);
    assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
}

#[test]
fn the_kernel_sends_a_large_one_from_its_copy() {
    let store = Arc::new(Store::new());
    for sendfile in [true, false] {
        let front = Front::of(Options { sendfile, ..options(Limits::default()) }, None, store.clone());
        let mut client = front.client();
        for _ in 0..3 {
            let answer = client.get("/large");
            assert!(answer.body == pattern(LARGE), "other bytes");
            assert_eq!(front.event().bytes_out, LARGE as u64);
        }
    }
    let bounds = store.recorder.bounds();
    let copies = bounds.iter().find(|bound| bound.name() == BoundName::PageFiles).unwrap();
    assert_eq!((copies.which(), copies.used()), ("apps", 1));
}

#[test]
fn every_other_request_is_answered() {
    let front = front();
    let long = format!("/stored?a={}", "%20".repeat(40));
    for request in [
        "GET /other HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /stored?a=%20 HTTP/1.1\r\nhost: a\r\nCOOKIE: b\r\n\r\n",
        "GET /stored?a=%20 HTTP/1.1\r\nhost: a\r\nif-none-match: \"b\"\r\n\r\n",
        "GET /stored?a=%20 HTTP/1.1\r\nhost: a\r\nrange: bytes=1-\r\n\r\n",
        "GET /stored?a=%20 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
        "GET /stored?a=%20 HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx",
        "GET /stored?a=%20 HTTP/1.0\r\nhost: a\r\n\r\n",
        "POST /stored?a=%20 HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n",
        "GET http://a/stored?a=%20 HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        let mut client = front.client();
        client.send(request);
        assert_eq!(client.answer().body, b"answered", "{request}");
        assert_eq!(front.event().layer, Layer::None, "{request}");
    }
    for (refused, status) in [
        ("GET /stored?a=%20 HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n", 400),
        (&*format!("GET {long} HTTP/1.1\r\nhost: a\r\n\r\n"), 414),
    ] {
        let mut client = front.client();
        client.send(refused);
        assert_eq!(client.answer().status, status);
    }
    let trusted = vec!["127.0.0.1".parse().unwrap()];
    let behind = of_behind(Proxies { trusted, client_from: ClientFrom::XForwardedFor });
    assert_eq!(behind.client().get("/stored?a=%20").body, b"answered");
}
