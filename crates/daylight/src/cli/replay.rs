//! `daylight replay`: the recorded requests of a server once more, against another one or the same.

mod left_out;
mod line;
mod outcome;
mod recording;
mod report;
mod requests;
mod timetable;

use super::context::Context;
use super::failure::{Failure, plain};
use super::open_loop::OpenLoop;
use super::progress::Bar;
use super::target::Target;
use crate::serve::signals::{SignalAction, Signals};
use client::{ClientOptions, Trust};
use outcome::Outcome;
use recording::{Against, Recording};
use report::Report;
use requests::Requests;
use std::future::poll_fn;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;
use telemetry::Tick;

/// A download may be large. A longer one counts as failed.
const OPTIONS: ClientOptions = ClientOptions {
    connect_timeout: Duration::from_secs(10),
    total_timeout: Duration::from_secs(300),
    max_body_bytes: 64 << 20,
    trust: Trust::MACHINE,
};
/// If so many requests fail before any is answered, the server is not there.
const IN_VAIN: u64 = 20;

/// Send the recorded requests of a server again, at their recorded distances, and compare
///
/// FILE is a recording of `daylight tail --all --out FILE`. Only GET and HEAD are sent, and only to the server of --against. Requests begin at
/// their moments even if earlier ones are not answered, and times count from these moments. Events do not have queries and headers: searches and lists of
/// dependencies are left out, and the result has the share left out. DAYLIGHT_TOKEN is sent with the requests that had a token.
///
/// A recording that is a sample is refused.
#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    /// The recording
    file: PathBuf,
    /// URL of the server that gets the requests
    #[arg(long, value_name = "URL")]
    against: String,
    /// How many times as fast as recorded, such as 2 or 0.5
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Most connections at the same time. As many are made as are needed
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    connections: u16,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.001..=1_000_000.0).contains(speed));
    speed.ok_or_else(|| "expected a number from 0.001 to 1000000".to_owned())
}

impl Replay {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let target = Target::named(&self.against, context)?;
        let against = Against { url: &target.url, has_token: target.token.is_some() };
        let recording = Recording::open(&self.file, against)?;
        usable(&recording)?;
        let timetable = timetable::plan(&recording, self.speed)?;
        let (most, at_once) = (usize::from(self.connections), timetable::at_once(&recording, &timetable));
        if at_once > most {
            let text = "requests were under way at the same time, and there are at most";
            writeln!(context.err, "{at_once} {text} {most} connections (`--connections`)")?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut signals = Signals::listen(&runtime)?;
        let stop = pin!(async { while !matches!(poll_fn(|cx| signals.poll(cx)).await, SignalAction::Stop(_)) {} });
        let mut open_loop = OpenLoop::new(ClientOptions { trust: target.trust.clone(), ..OPTIONS }, most);
        let requests = Requests { recording: &recording, url: &target.url, token: target.token.clone() };
        let (mut outcome, mut failure) = (Outcome::default(), None);
        let (bar, total) = (Bar::new(), timetable.len() as u64);
        let began = Tick::now();
        let whole = open_loop.run(
            &runtime,
            &timetable,
            &|place| requests.at(place),
            &mut |made| {
                outcome.take(&recording.requests[made.place], &made);
                bar.show(store::Progress { of: "replayed", total, done: outcome.all.requests });
                let is_in_vain = outcome.is_unanswered() && outcome.all.requests >= IN_VAIN.min(total);
                failure = made.answer.err().filter(|_| is_in_vain);
                failure.is_none()
            },
            stop,
        )?;
        let took = Duration::from_nanos(Tick::now().since(began));
        drop(bar);
        if let Some(failure) = failure {
            return Err(no_answer(&self.against, &failure).into());
        }
        let report = Report {
            recording: &recording,
            outcome: &outcome,
            against: &target.url,
            speed: self.speed,
            took,
            connections: (open_loop.opened(), most),
            at_once,
            waited: open_loop.waited(),
            whole,
        };
        match context.flags.json {
            true => writeln!(context.out, "{:#}", report.json())?,
            false => report.write(context.out)?,
        }
        Ok(())
    }
}

/// The failure of a command whose server answers nothing.
pub(super) fn no_answer(url: &str, error: &client::Error) -> Failure {
    let hint = "is the URL right, and does a server listen there?";
    Failure::new(format!("`{}` answers no request: {error}", plain(url)), Some(hint.to_owned()))
}

/// Refuses a recording that is not that of the load.
fn usable(recording: &Recording) -> Result<(), Failure> {
    const HINT: &str = "`daylight tail --all --out FILE` records each event";
    let failure = |text: String| Err(Failure::new(text, Some(HINT.to_owned())));
    if recording.sampled > 0 {
        return failure("the recording is a sample of the events, which has less load than there was".to_owned());
    }
    if recording.requests.is_empty() {
        let left_out: u64 = recording.left_out.values().sum();
        let (malformed, jobs) = (recording.malformed, recording.jobs);
        return failure(format!(
            "the recording has no request that can be sent again: {left_out} requests are left out, {jobs} events are jobs, \
             {malformed} lines are no events"
        ));
    }
    Ok(())
}
