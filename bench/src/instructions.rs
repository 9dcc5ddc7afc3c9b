//! Row 3a: the instructions of a whole page hit, from the read of the request to the write of its event, counted by
//! callgrind over a loopback connection. The kernel's instructions are not included, so the figure is the same on a busy
//! machine.

use crate::hit::{PAGE, publish, read};
use crate::pair::Both;
use crate::process::Server;
use anyhow::{Context, Result, ensure};
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

/// The most instructions of a hit on PostgreSQL and object storage, as a part of those on the disk alone.
const PART_MOST: f64 = 1.01;

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Instructions of a page hit");
    let folder = tempfile::tempdir()?;
    let both = Both::start(folder.path())?;
    println!("\n| request | server | its core's thread | all other threads |");
    println!("|---|---|---|---|");
    let mut parts = Vec::new();
    for (number, (name, head)) in [("wrk", "Host: localhost\r\n"), ("Bundler", HEAD)].into_iter().enumerate() {
        let request = format!("GET {PAGE} HTTP/1.1\r\n{head}\r\n");
        let alone = each(&request, |_| Ok(Vec::new()))?;
        let on_both = each(&request, |rounds| both.settings(&format!("counted{number}x{rounds}")))?;
        for (on, [core, others]) in [("the disk alone", alone), ("PostgreSQL and object storage", on_both)] {
            println!("| of {name} | on {on} | {core:.0} | {others:.0} |");
        }
        parts.push(format!("{:.4}", on_both[0] / alone[0]));
    }
    println!("\nits core's thread, on both as a part of that on the disk: {}; must be {PART_MOST}", parts.join(", "));
    println!(
        "{CONNECTIONS} connections, each with a new request when all were answered; the kernel's instructions are not counted."
    );
    Ok(())
}

/// The instructions of one request: of the thread that answers, and of all others.
fn each(request: &str, settings: impl Fn(u64) -> Result<Vec<(&'static str, String)>>) -> Result<[f64; 2]> {
    let run = |rounds| run(request, rounds, settings(rounds)?);
    let [few, many] = [run(ROUNDS[0])?, run(ROUNDS[1])?];
    let requests = ((ROUNDS[1] - ROUNDS[0]) * CONNECTIONS as u64) as f64;
    let each = |of: fn(&Counted) -> u64| of(&many).saturating_sub(of(&few)) as f64 / requests;
    Ok([each(|counted| counted.core), each(|counted| counted.others)])
}

/// Instructions of a server.
struct Counted {
    /// Of the thread that answers.
    core: u64,
    /// Of all others.
    others: u64,
}

/// The instructions of a server with these settings that answers this many rounds.
fn run(request: &str, rounds: u64, mut settings: Vec<(&'static str, String)>) -> Result<Counted> {
    let folder = tempfile::tempdir()?;
    settings.push(("DAYLIGHT_SERVER_CORES", "1".to_owned()));
    let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let server = Server::daylight_counted(folder.path(), &settings)?;
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
fn counted(folder: &Path) -> Result<Counted> {
    let mut counted = Counted { core: 0, others: 0 };
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name();
        if !name.to_str().is_some_and(|name| name.starts_with("counted-")) {
            continue;
        }
        let text = fs::read_to_string(file.path())?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).context("callgrind's totals")?;
        // Slowed down by callgrind, other threads may run more instructions than this one.
        let answers = text.contains("front::http1::");
        *(if answers { &mut counted.core } else { &mut counted.others }) += total.trim().parse::<u64>()?;
    }
    ensure!(counted.core > 0, "callgrind wrote nothing about the thread that answers");
    Ok(counted)
}
