//! `daylight repair`: decides what the server does not decide by itself.

use super::api::{Api, decode};
use super::context::Context;
use super::failure::{Failure, plain};
use super::folder;
use super::global_flags::GlobalFlags;
use crate::admin::{Right, decide_about_clock};
use crate::instance::sinks;
use crate::instance::{Instance, StartOptions};
use clap::Subcommand;
use repository::{Author, ChangeSource};
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::{Clock, Event};

/// Decide what the server does not decide by itself
#[derive(Debug, clap::Args)]
pub(super) struct Repair {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Clock(ClockCommand),
}

/// Decide whether the machine's clock or the times in the journal are right, after the clock jumped
///
/// A server writes nothing if its clock jumped by more than `store.clock_jump`, or was that far behind the last change at the start.
/// If the clock was wrong, set it right, and the server writes again by itself; this command is for all other cases. It asks the
/// running server, or with --data works on the folder of one that is stopped. Without --yes it only says what it would do.
#[derive(Debug, clap::Args)]
struct ClockCommand {
    /// The clock is right now: changes that are dated later count as of now
    #[arg(long, required_unless_present = "rows_are_right", conflicts_with = "rows_are_right")]
    clock_is_right: bool,
    /// The times in the journal are right: time goes on from there until the clock is set right
    #[arg(long)]
    rows_are_right: bool,
    /// Do it
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Deserialize)]
struct Answer {
    clock: String,
    last_change: Option<String>,
    doubt: Option<String>,
    rows_of_the_future: u64,
    restarts: bool,
}

impl Repair {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let What::Clock(clock) = self.what;
        clock.run(context)
    }
}

impl ClockCommand {
    fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let GlobalFlags { data, config, server, server_trust, .. } = context.flags;
        let of_folder = data.is_some() || config.is_some();
        if of_folder && (server.is_some() || server_trust.is_some()) {
            let text = "`--data` names the folder of a stopped server, and `--server` a running one";
            return Err(Failure::usage(text.to_owned(), "give one of them").into());
        }
        let right = if self.clock_is_right { "clock" } else { "rows" };
        let answer = match of_folder {
            true => self.on_folder(context)?,
            false => Api::patient(context)?.post("/api/v1/clock", &json!({ "right": right, "apply": self.yes }))?,
        };
        if context.flags.json {
            return Ok(writeln!(context.out, "{answer:#}")?);
        }
        let answer: Answer = decode(answer)?;
        self.show(&answer, context)
    }

    fn on_folder(&self, context: &mut Context<'_>) -> anyhow::Result<Value> {
        let (settings, _) = folder::load(context)?;
        let clock = Clock::default();
        let (log, _) = sinks::log(&settings, &clock);
        let instance = Instance::open(
            &settings,
            log,
            StartOptions { clock, from: ChangeSource::CommandLine, ..StartOptions::default() },
        )?;
        let right = if self.clock_is_right { Right::Clock } else { Right::Rows };
        let by = self.yes.then_some(Author { by: Author::DAYLIGHT, from: ChangeSource::CommandLine });
        let mut event = Event::job("clock.repair", instance.app.clock.now());
        let answer = instance.back.block_on(decide_about_clock(&instance.app, right, by, &mut event));
        instance.close();
        Ok(answer?)
    }

    fn show(&self, answer: &Answer, context: &mut Context<'_>) -> anyhow::Result<()> {
        let Answer { clock, last_change, doubt, rows_of_the_future: rows, restarts } = answer;
        let last = last_change.as_deref().unwrap_or("none");
        writeln!(context.out, "clock:       {}\nlast change: {}", plain(clock), plain(last))?;
        if let Some(doubt) = doubt {
            writeln!(context.out, "doubt:       {}", plain(doubt))?;
        }
        let done = match (self.clock_is_right, rows, self.yes) {
            (true, 0, true) => "the clock is believed".to_owned(),
            (true, 0, false) => "no change is later than the clock; the clock would be believed".to_owned(),
            (true, _, true) => {
                format!("the clock is believed, and {rows} changes that were dated later count as of now")
            }
            (true, _, false) => {
                format!("the clock would be believed, and {rows} changes that are dated later would count as of now")
            }
            (false, _, true) => "time goes on from the last change until the clock is set right".to_owned(),
            (false, _, false) => "time would go on from the last change until the clock is set right".to_owned(),
        };
        writeln!(context.out, "{done}")?;
        if *restarts {
            writeln!(context.err, "the server restarts in place")?;
        }
        if !self.yes {
            writeln!(context.err, "nothing was changed; `--yes` does it")?;
        }
        Ok(())
    }
}
