//! The servers that keep pages: Debian's memcached, and one that does as a test tells it. And entries as applications write them.

use crate::origin::Origin;
use crate::running_apps::{HANGS, RunningApps, shop};
use apps::{AppOptions, PageFormat, PagesOptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use format::page::coding::Coding;
use format::page::hc1;
use format::page::key::KeyRule;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use telemetry::{Event, Millis, Tick};

/// The time in these tests, which stands still unless a test sets it.
pub(crate) const NOW: Millis = Millis(1_793_534_400_000);
pub(crate) const NOW_S: i64 = NOW.0 / 1000;

/// A memcached, which ends when this is dropped.
pub(crate) struct Memcached {
    process: Child,
    port: u16,
}

impl Memcached {
    pub(crate) fn start() -> Self {
        let port = front::free_port().unwrap();
        let mut command = Command::new("/usr/bin/memcached");
        command.args(["-u", "root", "-l", "127.0.0.1", "-U", "0", "-t", "1", "-p", &port.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process =
            command.spawn().unwrap_or_else(|error| panic!("the memcached of `scripts/setup test`: {error}"));
        until_open(port, &mut process);
        Self { process, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("memcached://127.0.0.1:{}", self.port)
    }

    pub(crate) fn set(&self, key: &str, value: &[u8]) {
        self.set_with(key, value, 0);
    }

    pub(crate) fn set_with(&self, key: &str, value: &[u8], flags: u32) {
        let mut command = format!("set {key} {flags} 0 {}\r\n", value.len()).into_bytes();
        command.extend_from_slice(value);
        command.extend_from_slice(b"\r\n");
        assert_eq!(tell(self.port, &command), "STORED");
    }

    /// Stores an item that expires in so many seconds.
    pub(crate) fn set_for(&self, key: &str, value: &[u8], seconds: u32) {
        (self.writer())(key, value, seconds);
    }

    /// The same for the thread of an application, which may outlive this server.
    pub(crate) fn writer(&self) -> impl Fn(&str, &[u8], u32) + Copy + Send + Sync + 'static {
        let port = self.port;
        move |key, value, seconds| {
            let mut command = format!("set {key} 0 {seconds} {}\r\n", value.len()).into_bytes();
            command.extend_from_slice(value);
            command.extend_from_slice(b"\r\n");
            assert_eq!(tell(port, &command), "STORED");
        }
    }

    /// Marks an item as stale, and lets it expire in so many seconds.
    pub(crate) fn mark(&self, key: &str, seconds: u32) {
        assert_eq!(tell(self.port, format!("md {key} I T{seconds}\r\n").as_bytes()), "HD");
    }

    pub(crate) fn delete(&self, key: &str) {
        assert_eq!(tell(self.port, format!("delete {key}\r\n").as_bytes()), "DELETED");
    }

    /// Bytes that it has sent, of all connections.
    pub(crate) fn sent(&self) -> u64 {
        let mut stream = BufReader::new(connect(self.port).unwrap());
        stream.get_mut().write_all(b"stats\r\n").unwrap();
        let mut sent = 0;
        for line in stream.lines() {
            let line = line.unwrap();
            match line.strip_prefix("STAT bytes_written ") {
                Some(number) => sent = number.trim().parse().unwrap(),
                None if line == "END" => break,
                None => {}
            }
        }
        sent
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a test writes pages")]
fn connect(port: u16) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(HANGS))?;
    Ok(stream)
}

/// A Redis, which ends when this is dropped.
pub(crate) struct Redis {
    process: Child,
    port: u16,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let port = front::free_port().unwrap();
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("the Redis of `scripts/setup test`: {error}"));
        until_open(port, &mut process);
        Self { process, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn set(&self, key: &str, value: &[u8]) {
        let mut command = format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${}\r\n", key.len(), value.len()).into_bytes();
        command.extend_from_slice(value);
        command.extend_from_slice(b"\r\n");
        assert_eq!(tell(self.port, &command), "+OK");
    }

    pub(crate) fn delete(&self, key: &str) {
        assert_eq!(tell(self.port, format!("DEL {key}\r\n").as_bytes()), ":1");
    }

    /// Whether there is such a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        tell(self.port, format!("EXISTS {key}\r\n").as_bytes()) == ":1"
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until a server accepts connections.
fn until_open(port: u16, process: &mut Child) {
    let began = Tick::now();
    while connect(port).is_err() {
        assert_eq!(process.try_wait().unwrap(), None, "it ended");
        assert!(Tick::now().since(began) < HANGS.as_nanos() as u64, "it does not start");
        std::thread::yield_now();
    }
}

/// Sends a command, and returns the first line of the reply.
fn tell(port: u16, command: &[u8]) -> String {
    let mut stream = connect(port).unwrap();
    stream.write_all(command).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// An application `shop` that writes pages of this form to `servers`.
pub(crate) fn writing(origin: &Origin, format: PageFormat, servers: &[String]) -> AppOptions {
    let pages = PagesOptions { servers: servers.to_vec(), timeout: HANGS, ..PagesOptions::of(format) };
    AppOptions { cache_bytes: 64 << 20, pages: Some(pages), ..shop(origin) }
}

/// The same, with its clock at [`NOW`].
pub(crate) fn running(options: AppOptions) -> RunningApps {
    let apps = RunningApps::of(vec![options]);
    apps.recorder.clock().set(Some(NOW));
    apps
}

pub(crate) fn later(apps: &RunningApps, seconds: u64) {
    apps.recorder.clock().set(Some(NOW.plus(Duration::from_secs(seconds))));
}

/// What became of the page of the last request.
pub(crate) fn page(apps: &RunningApps) -> &'static str {
    apps.event().app_page()
}

/// The next event, of a request or of a job.
pub(crate) fn event_of(apps: &RunningApps, method: &str) -> Event {
    loop {
        let event = apps.event();
        if event.method == method {
            return event;
        }
    }
}

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// The key of response_bank, and the tag of the present version.
pub(crate) fn bank_key(rule: KeyRule, target: &str, coding: Coding) -> (String, String) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let key = rule.key(path.as_bytes(), query.as_bytes(), coding);
    (key.key, key.tag)
}

/// An entry of response_bank: MessagePack, as its Ruby library writes it.
pub(crate) fn bank_entry(status: u16, headers: &[(&str, &str)], body: &[u8], stored_s: i64) -> Vec<u8> {
    let mut all = vec![0x95, 0xcd];
    all.extend(status.to_be_bytes());
    all.push(0x80 | u8::try_from(headers.len()).unwrap());
    for text in headers.iter().flat_map(|(name, value)| [name, value]) {
        all.extend([0xd9, u8::try_from(text.len()).unwrap()]);
        all.extend(text.as_bytes());
    }
    all.push(0xc6);
    all.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    all.extend(body);
    all.push(0xce);
    all.extend(u32::try_from(stored_s).unwrap().to_be_bytes());
    all.push(0x07);
    all
}

/// The present page of a URL for clients that accept gzip, with its key.
pub(crate) fn bank_page(target: &str, body: &str) -> (String, Vec<u8>) {
    let (key, tag) = bank_key(KeyRule::Typed, target, Coding::Gzip);
    let tag = format!("\"{tag}\"");
    let headers = [("Content-Type", "text/html"), ("ETag", &*tag), ("Content-Encoding", "gzip")];
    (key, bank_entry(200, &headers, &gzip(body.as_bytes()), NOW_S))
}

/// An entry of HC1. `times`: when it was stored, and for how long it is fresh, stale while it is written again, and stale on errors.
pub(crate) fn hc1_entry(status: u16, times: [i64; 4], lines: &str, body: &[u8]) -> Vec<u8> {
    let mut rest = format!("{lines}\r\n").into_bytes();
    rest.extend(body);
    let mut sum = flate2::Crc::new();
    sum.update(&rest);
    let [stored, fresh, stale_while, stale_error] = times;
    let length = body.len();
    let first = format!("HC1 {status} {stored} {fresh} {stale_while} {stale_error} {length} {:08x}\r\n", sum.sum());
    [first.into_bytes(), rest].concat()
}

/// The key of a page of HC1 for the host of these tests.
pub(crate) fn hc1_key(target: &str) -> String {
    hc1::key("a", target)
}

/// A server that answers each read of `mg` by `answer`, which gets the line of the command.
pub(crate) fn scripted(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (Origin, String) {
    let server = Origin::new(move |connection| {
        while let Some(line) = connection.line() {
            if !connection.send(answer(&line)) {
                return;
            }
        }
    });
    let url = server.url().replace("http:", "memcached:");
    (server, url)
}

/// Reads a whole stream.
pub(crate) fn rest(mut from: impl Read) -> Vec<u8> {
    let mut all = Vec::new();
    from.read_to_end(&mut all).unwrap();
    all
}
