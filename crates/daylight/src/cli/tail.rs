//! `daylight tail`: requests and jobs of a running server, as they end.

mod line;
mod messages;
mod output;
mod recording;

use super::api::{Api, Ended};
use super::context::Context;
use super::failure::Failure;
use crate::config::duration;
use crate::serve::signals::{SignalAction, Signals};
use format::percent::segment;
use messages::Messages;
use output::Output;
use recording::Recording;
use std::future::poll_fn;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

/// How long a recording takes.
const RECORDED: Duration = Duration::from_secs(10 * 60);
/// A server that sends nothing for so long has gone: it sends a comment every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);
/// The longest pause before the next attempt to connect.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Show requests and jobs of a running server as they end
///
/// Prints one line for each, until Ctrl-C. FILTER chooses them by the columns of events, such as
/// "status >= 500 and layer = group". If there are more than people can read, the server sends a sample and says so. It needs a token
/// with the scope `observe`. When the connection breaks, the command connects again; events in between are missing.
///
/// With --json, and in the file of --out, each line is an event as a JSON object, or an object with one of the keys `sampled`, `lost`,
/// `silent`, `heard`, `broken` and `connected`. `daylight replay` sends the requests of such a file again.
#[derive(Debug, clap::Args)]
pub(super) struct Tail {
    /// Which events; all of them without it
    filter: Option<String>,
    /// Every event, where there would be a sample of too many
    #[arg(long)]
    all: bool,
    /// Write the events to a new file, as lines of JSON, and print only a summary. The file gets its name at the end
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// End after this time, such as 30s or 1h [default: 10m with --out, otherwise never]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Duration>,
    /// End after this many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Largest file of --out, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, value_parser = clap::value_parser!(u64).range(1..))]
    max_bytes: u64,
}

impl Tail {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::endless(context)?;
        let filter = self.filter.as_deref().map(|filter| format!("&where={}", segment(filter))).unwrap_or_default();
        let path = format!("/api/v1/tail?all={}{filter}", self.all);
        let recording = self.out.map(|path| Recording::new(path, self.max_bytes)).transpose()?;
        let time = self.time.or_else(|| recording.is_some().then_some(RECORDED));
        let mut signals = Signals::listen(api.runtime())?;
        let mut output = Output::new(context, recording, self.count);
        let mut stop = pin!(async {
            let interrupted = async { while !matches!(poll_fn(|cx| signals.poll(cx)).await, SignalAction::Stop(_)) {} };
            match time {
                None => interrupted.await,
                // Either way the command has done what it should.
                Some(time) => drop(timeout(time, interrupted).await),
            }
        });
        let mut pause = Duration::from_secs(1);
        loop {
            let mut messages = Messages::default();
            let heard = output.events();
            let ended = api.listen(&path, &mut |piece| output.take(&mut messages, piece), SILENCE, stop.as_mut());
            if output.is_done() {
                return output.finish();
            }
            let why = match ended {
                Ok(Ended::Stopped) => return output.finish(),
                Ok(Ended::Silent) => "it sent nothing for 45 s".to_owned(),
                Ok(Ended::Closed) => "the server ended it".to_owned(),
                Err(error) if !output.was_connected() || is_final(&error) => return Err(output.discard(error)),
                Err(error) => format!("{error:#}"),
            };
            output.broken(&why)?;
            pause = if output.events() > heard { Duration::from_secs(1) } else { PAUSE_MAX.min(pause * 2) };
            if api.wait(pause, stop.as_mut()) {
                return output.finish();
            }
        }
    }
}

/// Whether another attempt would fail as well: the server refuses to answer this command, or the output cannot be written.
fn is_final(error: &anyhow::Error) -> bool {
    let is_ours = error.chain().any(|cause| matches!(cause.downcast_ref(), Some(client::Error::NotTaken { .. })));
    is_ours || is_refusal(error)
}

fn is_refusal(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Failure>().and_then(Failure::status).is_some_and(|status| (400..500).contains(&status))
}
