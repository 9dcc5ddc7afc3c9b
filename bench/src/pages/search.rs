//! The time of searches for words of several kinds, by the API and by the page.

use super::fill::named;
use super::{quantile, request};
use crate::caller::Caller;
use crate::corpus::{Corpus, SEED, WORDS};
use crate::http::Connection;
use crate::process::{Server, load_average};
use anyhow::{Result, ensure};
use format::percent::segment;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Searches of each form.
const SEARCHES: usize = 2000;
/// The longest time in which all names are read.
const READ_MAX: Duration = Duration::from_secs(600);

/// Words of one kind, by its name in the table.
type Kind = (&'static str, Vec<String>);

/// Measures and prints.
pub(super) fn measure(server: &Server, gems: usize, artifacts: usize) -> Result<()> {
    let (before, began) = (server.resident()?, Instant::now());
    let cpu = server.cpu_seconds()?;
    while let Some(waiting) = incomplete(server)? {
        ensure!(began.elapsed() < READ_MAX, "{waiting} is still being read after {READ_MAX:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    println!(
        "\nall names read {:.1} s after the first search, {:.1} s CPU; resident {:.0} MB before, {:.0} MB after, {:.0} MB at most",
        began.elapsed().as_secs_f64(),
        server.cpu_seconds()? - cpu,
        before as f64 / 1e6,
        server.resident()? as f64 / 1e6,
        server.highest()? as f64 / 1e6,
    );
    let kinds = kinds(gems, artifacts);
    let found = counts(server, &kinds)?;
    println!(
        "\n{SEARCHES} searches of each form on one connection, in turns of the words; load average {}",
        load_average()?
    );
    println!("\n| words | number | answers, median (most) | p50, ms | p99, ms | most, ms | CPU of one, ms |");
    println!("|---|---|---|---|---|---|---|");
    for form in ["/api/v1/search?q=", "/search?q="] {
        let (mut times, cpu) = searched(server, form, &kinds)?;
        let mut all = times.concat();
        let words: usize = kinds.iter().map(|(_, words)| words.len()).sum();
        println!("| **`{form}`, all** | {words} | | {} | {cpu:.2} |", cells(&mut all));
        for (at, (name, words)) in kinds.iter().enumerate() {
            let mut found = found[at].clone();
            let (median, most) = (quantile(&mut found, 0.5), quantile(&mut found, 1.0));
            println!("| {name} | {} | {median:.0} ({most:.0}) | {} | |", words.len(), cells(&mut times[at]));
        }
    }
    Ok(())
}

fn cells(times: &mut [f64]) -> String {
    [0.5, 0.99, 1.0].map(|part| format!("{:.2}", quantile(times, part))).join(" | ")
}

/// The repositories whose names are still being read. `None`: all are read.
fn incomplete(server: &Server) -> Result<Option<String>> {
    let answer = answer(&mut Connection::open(server.address.parse()?)?, "amber")?;
    let waiting = &answer["incomplete"];
    Ok(waiting.as_array().is_none_or(|waiting| !waiting.is_empty()).then(|| waiting.to_string()))
}

fn answer(connection: &mut Connection, word: &str) -> Result<Value> {
    let path = format!("/api/v1/search?q={}", segment(word));
    let reply = connection.call("GET", &path, &[], b"")?;
    ensure!(reply.status == 200, "{path}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
    Ok(serde_json::from_slice(&reply.body)?)
}

/// Two hundred words: one in three is common.
fn kinds(gems: usize, artifacts: usize) -> Vec<Kind> {
    let corpus = Corpus::new(gems, SEED);
    let gem = |place: usize| corpus.by_popularity(place * (gems / 60)).to_owned();
    let artifact = |place: usize| named(place * (artifacts / 60));
    let part = |text: &str, from: usize, to: usize| text.chars().skip(from).take(to).collect::<String>();
    vec![
        ("common words", WORDS.iter().step_by(3).take(60).map(|word| (*word).to_owned()).collect()),
        ("two words", (0..15).map(|at| format!("{} {}", WORDS[at * 7], WORDS[at * 11 + 3])).collect()),
        ("two letters", (0..10).map(|at| part(WORDS[at * 13], 0, 2)).collect()),
        ("names of gems", (0..30).map(gem).collect()),
        ("prefixes of names", (30..50).map(|at| part(&gem(at), 0, 7)).collect()),
        ("insides of names", (10..30).map(|at| part(&gem(at), 2, 6)).collect()),
        ("G:A", (0..20).map(|at| artifact(at).name()).collect()),
        ("groups", (20..35).map(|at| artifact(at).group.replace('/', ".")).collect()),
        ("in no name", (0..10).map(|at| format!("qqx{at}zz")).collect()),
    ]
}

/// The numbers of answers for the words of each kind.
fn counts(server: &Server, kinds: &[Kind]) -> Result<Vec<Vec<f64>>> {
    let mut connection = Connection::open(server.address.parse()?)?;
    let mut all = Vec::new();
    for (name, words) in kinds {
        let mut counts = Vec::new();
        for word in words {
            let count = answer(&mut connection, word)?["count"].as_f64().unwrap_or(f64::NAN);
            let nothing = *name == "in no name";
            ensure!(nothing == (count == 0.0) || *name == "two words", "`{word}` has {count} answers");
            counts.push(count);
        }
        all.push(counts);
    }
    Ok(all)
}

/// The times of the searches for the words of each kind in milliseconds, and the CPU time of one search.
fn searched(server: &Server, form: &str, kinds: &[Kind]) -> Result<(Vec<Vec<f64>>, f64)> {
    let words = kinds.iter().enumerate().flat_map(|(kind, (_, words))| words.iter().map(move |word| (kind, word)));
    let requests: Vec<_> =
        words.map(|(kind, word)| (kind, word, request(&format!("{form}{}", segment(word))))).collect();
    let (mut caller, mut times) = (Caller::open(&server.address)?, vec![Vec::new(); kinds.len()]);
    let cpu = server.cpu_seconds()?;
    for (kind, word, request) in requests.iter().cycle().take(SEARCHES) {
        let began = Instant::now();
        let reply = caller.call(request)?;
        ensure!(reply.status == 200, "{form}{word}: {}", reply.status);
        times[*kind].push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok((times, (server.cpu_seconds()? - cpu) * 1e3 / SEARCHES as f64))
}
