//! An upstream controlled by an attacker: some of its paths never answer, and its metadata lists thousands of versions.

use anyhow::Result;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// The number of versions of each artifact.
const VERSIONS: usize = 2_000;

/// The upstream. It ends with this process.
pub(super) struct FakeUpstream {
    /// Its URL, with a slash at the end.
    pub(super) url: String,
}

impl FakeUpstream {
    /// Starts it.
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/", listener.local_addr()?);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client may disconnect at any time.
                thread::spawn(move || drop(serve(stream)));
            }
        });
        Ok(Self { url })
    }
}

fn serve(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
        }
        if path.contains("/silent/") {
            continue; // a request that is never answered
        }
        let body = if path.ends_with("maven-metadata.xml") { metadata(&path) } else { String::new() };
        let status = if body.is_empty() { "404 Not Found" } else { "200 OK" };
        stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
    }
}

fn metadata(path: &str) -> String {
    let artifact = path.rsplit('/').nth(1).unwrap_or_default();
    let versions: String = (0..VERSIONS).map(|number| format!("<version>1.{number}</version>")).collect();
    format!(
        "<metadata><groupId>g</groupId><artifactId>{artifact}</artifactId><versioning><versions>{versions}\
         </versions></versioning></metadata>"
    )
}
