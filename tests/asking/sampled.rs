//! While one event of fifty is stored, what a client counted, what `/metrics` tells, what the files of counts have and what answers tell are
//! the same. Figures that only stored events have are near. `DAYLIGHT_ASKED` sets the number of downloads; the default is 6000.

use super::ask;
use crate::accounts::settled;
use crate::metrics::Samples;
use crate::metrics::generator::{Callers, Log, Random, Seen, fill, mixed, told};
use crate::pages::events;
use crate::world::{Upstream, World, engines};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Downloads in a second of the server's clock.
const EACH: usize = 1000;
/// Events that are stored in a second: one of fifty.
const STORED: &[(&str, &str)] = &[("DAYLIGHT_TELEMETRY_STORED_PER_SECOND", "20")];
/// The same without a line of JSON for each event.
const STORED_ONLY: &[(&str, &str)] = &[STORED[0], ("DAYLIGHT_TELEMETRY_JSON_LINES", "off")];
/// From so many downloads on, their sample tells quantiles within 5 % and 18 of the largest 20.
const MANY: usize = 1_000_000;
/// The downloads, of all that is counted.
const COUNTED: &str = "where kind = request and repository = libs and status = 200 from -1d";
/// The downloads of packages, of all that is stored.
const STORED_ONES: &str =
    "where method = GET and repository = libs and path starts_with /repository/libs/org/example/p from -1d";

/// The number of a package, the bytes that its downloads sent, and how many they were.
type Sent = (usize, u64, u64);
/// By which of both packages are the largest.
type Most = fn(&Sent) -> u64;

/// Packages, of which each is downloaded less often than the one before.
struct Packages {
    /// How often the packages up to each of them are downloaded.
    often: Vec<usize>,
    downloads: Vec<u64>,
}

impl Packages {
    fn new(count: usize) -> Self {
        let mut often = 0;
        let sums = (1..=count).map(|rank| {
            often += 1_000_000 / rank;
            often
        });
        Self { often: sums.collect(), downloads: vec![0; count] }
    }

    fn path(number: usize) -> String {
        format!("org/example/p{number}/1.0/p{number}-1.0.jar")
    }

    fn name(number: usize) -> String {
        format!("org.example:p{number}")
    }

    /// The bytes of a file: 300 to 3000.
    fn bytes(number: usize) -> u64 {
        300 + number as u64 * 7919 % 2700
    }

    /// The path of the next download.
    fn next(&mut self, random: &mut Random) -> String {
        let number = random.below(*self.often.last().unwrap());
        let number = self.often.partition_point(|often| *often <= number);
        self.downloads[number] += 1;
        Self::path(number)
    }

    /// What the downloads of each package sent.
    fn sent(&self) -> impl Iterator<Item = Sent> {
        self.downloads.iter().enumerate().map(|(number, count)| (number, count * Self::bytes(number), *count))
    }

    /// The twenty packages with the most.
    fn top(&self, most: Most) -> HashSet<String> {
        let mut all: Vec<_> = self.sent().collect();
        all.sort_by_key(|package| std::cmp::Reverse(most(package)));
        all.into_iter().take(20).map(|(number, ..)| Self::name(number)).collect()
    }

    /// The bytes of a download that this part of all downloads do not exceed.
    fn quantile(&self, part: f64) -> f64 {
        let mut sizes: Vec<_> = self.sent().map(|(number, _, count)| (Self::bytes(number), count)).collect();
        sizes.sort_unstable();
        let rank = (part.clamp(0.0, 1.0) * self.downloads.iter().sum::<u64>() as f64).ceil() as u64;
        let mut below = 0;
        let reached = |(_, count): &&(u64, u64)| {
            below += count;
            below >= rank
        };
        sizes.iter().find(reached).map_or(0.0, |(bytes, _)| *bytes as f64)
    }
}

/// Sets the server's clock to some seconds after a fixed moment.
fn set_time(world: &World, second: usize) {
    let moment = jiff::Timestamp::from_second(1_793_534_430 + second as i64).unwrap().to_string();
    world.set_time(&moment);
}

/// What an answer by repository and outcome tells.
fn by_repository(rows: impl Iterator<Item = (String, String, [f64; 3])>) -> BTreeMap<String, Seen> {
    let mut log = Log::default();
    for (repository, outcome, [count, received, sent]) in rows {
        let seen = log.0.entry(repository).or_default();
        (seen.requests, seen.received_bytes) = (seen.requests + count, seen.received_bytes + received);
        seen.sent_bytes += sent;
        let outcomes = ["answered", "not_modified", "not_found", "refused", "failed"];
        let outcome = outcomes.into_iter().find(|known| *known == outcome).unwrap_or("another one");
        *seen.outcomes.entry(outcome).or_default() += count;
    }
    log.0
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

/// The files of counts of a stopped server, as other engines read them.
fn in_files(world: &World) -> [BTreeMap<String, Seen>; 2] {
    let is_counts = |path: &&Path| path.parent().unwrap().ends_with("counts") && path.extension().is_some();
    let files = world.files();
    let files: Vec<&str> =
        files.iter().map(|path| &**path).filter(is_counts).map(|path| path.to_str().unwrap()).collect();
    assert!(!files.is_empty() && files.iter().all(|file| file.contains("/minutes-")), "{files:?}");
    let read = engines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/segments/counts.py"), &files);
    ["pyarrow", "duckdb"].map(|engine| {
        let rows = read[engine]["requests"].as_array().unwrap().iter().map(|row| {
            let [repository, outcome] = [0, 1].map(|place| row[place].as_str().unwrap().to_owned());
            (repository, outcome, [2, 3, 4].map(|place| row[place].as_f64().unwrap()))
        });
        by_repository(rows.filter(|(repository, ..)| !repository.is_empty()))
    })
}

#[test]
fn clients_metrics_counts_and_answers_agree_while_one_event_of_fifty_is_stored() {
    let downloads: usize = std::env::var("DAYLIGHT_ASKED").map_or(6000, |text| text.parse().unwrap());
    let many = downloads >= MANY;
    let upstream = Upstream::start();
    let mut world = World::start_in_conformance(if many { STORED_ONLY } else { STORED });
    let mut callers = Callers::of(&world);
    set_time(&world, 0);
    fill(&world, &upstream);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    mixed(&mut callers, &mut random, 300);
    // It is no repository, so its requests are none's.
    callers.log.0.remove("nowhere").unwrap();
    let mut packages = Packages::new(if many { 1000 } else { 100 });
    for number in 0..packages.downloads.len() {
        let bytes = vec![b'p'; Packages::bytes(number) as usize];
        assert_eq!(callers.send(0, "libs", ("PUT", &Packages::path(number)), &[], &bytes), 201);
    }
    for number in 0..downloads {
        if number.is_multiple_of(EACH) {
            set_time(&world, 1 + number / EACH);
        }
        let path = packages.next(&mut random);
        assert_eq!(callers.send(1, "libs", ("GET", &path), &[], b""), 200);
    }
    // The end of a time does not belong to it.
    set_time(&world, 2 + downloads / EACH);
    settled(&world);
    exact(&world, &callers.log);
    near(&world, &packages, downloads, many);

    // In the next hour the counts become a file.
    set_time(&world, 2 + downloads / EACH + 3600);
    let lines = ask(&world, json!(format!("p50(duration_ms), p95(duration_ms), p99(duration_ms) {COUNTED}")));
    world.stop();
    for told in in_files(&world) {
        assert_eq!(told, callers.log.0, "in the files of counts");
    }
    if !many {
        assert_eq!(lines["exact"], true, "{lines}");
        durations(&world, &lines["rows"][0]);
    }
}

/// Compares the counts of the client with those of `/metrics` and of an answer.
fn exact(world: &World, log: &Log) {
    let page = world.admin().get("/metrics").expect(200);
    let page = Samples::of(page.text());
    for (name, seen) in log.0.iter() {
        assert_eq!(told(&page, name), *seen, "{name} in /metrics");
    }
    let question = "count, sum(bytes_in), sum(bytes_out) by repository, outcome where kind = request and repository != '' from -1d top 1000";
    let answer = ask(world, json!(question));
    assert_eq!(answer["exact"], true, "{answer}");
    let rows = answer["rows"].as_array().unwrap().iter().map(|row| {
        let [repository, outcome] = ["repository", "outcome"].map(|name| row[name].as_str().unwrap().to_owned());
        (repository, outcome, ["count", "sum(bytes_in)", "sum(bytes_out)"].map(|name| number(row, name)))
    });
    assert_eq!(by_repository(rows), log.0, "in the answer");
}

/// Four standard errors of the rank of a quantile. Weights that differ tell less, as if a third of the events were missing.
fn rank_error(part: f64, stored: f64) -> f64 {
    4.0 * (part * (1.0 - part) * 1.4 / stored).sqrt()
}

/// Compares what the stored events tell of the downloads with what they were.
fn near(world: &World, packages: &Packages, downloads: usize, many: bool) {
    let answer = ask(world, json!(format!("count by weight {STORED_ONES} top 10000")));
    assert_eq!(answer["exact"], false);
    let rows = answer["rows"].as_array().unwrap();
    let stored: f64 = rows.iter().map(|row| number(row, "count") / number(row, "weight")).sum();
    let stands: f64 = rows.iter().map(|row| number(row, "count")).sum();
    println!("{downloads} downloads: {stored} of them are stored, and stand for {stands}");
    // Events that are stored whole, such as those of jobs and slow requests of a busy machine, leave at least a quarter of the goal to the others.
    let fewest = if many { 100.0 } else { 4.0 * 50.0 * 1.3 };
    assert!((20.0..fewest).contains(&(downloads as f64 / stored)), "{stored} of {downloads}");
    assert!((stands / downloads as f64 - 1.0).abs() < if many { 0.001 } else { 0.15 }, "{stands} for {downloads}");

    let answer = ask(world, json!(format!("p50(bytes_out), p95(bytes_out), p99(bytes_out) {STORED_ONES}")));
    for (name, part) in [("p50(bytes_out)", 0.5), ("p95(bytes_out)", 0.95), ("p99(bytes_out)", 0.99)] {
        let (told, truth) = (number(&answer["rows"][0], name), packages.quantile(part));
        println!("{name}: {told}, in truth {truth}");
        let error = rank_error(part, stored);
        let (low, high) = (packages.quantile(part - error), packages.quantile(part + error));
        assert!((0.97 * low..=1.03 * high).contains(&told), "{name}: {told} is not within {low} to {high}");
        assert!(!many || (told / truth - 1.0).abs() < 0.05, "{name}: {told} for {truth}");
    }
    if many {
        for part in [50.0, 95.0, 99.0] {
            let error = rank_error(part / 100.0, stored) * 100.0;
            let quantiles =
                [part - error, part, part + error].map(|part| format!("p{part:.2}(duration_ms)")).join(", ");
            let [counted, sampled] =
                [COUNTED, STORED_ONES].map(|from| ask(world, json!(format!("{quantiles} {from}"))));
            let of = |answer: &Value| -> Vec<f64> {
                answer["rows"][0].as_object().unwrap().values().map(|figure| figure.as_f64().unwrap()).collect()
            };
            let (mut counted, told) = (of(&counted), number(&sampled["rows"][0], &format!("p{part:.0}(duration_ms)")));
            counted.sort_by(f64::total_cmp);
            println!("p{part}(duration_ms): {told}, of all events {counted:?}");
            // A microsecond is the unit of both.
            assert!((0.95 * counted[0] - 0.001..=1.05 * counted[2] + 0.001).contains(&told), "{told} {counted:?}");
        }
    }
    let largest: [(&str, Most); 2] = [("sum(bytes_out)", |package| package.1), ("count", |package| package.2)];
    for (measure, most) in largest {
        let answer = ask(world, json!(format!("{measure} by package {STORED_ONES} top 20")));
        let told: HashSet<String> =
            answer["rows"].as_array().unwrap().iter().map(|row| row["package"].as_str().unwrap().to_owned()).collect();
        let top = packages.top(most);
        let common = told.intersection(&top).count();
        // The others that it names have nearly as much.
        let of = |names: &HashSet<String>| {
            packages.sent().filter(|sent| names.contains(&Packages::name(sent.0))).map(|sent| most(&sent)).sum::<u64>()
        };
        let share = of(&told) as f64 / of(&top) as f64;
        println!("{measure}: {common} of the largest 20, which have {share:.3} of what those have");
        assert!(common >= 18 || !many, "{measure}: {told:?} for {top:?}");
        assert!(share >= if many { 0.98 } else { 0.4 }, "{measure}: {share} {told:?} for {top:?}");
    }
}

/// Compares quantiles of the downloads' durations with those of the lines of JSON, which have every event.
fn durations(world: &World, told: &Value) {
    let of_libs = |event: &Value| event["status"] == 200 && event["repository"] == "libs";
    let events = events(world);
    let mut all: Vec<f64> =
        events.iter().filter(|event| of_libs(event)).map(|event| number(event, "duration_ms")).collect();
    all.sort_by(f64::total_cmp);
    for (name, part) in [("p50(duration_ms)", 0.5), ("p95(duration_ms)", 0.95), ("p99(duration_ms)", 0.99)] {
        let truth = all[((all.len() as f64 * part).ceil() as usize).saturating_sub(1)];
        let told = number(told, name);
        // A microsecond is the unit of both.
        assert!((told - truth).abs() <= 0.05 * truth + 0.001, "{name}: {told} for {truth}");
    }
}
