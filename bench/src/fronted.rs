//! Rows of `daylight front`: a response that is kept, compared with our own page, nginx, Varnish and thruster, all with the same bytes;
//! and a response that is not kept, compared with nginx in front of the same application.

mod peers;

use crate::hit::{PAGE, publish, read};
use crate::load;
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Result, ensure};
use peers::Application;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

const CONNECTIONS: usize = 32;
const SECONDS: u32 = 4;
const ROUNDS: usize = 7;
/// The number of versions in the `/info` of each size.
const SMALL: usize = 4;
const LARGE: usize = 480;
/// The page with the larger number.
const LARGE_PAGE: &str = "/repository/gems-private/info/shelf";

/// A server that answers with the bytes of the row, and the most that our processor time may be of its own.
struct Entrant<'a> {
    server: &'a Server,
    path: &'a str,
    must_be: Option<f64>,
}

/// A response that is kept.
pub(crate) fn hits() -> Result<()> {
    println!("\n## A kept response of an application");
    let folder = folder()?;
    let pages = Server::daylight(folder.path(), &[])?;
    publish(&pages, "lamp", SMALL)?;
    publish(&pages, "shelf", LARGE)?;
    let application = Application::start(folder.path())?;
    application.file("small", &read(&pages, PAGE)?)?;
    application.file("large", &read(&pages, LARGE_PAGE)?)?;
    let front = Server::daylight_front(folder.path(), &application.url())?;
    let nginx = peers::nginx(folder.path(), &application, true)?;
    let varnish = peers::varnish(folder.path(), &application)?;
    let thruster = peers::thruster(folder.path(), &application)?;
    for (path, page, peer, own) in [("/kept/small", PAGE, 0.9, 1.1), ("/kept/large", LARGE_PAGE, 1.1, 1.1)] {
        let mut others = vec![
            Entrant { server: &pages, path: page, must_be: Some(own) },
            Entrant { server: &nginx, path, must_be: Some(peer) },
            Entrant { server: &varnish, path, must_be: Some(peer) },
        ];
        others.extend(thruster.iter().map(|server| Entrant { server, path, must_be: Some(0.25) }));
        in_turns(&Entrant { server: &front, path, must_be: None }, &others)?;
    }
    Ok(())
}

/// A response that may not be kept.
pub(crate) fn misses() -> Result<()> {
    println!("\n## A response of an application that is not kept; ours must take at most 60 us");
    let folder = folder()?;
    let application = Application::start(folder.path())?;
    application.file("small", &[b'x'; 500])?;
    application.file("large", &[b'x'; 55_000])?;
    let front = Server::daylight_front(folder.path(), &application.url())?;
    let nginx = peers::nginx(folder.path(), &application, false)?;
    for path in ["/missed/small", "/missed/large"] {
        let other = Entrant { server: &nginx, path, must_be: Some(1.2) };
        in_turns(&Entrant { server: &front, path, must_be: None }, &[other])?;
    }
    Ok(())
}

fn folder() -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    // If root starts nginx, its workers run as another user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// Measures our server and all others, one after the other in each round, and prints the table.
fn in_turns(ours: &Entrant<'_>, others: &[Entrant<'_>]) -> Result<()> {
    let all: Vec<&Entrant<'_>> = [ours].into_iter().chain(others).collect();
    let body = read(ours.server, ours.path)?;
    println!("\nbody: {} bytes, {}", body.len(), ours.path);
    let url = |entrant: &Entrant<'_>| format!("http://{}{}", entrant.server.address, entrant.path);
    for entrant in &all {
        println!("command: wrk {}", load::arguments(CONNECTIONS, SECONDS, &url(entrant)).join(" "));
        ensure!(read(entrant.server, entrant.path)? == body, "{} has other bytes", entrant.server.name);
        load::run(CONNECTIONS, 1, &url(entrant))?;
    }
    let mut figures: Vec<[Spread; 3]> = all.iter().map(|_| Default::default()).collect();
    for _ in 0..ROUNDS {
        let mut first = f64::NAN;
        for (number, (entrant, [micros, per_second, ratio])) in all.iter().zip(&mut figures).enumerate() {
            let before = entrant.server.cpu_seconds()?;
            let load = load::run(CONNECTIONS, SECONDS, &url(entrant))?;
            let spent = (entrant.server.cpu_seconds()? - before) * 1e6 / load.requests;
            first = if number == 0 { spent } else { first };
            micros.add(spent);
            per_second.add(load.per_second);
            ratio.add(first / spent);
        }
    }
    println!(
        "\n| {ROUNDS} rounds in turns, median (least to most) | server CPU per request, us | requests/s | our CPU to it | must be |"
    );
    println!("|---|---|---|---|---|");
    for (entrant, [micros, per_second, ratio]) in all.iter().zip(&figures) {
        let must_be = entrant.must_be.map_or_else(|| "-".to_owned(), |most| most.to_string());
        let ratio = if entrant.must_be.is_some() { ratio.to_string() } else { "-".to_owned() };
        println!("| {} | {micros} | {per_second} | {ratio} | {must_be} |", entrant.server.name);
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}
