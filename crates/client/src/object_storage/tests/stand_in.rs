//! A local server that answers calls one after the other, as a test has written it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// Gives each call the next answer; the last one again and again.
pub(super) struct StandIn {
    url: String,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

#[derive(Default)]
struct Seen {
    heads: Vec<String>,
    bodies: Vec<Vec<u8>>,
    connections: usize,
    closed: usize,
}

impl StandIn {
    /// At the end of an answer: the connection is closed after it.
    pub(super) const THEN_CLOSES: &str = "<closes>";
    /// At the end of an answer: the connection stays open, and nothing more comes.
    pub(super) const SILENCE: &str = "<silence>";

    #[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
    pub(super) fn answering(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<(Mutex<Seen>, Condvar)> = Arc::default();
        let (all, answers) = (seen.clone(), Arc::new(answers));
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                all.0.lock().unwrap().connections += 1;
                let (all, answers) = (all.clone(), answers.clone());
                std::thread::spawn(move || serve(&socket.unwrap(), &answers, &all));
            }
        });
        Self { url, seen }
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    pub(super) fn heads(&self) -> Vec<String> {
        self.seen.0.lock().unwrap().heads.clone()
    }

    pub(super) fn bodies(&self) -> Vec<Vec<u8>> {
        self.seen.0.lock().unwrap().bodies.clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.seen.0.lock().unwrap().connections
    }

    /// Waits until it has closed a connection.
    pub(super) fn await_closed(&self) {
        let seen = self.seen.0.lock().unwrap();
        drop(self.seen.1.wait_while(seen, |seen| seen.closed == 0).unwrap());
    }
}

fn serve(socket: &TcpStream, answers: &[String], all: &(Mutex<Seen>, Condvar)) {
    let mut reader = BufReader::new(socket);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(1..) => {}
                _ => return,
            }
        }
        let length = head
            .to_ascii_lowercase()
            .split_once("content-length: ")
            .map_or(0, |(_, rest)| rest.split("\r\n").next().unwrap().parse().unwrap());
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let answer = {
            let mut seen = all.0.lock().unwrap();
            let at = seen.heads.len();
            seen.heads.push(head);
            seen.bodies.push(body);
            &answers[at.min(answers.len() - 1)]
        };
        let (say, closes) =
            answer.strip_suffix(StandIn::THEN_CLOSES).map_or((answer.as_str(), false), |say| (say, true));
        let say = say.strip_suffix(StandIn::SILENCE).unwrap_or(say);
        let mut socket = socket;
        if socket.write_all(say.as_bytes()).is_err() || closes {
            let _ = socket.shutdown(Shutdown::Both);
            all.0.lock().unwrap().closed += 1;
            all.1.notify_all();
            return;
        }
    }
}

/// A port that is closed again.
#[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
pub(super) fn nobody() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}
