//! Row 3: the cost of recording a request: instructions counted by callgrind, and processor time. The same calls as those of
//! the front and the program for a page hit and for a miss, without the request.

use crate::process::load_average;
use crate::spread::Spread;
use anyhow::{Context, Result, bail, ensure};
use insight::{Budget, Goal, RepositoryFacts, Sampler};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use telemetry::{
    Clock, Event, JsonLines, Layer, Op, Outcome, RecentEvents, Recorder, RecorderOptions, Subject, Target, Text, Tick,
};

/// The number of events under callgrind, and natively.
const COUNTED: usize = 20_000;
const TIMED: usize = 1_000_000;
/// The number of events before a wait until they are written: no event is dropped because its shard or a queue is full.
const BATCH: usize = 2_000;
const ROUNDS: usize = 5;
const AGENT: &str = "bundler/2.6.2 rubygems/3.6.2 ruby/3.4.1 (x86_64-pc-linux-gnu) command/install options/path";

/// Measures and prints the row, by running this program again for each figure.
pub(crate) fn row() -> Result<()> {
    println!("\n## Recording");
    let folder = tempfile::tempdir()?;
    let none = instructions("none", folder.path())?;
    println!(
        "\n| {ROUNDS} rounds, median (least to most) | instructions | ns of the request's thread | ns in the background |"
    );
    println!("|---|---|---|---|");
    for kind in ["hit", "miss", "hit-lines", "miss-lines"] {
        let each = instructions(kind, folder.path())?.saturating_sub(none) as f64 / COUNTED as f64;
        let (mut here, mut behind) = (Spread::default(), Spread::default());
        for _ in 0..ROUNDS {
            let said = again(&mut Command::new(std::env::current_exe()?), kind, TIMED, folder.path())?;
            let mut figures = said.split_whitespace().map(str::parse::<f64>);
            here.add(figures.next().context("a figure")??);
            behind.add(figures.next().context("a figure")??);
        }
        println!("| {kind} | {each:.0} | {here} | {behind} |");
    }
    println!(
        "\nInstructions are those of the request's thread. The background counts, keeps a sample of the hits and all misses in memory, and \
         with `-lines` it also writes each event as a line of JSON to a file."
    );
    println!("load average after it: {}", load_average()?);
    Ok(())
}

fn again(command: &mut Command, kind: &str, count: usize, folder: &Path) -> Result<String> {
    let output = command.args(["recording-loop", kind, &count.to_string()]).arg(folder).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Instructions of the first thread, for all events.
fn instructions(kind: &str, folder: &Path) -> Result<u64> {
    let out = folder.join(kind);
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--separate-threads=yes"]).arg(format!("--callgrind-out-file={}", out.display()));
    again(command.arg(std::env::current_exe()?), kind, COUNTED, folder)?;
    let text = fs::read_to_string(folder.join(format!("{kind}-01"))).context("callgrind's figures")?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).context("totals")?;
    Ok(total.trim().parse()?)
}

/// The loop itself, in a process of its own. Prints the nanoseconds of this thread, and of all others, for each event.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [kind, count, folder] = arguments else { bail!("recording-loop KIND COUNT FOLDER") };
    let (kind, lines) = kind.strip_suffix("-lines").map_or((kind.as_str(), false), |kind| (kind, true));
    let options = RecorderOptions { shards: 4, buffered_events: 10_000, ..RecorderOptions::of(Clock::default()) };
    let recent = RecentEvents::new(8 << 20);
    let mut sinks = vec![recent.sink()];
    if lines {
        sinks.push(Box::new(JsonLines::new(Target::file(Path::new(folder).join("events/events.jsonl"), 64 << 20, 1))));
    }
    let sampler =
        Box::new(Sampler::new(options.clock.clone(), Goal::auto(Budget::new(2 << 30)), |_| RepositoryFacts::default()));
    let recorder = Recorder::start_with_censuses(options, vec![sampler, recent.census()], sinks);
    let subject =
        Subject { repository: "gems-private".into(), package: "lamp".into(), kind: "info", ..Subject::default() };
    let (count, before) = (count.parse::<usize>()?, busy_nanos()?);
    // The front has these for each connection.
    let connection = (Text::from("127.0.0.1"), Text::from(Event::text(AGENT)));
    for number in 0..count {
        if number % BATCH == 0 {
            ensure!(recorder.flush(Duration::from_secs(30)), "the events were not written");
        }
        match kind {
            "hit" => event(&recorder, &connection, &subject, Layer::Page),
            "miss" => event(&recorder, &connection, &subject, Layer::Hosted),
            _ => {}
        }
    }
    let here = busy_nanos()?.0 - before.0;
    ensure!(recorder.flush(Duration::from_secs(30)), "the events were not written");
    let behind = busy_nanos()?.1 - before.1;
    println!("{} {}", here / count as f64, behind / count as f64);
    recorder.stop(Duration::from_secs(30));
    Ok(())
}

/// The ops after the lookup of the page.
const MISS: &[Op] =
    &[Op::Route, Op::TokenCheck, Op::TruthWait, Op::TruthRead, Op::IndexRender, Op::ReplyMake, Op::PageKeep];

/// The event of one request, from its attempt to its release.
fn event(recorder: &Recorder, connection: &(Text, Text), subject: &Subject, layer: Layer) {
    recorder.attempt();
    let began = Tick::now();
    let mut event = Event::request(recorder.clock().at_tick(began), began);
    event.method = "GET";
    event.asked("/repository/gems-private/info/lamp");
    (event.client, event.agent) = connection.clone();
    event.subject.clone_from(subject);
    event.layer = layer;
    if layer == Layer::Page {
        // Measured from the last byte of the head.
        event.add(Op::PageLookup, Tick::now().since(began));
    } else {
        event.time(Op::PageLookup, || ());
        MISS.iter().for_each(|op| event.time(*op, || ()));
    }
    event.status = 200;
    event.outcome = Some(Outcome::Answered);
    event.bytes_out = 500;
    let left = Tick::now();
    event.first_byte = left.since(event.began);
    event.add(Op::BodySend, left.since(left));
    event.duration = left.since(event.began);
    recorder.release(event);
}

/// Processor time of this thread, and of all other live threads of the process.
fn busy_nanos() -> Result<(f64, f64)> {
    let busy = |path: &Path| -> Result<f64> {
        let text = fs::read_to_string(path.join("schedstat"))?;
        Ok(text.split(' ').next().context("schedstat")?.parse()?)
    };
    let mut all = 0.0;
    for task in fs::read_dir("/proc/self/task")? {
        all += busy(&task?.path())?;
    }
    let mine = busy(Path::new("/proc/thread-self"))?;
    Ok((mine, all - mine))
}
