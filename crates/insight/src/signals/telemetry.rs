//! Figures of the server's observation of itself: lost events, metrics that are switched off, what checks cost.

use std::collections::{BTreeMap, BTreeSet};
use telemetry::Recorder;

/// Figures of the server's observation of itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct TelemetrySeen {
    /// Events that a sink did not get, because its queue was full.
    pub(crate) dropped: BTreeMap<&'static str, u64>,
    /// Events that a census did not see, because it had panicked.
    pub(crate) missed: BTreeMap<&'static str, u64>,
    /// Events that found no place in the buffers, so that neither sinks nor censuses got them.
    pub(crate) unbuffered: u64,
    /// Metrics that were switched off, because they take too long.
    pub(crate) off: BTreeSet<&'static str>,
    /// The processor time of each check, in nanoseconds, and of the sums of figures under [`TelemetrySeen::SUMS`].
    pub(crate) checks: BTreeMap<&'static str, u64>,
}

impl TelemetrySeen {
    /// In place of the name of a check: the sums that all checks read.
    pub(crate) const SUMS: &str = "sums";

    /// Adds the processor time of a check.
    pub(crate) fn spent(&mut self, check: &'static str, nanos: u64) {
        *self.checks.entry(check).or_default() += nanos;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let maps =
            [(&mut self.dropped, &other.dropped), (&mut self.missed, &other.missed), (&mut self.checks, &other.checks)];
        for (mine, theirs) in maps {
            theirs.iter().for_each(|(name, count)| *mine.entry(name).or_default() += count);
        }
        self.unbuffered += other.unbuffered;
        self.off.extend(&other.off);
    }
}

/// The counts at the last sample, from which the next ones are told apart.
#[derive(Debug, Default)]
pub(super) struct TelemetryBefore {
    dropped: BTreeMap<&'static str, u64>,
    missed: BTreeMap<&'static str, u64>,
    unbuffered: u64,
}

impl TelemetryBefore {
    /// Adds what was counted since the last sample.
    pub(super) fn sample(&mut self, recorder: &Recorder, into: &mut TelemetrySeen) {
        let lost = recorder.lost();
        let sinks = lost.sinks.iter().map(|sink| (sink.name, sink.dropped));
        since(&mut self.dropped, sinks, &mut into.dropped);
        let censuses = lost.censuses.iter().map(|census| (census.name, census.missed));
        since(&mut self.missed, censuses, &mut into.missed);
        into.unbuffered += lost.unbuffered.saturating_sub(std::mem::replace(&mut self.unbuffered, lost.unbuffered));
        into.off.extend(recorder.metrics_off());
    }
}

fn since(
    before: &mut BTreeMap<&'static str, u64>,
    now: impl Iterator<Item = (&'static str, u64)>,
    into: &mut BTreeMap<&'static str, u64>,
) {
    for (name, count) in now {
        let more = count.saturating_sub(before.insert(name, count).unwrap_or_default());
        if more > 0 {
            *into.entry(name).or_default() += more;
        }
    }
}
