//! A memcached with pages as response_bank writes them (schema 2, version data empty), and with the same bodies alone.

use crate::process::{self, Server, free_port};
use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use format::page::coding::Coding;
use format::page::key::KeyRule;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the bodies alone are, for servers that send values as they are. The path of the page follows.
pub(crate) const RAW: &str = "raw:";

/// A running memcached.
pub(crate) struct Memcached {
    pub(crate) server: Server,
    connection: BufReader<TcpStream>,
}

impl Memcached {
    /// Starts an empty one.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        println!("version: {}", process::said("memcached", &["-V"])?);
        let port = free_port()?;
        let mut command = Command::new("memcached");
        command.args(["-l", "127.0.0.1", "-p", &port.to_string(), "-m", "256", "-t", "2"]);
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "root"]);
        }
        let server = Server::peer(command, "memcached", port, folder)?;
        let connection = BufReader::new(TcpStream::connect(&server.address)?);
        Ok(Self { server, connection })
    }

    /// Its URL in settings of Daylight.
    pub(crate) fn url(&self) -> String {
        format!("memcached://{}", self.server.address)
    }

    /// Writes the page of a path in gzip, and its coded body alone, or if `plain` the text alone.
    pub(crate) fn page(&mut self, path: &str, text: &[u8], plain: bool) -> Result<()> {
        let coded = gzip(text)?;
        let key = KeyRule::Typed.key(path.as_bytes(), b"", Coding::Gzip);
        self.set(&key.key, &entry(&key.tag, &coded)?)?;
        self.set(&format!("{RAW}{path}"), if plain { text } else { &coded })
    }

    fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        let head = format!("set {key} 0 0 {}\r\n", value.len());
        self.connection.get_mut().write_all(&[head.as_bytes(), value, b"\r\n"].concat())?;
        let mut said = String::new();
        self.connection.read_line(&mut said)?;
        ensure!(said.trim_end() == "STORED", "memcached says {said}");
        Ok(())
    }
}

/// The text in gzip at the level of response_bank.
pub(crate) fn gzip(text: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text)?;
    Ok(encoder.finish()?)
}

/// An entry of four elements in MessagePack.
fn entry(tag: &str, coded: &[u8]) -> Result<Vec<u8>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let headers =
        [("Content-Type", "text/html; charset=utf-8"), ("ETag", &format!("\"{tag}\"")), ("Content-Encoding", "gzip")];
    // An array of four: a 16-bit number, a map of three, bytes, a 32-bit number.
    let mut entry = vec![0x94, 0xcd, 0, 200, 0x83];
    for text in headers.iter().flat_map(|(name, value)| [name, value]) {
        entry.extend([0xd9, u8::try_from(text.len()).context("a short text")?]);
        entry.extend(text.as_bytes());
    }
    entry.push(0xc6);
    entry.extend(u32::try_from(coded.len())?.to_be_bytes());
    entry.extend(coded);
    entry.push(0xce);
    entry.extend(u32::try_from(now)?.to_be_bytes());
    Ok(entry)
}

/// A text of so many bytes that looks like a page: words of a small vocabulary in an order that does not repeat.
pub(crate) fn text(bytes: usize, mut seed: u64) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "<p>",
        "</p>\n",
        "lamp",
        "drawer",
        "price",
        "of",
        "the",
        "a",
        "table",
        "<b>",
        "</b>",
        "and",
        "with",
        "for",
        "oak",
        "glass",
        "delivery",
        "within",
        "days",
        "<a href=\"/products/",
        "\">",
        "</a>",
        "new",
        "sale",
    ];
    let mut text = b"<!doctype html>\n<title>A page</title>\n".to_vec();
    while text.len() < bytes {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (seed >> 33) as usize;
        text.extend(WORDS[number % WORDS.len()].as_bytes());
        text.extend(format!(" {}", number / WORDS.len() % 1000).as_bytes());
    }
    text.truncate(bytes);
    text
}
