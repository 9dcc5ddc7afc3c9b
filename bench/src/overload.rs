//! Overload: five and ten times as many requests for indexes as can be answered, while pages, downloads and pushes continue
//! at a steady rate. Measures their latency, and the replies to the excess.

use crate::hit::{PAGE, publish};
use crate::open::{LoadResult, Stream};
use crate::process::{Server, load_average, only_on};
use crate::spread::Spread;
use anyhow::{Result, ensure};

const ROUNDS: usize = 3;
const SECONDS: f64 = 4.0;
/// More than the class of indexes has places.
const CROWD: usize = 400;
/// The number of versions of the requested gem.
const VERSIONS: usize = 480;
const INDEX: &str = "/repository/gems-private/info/shelf";
const FILE: &str = "/repository/gems-private/gems/lamp-1.0.0.gem";
/// Requests a second of the bystanders.
const BYSTANDERS: [(&str, f64); 3] = [("page hits", 500.0), ("downloads", 100.0), ("pushes", 5.0)];

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Overload of the indexes");
    let folder = tempfile::tempdir()?;
    let settings = [("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "1000")];
    // The server has one processor, and the generators the others: there are many of them, and they would delay it.
    let processors = std::thread::available_parallelism()?.get();
    ensure!(processors > 1, "the generators need a processor of their own");
    only_on(0..1)?;
    let server = Server::daylight(folder.path(), &settings)?;
    only_on(1..processors)?;
    publish(&server, "lamp", 4)?;
    publish(&server, "shelf", VERSIONS)?;

    let mut capacity = Spread::default();
    for _ in 0..ROUNDS {
        // As fast as possible, over as many connections as there are cores: each always has a next request.
        let result = index(&server, 2, 1e5, 2.0).run()?;
        ensure!(result.errors + result.shed == 0, "refused during the measurement of the capacity");
        capacity.add(result.micros.len() as f64 / result.seconds);
    }
    println!("capacity, for an index of {VERSIONS} versions that is not a page: {capacity} a second");
    println!(
        "\n{ROUNDS} rounds of {SECONDS} s, median (least to most); the server on one core, the generators on the others"
    );
    println!("\n| load of indexes | what | p50, us | p99, us | generator late, p99, us | errors | shed | answered |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut pushed = 0;
    for times in [0.0, 5.0, 10.0] {
        let mut rows: Vec<Row> = BYSTANDERS.iter().map(|(name, _)| Row::new(name)).collect();
        rows.push(Row::new("indexes"));
        for _ in 0..ROUNDS {
            let mut streams = bystanders(&server, &mut pushed);
            if times > 0.0 {
                streams.push(index(&server, CROWD, times * capacity.median(), SECONDS));
            }
            for (row, result) in rows.iter_mut().zip(Stream::at_once(&streams)?) {
                row.add(&result);
            }
        }
        rows.iter().filter(|row| row.answered + row.shed > 0).for_each(|row| row.print(times));
    }
    only_on(0..processors)?;
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// Requests for the index. They have a body, so no page answers them.
fn index(server: &Server, connections: usize, per_second: f64, seconds: f64) -> Stream {
    let request = format!("GET {INDEX} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx").into_bytes();
    Stream { requests: vec![request], connections, per_second, seconds, ..Stream::get(server, INDEX, 0.0) }
}

fn bystanders(server: &Server, pushed: &mut usize) -> Vec<Stream> {
    let [hits, downloads, pushes] = BYSTANDERS.map(|(_, per_second)| per_second);
    let stream = |path, per_second| Stream::bystander(server, path, per_second, SECONDS);
    vec![stream(PAGE, hits), stream(FILE, downloads), Stream::pushes(server, pushes, SECONDS, pushed)]
}

#[derive(Default)]
struct Row {
    name: &'static str,
    median: Spread,
    high: Spread,
    late: Spread,
    errors: usize,
    shed: usize,
    answered: usize,
}

impl Row {
    fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    fn add(&mut self, result: &LoadResult) {
        self.median.add(LoadResult::quantile(&result.micros, 0.5));
        self.high.add(LoadResult::quantile(&result.micros, 0.99));
        self.late.add(LoadResult::quantile(&result.late, 0.99));
        self.errors += result.errors;
        self.shed += result.shed;
        self.answered += result.micros.len();
    }

    fn print(&self, times: f64) {
        let Self { name, median, high, late, errors, shed, answered } = self;
        println!("| {times:.0} x capacity | {name} | {median} | {high} | {late} | {errors} | {shed} | {answered} |");
    }
}
