//! A receiver of OTLP/HTTP that does what a test wants, and keeps what it took.

use super::decoder;
use super::told::Told;
use crate::world::{await_true, eventually};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the receiver does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    /// Takes it.
    Takes,
    /// Takes it, and tells that it rejected spans of it, so many of all requests together.
    Rejects(u8),
    /// Answers with this status, and this `Retry-After`.
    Refuses(u16, Option<u64>),
    /// Reads it, and never answers.
    Hangs,
    /// Sends half an answer.
    BreaksOff,
}

#[derive(Default)]
struct State {
    does: Option<Does>,
    taken: Vec<Value>,
    refused: Vec<Value>,
    /// All requests: the path and the lines of the head.
    heads: Vec<String>,
    bytes: Vec<u8>,
    connections: Vec<TcpStream>,
    ended: bool,
}

/// A receiver on loopback. Dropping it ends it.
pub(crate) struct Receiver {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Receiver {
    pub(crate) fn start(does: Does) -> Self {
        Self::at(0, does)
    }

    /// The same at a port; 0: at any.
    pub(super) fn at(port: u16, does: Does) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let (port, state) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(State::default())));
        state.lock().unwrap().does = Some(does);
        let of_thread = state.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let state = of_thread.clone();
                let mut locked = state.lock().unwrap();
                if locked.ended {
                    return;
                }
                locked.connections.push(socket.try_clone().unwrap());
                drop(locked);
                std::thread::spawn(move || while serve(&socket, &state).is_some() {});
            }
        });
        Self { port, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// From now on it does this. Requests that hang are broken off.
    pub(super) fn does(&self, does: Does) {
        let mut state = self.state.lock().unwrap();
        state.does = Some(does);
        state.connections.drain(..).for_each(|socket| drop(socket.shutdown(Shutdown::Both)));
    }

    /// What it took so far.
    pub(super) fn told(&self) -> Told {
        Told::of(&self.state.lock().unwrap().taken)
    }

    /// What it refused so far.
    pub(super) fn refused(&self) -> Told {
        Told::of(&self.state.lock().unwrap().refused)
    }

    /// The heads of all requests.
    pub(super) fn heads(&self) -> Vec<String> {
        self.state.lock().unwrap().heads.clone()
    }

    /// The uncompressed bodies and heads of all requests, one after the other.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.state.lock().unwrap().bytes.clone()
    }

    /// Waits for so many more requests to this path.
    pub(crate) fn await_more(&self, path: &str, more: usize) {
        let count = || self.heads().iter().filter(|head| head.starts_with(&format!("POST {path} "))).count();
        let before = count();
        await_true(&format!("{more} more requests to {path}"), || count() >= before + more);
    }

    /// What was told, once this holds.
    #[track_caller]
    pub(super) fn told_until(&self, holds: impl Fn(&Told) -> Result<(), String>) -> Told {
        eventually(|| {
            let told = self.told();
            holds(&told).map(|()| told)
        })
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap();
        state.ended = true;
        state.connections.drain(..).for_each(|socket| drop(socket.shutdown(Shutdown::Both)));
        drop(state);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// One request of a connection. `None`: there is no further one.
fn serve(socket: &TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let mut body = vec![0; header("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    assert_eq!(header("content-type").as_deref(), Some("application/x-protobuf"));
    assert_eq!(header("content-encoding").as_deref(), Some("gzip"));
    let mut plain = Vec::new();
    GzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap();
    let request = if head.starts_with("POST /v1/traces ") { decoder::traces(&plain) } else { decoder::metrics(&plain) };
    let mut locked = state.lock().unwrap();
    let does = locked.does.clone()?;
    locked.bytes.extend_from_slice(head.as_bytes());
    locked.bytes.extend_from_slice(&plain);
    let answer = match does {
        Does::Takes | Does::Rejects(_) => {
            let mut partial = Vec::new();
            if let Does::Rejects(left) = does {
                let spans = Told::of(std::slice::from_ref(&request)).spans.len();
                let rejected = left.min(u8::try_from(spans).unwrap_or(u8::MAX));
                locked.does = Some(Does::Rejects(left - rejected));
                partial = vec![10, 2, 8, rejected];
            }
            locked.taken.push(request);
            let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", partial.len()).into_bytes();
            answer.extend(partial);
            answer
        }
        Does::Refuses(status, pause) => {
            locked.refused.push(request);
            let pause = pause.map_or_else(String::new, |pause| format!("Retry-After: {pause}\r\n"));
            format!("HTTP/1.1 {status} No\r\n{pause}Content-Length: 0\r\n\r\n").into_bytes()
        }
        Does::Hangs => Vec::new(),
        Does::BreaksOff => b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".to_vec(),
    };
    locked.heads.push(head);
    drop(locked);
    let mut writer = socket;
    writer.write_all(&answer).ok()?;
    if matches!(does, Does::BreaksOff) {
        let _ = socket.shutdown(Shutdown::Both);
    }
    Some(())
}
