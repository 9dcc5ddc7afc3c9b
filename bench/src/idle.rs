//! Thousands of connections that are kept and not used: the memory they cost, and what they cost those who work.

use crate::hit::{PAGE, publish, read};
use crate::load;
use crate::process::{Pair, Server, load_average};
use anyhow::{Context, Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const CONNECTIONS: usize = 10_000;
/// The server counts on a file for each, too.
const DESCRIPTORS: u64 = 32 << 10;
const SETTINGS: [(&str, &str); 2] =
    [("DAYLIGHT_SERVER_MAX_CONNECTIONS", "10500"), ("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "10500")];

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## {CONNECTIONS} idle connections");
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map(|most| most.max(DESCRIPTORS));
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most })
        .with_context(|| format!("{DESCRIPTORS} open files are needed: raise the limit, or run it as root"))?;
    let pair = Pair::start(&SETTINGS)?;
    publish(&pair.daylight, "lamp", 4)?;
    pair.file("page", &read(&pair.daylight, PAGE)?)?;
    println!(
        "\n| server | memory before, MB | when each had asked, MB | when they rested, MB | bytes each | after them, MB | CPU in 5 idle s, ms | CPU per hit beside them, us |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    measure(&pair.daylight, PAGE)?;
    measure(&pair.nginx, "/page")?;
    println!(
        "\nMemory is anonymous memory of all its processes (RssAnon); what the kernel holds for sockets is not in it."
    );
    println!("load average after it: {}", load_average()?);
    Ok(())
}

fn measure(server: &Server, path: &str) -> Result<()> {
    let url = format!("http://{}{path}", server.address);
    load::run(32, 2, &url)?;
    let before = server.memory()?;
    let mut idle = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        idle.push(TcpStream::connect(&server.address)?);
    }
    idle.iter_mut().try_for_each(|stream| ask(stream, path))?;
    let asked = server.memory()?;
    std::thread::sleep(Duration::from_secs(3));
    let spent = server.cpu_seconds()?;
    std::thread::sleep(Duration::from_secs(5));
    let (with, resting) = (server.memory()?, (server.cpu_seconds()? - spent) * 1e3);
    let spent = server.cpu_seconds()?;
    let load = load::run(32, 3, &url)?;
    let hit = (server.cpu_seconds()? - spent) * 1e6 / load.requests;
    // Each is still good.
    idle.iter_mut().try_for_each(|stream| ask(stream, path))?;
    drop(idle);
    std::thread::sleep(Duration::from_secs(1));
    let each = with.saturating_sub(before) / CONNECTIONS as u64;
    let [before, asked, with, after] = [before, asked, with, server.memory()?].map(|bytes| bytes as f64 / 1e6);
    let name = server.name;
    println!("| {name} | {before:.1} | {asked:.1} | {with:.1} | {each} | {after:.1} | {resting:.0} | {hit:.2} |");
    Ok(())
}

fn ask(stream: &mut TcpStream, path: &str) -> Result<()> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    // The page is small: head and body come in one piece.
    let mut buffer = [0; 4096];
    let read = stream.read(&mut buffer)?;
    ensure!(buffer[..read].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..read]));
    Ok(())
}
