//! Row 1: a small page from memory, compared with nginx serving the same bytes from a file; and its latency when requests
//! come at a steady rate.

use crate::contest::Contest;
use crate::gem::Gem;
use crate::http::Connection;
use crate::load::Generator;
use crate::process::{Pair, Server, TOKEN};
use crate::{load, open, push};
use anyhow::{Result, ensure};

/// Four versions make an `/info` of about 500 bytes.
const VERSIONS: usize = 4;
/// The path of the page.
pub(crate) const PAGE: &str = "/repository/gems-private/info/lamp";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Small page hit");
    contest(Generator::Wrk, 32)
}

/// The same page on HTTP/2, without TLS: twenty requests at a time on each of eight connections.
pub(crate) fn framed() -> Result<()> {
    println!("\n## Small page hit on HTTP/2");
    contest(Generator::H2load, 8)
}

fn contest(generator: Generator, connections: usize) -> Result<()> {
    let pair = pair()?;
    let (daylight, nginx) = (&pair.daylight, &pair.nginx);
    let size = pair.file("page", &read(daylight, PAGE)?)?;
    Contest { daylight, peer: nginx, paths: [PAGE, "/page"], size, generator, connections, seconds: 4, rounds: 7 }.run()
}

/// The same page when requests come at a steady rate.
pub(crate) fn steady() -> Result<()> {
    println!("\n## Latency of a small page at a steady rate");
    let pair = pair()?;
    pair.file("page", &read(&pair.daylight, PAGE)?)?;
    let mut capacity = f64::MAX;
    for (server, path) in [(&pair.daylight, PAGE), (&pair.nginx, "/page")] {
        let mut rates = crate::spread::Spread::default();
        for _ in 0..3 {
            rates.add(load::run(32, 2, &format!("http://{}{path}", server.address))?.per_second);
        }
        println!("capacity of {}, closed loop: {rates} requests/s", server.name);
        capacity = capacity.min(rates.median());
    }
    open::table(&[(&pair.daylight, PAGE), (&pair.nginx, "/page")], &[0.5 * capacity, 0.8 * capacity])
}

fn pair() -> Result<Pair> {
    let pair = Pair::start(&[])?;
    publish(&pair.daylight, "lamp", VERSIONS)?;
    Ok(pair)
}

/// Publishes some versions of a gem.
pub(crate) fn publish(server: &Server, name: &str, versions: usize) -> Result<()> {
    let mut connection = Connection::open(server.address.parse()?)?;
    for version in 0..versions {
        let bytes = Gem::new(name, &format!("1.{version}.0")).bytes();
        let reply = connection.call("POST", push::PATH, &[("Authorization", TOKEN)], &bytes)?;
        ensure!(reply.status == 200, "push: {}", reply.text());
    }
    Ok(())
}

/// Reads a body.
pub(crate) fn read(server: &Server, path: &str) -> Result<Vec<u8>> {
    let reply = Connection::open(server.address.parse()?)?.call("GET", path, &[], b"")?;
    ensure!(reply.status == 200, "{path}: {}", reply.text());
    Ok(reply.body)
}
