//! A connection from one request to the next: it stays in step, or it is over.

use super::*;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const UPGRADE: [(&str, &str); 2] = [("connection", "upgrade"), ("upgrade", "websocket")];
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nahead";

fn upgrading() -> Request<BackendBody> {
    UPGRADE
        .iter()
        .fold(Request::get("/").header("host", "app"), |built, (name, value)| built.header(*name, *value))
        .body(BackendBody::Empty)
        .unwrap()
}

async fn hi(connection: &mut BackendConnection) {
    let mut response = connection.send(get("/"), None).await.unwrap();
    assert_eq!(whole(connection, response.body_mut()).await.unwrap().0, "hi");
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let origin = Origin::new(&[OK; 3]);
    let mut connection = connected(&origin.url).await;
    for _ in 0..3 {
        hi(&mut connection).await;
        assert!(connection.is_reusable());
    }
}

#[tokio::test]
async fn a_connection_whose_response_was_not_read_is_not_used_again() {
    let origin = Origin::new(&["HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nh"]);
    let mut connection = connected(&origin.url).await;
    assert!(connection.is_reusable());
    let response = connection.send(get("/"), None).await.unwrap();
    assert!(!connection.is_reusable());
    drop(response);
    assert!(!connection.is_reusable());
}

#[tokio::test]
async fn an_idle_connection_that_the_server_closes_is_over() {
    let origin = Origin::new(&[&format!("{OK}{CLOSE}")]);
    let mut connection = connected(&origin.url).await;
    hi(&mut connection).await;
    timeout(Duration::from_secs(30), ends(&mut connection)).await.unwrap();
}

#[tokio::test]
async fn bytes_that_nobody_asked_for_end_a_connection() {
    for more in ["!", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "\r\n"] {
        let origin = Origin::new(&[&format!("{OK}{more}")]);
        let mut connection = connected(&origin.url).await;
        hi(&mut connection).await;
        timeout(Duration::from_secs(30), ends(&mut connection)).await.unwrap();
        // And a request that is sent all the same does not get them as its answer.
        let failed = connection.send(get("/mine"), None).await.unwrap_err();
        assert_eq!(failed.unsent.unwrap().uri(), "/mine");
    }
}

#[tokio::test]
async fn a_request_on_a_connection_that_is_closed_may_be_sent_again() {
    let origin = Origin::new(&[&format!("{OK}{CLOSE}")]);
    let mut connection = connected(&origin.url).await;
    hi(&mut connection).await;
    assert_eq!([origin.read.recv().unwrap().is_empty(), origin.read.recv().unwrap().is_empty()], [false, true]);
    let failed = connection.send(get("/again"), None).await.unwrap_err();
    assert!(failed.unsent.is_some() || failed.unanswered, "{failed:?}");
    assert_eq!(failed.error.label(), "cut");
}

#[tokio::test]
async fn a_connection_that_ends_without_a_byte_was_unanswered_and_after_one_byte_it_was_not() {
    for (answer, unanswered) in
        [("<close>", true), ("H<close>", false), ("HTTP/1.1 100 Continue\r\n\r\n<close>", false)]
    {
        let origin = Origin::new(&[answer]);
        let mut connection = connected(&origin.url).await;
        let failed = connection.send(get("/"), None).await.unwrap_err();
        assert_eq!((failed.unanswered, failed.error.label()), (unanswered, "cut"), "{answer}");
        assert!(failed.unsent.is_none() && !connection.is_reusable());
    }
}

#[tokio::test]
async fn an_answer_before_the_request_was_read_does_not_free_the_connection() {
    #[derive(Debug)]
    struct Never;
    impl BodySource for Never {
        fn len(&self) -> Option<u64> {
            Some(5)
        }
        fn poll_frame(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<std::io::Result<hyper::body::Frame<Bytes>>>> {
            std::task::Poll::Pending
        }
    }
    let origin = Origin::new(&["HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"]);
    let mut connection = connected(&origin.url).await;
    let request = Request::post("/").header("host", "app").body(BackendBody::Source(Box::new(Never))).unwrap();
    let mut response = connection.send(request, None).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), whole(&mut connection, response.body_mut()).await.unwrap().0),
        (413, String::new())
    );
    assert!(!connection.is_reusable());
}

#[tokio::test]
async fn an_answer_before_the_request_was_read_is_got_although_writing_fails() {
    /// One piece before the origin has closed its connection, and many after that.
    #[derive(Debug)]
    struct Pieces(u32, std::sync::mpsc::Receiver<String>);
    impl BodySource for Pieces {
        fn len(&self) -> Option<u64> {
            None
        }
        fn poll_frame(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<std::io::Result<hyper::body::Frame<Bytes>>>> {
            static PIECE: [u8; 50_000] = [b'x'; 50_000];
            self.0 += 1;
            if self.0 == 10 {
                assert_eq!(self.1.iter().last().as_deref(), Some(""));
            }
            let piece = (self.0 < 100).then(|| Ok(hyper::body::Frame::data(Bytes::from_static(&PIECE))));
            std::task::Poll::Ready(piece)
        }
    }
    for (answer, outcome) in
        [("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge<close>", Some(413)), ("<close>", None)]
    {
        let origin = Origin::new(&[answer]);
        let mut connection = connected(&origin.url).await;
        let body = BackendBody::Source(Box::new(Pieces(0, origin.read)));
        let sent = connection.send(Request::post("/").header("host", "app").body(body).unwrap(), None).await;
        match (sent, outcome) {
            (Ok(mut response), Some(status)) => {
                let body = whole(&mut connection, response.body_mut()).await.unwrap().0;
                assert_eq!((response.status().as_u16(), body.as_str()), (status, "large"));
            }
            (Err(failed), None) => assert_eq!((failed.error.label(), failed.unanswered), ("cut", true)),
            (sent, _) => panic!("{sent:?}"),
        }
        assert!(!connection.is_reusable());
    }
}

#[tokio::test]
async fn after_a_101_the_stream_begins_with_what_was_read_ahead() {
    let origin = Origin::new(&[SWITCH, "echo\r\n\r\n"]);
    let mut connection = connected(&origin.url).await;
    let response = connection.send(upgrading(), None).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["upgrade"]),
        (101, &"websocket".parse::<http::HeaderValue>().unwrap())
    );
    assert!(!connection.is_reusable());
    let mut stream = connection.into_stream();
    let mut ahead = [0; 5];
    stream.read_exact(&mut ahead).await.unwrap();
    assert_eq!(&ahead, b"ahead");
    stream.write_all(b"mine\r\n\r\n").await.unwrap();
    let mut echo = [0; 4];
    stream.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"echo");
    origin.read.recv().unwrap();
    assert_eq!(origin.read.recv().unwrap(), "mine\r\n\r\n");
}

#[tokio::test]
async fn a_101_that_nobody_asked_for_is_an_error() {
    let (outcome, reusable) = asked(get("/"), SWITCH).await;
    assert_eq!((outcome.err(), reusable), (Some("bad_response"), false));
}

#[tokio::test]
async fn a_call_that_is_given_up_ends_the_connection() {
    let origin = Origin::reading_to("nothing", &["never"]);
    let mut connection = connected(&origin.url).await;
    {
        let mut sending = std::pin::pin!(connection.send(get("/"), None));
        let polled = sending.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
        assert!(polled.is_pending());
    }
    assert!(!connection.is_reusable());
    drop(connection);
    assert!(origin.read.recv().unwrap().starts_with("GET / HTTP/1.1\r\n"));
}

/// Counts the wakes of a task.
struct Counted {
    wakes: std::sync::atomic::AtomicU32,
    task: std::task::Waker,
}

impl std::task::Wake for Counted {
    fn wake(self: std::sync::Arc<Self>) {
        self.wakes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.task.wake_by_ref();
    }
}

#[tokio::test]
async fn a_task_is_woken_only_by_what_it_waits_for() {
    let origin = Origin::new(&[OK; 5]);
    let mut connection = connected(&origin.url).await;
    let mut asking = Box::pin(async {
        for _ in 0..5 {
            hi(&mut connection).await;
            assert!(connection.is_reusable());
        }
    });
    let (mut wakes, mut waits) = (0, 0);
    poll_fn(|cx| {
        let counted = std::sync::Arc::new(Counted { wakes: 0.into(), task: cx.waker().clone() });
        let waker = counted.clone().into();
        let polled = asking.as_mut().poll(&mut std::task::Context::from_waker(&waker));
        // They came before the poll ended: the task woke itself.
        wakes += counted.wakes.load(std::sync::atomic::Ordering::Relaxed);
        waits += u32::from(polled.is_pending());
        polled
    })
    .await;
    assert!(waits >= 5 && wakes == 0, "{waits} {wakes}");
}
