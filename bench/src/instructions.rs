//! Row 3a: the instructions of a whole page hit, from the read of the request to the write of its event, counted by
//! callgrind over a loopback connection. The kernel's instructions are not included, so the figure is the same on a busy
//! machine.

use crate::hit::{PAGE, publish, read};
use crate::process::Server;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

/// As many connections as wrk uses for the small page: a wake-up of the server finds several requests ready.
const CONNECTIONS: usize = 32;
/// Rounds over all connections in two runs. Their difference excludes the cost of the start and of warming up.
const ROUNDS: [u64; 2] = [50, 350];
/// The request headers of Bundler.
const HEAD: &str = "Host: localhost:8080\r\nUser-Agent: bundler/2.6.2 rubygems/3.6.2 ruby/3.4.1 (x86_64-pc-linux-gnu) \
                    command/install options/path\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Instructions of a page hit");
    println!("\n| request | its core's thread | all other threads |");
    println!("|---|---|---|");
    for (name, head) in [("a request of wrk", "Host: localhost\r\n"), ("a request of Bundler", HEAD)] {
        let request = format!("GET {PAGE} HTTP/1.1\r\n{head}\r\n");
        let [few, many] = [run(&request, ROUNDS[0])?, run(&request, ROUNDS[1])?];
        let requests = ((ROUNDS[1] - ROUNDS[0]) * CONNECTIONS as u64) as f64;
        let each = |thread: &u64| {
            many.get(thread).copied().unwrap_or(0).saturating_sub(few.get(thread).copied().unwrap_or(0)) as f64
        };
        let mut threads: Vec<f64> = many.keys().map(each).collect();
        threads.sort_by(f64::total_cmp);
        let core = threads.pop().context("a thread")?;
        println!("| {name} | {:.0} | {:.0} |", core / requests, threads.iter().sum::<f64>() / requests);
    }
    println!(
        "\n{CONNECTIONS} connections, each with a new request when all were answered; the kernel's instructions are not counted."
    );
    Ok(())
}

/// Instructions by thread, of a server that answers this many rounds.
fn run(request: &str, rounds: u64) -> Result<BTreeMap<u64, u64>> {
    let folder = tempfile::tempdir()?;
    let server = Server::daylight_counted(folder.path(), &[("DAYLIGHT_SERVER_CORES", "1")])?;
    publish(&server, "lamp", 4)?;
    for _ in 0..3 {
        read(&server, PAGE)?;
    }
    let mut connections =
        (0..CONNECTIONS).map(|_| TcpStream::connect(&server.address)).collect::<std::io::Result<Vec<_>>>()?;
    let mut buffer = [0; 4096];
    for _ in 0..rounds {
        for connection in &mut connections {
            connection.write_all(request.as_bytes())?;
        }
        for connection in &mut connections {
            // Head and body are small and arrive in one piece.
            let read = connection.read(&mut buffer)?;
            ensure!(buffer[..read].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..read]));
        }
    }
    drop(connections);
    drop(server);
    counted(folder.path())
}

/// The output of callgrind, one file for each thread.
fn counted(folder: &Path) -> Result<BTreeMap<u64, u64>> {
    let mut threads = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name();
        let Some(thread) = name.to_str().and_then(|name| name.strip_prefix("counted-")) else { continue };
        let text = fs::read_to_string(file.path())?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).context("callgrind's totals")?;
        threads.insert(thread.parse()?, total.trim().parse()?);
    }
    ensure!(!threads.is_empty(), "callgrind wrote nothing");
    Ok(threads)
}
