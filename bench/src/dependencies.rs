//! The dependency API: the dependencies of 50 gems of an index with the size of the public registry's, requested as by
//! Bundler before 1.12. Lists of popular gems, and lists of random gems.

use crate::caller::Caller;
use crate::corpus::{self, Corpus, GEMS, Random, SEED};
use crate::open::{LoadResult, Stream};
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;

const NAMES: usize = 50;
/// The number of different lists; each is requested a few times.
const LISTS: usize = 2000;
const ROUNDS: usize = 3;
/// Requests a second. A list of random gems has 50 KB, and one of popular gems 1.5 MB: a tenth of the rate is three times
/// the bytes.
const ANYTHING_PER_SECOND: f64 = 1000.0;
const POPULAR_PER_SECOND: f64 = 100.0;

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Dependency API, {NAMES} gems of {GEMS}");
    let folder = tempfile::tempdir()?;
    let server = Server::daylight_on(&corpus::made(GEMS)?, folder.path(), &[])?;
    let corpus = Corpus::new(GEMS, SEED);
    println!(
        "\n{ROUNDS} rounds, median (least to most): {LISTS} requests in sequence, then an open loop with this many a second"
    );
    println!(
        "\n| lists | bytes of a reply | server CPU per request, us | per byte, ns | a second | p50, us | p99, us | errors | \
         shed | generator late, p99, us |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let random = &mut Random::new(SEED, u64::MAX);
    let popular: Vec<_> = (0..LISTS).map(|_| request(&mut || corpus.popular(random))).collect();
    let uniform: Vec<_> = (0..LISTS).map(|_| request(&mut || corpus.by_popularity(random.below(GEMS)))).collect();
    for (name, per_second, requests) in
        [("popular gems by Zipf's law", POPULAR_PER_SECOND, popular), ("anything", ANYTHING_PER_SECOND, uniform)]
    {
        measure(&server, name, per_second, requests)?;
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// A sorted list, as Bundler requests it.
fn request<'a>(name: &mut dyn FnMut() -> &'a str) -> Vec<u8> {
    let mut names = BTreeSet::new();
    while names.len() < NAMES {
        names.insert(name());
    }
    let names: Vec<&str> = names.into_iter().collect();
    let path = format!("/repository/gems-private/api/v1/dependencies?gems={}", names.join(","));
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

fn measure(server: &Server, name: &str, per_second: f64, requests: Vec<Vec<u8>>) -> Result<()> {
    let mut caller = Caller::open(&server.address)?;
    let [mut cpu, mut each, mut size] = [Spread::default(), Spread::default(), Spread::default()];
    for _ in 0..ROUNDS {
        let (before, mut bytes) = (server.cpu_seconds()?, 0.0);
        for request in &requests {
            let reply = caller.call(request)?;
            ensure!(reply.status == 200, "the dependency API answered {}", reply.status);
            size.add(reply.bytes as f64);
            bytes += reply.bytes as f64;
        }
        let seconds = server.cpu_seconds()? - before;
        cpu.add(seconds * 1e6 / requests.len() as f64);
        each.add(seconds * 1e9 / bytes);
    }
    let address = server.address.clone();
    let stream = Stream { address, requests, connections: 64, per_second, seconds: 5.0 };
    let [mut p50, mut p99, mut late] = [Spread::default(), Spread::default(), Spread::default()];
    let (mut errors, mut shed) = (0, 0);
    for _ in 0..ROUNDS {
        let told = stream.run()?;
        p50.add(LoadResult::quantile(&told.micros, 0.5));
        p99.add(LoadResult::quantile(&told.micros, 0.99));
        late.add(LoadResult::quantile(&told.late, 0.99));
        errors += told.errors;
        shed += told.shed;
    }
    println!("| {name} | {size} | {cpu} | {each} | {per_second} | {p50} | {p99} | {errors} | {shed} | {late} |");
    Ok(())
}
