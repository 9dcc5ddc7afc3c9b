//! The time until the first byte and until the whole of the page of a level, for levels of each size.

use super::fill::REPOSITORY;
use super::{quantile, request};
use crate::caller::Caller;
use crate::process::{Server, load_average};
use anyhow::{Result, ensure};
use std::time::Instant;

/// Requests for each page.
const REQUESTS: usize = 50;

/// Measures and prints.
pub(super) fn measure(server: &Server, folders: usize) -> Result<()> {
    let fifth = folders / 5;
    let (middle, groups) = (fifth / 2, (folders - 2 * fifth) / 1000);
    let group = format!("com/g{:04}/", groups / 2);
    println!("\n## Levels of {folders} folders of versions");
    println!(
        "\n{REQUESTS} requests for each page on one connection; resident {:.0} MB",
        server.resident()? as f64 / 1e6
    );
    println!(
        "\n| level | page | bytes | first byte, ms: p50 | most | whole, ms: p50 | most | CPU of one, ms |\n|---|---|---|---|---|---|---|---|"
    );
    let levels = [
        ("the root".to_owned(), String::new(), None),
        (format!("one artifact, {fifth} versions"), "org/deep/lamp/".to_owned(), Some(format!("1.{middle:06}/"))),
        (format!("one group, {fifth} artifacts"), "org/broad/".to_owned(), Some(format!("a{middle:06}/"))),
        ("the two groups with the most".to_owned(), "org/".to_owned(), None),
        (format!("{groups} groups"), "com/".to_owned(), Some(format!("g{:04}/", groups / 2))),
        ("a group, 100 artifacts".to_owned(), group.clone(), Some("a050/".to_owned())),
        ("an artifact, 10 versions".to_owned(), format!("{group}a050/"), None),
        ("a version, one file".to_owned(), format!("{group}a050/1.5/"), None),
    ];
    for (name, path, middle) in levels {
        let url = format!("/browse/{REPOSITORY}/{path}");
        line(server, (&name, "first"), &url)?;
        if let Some(after) = middle {
            line(server, (&name, "middle"), &format!("{url}?after={}", after.replace('/', "%2F")))?;
        }
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

fn line(server: &Server, (name, page): (&str, &str), url: &str) -> Result<()> {
    let (mut caller, request) = (Caller::open(&server.address)?, request(url));
    let (mut first, mut whole, mut bytes) = (Vec::new(), Vec::new(), 0);
    let cpu = server.cpu_seconds()?;
    for _ in 0..REQUESTS {
        let began = Instant::now();
        let reply = caller.call(&request)?;
        ensure!(reply.status == 200, "{url}: {}", reply.status);
        whole.push(began.elapsed().as_secs_f64() * 1e3);
        first.push(reply.first.as_secs_f64() * 1e3);
        bytes = reply.bytes;
    }
    let cpu = (server.cpu_seconds()? - cpu) * 1e3 / REQUESTS as f64;
    let cells = [&mut first, &mut whole]
        .map(|times| [0.5, 1.0].map(|part| format!("{:.2}", quantile(times, part))).join(" | "));
    println!("| {name} | {page} | {bytes} | {} | {cpu:.2} |", cells.join(" | "));
    Ok(())
}
