//! A running front, and clients that send raw bytes to it.

use front::{
    Answering, Body, ClientFrom, Handler, Limits, Listener, Options, Proxies, Ranges, Reply, Request, Rope, Site, Stop,
    Tls, UploadError,
};
use http::{HeaderValue, StatusCode, header};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Clock, Counter, Event, Op, Outcome, Reason, Recorder, RecorderOptions, Sink, Tick, under_way};

/// Longer than any step here takes: reaching it means that something hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(20);

/// Passes events to the test.
struct EventSender(Sender<Event>);

impl Sink for EventSender {
    fn name(&self) -> &'static str {
        "pass"
    }

    fn write(&mut self, events: &[Event]) -> std::io::Result<()> {
        for event in events {
            let _ = self.0.send(event.clone());
        }
        Ok(())
    }
}

/// A front that serves until it is dropped.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) stop: Stop,
    events: Mutex<Receiver<Event>>,
    serving: Option<JoinHandle<()>>,
}

/// The options of most tests: two cores, and no proxy.
pub(crate) fn options(limits: Limits) -> Options {
    let proxies = Proxies::default();
    Options { cores: 2, file_threads: 4, limits, proxies, shutdown_timeout: HANGS, sendfile: true }
}

impl Front {
    pub(crate) fn new() -> Self {
        Self::limited(Limits::default())
    }

    pub(crate) fn limited(limits: Limits) -> Self {
        Self::with(options(limits))
    }

    /// Trusts proxies on 127.0.0.1 and on no other address of this machine.
    pub(crate) fn behind(client_from: ClientFrom, limits: Limits) -> Self {
        let proxies = Proxies { trusted: vec!["127.0.0.1".parse().unwrap()], client_from };
        Self::with(Options { proxies, ..options(limits) })
    }

    pub(crate) fn with(options: Options) -> Self {
        Self::of(options, None, Arc::new(TestHandler))
    }

    /// With TLS, if there is a certificate, and with this handler.
    pub(crate) fn of(options: Options, tls: Option<Arc<Tls>>, handler: Arc<dyn Handler>) -> Self {
        let listener = Listener::bind(([127, 0, 0, 1], 0).into()).unwrap();
        Self::serving(vec![Site { listener, handler, tls }], options)
    }

    /// With these sites; `address` is that of the first.
    pub(crate) fn serving(sites: Vec<Site>, options: Options) -> Self {
        let (pass, events) = channel();
        let records = RecorderOptions { shards: 2, ..RecorderOptions::of(Clock::default()) };
        let recorder = Recorder::start(records, vec![Box::new(EventSender(pass))]);
        let (address, stop) = (sites[0].listener.local_addr().unwrap(), Stop::default());
        let serving = {
            let (recorder, stop) = (recorder.clone(), stop.clone());
            std::thread::spawn(move || front::run(sites, options, recorder, stop).unwrap())
        };
        Self { address, recorder, stop, events: Mutex::new(events), serving: Some(serving) }
    }

    pub(crate) fn client(&self) -> Client {
        #[expect(clippy::disallowed_methods, reason = "a test is a client")]
        let stream = TcpStream::connect(self.address).unwrap();
        Client::over(stream)
    }

    /// A connection from another address of this machine.
    pub(crate) fn client_from(&self, address: [u8; 4]) -> Client {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
        socket.connect(&self.address.into()).unwrap();
        Client::over(socket.into())
    }

    /// Whether the socket is closed.
    pub(crate) fn refuses(&self) -> bool {
        #[expect(clippy::disallowed_methods, reason = "a test is a client")]
        TcpStream::connect(self.address).is_err()
    }

    /// How many events were released.
    pub(crate) fn released(&self) -> u64 {
        let totals = self.recorder.totals();
        Outcome::ALL.iter().map(|outcome| totals.outcome(*outcome)).sum()
    }

    /// The next event that was released.
    pub(crate) fn event(&self) -> Event {
        let events = self.events.lock().unwrap();
        let began = Tick::now();
        loop {
            // The recorder passes events on four times a second: a flush is quicker.
            assert!(self.recorder.flush(HANGS));
            match events.try_recv() {
                Ok(event) => return event,
                Err(_) => assert!(Tick::now().since(began) < HANGS.as_nanos() as u64, "no event was released"),
            }
        }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.stop.now();
        let ended = self.serving.take().unwrap().join();
        self.recorder.stop(HANGS);
        if !std::thread::panicking() {
            ended.unwrap();
            // In every test, each attempt has an outcome.
            assert_eq!(self.recorder.totals().counter(Counter::Attempts), self.released());
        }
    }
}

/// A connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    ahead: Vec<u8>,
}

/// A received reply.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Client {
    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, ahead: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        self.answer()
    }

    /// The next reply, with a body of its announced length.
    pub(crate) fn answer(&mut self) -> Answer {
        let (status, head) = self.head();
        let mut answer = Answer { status, head, body: Vec::new() };
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        answer.body = self.body(length);
        answer
    }

    /// The head of the next reply.
    pub(crate) fn head(&mut self) -> (u16, String) {
        let end = loop {
            if let Some(at) = self.ahead.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(self.more() > 0, "closed within a head: {:?}", String::from_utf8_lossy(&self.ahead));
        };
        let head = String::from_utf8(self.ahead.drain(..end).collect()).unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head)
    }

    /// The next `length` bytes.
    pub(crate) fn body(&mut self, length: usize) -> Vec<u8> {
        while self.ahead.len() < length {
            assert!(self.more() > 0, "closed within a body, {} of {length} bytes", self.ahead.len());
        }
        let ahead = self.ahead.split_off(length);
        std::mem::replace(&mut self.ahead, ahead)
    }

    /// Reads until the other end closes; a reset is a close too.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.more() > 0 {}
        std::mem::take(&mut self.ahead)
    }

    fn more(&mut self) -> usize {
        let mut piece = [0; 64 << 10];
        let read = match self.stream.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}"),
        };
        self.ahead.extend_from_slice(&piece[..read]);
        read
    }
}

/// More than the buffers of both sockets hold.
pub(crate) const BIG: usize = 64 << 20;
pub(crate) const ROPE: usize = 5_000_003;

/// A handler that answers by path.
pub(crate) struct TestHandler;

impl Handler for TestHandler {
    fn is_vital(&self, request: &Request) -> bool {
        request.path() == "/vital"
    }

    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(self.reply(request, event))
    }
}

impl TestHandler {
    async fn reply(&self, request: &mut Request, event: &mut Event) -> Reply {
        let ok = Reply::text(StatusCode::OK, format!("{} {:?}", request.path(), request.query()));
        match request.path() {
            "/who" => Reply::text(StatusCode::OK, request.client.to_string()),
            "/tagged" => ok.header(header::ETAG, HeaderValue::from_static("\"v1\"")).ranges(Ranges::Bytes),
            "/nothing" => Reply::new(StatusCode::NO_CONTENT),
            "/big" => ok.body(Body::Bytes(vec![b'b'; BIG].into())),
            "/rope" => {
                let pieces = pattern(ROPE).chunks(70_001).map(bytes::Bytes::copy_from_slice).collect();
                ok.body(Body::Rope(Rope::new(pieces))).ranges(Ranges::Bytes)
            }
            "/file" => ok.body(Body::file(file_of(BIG as u64), BIG as u64)).ranges(Ranges::Bytes),
            path if path.starts_with("/files/") => {
                let (said, there) = path["/files/".len()..].split_once('/').unwrap();
                let file = patterned_file(there.parse().unwrap());
                let tag = HeaderValue::try_from(format!("\"{said}\"")).unwrap();
                ok.header(header::ETAG, tag).body(Body::file(file, said.parse().unwrap())).ranges(Ranges::Bytes)
            }
            path if path.starts_with("/growing/") => {
                ok.body(crate::growing::body(&path["/growing/".len()..])).ranges(Ranges::Bytes)
            }
            path if path.starts_with("/live/") => {
                ok.body(crate::live::body(&path["/live/".len()..])).ranges(Ranges::Bytes)
            }
            "/short-file" => ok.body(Body::file(file_of(10), 20)),
            "/busy" => {
                Reply::new(StatusCode::SERVICE_UNAVAILABLE).header(header::RETRY_AFTER, HeaderValue::from_static("1"))
            }
            "/panic" => panic!("on purpose"),
            "/waits-and-refuses" => {
                tokio::task::yield_now().await;
                Reply::new(StatusCode::FORBIDDEN)
            }
            "/never" => std::future::pending().await,
            path if path.starts_with("/waits/") => {
                let _waits = [Op::MembersAsk, Op::TruthRead].map(under_way);
                std::future::pending().await
            }
            "/blocks" => {
                block_the_loop();
                ok
            }
            "/upload" => upload(request, event).await,
            _ => ok,
        }
    }
}

/// Works so long that the next beat of the event loop, due within 251 ms, is late by more than 100 ms.
fn block_the_loop() {
    let began = Tick::now();
    while Tick::now().since(began) < 400_000_000 {
        std::hint::spin_loop();
    }
}

/// Answers with the length of the upload, or with a status that another program might choose.
async fn upload(request: &mut Request, event: &mut Event) -> Reply {
    if let Some(limit) = request.query() {
        request.upload.limit(limit.parse().unwrap());
    }
    let mut received = 0;
    while let Some(piece) = request.upload.next(event).await {
        match piece {
            Ok(piece) => received += piece.len(),
            Err(error) => {
                let (status, reason) = match error {
                    UploadError::TooLarge { .. } => (413, Reason::TooLarge),
                    UploadError::TooSlow => (408, Reason::BodyTooSlow),
                    UploadError::Short => (400, Reason::BodyShort),
                };
                event.reason = Some(reason);
                return Reply::text(StatusCode::from_u16(status).unwrap(), error.to_string());
            }
        }
    }
    Reply::text(StatusCode::OK, received.to_string())
}

fn file_of(len: u64) -> File {
    let mut file = tempfile::tempfile().unwrap();
    std::io::copy(&mut std::io::repeat(b'f').take(len), &mut file).unwrap();
    file
}

/// No byte is zero, and two parts of the same size differ if that size is a power of two.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    let piece: Vec<_> = (0..65_521_u32).map(|at| (at * 7919 / 64 % 255 + 1) as u8).collect();
    let mut bytes = piece.repeat(len / piece.len() + 1);
    bytes.truncate(len);
    bytes
}

/// One file of a length for all requests.
fn patterned_file(len: usize) -> File {
    static FILES: Mutex<BTreeMap<usize, File>> = Mutex::new(BTreeMap::new());
    let mut files = FILES.lock().unwrap();
    let file = files.entry(len).or_insert_with(|| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&pattern(len)).unwrap();
        file
    });
    file.try_clone().unwrap()
}

/// Has the kernel evict the file of this length.
pub(crate) fn forget(len: usize) {
    let file = patterned_file(len);
    file.sync_all().unwrap();
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}
