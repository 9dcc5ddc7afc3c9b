//! The collector: its thread takes the finished events out of the shards, shows them to the censuses, and passes the events that are needed
//! on to the sinks.

use crate::recorder::census::{CensusRecord, Censuses};
use crate::recorder::packed_events::PackedEvents;
use crate::recorder::shard::Shards;
use crate::recorder::sink_worker::{Batch, Marker, SinkWorker};
use crate::{Because, Event, SamplingDecision};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// A message to the collector.
pub(crate) enum Signal {
    Collect,
    Flush(Marker),
    Stop(Marker),
}

/// The state of the collector's thread. When it is dropped, the workers' queues are closed and their threads end too.
pub(crate) struct Collector {
    pub(crate) shards: Arc<Shards>,
    pub(crate) censuses: Censuses,
    pub(crate) workers: Vec<SinkWorker>,
    /// Events that were unpacked.
    pub(crate) unpacked: Arc<AtomicU64>,
    /// Events that were not buffered, of which the censuses know.
    pub(crate) unbuffered: u64,
}

impl Collector {
    /// The longest that an event waits before it is passed on.
    const COLLECT_EVERY: Duration = Duration::from_millis(250);

    /// The figures of the censuses.
    pub(crate) fn censuses(&self) -> Vec<Arc<CensusRecord>> {
        self.censuses.records()
    }

    /// Whether there is anything to do.
    pub(crate) fn is_needed(&self) -> bool {
        !self.workers.is_empty() || !self.censuses.is_empty()
    }

    /// Passes events on until the recorder is stopped or dropped.
    pub(crate) fn run(mut self, signals: &Receiver<Signal>) {
        let (mut spare, mut decisions) = (PackedEvents::default(), Vec::new());
        loop {
            let signal = signals.recv_timeout(Self::COLLECT_EVERY);
            let shards = self.shards.clone();
            shards.collect(&mut spare, |events| {
                self.censuses.see(events, &mut decisions);
                self.pass_on(events, &decisions);
            });
            let unbuffered = shards.unbuffered();
            if unbuffered > self.unbuffered {
                self.censuses.lost(unbuffered - self.unbuffered);
                self.unbuffered = unbuffered;
            }
            let mark = |marker: Marker| self.workers.iter().for_each(|worker| worker.queue_marker(marker.clone()));
            match signal {
                Ok(Signal::Collect) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Signal::Flush(marker)) => mark(marker),
                Ok(Signal::Stop(marker)) => return mark(marker),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Unpacks the events that a sink gets. The censuses have decided which.
    fn pass_on(&self, events: &mut PackedEvents, decisions: &[SamplingDecision]) {
        let all_needed = decisions.iter().all(|decision| decision.weight == 1);
        let on = self.workers.iter().filter(|worker| worker.is_on());
        let (want_all, others): (Vec<_>, Vec<_>) = on.partition(|worker| worker.wants_all());
        if want_all.is_empty() || all_needed {
            if decisions.iter().any(|decision| decision.weight > 0) {
                let batch = self.unpack(events, decisions);
                want_all.iter().chain(&others).for_each(|worker| worker.queue(&batch));
            }
            return;
        }
        let batch = self.unpack(events, &vec![SamplingDecision::store(1, Because::All); decisions.len()]);
        want_all.iter().for_each(|worker| worker.queue(&batch));
        let mut needed = batch.iter().zip(decisions).filter(|(_, decision)| decision.weight > 0).peekable();
        if !others.is_empty() && needed.peek().is_some() {
            let weighted = needed.map(|(event, decision)| Event {
                weight: decision.weight,
                because: decision.because,
                ..event.clone()
            });
            let batch = Arc::new(weighted.collect());
            others.iter().for_each(|worker| worker.queue(&batch));
        }
    }

    fn unpack(&self, events: &mut PackedEvents, decisions: &[SamplingDecision]) -> Batch {
        let batch = Arc::new(events.unpack(decisions));
        self.unpacked.fetch_add(batch.len() as u64, Relaxed);
        batch
    }
}
