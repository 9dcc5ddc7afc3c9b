//! The census: it sees every finished event while that is packed, and says which of them the sinks need. The others are never unpacked.

use crate::counts::CensusTotals;
use crate::log::Log;
use crate::recorder::packed_events::PackedEvents;
use crate::recorder::sink_worker::panic_message;
use crate::{Because, Glance, SamplingDecision};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Sees every finished event. It runs on the thread that all events pass, so it must not wait, and must not allocate memory for each
/// event. After a panic it is not called any more.
pub trait Census: Send {
    /// Its name in metrics. It is unique among those of a recorder.
    fn name(&self) -> &'static str;
    /// Sees an event, and decides whether it is stored. A census that only counts returns [`SamplingDecision::DROP`].
    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision;
    /// Counts events that it does not see, because the buffers were full.
    fn lost(&mut self, _events: u64) {}
    /// Called after some hundreds of events, or a quarter of a second: the place for work that is too dear for each event.
    fn pause(&mut self) {}
}

/// The figures of a census.
#[derive(Debug)]
pub(crate) struct CensusRecord {
    name: &'static str,
    seen: AtomicU64,
    missed: AtomicU64,
}

impl CensusRecord {
    pub(crate) fn totals(&self) -> CensusTotals {
        CensusTotals { name: self.name, seen: self.seen.load(Relaxed), missed: self.missed.load(Relaxed) }
    }
}

/// A census, until it panics.
struct GuardedCensus {
    census: Option<Box<dyn Census>>,
    record: Arc<CensusRecord>,
    /// The message of its panic, until the log has it.
    unreported: Option<String>,
}

/// All censuses of a recorder.
pub(crate) struct Censuses {
    censuses: Vec<GuardedCensus>,
    log: Arc<OnceLock<Log>>,
}

impl Censuses {
    pub(crate) fn new(censuses: Vec<Box<dyn Census>>, log: Arc<OnceLock<Log>>) -> Self {
        let guarded = |census: Box<dyn Census>| {
            let (seen, missed) = (AtomicU64::new(0), AtomicU64::new(0));
            let record = Arc::new(CensusRecord { name: census.name(), seen, missed });
            GuardedCensus { census: Some(census), record, unreported: None }
        };
        Self { censuses: censuses.into_iter().map(guarded).collect(), log }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.censuses.is_empty()
    }

    /// Tells of events that were not buffered.
    pub(crate) fn lost(&mut self, events: u64) {
        for guarded in &mut self.censuses {
            let told = catch_unwind(AssertUnwindSafe(|| {
                let Some(census) = &mut guarded.census else { return };
                census.lost(events);
                census.pause();
            }));
            guarded.heed(told);
            guarded.report(&self.log);
        }
    }

    pub(crate) fn records(&self) -> Vec<Arc<CensusRecord>> {
        self.censuses.iter().map(|guarded| guarded.record.clone()).collect()
    }

    /// Sets for each event whether it is stored. If several censuses need it, the smallest weight counts. Without any census each event is
    /// stored and stands for itself.
    pub(crate) fn see(&mut self, events: &PackedEvents, decisions: &mut Vec<SamplingDecision>) {
        decisions.clear();
        let all = SamplingDecision::store(1, Because::All);
        decisions.resize(events.len(), if self.censuses.is_empty() { all } else { SamplingDecision::DROP });
        for guarded in &mut self.censuses {
            guarded.see(events, decisions);
            guarded.report(&self.log);
        }
    }
}

impl GuardedCensus {
    fn see(&mut self, events: &PackedEvents, decisions: &mut [SamplingDecision]) {
        let mut seen = 0;
        let all = catch_unwind(AssertUnwindSafe(|| {
            let Some(census) = &mut self.census else { return };
            for (event, decision) in events.glances().zip(decisions) {
                *decision = decision.join(census.see(&event));
                seen += 1;
            }
            census.pause();
        }));
        self.record.seen.fetch_add(seen, Relaxed);
        self.record.missed.fetch_add(events.len() as u64 - seen, Relaxed);
        self.heed(all);
    }

    /// Takes the census out if it panicked.
    fn heed(&mut self, result: std::thread::Result<()>) {
        if let Err(panic) = result {
            self.unreported = Some(panic_message(&*panic).to_owned());
            let census = self.census.take();
            // Dropping it may panic as well.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(census)));
        }
    }

    /// Logs the panic, as soon as there is a log.
    fn report(&mut self, log: &OnceLock<Log>) {
        if let Some(log) = log.get()
            && let Some(why) = self.unreported.take()
        {
            log.warn(
                "a census panicked and sees no more events until a restart",
                &[("census", &self.record.name), ("why", &why)],
            );
        }
    }
}

#[cfg(test)]
mod tests;
