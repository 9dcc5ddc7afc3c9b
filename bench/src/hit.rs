//! Row 1: a small page from memory, against nginx serving the same bytes from a file.

use crate::gem::Gem;
use crate::http::Connection;
use crate::load;
use crate::process::{Server, TOKEN};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const ROUNDS: usize = 7;
const SECONDS: u32 = 4;
/// Four versions make an /info of about 500 bytes.
const VERSIONS: usize = 4;
const PAGE: &str = "/repository/gems-private/info/lamp";

#[derive(Default)]
struct Figures {
    cpu_micros: Spread,
    per_second: Spread,
}

impl Figures {
    fn measure(&mut self, server: &Server, url: &str) -> Result<f64> {
        let before = server.cpu_seconds()?;
        let load = load::run(SECONDS, url)?;
        let micros = (server.cpu_seconds()? - before) * 1e6 / load.requests;
        self.cpu_micros.add(micros);
        self.per_second.add(load.per_second);
        Ok(micros)
    }
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Small page hit");
    let folder = tempfile::tempdir()?;
    // nginx's workers are somebody else when started by root.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let daylight = Server::daylight(folder.path())?;
    let page = publish(&daylight)?;
    fs::create_dir(folder.path().join("files"))?;
    fs::write(folder.path().join("files/page"), &page)?;
    let nginx = Server::nginx(folder.path())?;
    let urls = [format!("http://{}{PAGE}", daylight.address), format!("http://{}/page", nginx.address)];
    println!("page: {} bytes, {PAGE}", page.len());
    for url in &urls {
        println!("command: wrk {}", load::arguments(SECONDS, url).join(" "));
        load::run(1, url)?;
    }

    let (mut ours, mut theirs, mut ratio) = (Figures::default(), Figures::default(), Spread::default());
    for _ in 0..ROUNDS {
        let our_micros = ours.measure(&daylight, &urls[0])?;
        ratio.add(our_micros / theirs.measure(&nginx, &urls[1])?);
    }
    println!("\n| {ROUNDS} rounds in turns, median (least to most) | server CPU per request, us | requests/s |");
    println!("|---|---|---|");
    println!("| Daylight | {} | {} |", ours.cpu_micros, ours.per_second);
    println!("| nginx, static file, access log off | {} | {} |", theirs.cpu_micros, theirs.per_second);
    println!("| ratio of CPU | {ratio} | {:.2} |", ours.per_second.median() / theirs.per_second.median());
    Ok(())
}

/// Publishes the gem, and reads its page.
fn publish(server: &Server) -> Result<Vec<u8>> {
    let mut connection = Connection::open(server.address.parse()?)?;
    for version in 0..VERSIONS {
        let bytes = Gem::new("lamp", &format!("1.{version}.0")).bytes();
        let reply = connection.call("POST", crate::push::PATH, &[("Authorization", TOKEN)], &bytes)?;
        ensure!(reply.status == 200, "push: {}", reply.text());
    }
    let reply = connection.call("GET", PAGE, &[], b"").context("reading the page")?;
    ensure!(reply.status == 200, "page: {}", reply.text());
    Ok(reply.body)
}
