//! The verbs that take some time on a data folder: with a progress bar and the time that they took.

use super::context::Context;
use super::folder;
use super::progress::Bar;
use crate::config::Settings;
use std::time::Duration;
use store::Progress;
use telemetry::{Clock, Event, Op};

/// Does the work on the data folder of the settings, with a progress bar. Returns what it returns, and how long it took.
pub(super) fn run<T>(
    op: Op,
    context: &mut Context<'_>,
    work: impl FnOnce(&Settings, &mut dyn FnMut(Progress)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, Duration)> {
    let (settings, _) = folder::load(context)?;
    let mut event = Event::job(op.as_str(), Clock::default().now());
    let bar = Bar::new();
    let done = event.time(op, || work(&settings, &mut |progress| bar.show(progress)));
    drop(bar);
    Ok((done?, Duration::from_nanos(event.tally(op).nanos)))
}
