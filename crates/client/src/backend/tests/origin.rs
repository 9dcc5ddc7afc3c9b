//! An origin that says what a test has it say.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

/// Ends an answer after which the origin closes the connection.
pub(super) const CLOSE: &str = "<close>";

/// Reads a request to this end, and gives the next answer, until the answers are used up. Then it keeps the connection open.
pub(super) struct Origin {
    pub(super) url: String,
    /// What it read before each answer. After a close, an empty text.
    pub(super) read: Receiver<String>,
}

impl Origin {
    /// For one connection, and requests without a body.
    pub(super) fn new(answers: &[&str]) -> Self {
        Self::reading_to("\r\n\r\n", answers)
    }

    /// For requests that end with `end`.
    #[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
    pub(super) fn reading_to(end: &'static str, answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        Self::start(url, end, answers, move || listener.accept().unwrap().0)
    }

    pub(super) fn on_socket(path: &Path, answers: &[&str]) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        Self::start(format!("unix:{}", path.display()), "\r\n\r\n", answers, move || listener.accept().unwrap().0)
    }

    fn start<S: Read + Write + 'static>(
        url: String,
        end: &'static str,
        answers: &[&str],
        accept: impl FnOnce() -> S + Send + 'static,
    ) -> Self {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let (tell, read) = channel();
        std::thread::spawn(move || {
            let mut socket = accept();
            for answer in answers {
                let mut request = Vec::new();
                while !request.ends_with(end.as_bytes()) {
                    let mut byte = [0];
                    match socket.read(&mut byte) {
                        Ok(1) => request.push(byte[0]),
                        _ => break,
                    }
                }
                let (say, close) = answer.strip_suffix(CLOSE).map_or((answer.as_str(), false), |say| (say, true));
                let _ = socket.write_all(say.as_bytes());
                let _ = tell.send(String::from_utf8(request).unwrap());
                if close {
                    drop(socket);
                    let _ = tell.send(String::new());
                    return;
                }
            }
            // It stays open until the other side closes it.
            let _ = std::io::copy(&mut socket, &mut std::io::sink());
        });
        Self { url, read }
    }
}

/// A port that is closed again.
#[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
pub(super) fn nobody() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

/// A socket of the machine whose backlog is full, and the connections that fill it.
pub(super) fn full(path: &Path) -> (UnixListener, Vec<std::os::unix::net::UnixStream>) {
    let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
    socket.bind(&socket2::SockAddr::unix(path).unwrap()).unwrap();
    socket.listen(0).unwrap();
    let waits = std::os::unix::net::UnixStream::connect(path).unwrap();
    (socket.into(), vec![waits])
}
