//! `bench bare-server FOLDER PORT`: answers GET with the files of a folder, from memory. A thread waits for each connection, and a request
//! costs one read and one write.

use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

/// The size of the largest head of a request, in bytes.
const HEAD_MAX: usize = 16 << 10;
const END: &[u8] = b"\r\n\r\n";
const MISSING: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// Complete replies by path.
type Replies = HashMap<Vec<u8>, Vec<u8>>;

/// Serves until it is ended.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [folder, port] = arguments else { anyhow::bail!("usage: bench bare-server FOLDER PORT") };
    let mut replies = Replies::new();
    read(Path::new(folder), "", &mut replies)?;
    let replies = Arc::new(replies);
    for stream in TcpListener::bind(format!("127.0.0.1:{port}"))?.incoming() {
        let (stream, replies) = (stream?, replies.clone());
        // A client that disconnects ends its thread.
        std::thread::spawn(move || answer(stream, &replies));
    }
    Ok(())
}

/// Reads the files below a folder, whose path in URLs this is.
fn read(folder: &Path, path: &str, replies: &mut Replies) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &path, replies)?;
        } else {
            let body = fs::read(entry.path())?;
            let mut reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
            reply.extend_from_slice(&body);
            replies.insert(path.into_bytes(), reply);
        }
    }
    Ok(())
}

/// Answers the requests of a connection, one after the other.
fn answer(mut stream: TcpStream, replies: &Replies) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; HEAD_MAX];
    let mut filled = 0;
    loop {
        let added = stream.read(&mut buffer[filled..])?;
        if added == 0 {
            return Ok(());
        }
        filled += added;
        if !buffer[..filled].ends_with(END) {
            continue;
        }
        let path = buffer[..filled].split(|&byte| byte == b' ').nth(1).unwrap_or_default();
        stream.write_all(replies.get(path).map_or(MISSING, Vec::as_slice))?;
        filled = 0;
    }
}
