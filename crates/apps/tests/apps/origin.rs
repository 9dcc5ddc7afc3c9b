//! An application that does as a test tells it, in raw bytes.

use crate::running_apps::HANGS;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// A request as the origin got it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    /// The request line.
    pub(crate) line: String,
    /// Names in lower case, and values.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Vec<String>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

/// One connection to the origin.
pub(crate) struct Connection {
    stream: TcpStream,
    ahead: Vec<u8>,
    received: Arc<Mutex<Vec<Received>>>,
}

/// An application that does as a test tells it.
pub(crate) struct Origin {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
}

impl Origin {
    /// Runs `script` for each connection, on a thread of its own. The connection closes with its end.
    pub(crate) fn new(script: impl Fn(&mut Connection) + Send + Sync + 'static) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test is an application")]
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (received, connections) = (Arc::<Mutex<Vec<Received>>>::default(), Arc::<AtomicUsize>::default());
        let (script, all, count) = (Arc::new(script), received.clone(), connections.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                count.fetch_add(1, SeqCst);
                let (script, received) = (script.clone(), all.clone());
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(HANGS)).unwrap();
                stream.set_nodelay(true).unwrap();
                std::thread::spawn(move || script(&mut Connection { stream, ahead: Vec::new(), received }));
            }
        });
        Self { address, received, connections }
    }

    /// Answers each request of each connection with the bytes that `reply` makes.
    pub(crate) fn replying<T: AsRef<[u8]>>(reply: impl Fn(&Received) -> T + Send + Sync + 'static) -> Self {
        Self::new(move |connection| {
            while let Some(request) = connection.request() {
                if !connection.send(reply(&request)) {
                    return;
                }
            }
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// The connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }
}

impl Connection {
    /// The next request with its body. `None`: the connection ended.
    pub(crate) fn request(&mut self) -> Option<Received> {
        let head = String::from_utf8_lossy(&self.until(b"\r\n\r\n")?).into_owned();
        let mut lines = head.trim_end().split("\r\n");
        let mut received = Received { line: lines.next().unwrap().to_owned(), ..Received::default() };
        for line in lines {
            let (name, value) = line.split_once(':').unwrap();
            received.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if received.header("transfer-encoding").is_some() {
            loop {
                let size = String::from_utf8(self.until(b"\r\n")?).unwrap();
                let size = usize::from_str_radix(size.trim(), 16).unwrap();
                if size == 0 {
                    break;
                }
                received.body.extend(self.bytes(size)?);
                self.bytes(2)?;
            }
            loop {
                let line = String::from_utf8(self.until(b"\r\n")?).unwrap();
                if line == "\r\n" {
                    break;
                }
                received.trailers.push(line.trim_end().to_owned());
            }
        } else if let Some(length) = received.header("content-length").map(|length| length.parse().unwrap()) {
            received.body = self.bytes(length)?;
        }
        self.received.lock().unwrap().push(received.clone());
        Some(received)
    }

    /// The next line, without its end. `None`: the connection ended.
    pub(crate) fn line(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(&self.until(b"\r\n")?).trim_end().to_owned())
    }

    /// Sends bytes. `false`: the connection ended.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Waits for the end of the connection. Returns what came until then.
    pub(crate) fn ended(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.ahead)
    }

    /// Closes both directions.
    pub(crate) fn close(&self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
    }

    /// Ends the connection with a reset.
    pub(crate) fn reset(&self) {
        socket2::SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    }

    fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.ahead.windows(end.len()).position(|bytes| bytes == end) {
                return Some(self.ahead.drain(..at + end.len()).collect());
            }
            if !self.more() {
                return None;
            }
        }
    }

    /// The next bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.ahead.len() < count {
            if !self.more() {
                return None;
            }
        }
        Some(self.ahead.drain(..count).collect())
    }

    fn more(&mut self) -> bool {
        let mut piece = [0; 64 << 10];
        match self.stream.read(&mut piece) {
            Ok(read) => {
                self.ahead.extend_from_slice(&piece[..read]);
                read > 0
            }
            Err(error) if [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe].contains(&error.kind()) => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// A response with a body of its declared length.
pub(crate) fn ok(body: &str) -> String {
    with("", body)
}

/// The same with further header lines, each with its end.
pub(crate) fn with(lines: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{lines}content-length: {}\r\n\r\n{body}", body.len())
}
