//! A backend that answers with exactly the bytes that a test writes, and records each request as it came.

use crate::world::TIMEOUT;
use rustix::net::sockopt::set_socket_linger;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The stack of a connection's thread: thousands are open at once.
const STACK: usize = 256 << 10;

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    /// The body, without the framing of its chunks.
    pub(super) body: Vec<u8>,
}

impl Heard {
    /// The values of a header in one line. Names ignore case.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let found = self.headers.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
        let values: Vec<&str> = found.map(|(_, value)| value.as_str()).collect();
        if values.is_empty() { None } else { Some(values.join(", ")) }
    }
}

/// The script: it answers a request on its connection. `Ok(true)` keeps the connection, `Ok(false)` closes it, and an error resets it.
type Answers = dyn Fn(&Heard, &mut TcpStream) -> io::Result<bool> + Send + Sync;

struct Script {
    answers: Box<Answers>,
    heard: Mutex<Vec<Heard>>,
    /// Bytes that are no request, which a backend must never get.
    garbled: Mutex<Vec<String>>,
    ended: AtomicBool,
    connections: Mutex<HashMap<usize, TcpStream>>,
}

/// A scripted backend. Dropping it ends its connections.
pub(super) struct Origin {
    address: SocketAddr,
    script: Arc<Script>,
    listening: Option<JoinHandle<()>>,
}

impl Origin {
    /// Starts one that answers so.
    pub(super) fn start(answers: impl Fn(&Heard, &mut TcpStream) -> io::Result<bool> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // A crowd comes at once.
        rustix::net::listen(&listener, 4096).unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Script {
            answers: Box::new(answers),
            heard: Mutex::default(),
            garbled: Mutex::default(),
            ended: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let known = script.clone();
        let accept = move || {
            for (number, stream) in listener.incoming().map(Result::unwrap).enumerate() {
                if known.ended.load(Relaxed) {
                    return;
                }
                let script = known.clone();
                script.connections.lock().unwrap().insert(number, stream.try_clone().unwrap());
                // A connection that the other side closes is no failure.
                let serve = move || drop(script.serve(number, stream));
                thread::Builder::new().stack_size(STACK).spawn(serve).unwrap();
            }
        };
        Self { address, script, listening: Some(thread::spawn(accept)) }
    }

    /// One that always gives this response.
    pub(super) fn saying(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |_, client| client.write_all(&response).map(|()| true))
    }

    /// Its URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub(super) fn heard(&self) -> Vec<Heard> {
        self.script.heard.lock().unwrap().clone()
    }

    /// The number of requests so far.
    pub(super) fn count(&self) -> usize {
        self.script.heard.lock().unwrap().len()
    }

    /// The number of requests so far for a target.
    pub(super) fn count_of(&self, target: &str) -> usize {
        self.script.heard.lock().unwrap().iter().filter(|heard| heard.target == target).count()
    }

    /// What came on its connections that was no request.
    pub(super) fn garbled(&self) -> Vec<String> {
        self.script.garbled.lock().unwrap().clone()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.script.ended.store(true, Relaxed);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
        let _ = self.listening.take().map(JoinHandle::join);
        for (_, connection) in self.script.connections.lock().unwrap().drain() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Script {
    fn serve(&self, number: usize, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT * 2))?;
        let mut reader = BufReader::new(stream);
        let kept = self.answer(&mut reader);
        let connection = reader.into_inner();
        match kept {
            Ok(()) => connection.shutdown(Shutdown::Both)?,
            // With unsent bytes discarded, the close is a reset.
            Err(_) => set_socket_linger(&connection, Some(Duration::ZERO))?,
        }
        self.connections.lock().unwrap().remove(&number);
        Ok(())
    }

    /// Answers the requests of a connection until its end.
    fn answer(&self, reader: &mut BufReader<TcpStream>) -> io::Result<()> {
        loop {
            match read(reader) {
                Ok(Some(heard)) => {
                    self.heard.lock().unwrap().push(heard.clone());
                    if !(self.answers)(&heard, reader.get_mut())? {
                        return Ok(());
                    }
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    if error.kind() == io::ErrorKind::InvalidData {
                        self.garbled.lock().unwrap().push(error.to_string());
                    }
                    return Ok(());
                }
            }
        }
    }
}

/// The next request of a connection, read by the letter: a backend whose reading is more generous is no proof.
fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Heard>> {
    let first = line(reader)?;
    if first.is_empty() {
        return Ok(None);
    }
    let words: Vec<&str> = first.split(' ').collect();
    let [method, target, "HTTP/1.1"] = words[..] else { return Err(garbled(&first)) };
    if !method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-') || !target.starts_with(['/', '*']) {
        return Err(garbled(&first));
    }
    let mut heard = Heard { method: method.to_owned(), target: target.to_owned(), ..Heard::default() };
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| garbled(&line))?;
        if name.is_empty() || name.bytes().any(|byte| byte <= b' ' || byte == 127) {
            return Err(garbled(&line));
        }
        heard.headers.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
    }
    match (heard.header("content-length"), heard.header("transfer-encoding")) {
        (None, None) => {}
        (Some(length), None) => {
            heard.body = vec![0; length.parse().map_err(|_| garbled(&length))?];
            reader.read_exact(&mut heard.body)?;
        }
        (None, Some(coding)) if coding == "chunked" => heard.body = chunks(reader)?,
        both => return Err(garbled(&format!("{both:?}"))),
    }
    Ok(Some(heard))
}

fn chunks(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(reader)?;
        let size = usize::from_str_radix(&size, 16).map_err(|_| garbled(&size))?;
        if size == 0 {
            // Trailers, and the empty line after them.
            while !line(reader)?.is_empty() {}
            return Ok(body);
        }
        let from = body.len();
        body.resize(from + size, 0);
        reader.read_exact(&mut body[from..])?;
        let end = line(reader)?;
        if !end.is_empty() {
            return Err(garbled(&end));
        }
    }
}

/// A line without its end, which must be CR LF; empty at the end of the connection.
fn line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    let text = String::from_utf8_lossy(&line).into_owned();
    match text.strip_suffix("\r\n") {
        Some(line) => Ok(line.to_owned()),
        None if text.is_empty() => Ok(text),
        None => Err(garbled(&text)),
    }
}

fn garbled(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// A response with this status, these header lines and this body, with its length.
pub(super) fn response(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let head = format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}
