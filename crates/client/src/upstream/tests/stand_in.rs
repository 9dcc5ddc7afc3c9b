//! A local server with fixed responses.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::{Arc, Mutex};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Answers each request with the entry of its table for the path, over any number of connections; else 404.
pub(super) struct StandIn {
    pub(super) url: String,
    heads: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
}

impl StandIn {
    pub(super) fn new<const N: usize>(table: [(&'static str, String); N]) -> Self {
        Self::start(None, table)
    }

    pub(super) fn with_tls<const N: usize>(tls: Arc<ServerConfig>, table: [(&'static str, String); N]) -> Self {
        Self::start(Some(tls), table)
    }

    #[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
    fn start<const N: usize>(tls: Option<Arc<ServerConfig>>, table: [(&'static str, String); N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (heads, connections) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<usize>>::default());
        let table = Arc::new(table);
        let (all, count) = (heads.clone(), connections.clone());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                *count.lock().unwrap() += 1;
                let (table, all, tls) = (table.clone(), all.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    None => serve(&mut socket.unwrap(), &*table, &all),
                    Some(tls) => {
                        let tls = ServerConnection::new(tls).unwrap();
                        let mut stream = StreamOwned::new(tls, socket.unwrap());
                        serve(&mut stream, &*table, &all);
                        // Closing a socket with unread bytes would discard the last response.
                        let _ = stream.sock.shutdown(Shutdown::Write);
                        let _ = std::io::copy(&mut stream.sock, &mut std::io::sink());
                    }
                });
            }
        });
        Self { url, heads, connections }
    }

    pub(super) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

/// Serves until the client disconnects or a response ends the connection. `...` at the end of a response keeps the connection open
/// and sends no more.
fn serve(socket: &mut (impl Read + Write), table: &[(&'static str, String)], all: &Mutex<Vec<String>>) {
    let mut held = Vec::new();
    loop {
        let mut piece = [0; 1024];
        while !held.ends_with(b"\r\n\r\n") {
            match socket.read(&mut piece) {
                Ok(read @ 1..) => held.extend_from_slice(&piece[..read]),
                _ => return,
            }
        }
        let head = String::from_utf8(std::mem::take(&mut held)).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        all.lock().unwrap().push(head);
        let found = table.iter().find(|(known, _)| *known == path);
        let answer = found.map_or("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", |(_, answer)| answer);
        let (say, stay) = answer.strip_suffix("...").map_or((answer, false), |say| (say, true));
        if socket.write_all(say.as_bytes()).is_err() || (!stay && say.contains("Connection: close")) {
            return;
        }
    }
}

/// A port that is closed again.
#[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
pub(super) fn nobody() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

pub(super) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

pub(super) fn says(status: u16, headers: &str) -> String {
    format!("HTTP/1.1 {status} So\r\nContent-Length: 0\r\n{headers}\r\n")
}
