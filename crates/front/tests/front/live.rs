//! Bodies whose pieces are sent as they come.

use crate::growing::{ask, chunk};
use crate::http2;
use crate::running_front::{Front, HANGS, options};
use bytes::Bytes;
use front::{Body, Limits, Live, LiveSource, Options};
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use telemetry::{Event, Op, Outcome, Reason};

static SPEAKERS: Mutex<BTreeMap<String, Speaker>> = Mutex::new(BTreeMap::new());
/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3600);
const HEARTBEAT: &[u8] = b":\n";

/// Speaks to the client of `/live/NAME`.
#[derive(Debug, Clone)]
struct Speaker {
    path: String,
    every: Duration,
    said: Arc<Mutex<Said>>,
    left: Sender<()>,
}

#[derive(Debug, Default)]
struct Said {
    pieces: VecDeque<Bytes>,
    ended: bool,
    taken: usize,
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Source(Speaker);

impl Speaker {
    /// The receiver gets a message when the source is dropped.
    fn new(name: &str, every: Duration) -> (Self, Receiver<()>) {
        let (left, leaves) = channel();
        let speaker = Self { path: format!("/live/{name}"), every, said: Arc::default(), left };
        SPEAKERS.lock().unwrap().insert(name.to_owned(), speaker.clone());
        (speaker, leaves)
    }

    fn says(&self, change: impl FnOnce(&mut Said)) {
        let mut said = self.said.lock().unwrap();
        change(&mut said);
        said.waker.take().into_iter().for_each(Waker::wake);
    }

    fn piece(&self, piece: impl Into<Bytes>) {
        self.says(|said| said.pieces.push_back(piece.into()));
    }

    fn ends(&self) {
        self.says(|said| said.ended = true);
    }
}

impl LiveSource for Source {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut said = self.0.said.lock().unwrap();
        match said.pieces.pop_front() {
            Some(piece) => {
                said.taken += 1;
                Poll::Ready(Some(piece))
            }
            None if said.ended => Poll::Ready(None),
            None => {
                said.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let _ = self.0.left.send(());
    }
}

pub(crate) fn body(name: &str) -> Body {
    let speaker = SPEAKERS.lock().unwrap()[name].clone();
    Body::Live(Live::new(Source(speaker.clone()), speaker.every, Bytes::from_static(HEARTBEAT)))
}

#[track_caller]
fn whole(event: &Event, bytes: u64) {
    assert_eq!((event.outcome, event.bytes_out), (Some(Outcome::Answered), bytes), "{event:?}");
    assert!(event.tally(Op::BodyWait).count > 0 && event.tally(Op::BodySend).count == 0, "{event:?}");
    assert_eq!(event.duration, event.first_byte, "a live reply has the time until it began");
}

#[test]
fn each_piece_arrives_before_the_next_one_is_there_and_the_connection_goes_on_after_the_last() {
    let front = Front::new();
    let (speaker, _) = Speaker::new("http1", NEVER);
    let mut client = front.client();
    // It has no length, so no part of it can be selected.
    ask(&mut client, "1.1", "GET", &speaker.path, "range: bytes=1-2\r\n");
    let (status, head) = client.head();
    assert!(status == 200 && head.contains("transfer-encoding: chunked\r\n"), "{head}");
    for piece in ["first", "second", "third"] {
        speaker.piece("");
        speaker.piece(piece);
        assert_eq!(chunk(&mut client), piece.as_bytes());
    }
    speaker.ends();
    assert_eq!(chunk(&mut client), b"");
    whole(&front.event(), 16);
    assert_eq!(client.get("/next").status, 200);
    ask(&mut client, "1.1", "HEAD", &speaker.path, "");
    assert_eq!(client.head().0, 200);
    assert_eq!(client.get("/next").status, 200);
}

#[test]
fn on_http2_other_streams_go_on_beside_a_live_one() {
    let front = Front::new();
    let (speaker, _) = Speaker::new("http2", NEVER);
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 100_000).await;
        let response = http2::ask(&mut sender, &speaker.path).await;
        assert!(response.status() == 200 && !response.headers().contains_key("content-length"), "{response:?}");
        let mut body = response.into_body();
        for piece in ["first", "second", "third"] {
            speaker.piece(piece);
            assert_eq!(body.data().await.unwrap().unwrap(), piece);
            assert_eq!(http2::ask(&mut sender, "/who").await.status(), 200);
            assert_eq!(front.event().path, "/who");
        }
        speaker.ends();
        assert!(body.data().await.is_none_or(|last| last.unwrap().is_empty()));
        whole(&front.event(), 16);
    });
}

#[test]
fn the_oldest_clients_hear_the_end_from_the_end_of_the_connection() {
    let front = Front::new();
    let (speaker, _) = Speaker::new("oldest", NEVER);
    let mut client = front.client();
    ask(&mut client, "1.0", "GET", &speaker.path, "");
    assert_eq!(client.head().0, 200);
    speaker.piece("first");
    assert_eq!(client.body(5), b"first");
    speaker.piece("second");
    speaker.ends();
    assert_eq!(client.rest(), b"second");
    whole(&front.event(), 11);
}

#[test]
fn a_silence_is_filled_with_heartbeats() {
    let front = Front::new();
    let (speaker, _) = Speaker::new("silence", Duration::from_millis(1));
    let mut client = front.client();
    ask(&mut client, "1.1", "GET", &speaker.path, "");
    client.head();
    assert_eq!((chunk(&mut client), chunk(&mut client)), (HEARTBEAT.to_vec(), HEARTBEAT.to_vec()));
    speaker.piece("piece");
    while chunk(&mut client) != b"piece" {}
    assert_eq!(chunk(&mut client), HEARTBEAT);
    speaker.ends();
    while !chunk(&mut client).is_empty() {}
    assert_eq!(front.event().outcome, Some(Outcome::Answered));
}

#[test]
fn the_source_is_dropped_when_its_client_leaves() {
    let front = Front::new();
    let (speaker, leaves) = Speaker::new("leaves", NEVER);
    let mut client = front.client();
    ask(&mut client, "1.1", "GET", &speaker.path, "");
    client.head();
    drop(client);
    leaves.recv_timeout(HANGS).unwrap();
    assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 100_000).await;
        let body = http2::ask(&mut sender, &speaker.path).await.into_body();
        drop(body);
        leaves.recv_timeout(HANGS).unwrap();
        assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
        assert_eq!(http2::ask(&mut sender, "/who").await.status(), 200);
    });
}

#[test]
fn a_client_that_stops_reading_long_after_the_start_is_noticed_on_http2_too() {
    let short = Duration::from_millis(50);
    let front = Front::limited(Limits { head_time: short, write_stall: short, ..Limits::default() });
    let (speaker, leaves) = Speaker::new("late", NEVER);
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 9).await;
        let mut body = http2::ask(&mut sender, &speaker.path).await.into_body();
        speaker.piece("first");
        assert_eq!(body.data().await.unwrap().unwrap(), "first");
        // A client that is turned away later shows that so much time has passed.
        let mut late = front.client();
        late.send("GET /");
        assert_eq!(front.event().reason, Some(Reason::HeadTooSlow));
        // The rest of the window. The next piece has none, and h2 wakes nobody for it.
        speaker.piece("then");
        assert_eq!(body.data().await.unwrap().unwrap(), "then");
        speaker.piece("more than the window");
        leaves.recv_timeout(HANGS).unwrap();
        let event = front.event();
        assert_eq!((event.outcome, event.bytes_out), (Some(Outcome::ClientGone), 9));
    });
}

#[test]
fn a_client_that_does_not_read_gets_no_more_than_its_buffers_hold_and_is_left_after_a_while() {
    let front = Front::limited(Limits { write_stall: Duration::from_millis(200), ..Limits::default() });
    let (speaker, leaves) = Speaker::new("stalls", NEVER);
    // More than both sockets hold.
    let (pieces, piece) = (64, Bytes::from(vec![b'p'; 1 << 20]));
    let fill = || (0..pieces).for_each(|_| speaker.piece(piece.clone()));
    fill();
    let mut client = front.client();
    ask(&mut client, "1.1", "GET", &speaker.path, "");
    leaves.recv_timeout(HANGS).unwrap();
    assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
    let taken = speaker.said.lock().unwrap().taken;
    assert!(taken > 0 && taken < pieces, "{taken}");
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 3_000_000).await;
        speaker.says(|said| (said.taken, _) = (0, said.pieces.clear()));
        fill();
        let body = http2::ask(&mut sender, &speaker.path).await.into_body();
        leaves.recv_timeout(HANGS).unwrap();
        assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
        let taken = speaker.said.lock().unwrap().taken;
        assert!(taken > 0 && taken < 10, "{taken}");
        drop(body);
    });
}

#[test]
fn a_stop_waits_neither_for_a_client_that_does_not_read_a_live_body_nor_for_a_source_that_goes_on() {
    let limits = || Limits { linger: Duration::from_millis(50), write_stall: NEVER, ..Limits::default() };
    let piece = Bytes::from(vec![b'p'; 1 << 20]);
    let (speaker, leaves) = Speaker::new("stop", NEVER);
    // More than both sockets hold; then a client that reads all there is.
    for (pieces, reads) in [(64, false), (1, true)] {
        (0..pieces).for_each(|_| speaker.piece(piece.clone()));
        let front = Front::with(Options { shutdown_timeout: 2 * HANGS, ..options(limits()) });
        let mut client = front.client();
        ask(&mut client, "1.1", "GET", &speaker.path, "");
        client.head();
        if reads {
            assert_eq!(chunk(&mut client).len(), piece.len());
        }
        front.stop.now();
        leaves.recv_timeout(HANGS).unwrap();
        assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
        speaker.says(|said| said.pieces.clear());
    }
    let front = Front::with(Options { shutdown_timeout: 2 * HANGS, ..options(limits()) });
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 9).await;
        speaker.piece("more than the window");
        let _body = http2::ask(&mut sender, &speaker.path).await.into_body();
        front.stop.now();
        leaves.recv_timeout(HANGS).unwrap();
        let event = front.event();
        assert_eq!((event.outcome, event.bytes_out), (Some(Outcome::ClientGone), 9));
    });
}
