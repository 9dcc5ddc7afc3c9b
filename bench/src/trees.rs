//! A POM, a jar and missing names in a hosted Maven repository: compared with nginx with the same files, and with Nexus with
//! the same repository.

use crate::contest::Contest;
use crate::hit::read;
use crate::http::Connection;
use crate::load::Generator;
use crate::nexus::{self, Nexus};
use crate::process::{Pair, Server, TOKEN};
use crate::push::noise;
use anyhow::{Result, ensure};

/// The path of the repository.
const ROOT: &str = "/repository/trees";
/// A POM of typical length, and a jar that is too large for a page.
const POM: &str = "/org/example/lamp/1.0/lamp-1.0.pom";
const JAR: &str = "/org/example/lamp/1.0/lamp-1.0.jar";
const POM_BYTES: usize = 3 << 10;
const JAR_BYTES: usize = 2 << 20;
/// The prefix of missing names.
const UNKNOWN: &str = "/org/example/lamp/2.0/lamp-2.0-";

/// Measures a small file.
pub(crate) fn pom() -> Result<()> {
    row("A POM", POM, &text(), Generator::Wrk, 32)
}

/// Measures a large file.
pub(crate) fn jar() -> Result<()> {
    row("A jar of 2 MB", JAR, &noise(2, JAR_BYTES), Generator::Wrk, 4)
}

/// Measures missing names.
pub(crate) fn unknown() -> Result<()> {
    row("Missing names that were never requested before", UNKNOWN, b"", Generator::Missing, 32)
}

fn row(what: &str, path: &str, bytes: &[u8], generator: Generator, connections: usize) -> Result<()> {
    println!("\n## {what}");
    let pair = Pair::start(&[])?;
    make(&pair.daylight)?;
    let ours = format!("{ROOT}{path}");
    let theirs = path.trim_start_matches("/org/example/lamp/").replace('/', "-");
    if !bytes.is_empty() {
        let mut connection = Connection::open(pair.daylight.address.parse()?)?;
        let reply = connection.call("PUT", &ours, &[("Authorization", TOKEN)], bytes)?;
        ensure!(reply.status == 201, "{ours}: {}", reply.text());
        ensure!(read(&pair.daylight, &ours)? == bytes, "{ours} differs from the deployed bytes");
        pair.file(&theirs, bytes)?;
    }
    let contest = |peer, theirs| {
        let (daylight, paths, size) = (&pair.daylight, [ours.as_str(), theirs], bytes.len());
        Contest { daylight, peer, paths, size, generator, connections, seconds: 4, rounds: 5 }
    };
    let theirs_there = format!("/{theirs}");
    contest(&pair.nginx, &theirs_there).run()?;
    let nexus = Nexus::start()?;
    if !bytes.is_empty() {
        nexus.deploy(path, bytes)?;
    }
    let theirs = format!("{}{path}", nexus::ROOT);
    let against = contest(&nexus.server, &theirs);
    against.warm_up()?;
    against.run()
}

/// Creates the repository.
fn make(daylight: &Server) -> Result<()> {
    let settings = serde_json::json!({ "name": "trees", "format": "maven", "kind": "hosted" });
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    let mut connection = Connection::open(daylight.address.parse()?)?;
    let made = connection.call("POST", "/api/v1/repositories", &headers, settings.to_string().as_bytes())?;
    ensure!(made.status == 201, "making a repository: {}", made.text());
    Ok(())
}

/// The text of a typical POM.
fn text() -> Vec<u8> {
    let line =
        "<dependency><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version></dependency>\n";
    let lines = line.repeat(POM_BYTES / line.len());
    format!("<project><dependencies>\n{lines}</dependencies></project>\n").into_bytes()
}
