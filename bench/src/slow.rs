//! Many slow operations at the same time, on an index with the size of the public registry's: how long the server's event
//! loops were blocked, by its own measurement, and by which op.

use crate::corpus;
use crate::gem::Gem;
use crate::hit::read;
use crate::http::Connection;
use crate::process::{Server, TOKEN, beside, load_average};
use crate::push::{self, noise};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number of clients that read a kilobyte a second.
const READERS: usize = 500;
/// The size of a body that exceeds all buffers of the kernel.
const BODY: usize = 8 << 20;
/// The number of gems with one version each, whose lines make an index of 22 MB, and of files in the repository that is
/// removed.
const GEMS: usize = 100_000;
/// The time limit, for any operation that is still in progress.
const TIME_LIMIT: Duration = Duration::from_secs(60);
const REPOSITORY: &str = "/repository/gems-private";
/// The documents that are requested before they are cached, and again after each push.
const COLD: [&str; 3] = ["versions", "names", "specs.4.8.gz"];

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## All slow operations at once");
    let folder = tempfile::tempdir()?;
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    corpus::single(&data, GEMS)?;
    let copied = Command::new("cp").arg("-a").args([&data, &copy]).status()?;
    ensure!(copied.success(), "the folder could not be copied");

    let settings = [("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "1000")];
    let server = Server::daylight(folder.path(), &settings)?;
    let over = AtomicBool::new(false);
    publish(&server, "brick", BODY)?;
    let loops = std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch(&server, &over));
        let crowd = scope.spawn(|| crowd(&server, &over));
        let upload = scope.spawn(|| trickle(&server, &over));
        let done = busy(&server, &copy);
        over.store(true, Relaxed);
        for thread in [crowd, upload] {
            thread.join().ok().context("a client panicked")??;
        }
        done?;
        watch.join().ok().context("the monitor panicked")?
    })?;
    println!(
        "\n| loop | longest turn of a task, ms | op | longest wait for a turn, ms | ready without a processor, ms in all |"
    );
    println!("|---|---|---|---|---|");
    for (name, Seen { turn, op, late, starved }) in &loops {
        println!("| {name} | {turn:.2} | {op} | {late:.2} | {starved:.0} |");
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// The finite operations: whole indexes, pushes, checks of a copy, and finally the removal of the repository.
fn busy(server: &Server, copy: &Path) -> Result<()> {
    let began = Instant::now();
    let (mut check, mut checks) = (verb(&["check", "--verify"], copy)?, 1);
    let mut round = 0;
    while began.elapsed() < TIME_LIMIT {
        for name in COLD {
            let size = read(server, &format!("{REPOSITORY}/{name}"))?.len();
            if round == 0 {
                println!("{name}: {:.1} MB, {:.1} s after the start", size as f64 / 1e6, began.elapsed().as_secs_f64());
            }
        }
        round += 1;
        publish(server, &format!("brick-{round}"), 10_000)?;
        if let Some(status) = check.try_wait()? {
            ensure!(status.success(), "a check found a problem: {status}");
            if checks == 2 {
                break;
            }
            (check, checks) = (verb(&["rebuild"], copy)?, 2);
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("indexes were read {round} times in {seconds:.1} s");
    if check.try_wait()?.is_none() {
        println!("check {checks} of 2 did not end in time, and is ended");
        check.kill()?;
    }
    check.wait()?;
    let mut connection = Connection::open(server.address.parse()?)?;
    let began = Instant::now();
    let removed = connection.call(
        "DELETE",
        "/api/v1/repositories/gems-private?confirm=gems-private",
        &[("Authorization", TOKEN)],
        b"",
    )?;
    println!("removing the repository of {GEMS} files: {} in {:.1} s", removed.status, began.elapsed().as_secs_f64());
    ensure!(removed.status < 300, "{}", removed.text());
    // The next beats of the loops report it.
    sleep(Duration::from_secs(2));
    Ok(())
}

fn verb(arguments: &[&str], copy: &Path) -> Result<Child> {
    let mut command = Command::new(beside("daylight")?);
    command.args(arguments).arg("--data").arg(copy).env_clear().stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.spawn()?)
}

fn publish(server: &Server, name: &str, bytes: usize) -> Result<()> {
    let gem = Gem::new(name, "1.0.0").payload(&noise(bytes as u64, bytes)).bytes();
    let reply =
        Connection::open(server.address.parse()?)?.call("POST", push::PATH, &[("Authorization", TOKEN)], &gem)?;
    ensure!(reply.status == 200, "push: {}", reply.text());
    Ok(())
}

/// Many clients that read a large body, a kilobyte a second each.
fn crowd(server: &Server, over: &AtomicBool) -> Result<()> {
    let request = format!("GET {REPOSITORY}/gems/brick-1.0.0.gem HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let open = |_| -> Result<TcpStream> {
        let mut stream = TcpStream::connect(&server.address)?;
        stream.write_all(request.as_bytes())?;
        Ok(stream)
    };
    let mut readers = (0..READERS).map(open).collect::<Result<Vec<_>>>()?;
    let mut kilobyte = [0; 1 << 10];
    while !over.load(Relaxed) {
        for reader in &mut readers {
            let read = reader.read(&mut kilobyte)?;
            ensure!(read > 0, "a slow reader was disconnected");
        }
        sleep(Duration::from_secs(1));
    }
    Ok(())
}

/// An upload that arrives slowly.
fn trickle(server: &Server, over: &AtomicBool) -> Result<()> {
    let mut stream = TcpStream::connect(&server.address)?;
    let path = push::PATH;
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}\r\nContent-Length: {BODY}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    while !over.load(Relaxed) {
        stream.write_all(&[0; 2 << 10])?;
        sleep(Duration::from_millis(500));
    }
    Ok(())
}

/// The figures of one loop.
#[derive(Default)]
struct Seen {
    turn: f64,
    op: String,
    late: f64,
    starved: f64,
}

/// Reads the longest turns from the server until the end; the server shows them for a minute.
fn watch(server: &Server, over: &AtomicBool) -> Result<BTreeMap<String, Seen>> {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    loop {
        let last = over.load(Relaxed);
        let mut connection = Connection::open(server.address.parse()?)?;
        let metrics = connection.call("GET", "/metrics", &[("Authorization", TOKEN)], b"")?;
        for line in metrics.text().lines() {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let labels = || name.split(['{', ',']).map(|label| label.trim_end_matches('}').trim_end_matches('"'));
            let label = |key: &str| labels().find_map(|label| label.strip_prefix(key)?.strip_prefix("=\""));
            let Some(millis) = label("loop").and_then(|_| value.parse::<f64>().ok()).map(|value| value * 1e3) else {
                continue;
            };
            let one = seen.entry(label("loop").unwrap_or_default().to_owned()).or_default();
            if name.starts_with("daylight_loop_starved_seconds_total") {
                one.starved = millis;
            } else if name.starts_with("daylight_loop_late_longest_seconds") {
                one.late = one.late.max(millis);
            } else if name.starts_with("daylight_loop_blocked_longest_seconds") && millis > one.turn {
                (one.turn, one.op) = (millis, label("op").unwrap_or_default().to_owned());
            }
        }
        if last {
            return Ok(seen);
        }
        sleep(Duration::from_secs(1));
    }
}
