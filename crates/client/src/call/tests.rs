//! The client against a local server that sends fixed bytes.

use super::*;
use crate::content::Content;
use crate::error::Side;
use crate::request::Trust;
use crate::secret::Secret;
use crate::target::Target;
use http::Method;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

const OPTIONS: ClientOptions = ClientOptions {
    connect_timeout: Duration::from_secs(5),
    total_timeout: Duration::from_secs(5),
    max_body_bytes: 1000,
    trust: Trust::MACHINE,
};

#[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// Accepts once, reads a head, sends `bytes`, and closes. Returns what it read.
fn stand_in(bytes: &'static [u8]) -> (String, JoinHandle<String>) {
    let listener = listener();
    let url = format!("http://{}/path?query=1", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        let mut piece = [0; 1024];
        while !heard.ends_with(b"\r\n\r\n") && !heard.ends_with(b"body") {
            let read = socket.read(&mut piece).unwrap();
            assert!(read > 0, "the client left");
            heard.extend_from_slice(&piece[..read]);
        }
        // The client may have closed the connection already.
        let _ = socket.write_all(bytes);
        String::from_utf8(heard).unwrap()
    });
    (url, heard)
}

fn call_with(options: ClientOptions, request: Request) -> Result<Response, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Client::new(options).call(request))
}

fn call(url: &str) -> Result<Response, Error> {
    call_with(OPTIONS, Request { url: url.to_owned(), ..Request::default() })
}

fn label(answer: &'static [u8]) -> &'static str {
    let (url, heard) = stand_in(answer);
    let error = call(&url).unwrap_err();
    heard.join().unwrap();
    error.label()
}

#[test]
fn an_answer_comes_back_whole_whatever_its_status() {
    let (url, heard) = stand_in(b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello");
    let token = Some(Secret::new("hush".to_owned()));
    let request =
        Request { method: Method::POST, url: url.clone(), token, body: "body".to_owned().into(), ..Request::default() };
    assert!(!format!("{request:?}").contains("hush"));
    let response = call_with(OPTIONS, request).unwrap();
    assert_eq!(
        (response.status.as_u16(), &response.body[..], &response.headers["x-a"]),
        (404, &b"hello"[..], &"b".parse().unwrap())
    );
    let heard = heard.join().unwrap();
    assert!(heard.starts_with("POST /path?query=1 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("authorization: Bearer hush\r\n") && heard.contains("content-length: 4\r\n"), "{heard}");
    assert!(heard.contains(&format!("host: {}\r\n", url[7..].trim_end_matches("/path?query=1"))), "{heard}");
}

/// Accepts one connection for each list of responses, and sends one response of the list for each request.
fn keeping(answers: &'static [&'static [&'static [u8]]]) -> (String, JoinHandle<Vec<String>>) {
    let listener = listener();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let mut all = Vec::new();
        for answers in answers {
            let (mut socket, _) = listener.accept().unwrap();
            for answer in *answers {
                let (mut heard, mut piece) = (Vec::new(), [0; 1024]);
                while !heard.ends_with(b"\r\n\r\n") && !heard.ends_with(b"end of the file") {
                    let read = socket.read(&mut piece).unwrap();
                    assert!(read > 0, "the client left");
                    heard.extend_from_slice(&piece[..read]);
                }
                socket.write_all(answer).unwrap();
                all.push(String::from_utf8(heard).unwrap());
            }
        }
        all
    });
    (url, heard)
}

#[test]
fn a_connection_is_kept_and_one_that_ended_while_it_rested_is_made_again() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let (url, heard) = keeping(&[&[OK, OK], &[OK]]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut connection = Connection::new(OPTIONS);
    for _ in 0..3 {
        let request = Request { url: url.clone(), ..Request::default() };
        assert_eq!(runtime.block_on(connection.call(request)).unwrap().body, "hello");
    }
    assert_eq!(heard.join().unwrap().len(), 3);
}

#[test]
fn a_call_tells_how_long_its_parts_took_and_whether_its_connection_was_open() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const GONE: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello";
    let (url, heard) = keeping(&[&[OK, GONE], &[OK]]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut connection = Connection::new(OPTIONS);
    for reused in [false, true, false] {
        let request = Request { url: url.clone(), ..Request::default() };
        runtime.block_on(connection.call(request)).unwrap();
        let times = connection.times();
        assert_eq!((times.reused, times.bytes, times.connect > 0), (reused, 5, !reused));
        assert!(times.head > 0 && times.tls == 0 && times.total() >= times.connect + times.head, "{times:?}");
        if reused {
            connection.close();
        }
    }
    heard.join().unwrap();
    // A failed call has the parts before its failure.
    let request = Request { url, ..Request::default() };
    connection.close();
    runtime.block_on(connection.call(request)).unwrap_err();
    assert_eq!((connection.times().head, connection.times().bytes), (0, 0));
}

#[test]
fn an_agent_of_the_caller_is_sent_in_place_of_ours() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    for (agent, sent) in [(Some("bundler/2.6"), "user-agent: bundler/2.6\r\n"), (None, "user-agent: daylight\r\n")] {
        let (url, heard) = stand_in(OK);
        let headers = agent.map(|agent| (http::header::USER_AGENT, agent.parse().unwrap())).into_iter().collect();
        call_with(OPTIONS, Request { url, headers, ..Request::default() }).unwrap();
        let heard = heard.join().unwrap();
        assert!(heard.contains(sent), "{heard}");
    }
}

#[test]
fn a_file_is_sent_as_it_is_and_a_body_is_given_away_piece_by_piece() {
    let (url, heard) = keeping(&[&[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"]]);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&[b'x'; 200_000]).unwrap();
    file.write_all(b"end of the file").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut opened = file.reopen().unwrap();
    io::copy(&mut opened, &mut io::sink()).unwrap();
    // The file at this path no longer matters, nor the position of its cursor.
    drop(file);
    let body = Content::File(Arc::new(opened));
    let request = Request { method: Method::POST, url, body, ..Request::default() };
    let mut taken = Vec::new();
    let mut take = |piece: &[u8]| taken.write_all(piece);
    let response = runtime.block_on(Connection::new(OPTIONS).call_into(request, &mut take)).unwrap();
    assert_eq!((response.body.len(), taken.as_slice()), (0, &b"hello"[..]));
    let heard = heard.join().unwrap().remove(0);
    assert!(heard.contains("content-length: 200015\r\n") && heard.ends_with("xend of the file"));
}

#[test]
fn an_answer_that_ends_early_is_cut_and_one_without_length_ends_with_the_connection() {
    assert_eq!(label(b""), "cut");
    assert_eq!(label(b"HTTP/1.1 200 OK\r\nContent-"), "cut");
    assert_eq!(label(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), "cut");
    assert_eq!(label(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), "cut");
    let (url, heard) = stand_in(b"HTTP/1.0 200 OK\r\n\r\nhello");
    assert_eq!(call(&url).unwrap().body, "hello");
    heard.join().unwrap();
}

#[test]
fn garbage_is_not_http() {
    assert_eq!(label(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "not_http");
    assert_eq!(label(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), "not_http");
}

#[test]
fn more_than_the_limit_is_refused_announced_or_not() {
    assert_eq!(label(b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"), "too_large");
    static LONG: [u8; 2000] = {
        let mut long = [b'x'; 2000];
        let head = b"HTTP/1.1 200 OK\r\n\r\n";
        let mut at = 0;
        while at < head.len() {
            long[at] = head[at];
            at += 1;
        }
        long
    };
    assert_eq!(label(&LONG), "too_large");
    static HEAD: [u8; 80_000] = {
        let mut head = [b'x'; 80_000];
        let start = b"HTTP/1.1 200 OK\r\nX-A: ";
        let mut at = 0;
        while at < start.len() {
            head[at] = start[at];
            at += 1;
        }
        head
    };
    assert_eq!(label(&HEAD), "not_http");
}

#[test]
fn nobody_listening_and_nobody_answering_are_told_apart() {
    let address = listener().local_addr().unwrap();
    let error = call(&format!("http://{address}/")).unwrap_err();
    assert_eq!(error.to_string(), format!("nothing listens on `{address}`"));
    assert!(error.retry());

    // Accepted by the kernel, but never read.
    let listener = listener();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let options = ClientOptions { total_timeout: Duration::from_millis(50), ..OPTIONS };
    let error = call_with(options, Request { url, ..Request::default() }).unwrap_err();
    assert!(matches!(&error, Error::Silent { waited_ms: 50, .. }), "{error}");
}

#[test]
fn what_cannot_be_called_is_refused_without_repeating_a_password() {
    for url in ["", "localhost:8080", "ftp://x/", "http://", "http://me:hush@127.0.0.1/", "http://a b/"] {
        let error = call(url).unwrap_err();
        assert_eq!((error.label(), error.side()), ("not_a_url", Side::Caller), "{url}");
        assert!(!error.to_string().contains("hush"));
    }
    let (url, _) = ("http://127.0.0.1:9/", ());
    let token = Some(Secret::new("line\nbreak".to_owned()));
    let target = Target::of(url).unwrap();
    let error = target.request(Request { url: url.to_owned(), token, ..Request::default() }).unwrap_err();
    assert_eq!(error.label(), "credentials_unsendable");
}

#[test]
fn an_ipv6_address_loses_its_brackets_only_for_the_resolver() {
    let target = Target::of("http://[::1]:81/a").unwrap();
    assert_eq!((target.authority.as_str(), target.origin.name.as_str(), target.origin.port), ("[::1]:81", "::1", 81));
    assert_eq!(target.origin.to_string(), "[::1]:81");
}
