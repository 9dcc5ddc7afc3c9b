//! Stands between a server of packages and its object storage, and changes what they tell each other.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What it does to calls about blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Passes all on unchanged.
    None,
    /// The bytes of a download are others, as many.
    OtherBytes,
    /// A download ends after half of its bytes.
    Truncated,
    /// An upload is acknowledged with 200, and the body tells of an error. The object is not stored.
    ErrorBody,
    /// An upload gets this answer, and its object is not stored: the status, and further headers.
    Refused(u16, &'static str),
}

/// Its address, until the test ends.
pub(crate) struct Relay {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    lie: Lie,
    /// The calls that were changed.
    changed: usize,
}

impl Relay {
    /// Opens one to a server.
    pub(crate) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { lie: Lie::None, changed: 0 }));
        let of_calls = state.clone();
        thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                let state = of_calls.clone();
                // A connection that either side closes is no failure.
                thread::spawn(move || drop(pass(&client, server, &state)));
            }
        });
        Self { address, state }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many calls it has changed since it was told what to do.
    pub(crate) fn changed(&self) -> usize {
        self.state.lock().unwrap().changed
    }

    /// From now on it does this. Returns how many calls it changed before.
    pub(crate) fn tells(&self, lie: Lie) -> usize {
        let mut state = self.state.lock().unwrap();
        state.lie = lie;
        std::mem::take(&mut state.changed)
    }
}

/// Passes on one call. The signature covers the address of the client's choice, so it stays valid.
fn pass(client: &TcpStream, server: SocketAddr, state: &Mutex<State>) -> io::Result<()> {
    let (mut reader, mut to_client) = (BufReader::new(client), client);
    let (head, body) = message(&mut reader)?;
    let (method, rest) = head.split_once(' ').unwrap();
    let about_blob = rest.split(' ').next().unwrap().contains("/blobs/");
    let lie = Some(state.lock().unwrap().lie).filter(|lie| {
        let of = match lie {
            Lie::None => "",
            Lie::OtherBytes | Lie::Truncated => "GET",
            Lie::ErrorBody | Lie::Refused(..) => "PUT",
        };
        about_blob && method == of
    });
    if lie.is_some() {
        state.lock().unwrap().changed += 1;
    }
    match lie {
        Some(Lie::ErrorBody) => {
            let error = "<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>";
            return answer(to_client, 200, "", error);
        }
        Some(Lie::Refused(status, headers)) => return answer(to_client, status, headers, ""),
        _ => {}
    }
    let mut to_server = TcpStream::connect(server)?;
    to_server.write_all(head.replacen("\r\n", "\r\nConnection: close\r\n", 1).as_bytes())?;
    to_server.write_all(&body)?;
    let mut said = Vec::new();
    to_server.read_to_end(&mut said)?;
    let at = said.windows(4).position(|end| end == b"\r\n\r\n").map_or(said.len(), |at| at + 4);
    match lie {
        Some(Lie::OtherBytes) => said[at..].iter_mut().for_each(|byte| *byte ^= 1),
        Some(Lie::Truncated) => said.truncate(at + (said.len() - at) / 2),
        _ => {}
    }
    to_client.write_all(&said)
}

/// The head of a request, with its empty line, and its body.
fn message(reader: &mut impl BufRead) -> io::Result<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok((head, body))
}

fn answer(mut client: &TcpStream, status: u16, headers: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(client, "HTTP/1.1 {status} So\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}")
}
