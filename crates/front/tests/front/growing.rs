//! Files that are sent to clients while they are still being written.

use crate::running_front::{Client, Front, options, pattern};
use front::{Body, Growing, Grown, Growth, Limits, Options, Waiting};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};
use telemetry::{BoundName, Outcome, Reason};
use tokio::sync::watch;

static PLANTS: Mutex<BTreeMap<String, Planted>> = Mutex::new(BTreeMap::new());

#[derive(Clone)]
struct Planted {
    file: Arc<File>,
    len: Option<u64>,
    grown: watch::Receiver<Grown>,
}

/// The body of the reply to `/growing/NAME`.
pub(crate) fn body(name: &str) -> Body {
    let Planted { file, len, grown } = PLANTS.lock().unwrap()[name].clone();
    Body::Growing(Growing::new(file, len, Watched(grown)))
}

#[derive(Debug)]
struct Watched(watch::Receiver<Grown>);

impl Growth for Watched {
    fn now(&self) -> Grown {
        *self.0.borrow()
    }

    fn beyond(&self, at: u64) -> Waiting {
        let mut grown = self.0.clone();
        Box::pin(async move {
            let changed = grown.wait_for(|grown| !matches!(grown, Grown::Going(there) if *there <= at)).await;
            changed.map_or(Grown::Broken, |grown| *grown)
        })
    }
}

/// The writer of a growing file.
pub(crate) struct FileWriter {
    path: String,
    file: File,
    len: u64,
    grown: watch::Sender<Grown>,
}

impl FileWriter {
    pub(crate) fn new(name: &str, announced: Option<u64>) -> Self {
        let file = tempfile::tempfile().unwrap();
        let (grown, seen) = watch::channel(Grown::Going(0));
        let planted = Planted { file: Arc::new(file.try_clone().unwrap()), len: announced, grown: seen };
        PLANTS.lock().unwrap().insert(name.to_owned(), planted);
        Self { path: format!("/growing/{name}"), file, len: 0, grown }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Writes more bytes, and reports the new length.
    pub(crate) fn grow(&mut self, by: usize) {
        let from = usize::try_from(self.len).unwrap();
        self.file.write_all(&pattern(from + by)[from..]).unwrap();
        self.len += by as u64;
        self.grown.send_replace(Grown::Going(self.len));
    }

    pub(crate) fn whole(&self) {
        self.grown.send_replace(Grown::Whole(self.len));
    }

    pub(crate) fn breaks(&self) {
        self.grown.send_replace(Grown::Broken);
    }
}

fn front(sendfile: bool) -> Front {
    let limits = Limits { file_buffers: 2, ..Limits::default() };
    Front::with(Options { sendfile, ..options(limits) })
}

pub(crate) fn ask(client: &mut Client, version: &str, method: &str, path: &str, more: &str) {
    client.send(format!("{method} {path} HTTP/{version}\r\nhost: a\r\n{more}\r\n"));
}

/// The next `len` bytes of a chunked body, whose last chunk does not end it.
fn chunked(client: &mut Client, len: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < len {
        body.extend(chunk(client));
    }
    body
}

pub(crate) fn chunk(client: &mut Client) -> Vec<u8> {
    let mut size = Vec::new();
    while !size.ends_with(b"\r\n") {
        size.extend(client.body(1));
    }
    let size = usize::from_str_radix(std::str::from_utf8(&size).unwrap().trim_end(), 16).unwrap();
    let data = client.body(size);
    assert_eq!(client.body(2), b"\r\n");
    data
}

/// Bytes at the end of a range that are held back until the file is whole.
const HELD: usize = 64 << 10;

/// Around the size of a buffer and of a turn.
const STEPS: [usize; 6] = [1, 65_536, 65_537, 1_048_577, 3_000_000, 7];

#[test]
fn what_has_come_is_sent_before_the_rest_is_there() {
    for sendfile in [true, false] {
        let (front, sum) = (front(sendfile), STEPS.iter().sum::<usize>());
        for announced in [Some(sum as u64), None] {
            let mut writer = FileWriter::new(&format!("steps-{sendfile}-{announced:?}"), announced);
            let mut client = front.client();
            ask(&mut client, "1.1", "GET", writer.path(), "");
            let (status, head) = client.head();
            let length = announced.map(|announced| format!("content-length: {announced}\r\n"));
            let framing = length.as_deref().unwrap_or("transfer-encoding: chunked\r\n");
            assert!(status == 200 && head.contains(framing), "{head}");
            let mut body = Vec::new();
            for step in STEPS {
                writer.grow(step);
                body.extend(if announced.is_some() { client.body(step) } else { chunked(&mut client, step) });
            }
            writer.whole();
            if announced.is_none() {
                assert_eq!(chunk(&mut client), b"");
            }
            assert!(body == pattern(sum), "other bytes");
            let event = front.event();
            assert_eq!((event.outcome, event.bytes_out), (Some(Outcome::Answered), sum as u64));
            assert_eq!(client.get("/next").status, 200);
            front.event();
        }
    }
}

#[test]
fn what_breaks_breaks_the_connection_and_is_never_taken_for_the_whole() {
    for sendfile in [true, false] {
        for announced in [Some(300_000), None] {
            for (name, end) in
                [("breaks", FileWriter::breaks as fn(&FileWriter)), ("short", FileWriter::whole), ("left", |_| ())]
            {
                if announced.is_none() && name == "short" {
                    continue; // the range is the whole file then
                }
                let front = front(sendfile);
                let mut writer = FileWriter::new(&format!("{name}-{sendfile}-{announced:?}"), announced);
                let mut client = front.client();
                ask(&mut client, "1.1", "GET", writer.path(), "");
                client.head();
                writer.grow(100_000);
                let body = if announced.is_some() { client.body(100_000) } else { chunked(&mut client, 100_000) };
                assert!(body == pattern(100_000), "other bytes");
                end(&writer);
                // The writer is dropped, and nothing else keeps the file growing.
                drop(writer);
                assert_eq!(client.rest(), b"", "neither a byte nor the last chunk");
                let event = front.event();
                assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::BrokeOff)), "{name}");
                assert_eq!(event.bytes_out, 100_000);
            }
        }
    }
}

#[test]
fn a_part_is_sent_as_it_comes_but_for_its_end_and_a_head_at_once() {
    let front = front(true);
    let mut writer = FileWriter::new("part", Some(1_000_000));
    let mut client = front.client();
    ask(&mut client, "1.1", "HEAD", writer.path(), "");
    let (status, head) = client.head();
    assert!(status == 200 && head.contains("content-length: 1000000\r\n"), "{head}");
    ask(&mut client, "1.1", "GET", writer.path(), "range: bytes=150000-399999\r\n");
    writer.grow(300_000);
    let (status, head) = client.head();
    assert!(status == 206 && head.contains("content-range: bytes 150000-399999/1000000\r\n"), "{head}");
    assert!(client.body(150_000) == pattern(300_000)[150_000..], "other bytes");
    writer.grow(200_000);
    assert!(client.body(100_000 - HELD) == pattern(400_000 - HELD)[300_000..], "other bytes");
    writer.grow(500_000);
    writer.whole();
    assert!(client.body(HELD) == pattern(400_000)[400_000 - HELD..], "other bytes");
    assert_eq!(client.get("/next").status, 200);
    assert_eq!((front.event().bytes_out, front.event().bytes_out), (0, 250_000));
    // The length is unknown, so no range can be selected.
    let mut writer = FileWriter::new("unknown", None);
    ask(&mut client, "1.1", "HEAD", writer.path(), "");
    assert!(!client.head().1.contains("content-length"));
    ask(&mut client, "1.1", "GET", writer.path(), "range: bytes=1-2\r\n");
    writer.grow(3);
    writer.whole();
    assert_eq!(client.head().0, 200);
    assert_eq!((chunk(&mut client), chunk(&mut client)), (pattern(3), vec![]));
}

#[test]
fn a_part_of_a_file_that_breaks_is_never_complete_however_small_and_far_from_the_end_it_is() {
    for sendfile in [true, false] {
        let front = front(sendfile);
        for (name, range, sent) in
            [("small", "0-99", 0), ("middle", "100000-399999", 300_000 - HELD), ("end", "900000-", 100_000 - HELD)]
        {
            let mut writer = FileWriter::new(&format!("part-{name}-{sendfile}"), Some(1_000_000));
            let mut client = front.client();
            ask(&mut client, "1.1", "GET", writer.path(), &format!("range: bytes={range}\r\n"));
            writer.grow(1_000_000);
            assert_eq!(client.head().0, 206);
            let body = client.body(sent);
            writer.breaks();
            drop(writer);
            assert_eq!((body.len(), client.rest()), (sent, vec![]), "{name}");
            let event = front.event();
            assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::BrokeOff)), "{name}");
        }
    }
}

#[test]
fn the_oldest_clients_get_what_nobody_knows_the_length_of_when_it_is_whole_or_hear_that_it_broke() {
    let front = front(true);
    let mut writer = FileWriter::new("oldest", None);
    let mut client = front.client();
    ask(&mut client, "1.0", "GET", writer.path(), "");
    writer.grow(100_000);
    writer.whole();
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("content-length")), (200, Some("100000")));
    assert!(answer.body == pattern(100_000), "other bytes");
    assert_eq!(front.event().outcome, Some(Outcome::Answered));
    let mut writer = FileWriter::new("oldest-breaks", None);
    let mut client = front.client();
    ask(&mut client, "1.0", "GET", writer.path(), "");
    writer.grow(100_000);
    writer.breaks();
    assert_eq!(client.answer().status, 502);
    assert_eq!(front.event().outcome, Some(Outcome::Failed));
}

#[test]
fn a_hundred_who_wait_for_one_file_hold_no_buffer_and_one_who_leaves_harms_nobody() {
    let front = front(true);
    let mut writer = FileWriter::new("crowd", Some(5_000_003));
    let mut clients: Vec<_> = (0..100).map(|_| front.client()).collect();
    for client in &mut clients {
        ask(client, "1.1", "GET", writer.path(), "");
        client.head();
    }
    writer.grow(100_000);
    for client in &mut clients {
        client.body(1);
    }
    drop(clients.split_off(50));
    writer.grow(4_900_003);
    writer.whole();
    for client in &mut clients {
        assert!(client.body(5_000_002) == pattern(5_000_003)[1..], "other bytes");
    }
    let bounds = front.recorder.bounds();
    let buffers = bounds.iter().find(|bound| bound.name() == BoundName::FileBuffers).unwrap();
    assert_eq!((buffers.highest(), buffers.used()), (0, 0));
}
