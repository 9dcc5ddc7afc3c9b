//! Row of the table in the README of cacheabled: a page of 73,787 bytes for 100, 1,000 and 10,000 requests of 20 connections, from an application
//! on unicorn that renders it or answers from its own cache, and from servers in front of it. Then a mix of pages and other requests.

mod mix;
mod unicorn;

use crate::app_pages;
use crate::fronted::peers;
use crate::process::{self, Server, free_port, load_average};
use crate::spread::Spread;
use crate::written_pages::{Memcached, RAW, text};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use unicorn::{Unicorn, read};

/// The size of the page in bytes.
const PAGE: usize = 73_787;
const REQUESTS: [usize; 3] = [100, 1_000, 10_000];
const ROUNDS: usize = 3;
/// A run that takes longer, in seconds, is made once.
const LONG: f64 = 10.0;
/// Runs whose requests cost so many milliseconds of processor time in all are left out.
const MOST_MS: usize = 100_000;

/// A server with the page.
struct Entrant<'a> {
    name: &'a str,
    server: &'a Server,
    path: &'a str,
    /// The processor time of a request at least, in milliseconds.
    cost_ms: usize,
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!(
        "\n## The table of the README of cacheabled; at most 60 us of server CPU a request, and 1/20 of unicorn's own hit"
    );
    println!("version: {}", process::said("unicorn", &["--version"])?);
    println!("version: {}", process::said("h2load", &["--version"])?);
    let folder = tempfile::tempdir()?;
    // If root starts nginx, its workers run as another user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let mut memcached = Memcached::start(folder.path())?;
    let page = text(PAGE, 1);
    let unicorn = Unicorn::start(folder.path(), &memcached, &page)?;
    // For nginx: the text, and the coded body below another path.
    memcached.page("/own/identity", &page, true)?;
    memcached.page("/coded/page", &page, false)?;
    let front = |name: &str| {
        let settings = app_pages::settings(&unicorn.url(), &memcached.url(), 64 << 20);
        Server::daylight_front_of(&folder.path().join(name), &settings)
    };
    let daylight = front("daylight")?;
    let upstream = format!("upstream store {{ server {}; keepalive 64; }}\n  ", memcached.server.address);
    let pass =
        format!("set $memcached_key \"{RAW}$uri\"; memcached_pass store; default_type 'text/html; charset=utf-8';");
    let locations =
        format!("location / {{ {pass} }}\n  location /coded/ {{ {pass} add_header Content-Encoding gzip; }}");
    let own = folder.path().join("nginx");
    fs::create_dir_all(&own)?;
    let nginx = peers::run_nginx(&own, "nginx", free_port()?, &upstream, &locations)?;
    let (_, port) = unicorn.server.address.rsplit_once(':').context("a port")?;
    let thruster = peers::thruster_of(folder.path(), port)?;
    for (codings, page, raw) in [(None, "/own/page", "/own/identity"), (Some("gzip"), "/own/page", "/coded/page")] {
        // The first one writes the entry.
        read(&unicorn.server, page, codings)?;
        let mut all = vec![
            Entrant { name: "Daylight, page of the application", server: &daylight, path: page, cost_ms: 0 },
            Entrant { name: "nginx, memcached_pass", server: &nginx, path: raw, cost_ms: 0 },
        ];
        all.extend(thruster.iter().map(|server| Entrant { name: "thruster", server, path: "/public", cost_ms: 0 }));
        all.extend([
            Entrant { name: "unicorn, its own cache", server: &unicorn.server, path: page, cost_ms: 0 },
            Entrant { name: "unicorn, renders at 0 ms", server: &unicorn.server, path: "/costs/0", cost_ms: 0 },
            Entrant { name: "unicorn, renders at 5 ms", server: &unicorn.server, path: "/costs/5", cost_ms: 5 },
            Entrant { name: "unicorn, renders at 50 ms", server: &unicorn.server, path: "/costs/50", cost_ms: 50 },
        ]);
        table(&all, codings)?;
    }
    mix::table(folder.path(), &unicorn, &memcached)?;
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// Measures all in turns for each number of requests, and prints the table.
fn table(all: &[Entrant<'_>], codings: Option<&str>) -> Result<()> {
    println!("\n### {}", codings.unwrap_or("identity"));
    for entrant in all {
        read(entrant.server, entrant.path, codings)?;
        load(entrant, 100, codings)?;
    }
    println!(
        "\n| {ROUNDS} rounds in turns, median (least to most) | requests | s | server CPU per request, us | to Daylight's |"
    );
    println!("|---|---|---|---|---|");
    for requests in REQUESTS {
        let mut figures: Vec<[Spread; 3]> = all.iter().map(|_| Default::default()).collect();
        for _ in 0..ROUNDS {
            let mut first = f64::NAN;
            for (number, (entrant, [seconds, micros, ratio])) in all.iter().zip(&mut figures).enumerate() {
                if entrant.cost_ms * requests > MOST_MS || seconds.most() > LONG {
                    continue;
                }
                let before = entrant.server.cpu_seconds()?;
                let took = load(entrant, requests, codings)?;
                let spent = (entrant.server.cpu_seconds()? - before) * 1e6 / requests as f64;
                first = if number == 0 { spent } else { first };
                seconds.add(took);
                micros.add(spent);
                ratio.add(spent / first);
            }
        }
        for (entrant, [seconds, micros, ratio]) in all.iter().zip(&figures) {
            if seconds.count() > 0 {
                println!("| {} | {requests} | {seconds} | {micros} | {ratio} |", entrant.name);
            }
        }
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// So many requests. Returns how long they took, in seconds.
fn load(entrant: &Entrant<'_>, requests: usize, codings: Option<&str>) -> Result<f64> {
    let url = format!("http://{}{}", entrant.server.address, entrant.path);
    let mut arguments = vec!["--h1", "-n", "", "-c", "20", "-t", "5"];
    let number = requests.to_string();
    arguments[2] = &number;
    let header = codings.map(|codings| format!("accept-encoding: {codings}"));
    header.iter().for_each(|header| arguments.extend(["-H", header]));
    arguments.push(&url);
    let output = Command::new("h2load").args(&arguments).output().context("running h2load")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let codes = text.lines().find_map(|line| line.strip_prefix("status codes: ")).with_context(|| text.to_string())?;
    ensure!(codes.starts_with(&format!("{requests} 2xx")), "h2load {}: {text}", arguments.join(" "));
    let took = text.split("finished in ").nth(1).and_then(|rest| rest.split(',').next()).context("a time")?;
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let seconds = units.iter().find_map(|(unit, each)| Some(took.strip_suffix(unit)?.parse::<f64>().ok()? * each));
    seconds.with_context(|| took.to_owned())
}
