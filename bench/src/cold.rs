//! A hundred clients request a file at the same time that is not cached yet: the upstream gets one request, and each client
//! reads the file as it arrives.

use crate::http::Connection;
use crate::process::{Server, TOKEN, load_average};
use crate::push::noise;
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

const CLIENTS: usize = 100;
const ROUNDS: usize = 3;
const MEGABYTES: [usize; 2] = [50, 500];

/// An upstream with one file, under any name.
struct Upstream {
    address: String,
    asked: Arc<AtomicUsize>,
}

impl Upstream {
    fn start(file: Arc<[u8]>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, asked) = (listener.local_addr()?.to_string(), Arc::new(AtomicUsize::new(0)));
        let counts = asked.clone();
        // It ends with the benchmark.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (file, counts) = (file.clone(), counts.clone());
                std::thread::spawn(move || answer(stream, &file, &counts));
            }
        });
        Ok(Self { address, asked })
    }
}

fn answer(mut stream: TcpStream, file: &[u8], asked: &AtomicUsize) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len());
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(line) = lines.next().transpose()? {
        if line.starts_with("GET ") {
            asked.fetch_add(1, Relaxed);
        }
        if line.is_empty() {
            stream.write_all(head.as_bytes())?;
            stream.write_all(file)?;
        }
    }
    Ok(())
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## {CLIENTS} clients of one file that must be downloaded");
    let mut rows = Vec::new();
    for megabytes in MEGABYTES {
        let file: Arc<[u8]> = noise(megabytes as u64, megabytes << 20).into();
        let upstream = Upstream::start(file.clone())?;
        let folder = tempfile::tempdir()?;
        let daylight = Server::daylight(folder.path(), &[])?;
        make(&daylight, &upstream)?;
        let (mut seconds, mut cpu, mut rate) = (Spread::default(), Spread::default(), Spread::default());
        for round in 0..ROUNDS {
            let before = daylight.cpu_seconds()?;
            let began = Instant::now();
            crowd(&daylight, &format!("/repository/cold/file-{round}.bin"), &file)?;
            let took = began.elapsed().as_secs_f64();
            seconds.add(took);
            cpu.add(daylight.cpu_seconds()? - before);
            rate.add((CLIENTS * file.len()) as f64 / took / 1e9);
        }
        let (asked, memory) = (upstream.asked.load(Relaxed), daylight.highest()? >> 20);
        ensure!(asked == ROUNDS, "{asked} requests for {ROUNDS} files");
        rows.push(format!("| {megabytes} MB | {seconds} | {cpu} | {rate} | {asked} for {ROUNDS} files | {memory} |"));
    }
    println!(
        "\n| size, {ROUNDS} rounds, median (least to most) | seconds until all have it | server CPU, s | GB/s sent | requests to the upstream | highest memory, MB |"
    );
    println!("|---|---|---|---|---|---|");
    rows.iter().for_each(|row| println!("{row}"));
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

fn make(daylight: &Server, upstream: &Upstream) -> Result<()> {
    let remote = serde_json::json!({ "urls": [format!("http://{}/", upstream.address)] });
    let settings = serde_json::json!({ "name": "cold", "format": "raw", "remote": remote });
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    let mut connection = Connection::open(daylight.address.parse()?)?;
    let made = connection.call("POST", "/api/v1/repositories", &headers, settings.to_string().as_bytes())?;
    ensure!(made.status == 201, "making a repository: {}", made.text());
    Ok(())
}

/// All clients read the file at the same time; each gets every byte of it.
fn crowd(daylight: &Server, path: &str, file: &[u8]) -> Result<()> {
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| read(&daylight.address, path, file))).collect();
        clients.into_iter().try_for_each(|client| client.join().map_err(|_| anyhow::anyhow!("a client panicked"))?)
    })
}

fn read(address: &str, path: &str, file: &[u8]) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut reader = BufReader::with_capacity(256 << 10, stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    ensure!(line.starts_with("HTTP/1.1 200"), "{path}: {line}");
    let length = format!("content-length: {}", file.len());
    let mut announced = false;
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line)?;
        announced |= line.trim_end().eq_ignore_ascii_case(&length);
    }
    ensure!(announced, "{path}: no length");
    let (mut piece, mut at) = (vec![0; 256 << 10], 0);
    loop {
        let read = reader.read(&mut piece)?;
        if read == 0 {
            ensure!(at == file.len(), "{path}: {at} of {} bytes", file.len());
            return Ok(());
        }
        ensure!(file.get(at..at + read).context("too much")? == &piece[..read], "{path}: other bytes at {at}");
        at += read;
    }
}
