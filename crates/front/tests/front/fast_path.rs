//! The fast path answers exactly as hyper does.

use crate::running_front::{Answer, Front, ROPE, TestHandler, options};
use front::{Answering, Handler, Limits, Request};
use std::sync::Arc;
use telemetry::Event;

const REQUESTS: &[&str] = &[
    "GET /a?b=%20c HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nhost:a\r\nUser-Agent: tester\r\nAccept: \r\nX-Twice: 1\r\nx-twice: 2\r\nConnection: Keep-Alive\r\n\r\n",
    "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n",
    "HEAD /nothing HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /tagged HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"v1\"\r\n\r\n",
    "GET /tagged HTTP/1.1\r\nHost: a\r\nRange: bytes=2-5\r\n\r\n",
    "GET /tagged HTTP/1.1\r\nHost: a\r\nRange: bytes=900-\r\n\r\n",
    "GET /busy HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /panic HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /rope HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /files/70000/70000 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "GET /who HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
    "GET /who HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    "GET /who HTTP/1.0\r\n\r\n",
    "GET http://b/who HTTP/1.1\r\nHost: a\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    // Refused by the exchange.
    "GET /who HTTP/1.1\r\n\r\n",
    "GET /who HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    // Refused before the exchange.
    "GET /who HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
    "GET /who HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
    "GET /who HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n",
    "GET /who HTTP/1.1\r\nHost : a\r\n\r\n",
    "GET /w\"ho HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /wh o HTTP/1.1\r\nHost: a\r\n\r\n",
];

/// The reply without the parts that differ each time, and its recorded event.
fn told(answer: &Answer, event: &Event) -> String {
    let of_its_own = |line: &&str| !line.starts_with("date:") && !line.starts_with("daylight-event:");
    let head: Vec<&str> = answer.head.lines().filter(of_its_own).collect();
    let Event { method, protocol, path, agent, status, outcome, reason, bytes_in, bytes_out, .. } = event;
    format!(
        "{head:?} {:?} {method} {protocol} {path} {agent} {status} {outcome:?} {reason:?} {bytes_in} {bytes_out}",
        answer.body
    )
}

fn answer(front: &Front, request: &str, before: &str) -> String {
    let mut client = front.client();
    let mut rest = request;
    if !before.is_empty() {
        let (first, others) = request.split_at(1);
        client.send(format!("{before}{first}"));
        assert_eq!(client.answer().status, 200);
        front.event();
        rest = others;
    }
    client.send(rest);
    let answer = if request.starts_with("HEAD") {
        let (status, head) = client.head();
        Answer { status, head, body: Vec::new() }
    } else {
        client.answer()
    };
    told(&answer, &front.event())
}

/// Answers each request after a turn of waiting.
struct Later;

impl Handler for Later {
    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(async {
            tokio::task::yield_now().await;
            TestHandler.answer(request, event).await
        })
    }
}

#[test]
fn whatever_is_asked_gets_the_reply_that_it_gets_behind_a_request_with_a_body() {
    answers_are_the_same(&Front::new());
}

#[test]
fn a_reply_that_took_its_handler_longer_than_a_turn_is_the_same_too() {
    answers_are_the_same(&Front::of(options(Limits::default()), None, Arc::new(Later)));
}

fn answers_are_the_same(front: &Front) {
    let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "l".repeat(9000));
    let lines = format!("GET /who HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(60));
    let many = format!("GET /who HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(200));
    let all = REQUESTS.iter().copied().chain([long.as_str(), &lines, &many]);
    for request in all {
        let alone = answer(front, request, "");
        // hyper handles bodies, and requests that arrive in parts.
        let behind = answer(front, request, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
        assert_eq!(alone, behind, "{request:?}");
    }
}

#[test]
fn plain_requests_and_others_take_turns_on_a_connection() {
    let front = Front::new();
    let mut client = front.client();
    for number in 0..20 {
        let (path, length) = [("/a", 7), ("/files/70000/70000", 70_000), ("/tagged", 12), ("/rope", ROPE)][number % 4];
        assert_eq!(client.get(path).body.len(), length);
        // Two at once.
        client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\nGET /bb HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((client.answer().body.len(), client.answer().body.len()), (7, 8));
    }
}
