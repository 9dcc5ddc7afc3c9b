//! An index of many gems: the time of a start, the cost of a push at any size of the index, and the bytes that a client with
//! the index reads afterwards.

use crate::corpus::{self, Corpus, GEMS, SEED};
use crate::gem::Gem;
use crate::http::{Answer, Connection};
use crate::process::{Server, TOKEN, load_average};
use crate::push;
use crate::spread::Spread;
use anyhow::{Result, ensure};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const SIZES: [usize; 3] = [1_000, 10_000, GEMS];
const STARTS: usize = 3;
const ROUNDS: usize = 3;
/// Pushes of a round, and pushes that are followed by a read of `/versions`.
const PUSHES: usize = 60;
const READ: usize = 20;
const VERSIONS: &str = "/repository/gems-private/versions";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Large indexes");
    let mut lines = Vec::new();
    println!("\n{STARTS} starts each, median (least to most)");
    println!(
        "\n| gems | ready, ms after the start | first /versions whole, ms after the start | its bytes | again, ms | \
         resident, MB | of it anonymous, MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut servers = Vec::new();
    for gems in SIZES {
        let data = corpus::made(gems)?;
        servers.push((gems, starts(gems, &data)?));
    }
    for (gems, server) in &servers {
        let corpus = Corpus::new(*gems, SEED);
        lines.push(pushes(server, *gems, None)?);
        // The most popular gem has 2,600 versions, the 105th has 100.
        for place in [104, 0].into_iter().filter(|_| *gems == GEMS) {
            lines.push(pushes(server, *gems, Some(corpus.by_popularity(place)))?);
        }
    }
    println!("\n{ROUNDS} rounds of {PUSHES} pushes in sequence, then {READ} with a read of /versions after each");
    println!(
        "\n| gems | versions of the gem before | server CPU per push, us | ms per push, p50 | lines not there at once | \
         body bytes of the read | most | ms of it, p50 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    lines.iter().for_each(|line| println!("{line}"));
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// Starts the server several times. The last one is left running.
fn starts(gems: usize, data: &std::path::Path) -> Result<Server> {
    let folder = tempfile::tempdir()?;
    let (mut ready, mut first, mut again) = (Spread::default(), Spread::default(), Spread::default());
    let (mut resident, mut anonymous) = (Spread::default(), Spread::default());
    loop {
        let began = Instant::now();
        let server = Server::daylight_on(data, folder.path(), &[])?;
        ready.add(millis(began));
        let mut connection = Connection::open(server.address.parse()?)?;
        let size = get(&mut connection, &[])?.body.len();
        first.add(millis(began));
        let began = Instant::now();
        get(&mut connection, &[])?;
        again.add(millis(began));
        resident.add(server.resident()? as f64 / 1e6);
        anonymous.add(server.memory()? as f64 / 1e6);
        if ready.count() == STARTS {
            println!("| {gems} | {ready} | {first} | {size} | {again} | {resident} | {anonymous} |");
            return Ok(server);
        }
    }
}

/// Pushes new versions of a gem, or a new gem each time, and returns the line of the table.
fn pushes(server: &Server, gems: usize, name: Option<&str>) -> Result<String> {
    let mut connection = Connection::open(server.address.parse()?)?;
    let versions = match name {
        Some(name) => {
            let info = connection.call("GET", &format!("/repository/gems-private/info/{name}"), &[], b"")?;
            ensure!(info.status == 200, "info: {}", info.text());
            info.text().lines().count() - 1
        }
        None => 0,
    };
    // The folder is kept, and a version cannot be replaced: each run has its own versions.
    let run = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut count = 0;
    let mut next = || {
        count += 1;
        match name {
            Some(name) => Gem::new(name, &format!("9000.{run}.{count}")),
            None => Gem::new(&format!("pushed-{run}-{count}"), "1.0.0"),
        }
    };
    let (mut cpu, mut wait) = (Spread::default(), Spread::default());
    for _ in 0..ROUNDS {
        let all: Vec<Gem> = (0..PUSHES).map(|_| next()).collect();
        let before = server.cpu_seconds()?;
        for gem in &all {
            let began = Instant::now();
            publish(&mut connection, gem)?;
            wait.add(millis(began));
        }
        cpu.add((server.cpu_seconds()? - before) * 1e6 / PUSHES as f64);
    }

    // As Bundler does: requests the last byte that it has and all bytes after it, if the file has changed.
    let mut local = get(&mut connection, &[])?.body;
    let (mut bytes, mut took, mut missing) = (Spread::default(), Spread::default(), 0);
    for _ in 0..READ {
        let gem = next();
        let tag = format!("\"{}\"", format::gem::info::md5_hex(&local));
        let range = format!("bytes={}-", local.len() - 1);
        publish(&mut connection, &gem)?;
        let began = Instant::now();
        let read = get(&mut connection, &[("If-None-Match", &tag), ("Range", &range)])?;
        took.add(millis(began));
        bytes.add(read.body.len() as f64);
        let line = format!("\n{} {} ", gem.name, gem.version);
        match read.status {
            206 => local.extend_from_slice(&read.body[1..]),
            _ => local = read.body,
        }
        let tail = String::from_utf8_lossy(&local[local.len().saturating_sub(4096)..]).into_owned();
        missing += usize::from(!tail.contains(&line));
    }
    let (median, most) = (bytes.median(), bytes.most());
    Ok(format!("| {gems} | {versions} | {cpu} | {wait} | {missing} | {median:.0} | {most:.0} | {took} |"))
}

fn publish(connection: &mut Connection, gem: &Gem) -> Result<()> {
    let reply = connection.call("POST", push::PATH, &[("Authorization", TOKEN)], &gem.bytes())?;
    ensure!(reply.status == 200, "push: {} {}", reply.status, reply.text());
    Ok(())
}

fn get(connection: &mut Connection, headers: &[(&str, &str)]) -> Result<Answer> {
    let reply = connection.call("GET", VERSIONS, headers, b"")?;
    ensure!(matches!(reply.status, 200 | 206), "/versions: {}", reply.status);
    Ok(reply)
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
