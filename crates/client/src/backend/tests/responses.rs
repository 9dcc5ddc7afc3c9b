//! Responses, good and bad.

use super::*;
use http::Method;

/// The body of a good answer, after which the connection can be used again.
async fn good(answer: &str) -> Whole {
    let (outcome, reusable) = asked(get("/"), answer).await;
    assert!(reusable, "{answer}");
    outcome.unwrap().1
}

/// The label of the error after a bad answer.
async fn bad(answer: &str) -> &'static str {
    let (outcome, reusable) = asked(get("/"), answer).await;
    assert!(!reusable, "{answer}");
    outcome.map(|(_, whole)| whole).expect_err(answer)
}

#[tokio::test]
async fn a_body_has_its_length_or_chunks_with_trailers() {
    assert_eq!(good("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await.0, "hello");
    assert_eq!(good("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.0, "");
    let chunks =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nX-Sum: 7\r\n\r\n";
    let (body, trailers) = good(chunks).await;
    assert_eq!((body.as_str(), &trailers.unwrap()["x-sum"]), ("hello", &"7".parse::<http::HeaderValue>().unwrap()));
    assert_eq!(good("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").await, (String::new(), None));
}

#[tokio::test]
async fn a_response_without_a_body_ends_with_its_head_whatever_the_head_says() {
    for (method, status) in
        [(Method::HEAD, "200 OK"), (Method::GET, "204 No Content"), (Method::GET, "304 Not Modified")]
    {
        for length in ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", ""] {
            let mut request = get("/");
            *request.method_mut() = method.clone();
            let (outcome, reusable) = asked(request, &format!("HTTP/1.1 {status}\r\n{length}\r\n")).await;
            assert_eq!((outcome.unwrap().1.0.as_str(), reusable), ("", true), "{method} {status} {length}");
        }
    }
}

#[tokio::test]
async fn a_body_where_none_belongs_is_not_the_next_response() {
    let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    for (method, status) in
        [(Method::HEAD, "200 OK"), (Method::GET, "204 No Content"), (Method::GET, "304 Not Modified")]
    {
        let mut request = get("/");
        *request.method_mut() = method.clone();
        let length = evil.len();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{evil}");
        let (outcome, reusable) = asked(request, &answer).await;
        assert_eq!((outcome.unwrap().1.0.as_str(), reusable), ("", false), "{method} {status}");
    }
}

#[tokio::test]
async fn a_body_that_ends_with_the_connection_is_whole_and_the_connection_over() {
    let (outcome, reusable) = asked(get("/"), &format!("HTTP/1.1 200 OK\r\n\r\nhello{CLOSE}")).await;
    assert_eq!((outcome.unwrap().1.0.as_str(), reusable), ("hello", false));
    let (outcome, reusable) =
        asked(get("/"), "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi").await;
    assert_eq!((outcome.unwrap().1.0.as_str(), reusable), ("hi", false));
}

#[tokio::test]
async fn an_old_server_gets_one_request_for_each_connection() {
    let answer = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
    let (outcome, reusable) = asked(get("/"), answer).await;
    assert_eq!((outcome.unwrap().1.0.as_str(), reusable), ("hi", false));
}

#[tokio::test]
async fn a_response_that_ends_too_early_is_never_whole() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello<close>",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n<close>",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n<close>",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhel<close>",
        "HTTP/1.1 200 OK\r\nContent-Le<close>",
        "HTTP/1.1 100 Continue\r\n\r\n<close>",
        "<close>",
    ] {
        assert_eq!(bad(answer).await, "cut", "{answer}");
    }
}

#[tokio::test]
async fn a_response_that_is_cut_anywhere_is_never_whole() {
    for whole in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: 1\r\n\r\nhello",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nhel\r\n2\r\nlo\r\n0\r\nX-Sum: 7\r\n\r\n",
    ] {
        for cut in 0..whole.len() {
            assert_eq!(bad(&format!("{}{CLOSE}", &whole[..cut])).await, "cut", "{:?}", &whole[..cut]);
        }
        let (outcome, _) = asked(get("/"), &format!("{whole}{CLOSE}")).await;
        assert_eq!(outcome.unwrap().1.0, "hello");
    }
}

#[tokio::test]
async fn a_response_with_two_lengths_or_bad_chunks_is_an_error() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5x\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    ] {
        assert_eq!(bad(answer).await, "bad_response", "{answer}");
    }
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: 1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\nContent-Length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2p1\r\n\r\n",
    ] {
        assert_eq!(bad(answer).await, "not_http", "{answer}");
    }
    assert_eq!(good("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello").await.0, "hello");
}

#[tokio::test]
async fn the_head_of_a_response_has_a_limit() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(64 << 10));
    let many = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", "X: 1\r\n".repeat(100));
    for answer in [long, many] {
        assert_eq!(bad(&answer).await, "bad_response");
    }
    let much =
        format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", format!("X: {}\r\n", "x".repeat(600)).repeat(99));
    assert_eq!(good(&much).await.0, "");
}

#[tokio::test]
async fn interim_responses_are_told_and_are_not_the_answer() {
    use std::sync::{Arc, Mutex};
    let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let origin =
        Origin::new(&[&format!("HTTP/1.1 100 Continue\r\n\r\n{hint}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]);
    let mut connection = connected(&origin.url).await;
    let told = Arc::<Mutex<Vec<String>>>::default();
    let tell = told.clone();
    let on_interim: OnInterim = Box::new(move |status, headers| {
        let link = headers.get("link").map_or("", |link| link.to_str().unwrap());
        tell.lock().unwrap().push(format!("{} {link}", status.as_u16()));
    });
    assert_eq!(connection.send(get("/"), Some(on_interim)).await.unwrap().status(), 200);
    assert_eq!(*told.lock().unwrap(), ["100 ", "103 </a>"]);
    assert!(connection.is_reusable());
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(good(&format!("{}{ok}", hint.repeat(16))).await.0, "");
    assert_eq!(bad(&format!("{}{ok}", hint.repeat(17))).await, "bad_response");
    // Nobody waits for the end of a flood.
    assert_eq!(bad(&hint.repeat(5000)).await, "bad_response");
}
