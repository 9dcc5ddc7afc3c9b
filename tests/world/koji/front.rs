//! What listens for a hub, stand-in or real: it counts the calls, and does what a test makes it do wrong. Below it the
//! files of TOP are served, by the same rules.

use super::Backing;
use super::xml::{self, Call};
use crate::world::upstream::Asked;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// What goes wrong with the answers of a hub.
#[derive(Debug, Clone)]
pub(crate) enum Trouble {
    /// Fault 1014, as 200.
    Offline,
    /// A fault of this code and text, as 200.
    Fault(i64, String),
    Status(u16),
    /// The answer begins after this time.
    Slow(Duration),
    /// The connection closes after this number of bytes of the answer.
    Cut(usize),
    /// The answer ends in the midst of its XML, and its length says nothing of it.
    Garbage,
    /// These bytes, as 200 and XML.
    Body(Vec<u8>),
    /// The true answer, with members in its last struct that nobody knows, of at least this number of bytes.
    Padded(usize),
    /// The connection closes without an answer.
    Closed,
}

/// What goes wrong with the files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileTrouble {
    Status(u16),
    /// As many bytes, and others.
    Wrong,
    /// A byte less.
    Short,
    Slow(Duration),
}

/// What was asked by a method, how often and in how many bytes. A call inside of a `multiCall` has no bytes of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) calls: u64,
    pub(crate) up_bytes: u64,
    pub(crate) down_bytes: u64,
}

/// What the front has seen, and what it does.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) said: BTreeMap<String, Counted>,
    pub(super) rounds: Vec<u64>,
    pub(super) logins: usize,
    pub(super) gets: Vec<String>,
    pub(super) trouble: Option<Trouble>,
    pub(super) file_trouble: Option<FileTrouble>,
    pub(super) compresses: bool,
    connections: Vec<TcpStream>,
    over: bool,
}

pub(super) struct Front {
    pub(super) backing: Backing,
    seen: Mutex<Seen>,
    changed: Condvar,
}

/// An answer: the status, the media type, the body.
type Reply = (u16, &'static str, Vec<u8>);

impl Front {
    pub(super) fn new(backing: Backing) -> Arc<Self> {
        Arc::new(Self { backing, seen: Mutex::default(), changed: Condvar::new() })
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// Makes it do something else from now on. Answers that wait are told.
    pub(super) fn make(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen());
        self.changed.notify_all();
    }

    /// Listens on a free port, with this way of answering.
    pub(super) fn listen(self: &Arc<Self>, answer: fn(&Self, &Asked, &mut TcpStream) -> io::Result<()>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, front) = (listener.local_addr().unwrap(), Arc::clone(self));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let mut seen = front.seen();
                if seen.over {
                    return;
                }
                seen.connections.push(stream.try_clone().unwrap());
                drop(seen);
                let front = Arc::clone(&front);
                // A connection that the other side closes is no failure.
                std::thread::spawn(move || drop(front.serve(stream, answer)));
            }
        });
        address
    }

    /// Closes all connections, and what listens at these addresses.
    pub(super) fn close(&self, addresses: &[SocketAddr]) {
        self.make(|seen| {
            seen.over = true;
            seen.connections.drain(..).for_each(|open| drop(open.shutdown(Shutdown::Both)));
        });
        addresses.iter().for_each(|address| drop(TcpStream::connect(address)));
    }

    fn serve(&self, stream: TcpStream, answer: fn(&Self, &Asked, &mut TcpStream) -> io::Result<()>) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(asked) = Asked::read(&mut reader)? {
            if let Err(error) = answer(self, &asked, reader.get_mut()) {
                reader.get_ref().shutdown(Shutdown::Both)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Waits this long, or until a test makes it do something else.
    fn wait(&self, longest: Duration, waits: impl Fn(&Seen) -> bool) -> io::Result<()> {
        let wait = self.changed.wait_timeout_while(self.seen(), longest, |seen| waits(seen) && !seen.over);
        if wait.unwrap().0.over { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }

    /// Answers a request for the hub.
    pub(super) fn hub(&self, asked: &Asked, stream: &mut TcpStream) -> io::Result<()> {
        let (call, trouble) = (Call::read(&asked.body), self.seen().trouble.clone());
        self.count(asked, call.as_ref().ok());
        match &trouble {
            Some(Trouble::Closed) => return Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Trouble::Slow(delay)) => self.wait(*delay, |seen| matches!(seen.trouble, Some(Trouble::Slow(_))))?,
            _ => {}
        }
        let fault = |code: i64, text: &str| (200, "text/xml", xml::answer(&Err((code, text.to_owned()))));
        let reply = match &trouble {
            Some(Trouble::Offline) => fault(1014, "server is offline"),
            Some(Trouble::Fault(code, text)) => fault(*code, text),
            Some(Trouble::Status(status)) => (*status, "text/plain", b"no answer of a hub\n".to_vec()),
            Some(Trouble::Body(body)) => (200, "text/xml", body.clone()),
            _ => self.backing.reply(&asked.method, &asked.body),
        };
        let (status, kind, mut body) = reply;
        match trouble {
            Some(Trouble::Garbage) => body.truncate(body.len() * 2 / 3),
            Some(Trouble::Padded(bytes)) => pad(&mut body, bytes),
            _ => {}
        }
        let cut = if let Some(Trouble::Cut(bytes)) = trouble { Some(bytes) } else { None };
        let method = call.map(|call| call.method).unwrap_or_default();
        self.send(asked, stream, (status, kind, body), cut, |seen, bytes| {
            seen.rounds.push(bytes);
            seen.said.entry(method).or_default().down_bytes += bytes;
        })
    }

    fn count(&self, asked: &Asked, call: Option<&Call>) {
        let mut seen = self.seen();
        let header = |name: &str| asked.header(name).is_some();
        let headers = ["Koji-Session-Id", "Koji-Session-Key", "Koji-Session-Callnum", "Authorization", "Cookie"];
        let method = call.map_or("(none)", |call| call.method.as_str());
        let logs_in = matches!(method, "login" | "sslLogin" | "krbLogin" | "logout" | "sharedSession");
        if logs_in || headers.into_iter().any(header) || asked.path.contains("session") || asked.path.contains("login")
        {
            seen.logins += 1;
        }
        let counted = seen.said.entry(method.to_owned()).or_default();
        counted.calls += 1;
        counted.up_bytes += asked.body.len() as u64;
        let inner = call.filter(|call| call.method == "multiCall").and_then(|call| call.params.first());
        for inner in inner.and_then(serde_json::Value::as_array).into_iter().flatten() {
            let name = format!("multiCall/{}", inner["methodName"].as_str().unwrap_or_default());
            seen.said.entry(name).or_default().calls += 1;
        }
    }

    /// Answers a request for a file.
    pub(super) fn file(&self, asked: &Asked, stream: &mut TcpStream) -> io::Result<()> {
        let path = decoded(asked.path.strip_prefix("/kojifiles/").unwrap_or(&asked.path));
        self.make(|seen| seen.gets.push(path.clone()));
        let trouble = self.seen().file_trouble;
        if let Some(FileTrouble::Slow(delay)) = trouble {
            self.wait(delay, |seen| matches!(seen.file_trouble, Some(FileTrouble::Slow(_))))?;
        }
        let reply = match (trouble, self.backing.file(&path)) {
            (Some(FileTrouble::Status(status)), _) => (status, "text/plain", Vec::new()),
            (_, None) => (404, "text/plain", Vec::new()),
            (Some(FileTrouble::Wrong), Some(bytes)) => {
                (200, "application/octet-stream", bytes.iter().map(|byte| byte ^ 1).collect())
            }
            (Some(FileTrouble::Short), Some(mut bytes)) => {
                bytes.pop();
                (200, "application/octet-stream", bytes)
            }
            (_, Some(bytes)) => (200, "application/octet-stream", bytes),
        };
        self.send(asked, stream, reply, None, |_, _| {})
    }

    /// Sends an answer, up to `cut` bytes of its body, whose bytes are counted before.
    fn send(
        &self,
        asked: &Asked,
        stream: &mut TcpStream,
        reply: Reply,
        cut: Option<usize>,
        count: impl FnOnce(&mut Seen, u64),
    ) -> io::Result<()> {
        let (status, kind, mut body) = reply;
        let mut head = format!("HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\nKoji-Version: 1.35.3\r\n");
        let accepts = asked.header("Accept-Encoding").is_some_and(|accepted| accepted.contains("gzip"));
        if self.seen().compresses && accepts {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&body)?;
            body = packed.finish()?;
            head += "Content-Encoding: gzip\r\n";
        }
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        let sent = cut.map_or(body.len(), |cut| cut.min(body.len()));
        count(&mut self.seen(), sent as u64);
        stream.write_all(head.as_bytes())?;
        if asked.method == "HEAD" {
            return Ok(());
        }
        stream.write_all(&body[..sent])?;
        if sent < body.len() { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }
}

/// Adds 200 members to the last struct of an answer.
fn pad(body: &mut Vec<u8>, bytes: usize) {
    let end = b"</struct>";
    let Some(at) = body.windows(end.len()).rposition(|found| found == end) else { return };
    let text = "x".repeat(bytes.div_ceil(200));
    let member = |at: usize| {
        format!("<member>\n<name>more{at}</name>\n<value><string>{text}</string></value>\n</member>\n").into_bytes()
    };
    body.splice(at..at, (0..200).flat_map(member));
}

/// A path without percent signs that stand for bytes.
fn decoded(path: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
