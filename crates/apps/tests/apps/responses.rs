//! Responses are passed on as they are, and connections to backends are used again.

use crate::origin::{Origin, ok, with};
use crate::running_apps::RunningApps;
use telemetry::{Class, Layer, MemberSaid, Op, Outcome};

/// Bytes of which no two parts of the same length are alike.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    let piece: Vec<_> = (0..65_521_u32).map(|at| (at * 7919 / 64 % 255 + 1) as u8).collect();
    let mut bytes = piece.repeat(len / piece.len() + 1);
    bytes.truncate(len);
    bytes
}

#[test]
fn a_response_comes_as_the_application_sent_it_and_the_event_tells_of_it() {
    let reply = "HTTP/1.1 201 Fine\r\nServer: app\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nServer-Timing: db;dur=5\r\n\
                 Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\n\
                 Keep-Alive: timeout=5\r\nContent-Length: 5\r\n\r\nhello";
    let origin = Origin::replying(move |_| reply);
    let apps = RunningApps::before(&origin);
    let answer = apps.client().get("/a/b?c=%2fd");
    assert_eq!((answer.status, answer.text()), (201, "hello"));
    assert!(answer.head.contains("set-cookie: a=1\r\nset-cookie: b=2\r\n"), "{}", answer.head);
    assert_eq!(answer.header("date"), Some("Thu, 01 Jan 1970 00:00:00 GMT"));
    assert_eq!(answer.header("server-timing"), Some("db;dur=5"));
    for name in ["connection", "keep-alive", "x-mine", "transfer-encoding"] {
        assert_eq!(answer.header(name), None, "{}", answer.head);
    }
    assert_eq!(origin.received()[0].line, "GET /a/b?c=%2fd HTTP/1.1");
    let event = apps.event();
    assert_eq!((event.layer, event.class, event.status), (Layer::App, Some(Class::Apps), 201));
    assert_eq!((event.outcome, &*event.subject.repository), (Some(Outcome::Answered), "shop"));
    let used = event.more.as_ref().unwrap().app.as_ref().unwrap();
    assert_eq!((&*used.server_timing, &*used.backend), ("db;dur=5", origin.url().as_str()));
    let [member] = &event.members[..] else { panic!("{:?}", event.members) };
    assert_eq!(
        (member.said, member.detail.as_str(), member.member.as_str()),
        (MemberSaid::Hit, "status 201", &*origin.url())
    );
    for op in [Op::AppAnswer, Op::AppBody, Op::AppConnect] {
        assert_eq!(event.tally(op).count, 1, "{op:?}");
    }
}

#[test]
fn a_connection_is_used_again() {
    let origin = Origin::replying(|request| ok(request.path()));
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    for number in 0..10 {
        let path = format!("/{number}");
        assert_eq!(client.get(&path).text(), path);
    }
    assert_eq!((origin.connections(), origin.received().len()), (1, 10));
}

#[test]
fn responses_without_a_body_keep_the_length_that_the_application_told() {
    let origin = Origin::replying(|request| match request.path() {
        "/304" => "HTTP/1.1 304 Not Modified\r\netag: \"1\"\r\ncontent-length: 10\r\n\r\n",
        "/204" => "HTTP/1.1 204 No Content\r\n\r\n",
        "/unknown" => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        _ => "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n",
    });
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    let mut ask = |method: &str, path: &str| {
        client.send(format!("{method} {path} HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"1\"\r\n\r\n"));
        client.head()
    };
    let answer = ask("HEAD", "/");
    assert_eq!((answer.status, answer.header("content-length")), (200, Some("10")), "{}", answer.head);
    let answer = ask("HEAD", "/unknown");
    assert_eq!((answer.status, answer.header("content-length")), (200, None), "{}", answer.head);
    let answer = ask("GET", "/304");
    assert_eq!((answer.status, answer.header("etag")), (304, Some("\"1\"")));
    let answer = ask("GET", "/204");
    assert_eq!((answer.status, answer.header("content-length")), (204, None), "{}", answer.head);
    assert_eq!(origin.connections(), 1);
}

#[test]
fn a_large_response_is_the_same_byte_for_byte_however_it_is_framed() {
    const LEN: usize = 5_000_003;
    let origin = Origin::new(|connection| {
        while let Some(request) = connection.request() {
            let body = pattern(LEN);
            match request.path() {
                "/length" => {
                    connection.send(format!("HTTP/1.1 200 OK\r\ncontent-length: {LEN}\r\n\r\n"));
                    connection.send(body);
                }
                "/chunks" => {
                    connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
                    for chunk in body.chunks(70_001) {
                        connection.send(format!("{:x}\r\n", chunk.len()));
                        connection.send(chunk);
                        connection.send("\r\n");
                    }
                    connection.send("0\r\n\r\n");
                }
                _ => {
                    connection.send("HTTP/1.1 200 OK\r\n\r\n");
                    connection.send(body);
                    return;
                }
            }
        }
    });
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    for path in ["/length", "/chunks", "/closed", "/length"] {
        let answer = client.get(path);
        assert!(answer.body == pattern(LEN), "{path}: {} bytes", answer.body.len());
        let event = apps.event();
        assert_eq!((event.outcome, event.bytes_out), (Some(Outcome::Answered), LEN as u64), "{path}");
        assert_eq!(event.tally(Op::AppBody).count, 1);
    }
    // An older client gets the length, or the end of the connection after all bytes.
    for path in ["/length", "/chunks", "/closed"] {
        let mut client = apps.client();
        client.send(format!("GET {path} HTTP/1.0\r\n\r\n"));
        let answer = client.head();
        assert_eq!(answer.header("content-length"), Some(LEN.to_string().as_str()), "{path}: {}", answer.head);
        assert!(client.body(LEN) == pattern(LEN), "{path}");
        assert_eq!(apps.event().outcome, Some(Outcome::Answered));
    }
}

#[test]
fn trailers_come_to_a_client_that_takes_them() {
    let reply =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 7\r\n\r\n";
    let origin = Origin::replying(move |_| reply);
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\n\r\n");
    assert_eq!(client.head().header("trailer"), Some("x-sum"));
    assert_eq!(client.line(), "5");
    assert_eq!(client.body(7), b"hello\r\n");
    assert_eq!(client.line(), "0");
    assert_eq!(client.trailers(), ["x-sum: 7"]);
    assert_eq!(client.get("/").text(), "hello");
    let received = origin.received();
    assert_eq!((received[0].header("te"), received[1].header("te")), (Some("trailers"), None));
}

#[test]
fn interim_responses_come_before_the_response() {
    let early = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\nconnection: x\r\nx: 1\r\n\r\n";
    let origin = Origin::replying(move |_| format!("{early}{}", ok("page")));
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let hints = client.head();
    assert_eq!((hints.status, hints.header("link"), hints.header("x")), (103, Some("</a.css>"), None));
    assert_eq!(client.answer().text(), "page");
    client.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status, 200, "an older client knows no interim responses");
}

#[test]
fn a_host_without_an_application_is_refused() {
    let (one, other) = (Origin::replying(|_| ok("one")), Origin::replying(|_| with("x: y\r\n", "other")));
    let hosts = |origin: &Origin, name: &str, host: &str| apps::AppOptions {
        hosts: vec![host.to_owned()],
        name: name.to_owned(),
        ..crate::running_apps::shop(origin)
    };
    let apps = RunningApps::of(vec![hosts(&one, "one", "one.example"), hosts(&other, "other", "*.example")]);
    let mut client = apps.client();
    for (host, status, body) in [
        ("One.Example:80", 200, "one"),
        ("two.example.", 200, "other"),
        ("example", 421, "no application here has this host name\n"),
    ] {
        let answer = client.ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!((answer.status, answer.text()), (status, body));
    }
}
