//! Bodies of another server that pass through.

use crate::growing::{ask, chunk};
use crate::handlers::{front, with};
use crate::http2;
use crate::running_front::{Client, Front, HANGS, options, pattern};
use bytes::Bytes;
use front::{Body, Limits, Options, Piece, Reply, Request, Stream, StreamSource};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use telemetry::{Event, Outcome, Reason};

/// More than a buffer, a turn of a core, and both sockets hold.
const LONG: usize = 3_000_000;

#[derive(Debug, Clone)]
enum Step {
    Bytes(&'static str),
    /// A part of the file that begins here.
    Part(usize, usize),
    Trailers,
    Break,
    End,
}
use Step::{Break, Bytes as Text, End, Part, Trailers};

/// The steps that are left, how many were taken, and who waits for the next.
type Acts = (VecDeque<Step>, usize, Option<Waker>);

/// What a source gives, step by step.
#[derive(Debug, Clone)]
struct Script {
    acts: Arc<Mutex<Acts>>,
    file: Arc<File>,
    endless: bool,
    left: Sender<()>,
}

#[derive(Debug)]
struct Source(Script);

impl Script {
    /// The receiver gets a message when the source is dropped.
    fn new(steps: &[Step]) -> (Self, Receiver<()>) {
        let (left, leaves) = channel();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&pattern(LONG)).unwrap();
        let script = Self { acts: Arc::default(), file: Arc::new(file), endless: false, left };
        script.acts(steps);
        (script, leaves)
    }

    fn acts(&self, steps: &[Step]) {
        let mut acts = self.acts.lock().unwrap();
        acts.0.extend(steps.iter().cloned());
        acts.2.take().into_iter().for_each(Waker::wake);
    }

    fn reply(&self, len: Option<u64>) -> Reply {
        let reply = Reply::new(StatusCode::OK).body(Body::Stream(Stream::new(Source(self.clone()), len)));
        Reply { verbatim: true, ..reply }
    }
}

impl StreamSource for Source {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Piece>>> {
        let mut acts = self.0.acts.lock().unwrap();
        let Some(step) = acts.0.pop_front() else {
            acts.2 = Some(cx.waker().clone());
            return Poll::Pending;
        };
        acts.1 += 1;
        Poll::Ready(match step {
            Text(text) => Some(Ok(Piece::Bytes(Bytes::from_static(text.as_bytes())))),
            Part(from, len) => Some(Ok(Piece::File { file: self.0.file.clone(), from: from as u64, len: len as u64 })),
            Trailers => {
                let sum = [(header::ETAG, HeaderValue::from_static("\"sum\""))];
                Some(Ok(Piece::Trailers(HeaderMap::from_iter(sum))))
            }
            Break => Some(Err(io::ErrorKind::ConnectionReset.into())),
            End => None,
        })
    }

    fn is_endless(&self) -> bool {
        self.0.endless
    }

    fn record(&mut self, event: &mut Event) {
        event.detail = "recorded".to_owned();
        if event.outcome == Some(Outcome::Failed) {
            event.reason = Some(Reason::AppCut);
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let _ = self.0.left.send(());
    }
}

/// A front that answers `/LENGTH` with the script, as a body of that length.
fn scripted(options: Options, script: &Script) -> Front {
    let script = script.clone();
    with(options, move |request: &mut Request| match request.path()[1..].parse() {
        Ok(len) => script.reply(Some(len)),
        Err(_) if request.path() == "/next" => Reply::new(StatusCode::OK),
        Err(_) => {
            let reply = script.reply(None);
            reply.header(header::TRAILER, HeaderValue::from_static("etag"))
        }
    })
}

fn sent(front: &Front) -> (Option<Outcome>, Option<Reason>, u64) {
    let Event { outcome, reason, bytes_out, detail, .. } = front.event();
    assert_eq!(detail, "recorded");
    (outcome, reason, bytes_out)
}

#[test]
fn bytes_and_parts_of_files_arrive_as_they_come_with_a_length_or_in_chunks() {
    for sendfile in [true, false] {
        let (script, _) = Script::new(&[]);
        let front = scripted(Options { sendfile, ..options(Limits::default()) }, &script);
        let (mut client, whole) = (front.client(), 3 + 100 + LONG);
        ask(&mut client, "1.1", "GET", &format!("/{whole}"), "range: bytes=1-2\r\n");
        let (status, head) = client.head();
        assert!(status == 200 && head.contains(&format!("content-length: {whole}\r\n")), "{head}");
        for (step, bytes) in [(Text("abc"), b"abc".to_vec()), (Part(7, 100), pattern(107)[7..].to_vec())] {
            script.acts(&[Text(""), step]);
            assert_eq!(client.body(bytes.len()), bytes);
        }
        script.acts(&[Part(0, LONG), End]);
        assert!(client.body(LONG) == pattern(LONG), "other bytes");
        assert_eq!(sent(&front), (Some(Outcome::Answered), None, whole as u64));
        assert_eq!(client.get("/next").status, 200);
        front.event();
        script.acts.lock().unwrap().0.clear();
        ask(&mut client, "1.1", "GET", "/chunked", "");
        let (_, head) = client.head();
        assert!(head.contains("transfer-encoding: chunked\r\n") && head.contains("trailer: etag\r\n"), "{head}");
        script.acts(&[Text("abc")]);
        assert_eq!(chunk(&mut client), b"abc");
        script.acts(&[Part(0, LONG), Trailers]);
        assert!(parts(&mut client) == pattern(LONG), "other bytes");
        assert_eq!(sent(&front), (Some(Outcome::Answered), None, 3 + LONG as u64));
        assert_eq!(client.get("/next").status, 200, "trailers are left out");
    }
}

/// The chunks up to the last.
fn parts(client: &mut Client) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let part = chunk(client);
        if part.is_empty() {
            return all;
        }
        all.extend(part);
    }
}

#[test]
fn trailers_go_to_clients_that_take_them() {
    let (script, _) = Script::new(&[Text("abc"), Trailers]);
    let front = scripted(options(Limits::default()), &script);
    let mut client = front.client();
    ask(&mut client, "1.1", "GET", "/chunked", "te: trailers\r\n");
    client.head();
    assert_eq!(chunk(&mut client), b"abc");
    assert_eq!(client.body(18), b"0\r\netag: \"sum\"\r\n\r\n");
    assert_eq!(sent(&front), (Some(Outcome::Answered), None, 3));
    assert_eq!(client.get("/next").status, 200);
    front.event();
    script.acts(&[Text("abc"), Part(0, LONG), Trailers]);
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 1 << 20).await;
        let mut body = http2::ask(&mut sender, "/chunked").await.into_body();
        let mut len = 0;
        while let Some(piece) = body.data().await {
            let piece = piece.unwrap();
            body.flow_control().release_capacity(piece.len()).unwrap();
            len += piece.len();
        }
        assert_eq!(len, 3 + LONG);
        assert_eq!(body.trailers().await.unwrap().unwrap()["etag"], "\"sum\"");
        assert_eq!(sent(&front), (Some(Outcome::Answered), None, 3 + LONG as u64));
        assert_eq!(http2::ask(&mut sender, "/next").await.status(), 200);
    });
}

#[test]
fn no_client_takes_a_part_for_the_whole() {
    let steps: [&[Step]; 5] = [
        &[Text("abc"), End],
        &[Text("abc"), Trailers],
        &[Text("abc"), Text("def")],
        &[Part(0, 9)],
        &[Text("ab"), Break],
    ];
    for steps in steps {
        let (script, _) = Script::new(steps);
        let front = scripted(options(Limits::default()), &script);
        let mut client = front.client();
        ask(&mut client, "1.1", "GET", "/5", "");
        // A reply that breaks at once has no head either.
        let (rest, end) = (client.rest(), b"\r\n\r\n");
        let body = rest.windows(end.len()).position(|four| four == end).map_or(0, |at| rest.len() - at - end.len());
        assert!(body < 5, "{steps:?}");
        let (outcome, reason, bytes) = sent(&front);
        assert!(outcome == Some(Outcome::Failed) && reason == Some(Reason::AppCut) && bytes < 5, "{steps:?}");
        script.acts.lock().unwrap().0.clear();
        script.acts(steps);
        http2::run(async {
            let mut sender = http2::spoken(http2::tcp(&front).await, 1 << 20).await;
            let mut body = http2::ask(&mut sender, "/5").await.into_body();
            let mut last = body.data().await;
            while matches!(last, Some(Ok(_))) {
                last = body.data().await;
            }
            assert_eq!(last.unwrap().unwrap_err().reason(), Some(h2::Reason::INTERNAL_ERROR), "{steps:?}");
            assert_eq!(http2::ask(&mut sender, "/next").await.status(), 200);
        });
    }
    // The oldest clients hear the end of a body from the end of the connection.
    let (script, _) = Script::new(&[Text("abc"), Break]);
    let front = scripted(options(Limits::default()), &script);
    let mut client = front.client();
    ask(&mut client, "1.0", "GET", "/chunked", "");
    let mut read = Vec::new();
    let error = io::Read::read_to_end(&mut client.stream, &mut read).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn the_next_piece_is_asked_for_when_the_last_was_taken_and_the_source_goes_with_its_client() {
    let (script, leaves) = Script::new(&vec![Part(0, LONG); 40]);
    let limits = Limits { write_stall: Duration::from_millis(200), ..Limits::default() };
    let front = scripted(options(limits), &script);
    let mut client = front.client();
    ask(&mut client, "1.1", "GET", "/chunked", "");
    leaves.recv_timeout(HANGS).unwrap();
    let taken = script.acts.lock().unwrap().1;
    assert!(taken > 0 && taken < 20, "{taken}");
    assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
}

#[test]
fn an_endless_stream_has_the_time_until_it_began_and_lasts_as_long_as_a_stop_allows() {
    let (mut script, leaves) = Script::new(&[]);
    script.endless = true;
    let brief = Duration::from_millis(1);
    for shutdown_timeout in [2 * HANGS, brief] {
        let limits = Limits { linger: brief, ..Limits::default() };
        let front = scripted(Options { shutdown_timeout, ..options(limits) }, &script);
        let mut client = front.client();
        ask(&mut client, "1.1", "GET", "/chunked", "");
        client.head();
        script.acts(&[Text("first")]);
        assert_eq!(chunk(&mut client), b"first");
        front.stop.now();
        while !front.refuses() {}
        if shutdown_timeout == brief {
            leaves.recv_timeout(HANGS).unwrap();
            assert_eq!(client.rest(), b"");
            assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
        } else {
            script.acts(&[Text("then")]);
            assert_eq!(chunk(&mut client), b"then");
            script.acts(&[End]);
            assert_eq!(chunk(&mut client), b"");
            let event = front.event();
            assert!(event.duration == event.first_byte && event.bytes_out == 9, "{event:?}");
            leaves.recv_timeout(HANGS).unwrap();
        }
    }
}

#[test]
fn a_verbatim_reply_is_left_alone() {
    let front = front(|request: &mut Request| {
        let status = StatusCode::from_bytes(&request.path().as_bytes()[1..]).unwrap();
        let mut reply = Reply::new(status).body(Body::Bytes("abcdef".into()));
        for (name, value) in [("etag", "\"v1\""), ("date", "Thu, 01 Jan 1970 00:00:00 GMT"), ("content-length", "6")] {
            reply.headers.insert(name, HeaderValue::from_static(value));
        }
        Reply { verbatim: true, ..reply }
    });
    let asked = "if-none-match: \"v1\"\r\nrange: bytes=1-2\r\n";
    // Twice on hyper's path, as it has a body.
    for more in [String::new(), format!("{asked}te: x\r\n"), format!("{asked}content-length: 1\r\n\r\nx")] {
        let mut client = front.client();
        let end = if more.ends_with('x') { "" } else { "\r\n" };
        client.send(format!("GET /200 HTTP/1.1\r\nhost: a\r\n{more}{end}"));
        let answer = client.answer();
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"abcdef"[..]));
        assert_eq!(answer.header("date"), Some("Thu, 01 Jan 1970 00:00:00 GMT"));
        for (method, status, length) in
            [("HEAD", 200, Some("6")), ("GET", 304, Some("6")), ("GET", 204, None), ("HEAD", 404, Some("6"))]
        {
            client.send(format!("{method} /{status} HTTP/1.1\r\nhost: a\r\n{more}{end}"));
            let (told, head) = client.head();
            let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            assert_eq!((told, line), (status, length), "{method} {head}");
        }
        assert_eq!(client.get("/200").body, b"abcdef");
    }
}
