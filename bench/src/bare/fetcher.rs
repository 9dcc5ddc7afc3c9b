//! `bench bare-fetcher ADDRESS LIST FOLDER`: downloads the paths of a list into files, five at a time, makes one SHA-1 of each and holds it
//! to the `.sha1` beside the file, where the list has one. Prints the seconds of processor time that it took.

use anyhow::{Context, Result, bail, ensure};
use nix::time::ClockId;
use sha1::{Digest, Sha1};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// As many as Maven downloads at a time.
const CONNECTIONS: usize = 5;
const BUFFER: usize = 256 << 10;
const END: &[u8] = b"\r\n\r\n";
const SHA1: &str = ".sha1";

/// Downloads everything.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [address, list, folder] = arguments else { bail!("usage: bench bare-fetcher ADDRESS LIST FOLDER") };
    let list = fs::read_to_string(list).context("reading the list")?;
    let proven: HashSet<&str> = list.lines().filter_map(|path| path.strip_suffix(SHA1)).collect();
    let files: Vec<&str> = list.lines().filter(|path| !path.ends_with(SHA1)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let thread = || -> Result<()> {
            let mut upstream = Upstream { stream: TcpStream::connect(address)?, address, buffer: vec![0; BUFFER] };
            upstream.stream.set_nodelay(true)?;
            loop {
                let number = next.fetch_add(1, Relaxed);
                let Some(path) = files.get(number) else { return Ok(()) };
                upstream.file(path, proven.contains(path), &Path::new(folder).join(number.to_string()))?;
            }
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().ok().context("a thread panicked")?)
    })?;
    println!("{}", Duration::from(ClockId::CLOCK_PROCESS_CPUTIME_ID.now()?).as_secs_f64());
    Ok(())
}

/// A connection.
struct Upstream<'a> {
    stream: TcpStream,
    address: &'a str,
    buffer: Vec<u8>,
}

impl Upstream<'_> {
    /// Downloads a file, and holds it to its checksum.
    fn file(&mut self, path: &str, proven: bool, to: &Path) -> Result<()> {
        let (mut file, mut hash) = (File::create(to)?, Sha1::new());
        self.get(path, |bytes| {
            hash.update(bytes);
            file.write_all(bytes)
        })?;
        if proven {
            let mut digits = Vec::new();
            self.get(&format!("{path}{SHA1}"), |bytes| digits.write_all(bytes))?;
            let made: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            ensure!(digits.starts_with(made.as_bytes()), "{path} has the SHA-1 {made}");
        }
        Ok(())
    }

    /// Sends a request, and passes on the bytes of the reply's body.
    fn get(&mut self, path: &str, mut pass: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<()> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        self.stream.write_all(request.as_bytes())?;
        let mut filled = 0;
        let body = loop {
            let added = self.stream.read(&mut self.buffer[filled..])?;
            ensure!(added > 0, "{path}: the reply ended in its head");
            filled += added;
            if let Some(at) = self.buffer[..filled].windows(END.len()).position(|bytes| bytes == END) {
                break at + END.len();
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..body]).to_ascii_lowercase();
        ensure!(head.starts_with("http/1.1 200"), "{path}: {head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.with_context(|| format!("{path}: no length"))?.parse()?;
        let mut left = (body + length).checked_sub(filled).with_context(|| format!("{path}: too many bytes"))?;
        pass(&self.buffer[body..filled])?;
        while left > 0 {
            let added = self.stream.read(&mut self.buffer)?;
            ensure!(added > 0, "{path}: {left} bytes are missing");
            pass(&self.buffer[..added])?;
            left = left.checked_sub(added).with_context(|| format!("{path}: too many bytes"))?;
        }
        Ok(())
    }
}
