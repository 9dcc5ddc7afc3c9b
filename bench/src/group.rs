//! A group of 20 members, in groups of two levels, with facts about half a million folders: their disk space and memory, the
//! time of a start, and the cost of a file requested from the group and from its member.

pub(crate) mod fill;
mod merge;

use crate::caller::Caller;
use crate::http::Connection;
use crate::process::{Server, TOKEN, beside, load_average};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use fill::{HOSTED, KEPT, REMOTES, path};
use rusqlite::{Connection as Database, OpenFlags};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

const STARTS: usize = 3;
const ROUNDS: usize = 3;
/// Requests of a round to the group, and equally many to the member, each for a file in a different folder.
const REQUESTS: usize = KEPT / ROUNDS / 2;
/// The memory limit, in bytes.
const MOST: u64 = 1 << 30;

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    let wanted = fill::folders()?;
    println!("\n## A group of {} members with facts about {wanted} folders", HOSTED + REMOTES);
    let (data, folder) = (made(wanted)?, tempfile::tempdir()?);
    let (rows, folders, bytes) = facts(&data)?;
    println!("\nfacts: {rows} rows of {folders} folders, {:.0} MB with their indexes", bytes as f64 / 1e6);
    ensure!(folders == wanted, "facts about {folders} folders instead of {wanted}");
    ensure!(rows == folders * REMOTES, "{rows} rows are not one for each folder and queried member");

    let (mut ready, mut first, mut resident) = (Spread::default(), Spread::default(), Spread::default());
    let server = loop {
        let began = Instant::now();
        let server = Server::daylight_on(&data, folder.path(), &[])?;
        ready.add(began.elapsed().as_secs_f64() * 1e3);
        // No other request uses the last folder: it is neither open nor in memory.
        get(&mut Caller::open(&server.address)?, "all", KEPT - 1 - ready.count(), 0)?;
        first.add(began.elapsed().as_secs_f64() * 1e3);
        resident.add(server.resident()? as f64 / 1e6);
        if ready.count() == STARTS {
            break server;
        }
    };
    println!("\n{STARTS} starts, median (least to most)");
    println!("\n| ready, ms after the start | first file of the group, ms after the start | resident then, MB |");
    println!("|---|---|---|\n| {ready} | {first} | {resident} |");
    requests(&server)?;
    let highest = server.highest()?;
    println!("\nresident at most: {:.0} MB; load average after it: {}", highest as f64 / 1e6, load_average()?);
    ensure!(highest <= MOST, "{highest} bytes are more than {MOST}");
    drop(server);
    merge::row()
}

/// Sends requests to the group and to the member in turns, for the first file of folders and for another one of the same.
fn requests(server: &Server) -> Result<()> {
    let mut caller = Caller::open(&server.address)?;
    let last = format!("far-{}", REMOTES - 1);
    let mut cpu: [[Spread; 2]; 2] = Default::default();
    let mut asked = 0.0;
    for round in 0..ROUNDS {
        for (file, cpu) in cpu.iter_mut().enumerate() {
            for (place, (repository, cpu)) in ["all", &last].into_iter().zip(cpu).enumerate() {
                let (before, members, files) =
                    (server.cpu_seconds()?, counted(server, "members_asked")?, counted(server, "files")?);
                for number in 0..REQUESTS {
                    get(&mut caller, repository, (round * 2 + place) * REQUESTS + number, file)?;
                }
                cpu.add((server.cpu_seconds()? - before) * 1e6 / REQUESTS as f64);
                let (members, files) = (counted(server, "members_asked")? - members, counted(server, "files")? - files);
                ensure!(members == files, "{members} members were queried for {files} files");
                asked += files;
            }
        }
    }
    ensure!(asked as usize >= (ROUNDS * 2 - 1) * REQUESTS, "only {asked} files were requested from the group");
    println!(
        "\n{ROUNDS} rounds of {REQUESTS} requests in turns, no path twice; {asked} files took {asked} queries to members"
    );
    println!("\n| file | server CPU per request to the group, us | to its member, us |\n|---|---|---|");
    for (what, [group, member]) in
        ["the first of its folder", "another, the folder's facts are in memory"].iter().zip(&cpu)
    {
        println!("| {what} | {group} | {member} |");
    }
    Ok(())
}

fn get(caller: &mut Caller, repository: &str, folder: usize, file: usize) -> Result<()> {
    let path = path(folder, fill::HAS[file]);
    let request = format!("GET /repository/{repository}/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let reply = caller.call(request.as_bytes())?;
    ensure!(reply.status == 200, "{repository}/{path}: {}", reply.status);
    Ok(())
}

/// A counter of groups.
fn counted(server: &Server, name: &str) -> Result<f64> {
    let mut connection = Connection::open(server.address.parse()?)?;
    let metrics = connection.call("GET", "/metrics", &[("Authorization", TOKEN)], b"")?;
    let mark = format!("daylight_group_{name}_total ");
    let figure = metrics.text().lines().find_map(|line| line.strip_prefix(&mark)?.parse().ok());
    figure.with_context(|| format!("no figure {mark}"))
}

/// A data folder with the group and the facts, kept beside the programs for the next run.
fn made(folders: usize) -> Result<PathBuf> {
    let folder = beside("corpora")?.join(format!("group-{folders}"));
    if !folder.exists() {
        println!("making {} once", folder.display());
        // It gets its final name when it is complete.
        let arriving = folder.with_extension("arriving");
        fs::create_dir_all(beside("corpora")?)?;
        if arriving.exists() {
            fs::remove_dir_all(&arriving)?;
        }
        fill::folder(&arriving, folders)?;
        fs::rename(&arriving, &folder)?;
    }
    Ok(folder)
}

/// The numbers of facts and of folders, and the size of their database.
fn facts(data: &Path) -> Result<(usize, usize, u64)> {
    let path = data.join("cache.sqlite");
    let database = Database::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    let counts = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let (rows, folders) = database.query_row("SELECT count(*), count(DISTINCT folder) FROM fact", [], counts)?;
    Ok((rows.try_into()?, folders.try_into()?, fs::metadata(&path)?.len()))
}
