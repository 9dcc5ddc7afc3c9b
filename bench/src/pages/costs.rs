//! The size of each web page, and the processor time that it takes.

use super::fill::{ARTIFACT, GEM, REPOSITORY, VERSIONS};
use super::{quantile, request};
use crate::caller::Caller;
use crate::corpus;
use crate::http::Connection;
use crate::process::{Server, load_average};
use anyhow::{Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::time::Instant;

/// Requests for each page.
const REQUESTS: usize = 200;
/// Requests before them.
const FIRST: usize = 5;

/// The paths of web pages of each kind.
pub(super) fn paths() -> Vec<String> {
    let (gems, artifact, last) = (corpus::REPOSITORY, ARTIFACT.replace(':', "%3A"), VERSIONS - 1);
    vec![
        "/".to_owned(),
        format!("/repository/{gems}/"),
        format!("/packages/{gems}"),
        format!("/packages/{gems}/{GEM}"),
        format!("/packages/{gems}/{GEM}/1.{last}.0"),
        format!("/packages/{REPOSITORY}"),
        format!("/packages/{REPOSITORY}/{artifact}"),
        format!("/packages/{REPOSITORY}/{artifact}/1.{last}"),
        format!("/browse/{gems}/"),
        format!("/browse/{REPOSITORY}/org/example/bench/lamp/"),
        "/search?q=lamp".to_owned(),
        format!("/explain?repository={gems}&path={GEM}:1.{last}.0"),
        "/sign-in".to_owned(),
    ]
}

/// Measures and prints.
pub(super) fn measure(server: &Server) -> Result<()> {
    println!("\n## Size and CPU time of web pages");
    println!("\n{REQUESTS} requests for each page on one connection");
    println!("\n| page | bytes | with gzip | CPU of one, ms | p50, ms | most, ms |\n|---|---|---|---|---|---|");
    for path in paths() {
        let mut connection = Connection::open(server.address.parse()?)?;
        let page = connection.call("GET", &path, &[("Accept", "text/html")], b"")?;
        let is_page = page.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        ensure!(page.status == 200 && is_page, "{path}: {} {:?}", page.status, page.headers);
        let mut small = GzEncoder::new(Vec::new(), Compression::default());
        small.write_all(&page.body)?;
        let small = small.finish()?.len();
        let (mut caller, request, mut times) = (Caller::open(&server.address)?, request(&path), Vec::new());
        let mut one = || {
            let began = Instant::now();
            ensure!(caller.call(&request)?.status == 200, "{path} was not answered");
            anyhow::Ok(began.elapsed().as_secs_f64() * 1e3)
        };
        (0..FIRST).try_for_each(|_| one().map(drop))?;
        let cpu = server.cpu_seconds()?;
        for _ in 0..REQUESTS {
            times.push(one()?);
        }
        let cpu = (server.cpu_seconds()? - cpu) * 1e3 / REQUESTS as f64;
        let (half, most) = (quantile(&mut times, 0.5), quantile(&mut times, 1.0));
        println!("| `{path}` | {} | {small} | {cpu:.2} | {half:.2} | {most:.2} |", page.body.len());
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}
