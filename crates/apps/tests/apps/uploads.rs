//! Uploads reach a backend whole and at once, however slowly they come.

use crate::origin::{Origin, ok};
use crate::responses::pattern;
use crate::running_apps::{RunningApps, shop};
use apps::AppOptions;
use front::{Limits, Proxies};
use telemetry::{Op, Reason};

fn counting() -> Origin {
    Origin::replying(|request| ok(&request.body.len().to_string()))
}

#[test]
fn an_upload_comes_as_it_was_sent_with_its_length() {
    let origin = counting();
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    for len in [0, 1, 16 << 10, (16 << 10) + 1, 5_000_003] {
        let body = pattern(len);
        client.send(format!("PUT /{len} HTTP/1.1\r\nHost: a\r\nContent-Length: {len}\r\n\r\n"));
        client.send(&body);
        assert_eq!(client.answer().text(), len.to_string());
        let received = origin.received().pop().unwrap();
        assert!(received.body == body && received.header("content-length") == Some(&*len.to_string()), "{len}");
        let event = apps.event();
        assert_eq!((event.bytes_in, event.tally(Op::SpoolWrite).count > 0), (len as u64, len > 16 << 10));
    }
    assert_eq!(apps.spool().read_dir().unwrap().count(), 0, "files of the spool have no names");
}

#[test]
fn chunks_become_a_body_with_a_length_and_trailers_go_on() {
    let origin = counting();
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_eq!(client.answer().text(), "5");
    let received = origin.received().pop().unwrap();
    assert_eq!((received.header("content-length"), received.header("transfer-encoding")), (Some("5"), None));
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n3\r\nabc\r\n0\r\nx-sum: 7\r\n\r\n");
    assert_eq!(client.answer().text(), "3");
    let received = origin.received().pop().unwrap();
    assert_eq!((received.trailers, received.body), (vec!["x-sum: 7".to_owned()], b"abc".to_vec()));
}

#[test]
fn a_body_or_its_absence_is_told_on_as_it_was_told() {
    let origin = counting();
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    for (method, line, told) in [
        ("GET", "", None),
        ("DELETE", "", None),
        ("POST", "Content-Length: 0\r\n", Some("0")),
        ("GET", "Content-Length: 0\r\n", Some("0")),
        ("POST", "Transfer-Encoding: chunked\r\n", Some("0")),
    ] {
        let end = if line.starts_with('T') { "0\r\n\r\n" } else { "" };
        assert_eq!(client.ask(&format!("{method} / HTTP/1.1\r\nHost: a\r\n{line}\r\n{end}")).text(), "0");
        let received = origin.received().pop().unwrap();
        assert_eq!(
            (received.header("content-length"), received.header("transfer-encoding")),
            (told, None),
            "{method} {line}"
        );
    }
    assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").text(), "2");
}

#[test]
fn expectations_are_met_here() {
    let origin = counting();
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.head().status, 100);
    assert!(origin.received().is_empty() && origin.connections() == 0, "the backend hears of whole uploads");
    assert_eq!(client.ask("hi").text(), "2");
    assert_eq!(origin.received()[0].header("expect"), None);
}

#[test]
fn an_upload_without_room_or_too_long_is_refused_before_it_is_read() {
    let origin = counting();
    let limits = Limits { upload: 200_000, ..Limits::default() };
    let options = AppOptions { spool_bytes: 100_000, ..shop(&origin) };
    let apps = RunningApps::with(vec![options], Proxies::default(), limits);
    for (framing, status, reason) in [
        ("Content-Length: 300000", 413, Reason::TooLarge),
        ("Content-Length: 150000", 413, Reason::TooLarge),
        ("Transfer-Encoding: chunked", 503, Reason::SpoolFull),
    ] {
        let mut client = apps.client();
        client.send(format!("POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\nExpect: 100-continue\r\n\r\n"));
        if framing.starts_with('T') {
            assert_eq!(client.head().status, 100);
            client.send("1f400\r\n");
            client.send(pattern(128_000));
            client.send("\r\n0\r\n\r\n");
        }
        let answer = client.answer();
        assert_eq!((answer.status, answer.header("retry-after").is_some()), (status, status == 503), "{framing}");
        assert_eq!(apps.event().reason, Some(reason), "{framing}");
    }
    let mut client = apps.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n");
    client.send(pattern(99_999));
    assert_eq!(client.answer().text(), "99999");
}

#[test]
fn a_client_that_leaves_within_its_upload_reaches_no_backend() {
    let origin = counting();
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
    client.send(pattern(50_000));
    drop(client);
    apps.event();
    assert_eq!(origin.connections(), 0);
}
