//! Thousands of idle connections: the memory that they take, and their cost for other clients.

use crate::hit::{PAGE, publish, read};
use crate::load;
use crate::process::{Pair, Server, load_average};
use anyhow::{Context, Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The number of connections, if so many files may be open.
const CONNECTIONS: u64 = 10_000;
/// The number of files that the server may open for other clients.
const OTHERS: u64 = 500;
/// The number of open files that the server needs besides a socket for each connection.
const FILES: u64 = 512;

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    let descriptors = raise_descriptors()?;
    // The server reserves a socket and a file for each connection.
    let fit = (descriptors.saturating_sub(FILES) / 2).saturating_sub(OTHERS);
    let connections = CONNECTIONS.min(fit / 100 * 100);
    println!("\n## {connections} idle connections");
    if connections < CONNECTIONS {
        println!("not {CONNECTIONS}, because only {descriptors} files may be open here");
    }
    let most = (connections + OTHERS).to_string();
    let pair = Pair::start(&[
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS", &most),
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", &most),
        ("DAYLIGHT_SERVER_OPEN_FILES", "16"),
    ])?;
    publish(&pair.daylight, "lamp", 4)?;
    pair.file("page", &read(&pair.daylight, PAGE)?)?;
    println!(
        "\n| server | memory before, MB | after a request on each, MB | idle, MB | bytes each | after another load, MB | CPU in 5 idle s, ms | CPU per hit beside them, us |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    measure(&pair.daylight, PAGE, connections)?;
    measure(&pair.nginx, "/page", connections)?;
    println!("\nMemory is anonymous memory of all its processes (RssAnon), without the kernel's memory for sockets.");
    println!("load average after it: {}", load_average()?);
    Ok(())
}

/// Raises the limit of open files for this process and its children as far as allowed, and returns it.
fn raise_descriptors() -> Result<u64> {
    let enough = 2 * (CONNECTIONS + OTHERS) + FILES;
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map(|most| most.max(enough));
    // Only root may exceed the hard limit, and not everywhere.
    if setrlimit(Resource::Nofile, Rlimit { current: wanted, maximum: wanted }).is_ok() {
        return Ok(wanted.unwrap_or(enough));
    }
    let Rlimit { maximum, .. } = limit;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).context("raising the limit of open files")?;
    Ok(maximum.unwrap_or(enough))
}

fn measure(server: &Server, path: &str, connections: u64) -> Result<()> {
    let url = format!("http://{}{path}", server.address);
    load::run(32, 2, &url)?;
    let before = server.memory()?;
    let connect = |_| TcpStream::connect(&server.address);
    let mut idle = (0..connections).map(connect).collect::<Result<Vec<_>, _>>()?;
    idle.iter_mut().try_for_each(|stream| ask(stream, path))?;
    let asked = server.memory()?;
    std::thread::sleep(Duration::from_secs(3));
    let spent = server.cpu_seconds()?;
    std::thread::sleep(Duration::from_secs(5));
    let (with, resting) = (server.memory()?, (server.cpu_seconds()? - spent) * 1e3);
    let spent = server.cpu_seconds()?;
    let load = load::run(32, 3, &url)?;
    let hit = (server.cpu_seconds()? - spent) * 1e6 / load.requests;
    // Each connection still works.
    idle.iter_mut().try_for_each(|stream| ask(stream, path))?;
    drop(idle);
    // The allocator returns memory to the system a second after it was freed, when other memory is freed.
    std::thread::sleep(Duration::from_secs(2));
    load::run(32, 2, &url)?;
    let each = with.saturating_sub(before) / connections;
    let [before, asked, with, after] = [before, asked, with, server.memory()?].map(|bytes| bytes as f64 / 1e6);
    let name = server.name;
    println!("| {name} | {before:.1} | {asked:.1} | {with:.1} | {each} | {after:.1} | {resting:.0} | {hit:.2} |");
    Ok(())
}

fn ask(stream: &mut TcpStream, path: &str) -> Result<()> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    // The page is small: head and body arrive in one piece.
    let mut buffer = [0; 4096];
    let read = stream.read(&mut buffer)?;
    ensure!(buffer[..read].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..read]));
    Ok(())
}
