//! A controllable upstream on loopback, well behaved or not, which records its requests.

mod says;

pub(crate) use says::{Parts, Says};

use super::TIMEOUT;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, BufRead, BufReader, Read as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// An HTTP/1.1 server with a script. Dropping it ends all its connections.
pub(crate) struct Upstream {
    address: SocketAddr,
    script: Arc<Script>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

/// The script and the recorded requests.
#[derive(Default)]
struct Script {
    lines: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Default)]
struct Lines {
    says: HashMap<String, Says>,
    /// Answers that are given once, before those.
    once: HashMap<String, VecDeque<Says>>,
    otherwise: Option<Says>,
    asked: Vec<Asked>,
    released: HashSet<String>,
    connections: Vec<TcpStream>,
    unplugged: bool,
    limit: Option<Limit>,
}

/// A limit of requests. Beyond it the answer is 429 with `Retry-After`.
#[derive(Debug)]
struct Limit {
    most: usize,
    left: usize,
    pause_s: u64,
}

impl Limit {
    /// The answer to a request that is too much.
    fn refuses(&mut self) -> Option<Says> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                None
            }
            None => Some(Says::status(429).header("Retry-After", &self.pause_s.to_string())),
        }
    }
}

/// A received request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// With the slash at its beginning, and its query.
    pub(crate) path: String,
    /// The status of the answer.
    pub(crate) answered: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    /// The next request on a connection; `None` when there is no more.
    pub(super) fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut asked = Self { method, path, answered: 0, headers: Vec::new(), body: Vec::new() };
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            asked.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let length = asked.header("Content-Length").and_then(|length| length.parse().ok()).unwrap_or(0);
        reader.take(length).read_to_end(&mut asked.body)?;
        Ok(Some(asked))
    }

    /// The value of a header. Names ignore case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Upstream {
    /// Starts an empty one, which answers 404 to every path.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let upstream = Self { address, script: Arc::default(), listening: Mutex::new(None) };
        upstream.listen(listener);
        upstream
    }

    /// Its URL, with a slash at the end.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The address of its socket.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the answer for a path (with its slash at the beginning).
    pub(crate) fn says(&self, path: &str, says: Says) {
        let mut lines = self.script.lines();
        lines.released.remove(path);
        lines.says.insert(path.to_owned(), says);
    }

    /// Adds an answer for the next request for a path that has no such answer yet.
    pub(crate) fn says_once(&self, path: &str, says: Says) {
        self.script.lines().once.entry(path.to_owned()).or_default().push_back(says);
    }

    /// Adds a file at a path, with an ETag.
    pub(crate) fn file(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.says(path, Says::file(bytes));
    }

    /// Answers 429 after so many requests, until its limit is reset, and asks for a pause.
    pub(crate) fn limits(&self, most: usize, pause_s: u64) {
        self.script.lines().limit = Some(Limit { most, left: most, pause_s });
    }

    /// Answers as many requests again.
    pub(crate) fn resets_limit(&self) {
        if let Some(limit) = &mut self.script.lines().limit {
            limit.left = limit.most;
        }
    }

    /// Sets the answer for all other paths.
    pub(crate) fn says_otherwise(&self, says: Says) {
        self.script.lines().otherwise = Some(says);
    }

    /// Removes the answer for a path.
    pub(crate) fn forget(&self, path: &str) {
        self.script.lines().says.remove(path);
    }

    /// Releases answers at a path that are held or sent slowly, now and later.
    pub(crate) fn release(&self, path: &str) {
        self.script.lines().released.insert(path.to_owned());
        self.script.changed.notify_all();
    }

    /// The requests so far, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.script.lines().asked.clone()
    }

    /// The number of requests for a path so far.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.script.lines().count(path)
    }

    /// The number of requests so far for paths that contain this text.
    pub(crate) fn count_of(&self, part: &str) -> usize {
        self.script.lines().asked.iter().filter(|asked| asked.path.contains(part)).count()
    }

    /// The number of requests so far.
    pub(crate) fn total(&self) -> usize {
        self.script.lines().asked.len()
    }

    /// Waits until this number of requests for a path was received.
    pub(crate) fn await_count(&self, path: &str, count: usize) {
        let wait =
            self.script.changed.wait_timeout_while(self.script.lines(), TIMEOUT, |lines| lines.count(path) < count);
        assert!(!wait.unwrap().1.timed_out(), "{count} requests for {path} did not come: {:?}", self.asked());
    }

    /// Disconnects it: connections break off at once, and nothing listens.
    pub(crate) fn unplug(&self) {
        let Some(listening) = self.listening.lock().unwrap().take() else { return };
        self.script.lines().unplugged = true;
        // Wakes the accepting thread, which closes the listening socket.
        drop(TcpStream::connect(self.address));
        listening.join().unwrap();
        let mut lines = self.script.lines();
        for connection in lines.connections.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(lines);
        self.script.changed.notify_all();
    }

    /// Listens again, at the same address.
    pub(crate) fn plug(&self) {
        if !std::mem::take(&mut self.script.lines().unplugged) {
            return;
        }
        self.listen(TcpListener::bind(self.address).unwrap());
    }

    fn listen(&self, listener: TcpListener) {
        let script = self.script.clone();
        let accept = move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let mut lines = script.lines();
                if lines.unplugged {
                    return;
                }
                lines.connections.push(stream.try_clone().unwrap());
                drop(lines);
                let script = script.clone();
                // A connection that the other side closes is no failure.
                std::thread::spawn(move || drop(script.serve(stream)));
            }
        };
        *self.listening.lock().unwrap() = Some(std::thread::spawn(accept));
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.unplug();
    }
}

impl Lines {
    fn count(&self, path: &str) -> usize {
        self.asked.iter().filter(|asked| asked.path == path).count()
    }
}

impl Script {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap()
    }

    /// Answers the requests on a connection until one side closes it.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(mut asked) = Asked::read(&mut reader)? {
            let says = {
                let mut lines = self.lines();
                let once = lines.once.get_mut(&asked.path).and_then(VecDeque::pop_front);
                let found = once.or_else(|| lines.says.get(&asked.path).or(lines.otherwise.as_ref()).cloned());
                let says = found.unwrap_or_else(|| Says::status(404));
                let says = lines.limit.as_mut().and_then(Limit::refuses).unwrap_or(says);
                (asked.answered, _) = says.begin(&asked);
                lines.asked.push(asked.clone());
                says
            };
            self.changed.notify_all();
            if !says.answer(&asked, reader.get_mut(), self)? {
                break;
            }
        }
        reader.get_ref().shutdown(Shutdown::Both)
    }

    /// Waits until a path is released, or until `longest` has passed. Returns whether it is released; fails if the
    /// upstream is disconnected.
    fn wait(&self, path: &str, longest: Duration) -> io::Result<bool> {
        let waits = |lines: &mut Lines| !lines.released.contains(path) && !lines.unplugged;
        let (lines, waited) = self.changed.wait_timeout_while(self.lines(), longest, waits).unwrap();
        if lines.unplugged { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(!waited.timed_out()) }
    }
}
