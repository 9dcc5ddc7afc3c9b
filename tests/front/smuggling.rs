//! Request smuggling through the front: a request whose end can be read in two ways never becomes another request at the backend, and no
//! connection gets out of step.

use super::origin::{Origin, response};
use super::program::Front;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// The request that the others try to hide.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";

/// Lines of a head, and a body, each of which some server reads as more or less than others.
fn corpus() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |lines: &str, body: &str| all.push((lines.to_owned(), body.to_owned()));
    let inside = format!("0\r\n\r\n{HIDDEN}");
    for length in [
        "5\r\nContent-Length: 6",
        "5, 6",
        "5,5",
        "+5",
        "-5",
        "0x5",
        "5 5",
        "",
        "5\u{b}",
        "99999999999999999999999",
        "05a",
    ] {
        add(&format!("Content-Length: {length}"), &format!("hello{HIDDEN}"));
    }
    for lines in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 6",
        "Content-Length: 5\r\nTransfer-Encoding: xchunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\t: chunked",
        "Transfer-Encoding:\r\n chunked",
        "Transfer_Encoding: chunked",
        "Transfer-Encoding: CHUNKED\r\nContent-Length: 3",
        "X: a\rTransfer-Encoding: chunked",
        "X: a\nTransfer-Encoding: chunked",
        " Transfer-Encoding: chunked",
        "Content-Length: 6\r\nContent_Length: 0",
        "Connection: Content-Length\r\nContent-Length: 6",
        "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\nContent-Length: 6",
        "Connection: close, Host\r\nContent-Length: 6",
        "Expect: 100-continue\r\nContent-Length: 6",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 6",
        "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 0",
    ] {
        add(lines, &inside);
    }
    for chunks in [
        "5\r\nhello\r\n0\r\n",
        "5;a\r\nhello\r\n0\r\n\r\n",
        "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhelloX\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFF5\r\nhello\r\n0\r\n\r\n",
        "10000000000000005\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n00000000\r\n\r\n",
        "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n",
        "5\r\nhello\r\n0\r\nX : a\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\rhello\r\n0\r\n\r\n",
        "\r\n5\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\n",
    ] {
        add("Transfer-Encoding: chunked", &format!("{chunks}{HIDDEN}"));
    }
    all
}

/// First lines that a backend might read as two requests, or as another one.
const FIRST: &[&str] = &[
    "POST /seen HTTP/1.1\r\nHost: a\r\n\r\nGET /hidden HTTP/1.1",
    "POST /seen HTTP/1.0",
    "POST /seen\tHTTP/1.1",
    "POST  /seen HTTP/1.1",
    "POST /seen HTTP/1.1 HTTP/1.1",
    "POST /seen x HTTP/1.1",
    "POST /seen\rGET HTTP/1.1",
    "POST /seen\u{0}x HTTP/1.1",
    "POST /seen HTTP/2.0",
    "POST /seen HTTP/0.9",
    "POST /seen",
    "POST http://a:b@c/seen HTTP/1.1",
    "POST seen HTTP/1.1",
    "POST a:80 HTTP/1.1",
    "CONNECT a:80 HTTP/1.1",
    "PRI * HTTP/2.0",
    "\r\nPOST /seen HTTP/1.1",
];

/// Sends bytes and the end, and returns the statuses of all replies.
fn replies(front: &Front, bytes: &[u8]) -> Vec<u16> {
    let mut stream = TcpStream::connect(front.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The front may have closed the connection in between.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let text = String::from_utf8_lossy(&all).into_owned();
    let lines = text.split("HTTP/1.").skip(1).filter_map(|rest| rest.get(2..5)?.parse().ok());
    lines.filter(|status| *status >= 200).collect()
}

#[test]
fn a_request_that_can_be_read_in_two_ways_hides_none_from_the_front_and_leaves_every_connection_in_step() {
    let origin = Origin::start(|heard, client| {
        client
            .write_all(&response("200 OK", &[], format!("{} {}", heard.method, heard.target).as_bytes()))
            .map(|()| true)
    });
    let front = Front::to(&[&origin.url()]);
    let heads =
        corpus().into_iter().map(|(lines, body)| format!("POST /seen HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n{body}"));
    let first = FIRST.iter().map(|line| format!("{line}\r\nHost: a\r\nContent-Length: 0\r\n\r\n{HIDDEN}"));
    let mut tried = 0;
    for bytes in heads.chain(first) {
        let before = origin.count();
        let told = replies(&front, bytes.as_bytes());
        let came = origin.heard().split_off(before);
        // Every request at the backend has a reply of the front. The last one may be lost: the client has ended its side, or the front closes
        // the connection on bytes that it has not read.
        let passed: Vec<&str> = came.iter().map(|heard| &*heard.target).collect();
        assert!(passed.len() <= told.len() + 1, "{bytes:?}: the backend heard {passed:?}, the client {told:?}");
        assert!(told.len() <= 2, "{bytes:?}: {told:?}");
        for heard in &came {
            assert!(["/seen", "/hidden"].contains(&&*heard.target), "{bytes:?}: {heard:?}");
            let body = String::from_utf8_lossy(&heard.body);
            assert!(
                heard.target != "/seen" || !body.contains("\r\nHost: a") || told.len() == 1,
                "{bytes:?}: {heard:?}"
            );
        }
        // One framing alone reaches a backend.
        let both = |heard: &super::origin::Heard| {
            heard.header("content-length").is_some() && heard.header("transfer-encoding").is_some()
        };
        assert!(!came.iter().any(both), "{bytes:?}: {came:?}");
        // Others get their own replies on the same connections to the backend.
        for number in 0..3 {
            let target = format!("/after/{number}");
            assert_eq!(front.get(&target).expect(200).text(), format!("GET {target}"), "after {bytes:?}");
        }
        assert_eq!(origin.garbled(), [""; 0], "{bytes:?}");
        tried += 1;
    }
    assert!(tried > 70, "{tried}");
}

#[test]
fn a_response_that_holds_a_second_one_is_no_reply_to_the_next_client() {
    let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    for hidden in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello{evil}"),
        format!("HTTP/1.1 204 No Content\r\n\r\n{evil}"),
        format!("HTTP/1.1 304 Not Modified\r\n\r\n{evil}"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n{evil}"),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{evil}"),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: {}\r\n\r\n{evil}", evil.len()),
        format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n{evil}"),
    ] {
        let origin = Origin::start(move |heard, client| {
            let own = response("200 OK", &[], heard.target.as_bytes());
            client.write_all(if heard.target == "/first" { hidden.as_bytes() } else { &own }).map(|()| true)
        });
        let front = Front::to(&[&origin.url()]);
        for method in ["GET", "HEAD", "POST"] {
            let mut client = front.connect();
            client
                .send(format!("{method} /first HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").as_bytes())
                .unwrap();
            let _ = client.answer(method == "HEAD");
            for number in 0..4 {
                let target = format!("/after/{number}");
                assert_eq!(front.get(&target).expect(200).text(), target);
            }
        }
    }
}
