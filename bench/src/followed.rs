//! A remote gem repository whose upstream is another server with an index as large as the public registry's: the cost of the
//! first look and of a start, disk space, and bytes from the upstream.

use crate::corpus::{self, GEMS};
use crate::http::Connection;
use crate::process::{Server, TOKEN, load_average};
use crate::spread::Spread;
use anyhow::{Result, ensure};
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 3;
const VERSIONS: &str = "/repository/followed/versions";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## A remote repository of gems whose upstream has {GEMS}");
    let folder = tempfile::tempdir()?;
    let upstream = Server::daylight_on(&corpus::made(GEMS)?, folder.path(), &[])?;
    let url = format!("http://{}/repository/gems-private/", upstream.address);
    // The upstream renders its own index before the measurement.
    let expected = get(&upstream, "/repository/gems-private/versions")?;
    let (mut first, mut first_cpu, mut highest) = (Spread::default(), Spread::default(), Spread::default());
    let (mut start, mut start_cpu, mut resident) = (Spread::default(), Spread::default(), Spread::default());
    let mut disk = Spread::default();
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("data");
        let server = Server::daylight_on(&data, folder.path(), &[])?;
        make(&server, &url)?;
        let (began, before) = (Instant::now(), server.cpu_seconds()?);
        ensure!(get(&server, VERSIONS)? == expected, "`/versions` differs from the upstream's");
        first.add(began.elapsed().as_secs_f64());
        first_cpu.add(server.cpu_seconds()? - before);
        highest.add(server.highest()? as f64 / 1e6);
        drop(server);
        disk.add(size(&data)? as f64 / 1e6);
        let began = Instant::now();
        let server = Server::daylight_on(&data, folder.path(), &[])?;
        ensure!(get(&server, VERSIONS)? == expected, "another `/versions` after a start");
        start.add(began.elapsed().as_secs_f64());
        start_cpu.add(server.cpu_seconds()?);
        resident.add(server.resident()? as f64 / 1e6);
    }
    println!("\n{ROUNDS} rounds, median (least to most); `/versions` has {} bytes", expected.len());
    println!(
        "\n| first `/versions` whole, s | CPU of it, s | highest memory, MB | data folder after it, MB | \
         start until the first `/versions`, s | CPU of it, s | resident after it, MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    println!("| {first} | {first_cpu} | {highest} | {disk} | {start} | {start_cpu} | {resident} |");
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

fn make(server: &Server, url: &str) -> Result<()> {
    let settings =
        serde_json::json!({ "name": "followed", "format": "gem", "kind": "remote", "remote": { "urls": [url] } });
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    let mut connection = Connection::open(server.address.parse()?)?;
    let made = connection.call("POST", "/api/v1/repositories", &headers, settings.to_string().as_bytes())?;
    ensure!(made.status == 201, "making a repository: {}", made.text());
    Ok(())
}

fn get(server: &Server, path: &str) -> Result<Vec<u8>> {
    let mut connection = Connection::open(server.address.parse()?)?;
    let reply = connection.call("GET", path, &[("Authorization", TOKEN)], b"")?;
    ensure!(reply.status == 200, "{path}: {} {}", reply.status, reply.text());
    Ok(reply.body)
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        sum += if kind.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(sum)
}
