//! An upstream of gems: files in memory, with their MD5 as ETag and with ranges, as gem servers have them.

use anyhow::Result;
use format::gem::info::md5_hex;
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// A file, and its ETag.
#[derive(Clone)]
struct File {
    bytes: Arc<[u8]>,
    tag: String,
}

type Files = Arc<Mutex<HashMap<String, File>>>;

/// The upstream. It listens until the program ends.
pub(super) struct Upstream {
    address: SocketAddr,
    files: Files,
}

impl Upstream {
    /// An upstream without files.
    pub(super) fn start() -> Result<Self> {
        let (listener, files) = (TcpListener::bind("127.0.0.1:0")?, Files::default());
        let (address, served) = (listener.local_addr()?, files.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let files = served.clone();
                // The other side may end a connection in any way.
                std::thread::spawn(move || drop(serve(stream, &files)));
            }
        });
        Ok(Self { address, files })
    }

    /// Its URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Adds or replaces a file.
    pub(super) fn has(&self, path: &str, bytes: &[u8]) {
        let file = File { bytes: bytes.into(), tag: format!("\"{}\"", md5_hex(bytes)) };
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(format!("/{path}"), file);
    }
}

fn serve(stream: TcpStream, files: &Files) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut from, mut known) = (None, String::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(": ") else { break };
            match &*name.to_ascii_lowercase() {
                "range" => from = value.trim_start_matches("bytes=").trim_end_matches('-').parse::<usize>().ok(),
                "if-none-match" => value.clone_into(&mut known),
                _ => {}
            }
        }
        let file = files.lock().unwrap_or_else(PoisonError::into_inner).get(&path).cloned();
        answer(reader.get_mut(), file.as_ref(), from, &known)?;
    }
}

fn answer(stream: &mut TcpStream, file: Option<&File>, from: Option<usize>, known: &str) -> Result<()> {
    let Some(File { bytes, tag }) = file else {
        return Ok(stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?);
    };
    if known == tag {
        return Ok(write!(stream, "HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n")?);
    }
    let (status, range, body) = match from.and_then(|from| Some((from, bytes.get(from..)?))) {
        Some((from, rest)) if !rest.is_empty() => {
            let range = format!("Content-Range: bytes {from}-{}/{}\r\n", bytes.len() - 1, bytes.len());
            ("206 Partial Content", range, rest)
        }
        _ if from.is_some() => {
            let refused = format!(
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{}\r\nContent-Length: 0\r\n\r\n",
                bytes.len()
            );
            return Ok(stream.write_all(refused.as_bytes())?);
        }
        _ => ("200 OK", String::new(), &bytes[..]),
    };
    write!(stream, "HTTP/1.1 {status}\r\nETag: {tag}\r\n{range}Content-Length: {}\r\n\r\n", body.len())?;
    Ok(stream.write_all(body)?)
}
