//! Reads all gauges on a thread of its own, so that one that blocks keeps no answer waiting.

use crate::lock;
use crate::prometheus::gauge::Gauge;
use crate::{Log, Tick};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The most threads that read gauges. All but one of them read a gauge that hangs, and end when it returns.
const THREADS_MAX: usize = 8;

/// All gauges, and the thread that reads them.
#[derive(Default)]
pub(crate) struct Gauges {
    all: Mutex<Vec<Arc<Gauge>>>,
    reader: Mutex<Option<Sender<Round>>>,
    /// Each thread has a clone.
    threads: Arc<()>,
    /// The processor time of all reads, in nanoseconds.
    nanos: Arc<AtomicU64>,
}

/// The gauges to read for one request.
struct Round {
    gauges: Vec<Arc<Gauge>>,
    /// Set after the timeout: the rest of the gauges is not read.
    stop: Arc<AtomicBool>,
    /// Dropped when all are read.
    done: Sender<()>,
}

impl Gauges {
    /// Adds a gauge. It replaces one of the same name.
    pub(crate) fn add(&self, gauge: Gauge) {
        let mut all = lock(&self.all);
        all.retain(|other| other.metric.name != gauge.metric.name);
        all.push(Arc::new(gauge));
    }

    /// Reads all gauges, for at most `timeout` together. One that hangs is switched off. The
    /// log names each gauge that is switched off once.
    pub(crate) fn read(&self, now: Tick, timeout: Duration, log: &Log) -> Vec<Arc<Gauge>> {
        let all = lock(&self.all).clone();
        let due: Vec<_> = all.iter().filter(|gauge| gauge.is_due(now)).cloned().collect();
        if !due.is_empty() {
            self.round(due, now, timeout);
        }
        for gauge in all.iter().filter(|gauge| gauge.is_news(now)) {
            log.warn(
                "a metric is left out for ten minutes, because reading it takes too long",
                &[("metric", &gauge.metric.name)],
            );
        }
        all
    }

    /// The names of the gauges that are switched off.
    pub(crate) fn off(&self, now: Tick) -> Vec<&'static str> {
        let all = lock(&self.all);
        all.iter().filter(|gauge| gauge.is_off(now)).map(|gauge| gauge.metric.name).collect()
    }

    /// The processor time of all reads, in nanoseconds.
    pub(crate) fn nanos(&self) -> u64 {
        self.nanos.load(Relaxed)
    }

    fn round(&self, due: Vec<Arc<Gauge>>, now: Tick, timeout: Duration) {
        let mut reader = lock(&self.reader);
        if reader.is_none() {
            *reader = self.start();
        }
        let Some(rounds) = &*reader else { return };
        let (stop, (done, ended)) = (Arc::new(AtomicBool::new(false)), channel::<()>());
        let sent = rounds.send(Round { gauges: due.clone(), stop: stop.clone(), done });
        if sent.is_ok() && ended.recv_timeout(timeout) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        // The thread ends when the gauge returns, because its channel is closed.
        *reader = None;
        stop.store(true, Relaxed);
        due.iter().for_each(|gauge| gauge.give_up(now));
    }

    /// Starts a thread, unless too many hang.
    fn start(&self) -> Option<Sender<Round>> {
        if Arc::strong_count(&self.threads) > THREADS_MAX {
            return None;
        }
        let (sender, rounds) = channel();
        let (nanos, alive) = (self.nanos.clone(), self.threads.clone());
        let reads = move || {
            read_rounds(&rounds, &nanos);
            drop(alive);
        };
        std::thread::Builder::new().name("gauges".to_owned()).spawn(reads).ok().map(|_| sender)
    }
}

fn read_rounds(rounds: &Receiver<Round>, nanos: &AtomicU64) {
    for Round { gauges, stop, done } in rounds {
        for gauge in gauges {
            if stop.load(Relaxed) {
                break;
            }
            nanos.fetch_add(gauge.read(), Relaxed);
        }
        drop(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metric;
    use std::sync::mpsc::sync_channel;

    const LONG: Duration = Duration::from_secs(30);
    const SHORT: Duration = Duration::from_millis(1);
    /// A thread begins within this time, also on a busy machine. A gauge is switched off only if its reading began.
    const BEGINS: Duration = Duration::from_millis(500);

    /// A gauge that hangs until the sender sends, or is dropped.
    fn hangs(name: &'static str) -> (Gauge, std::sync::mpsc::SyncSender<()>) {
        let (release, held) = sync_channel::<()>(0);
        let held = Mutex::new(held);
        let read = move || {
            let _ = lock(&held).recv();
            vec![(String::new(), 1.0)]
        };
        (Gauge::new(Metric::gauge(name, "Any"), None, Box::new(read)), release)
    }

    fn quick(name: &'static str) -> Gauge {
        Gauge::new(Metric::gauge(name, "Any"), None, Box::new(|| vec![(String::new(), 7.0)]))
    }

    fn told(gauges: &[Arc<Gauge>], now: Tick) -> Vec<(&'static str, Option<f64>, bool)> {
        let one = |gauge: &Arc<Gauge>| {
            (gauge.metric.name, gauge.values(now).first().map(|(_, value)| *value), gauge.is_off(now))
        };
        gauges.iter().map(one).collect()
    }

    #[test]
    fn a_gauge_that_hangs_is_switched_off_and_the_others_are_read() {
        let gauges = Gauges::default();
        let (stuck, release) = hangs("stuck");
        gauges.add(stuck);
        gauges.add(quick("quick"));
        let (now, log) = (Tick::now(), Log::silent());
        assert_eq!(told(&gauges.read(now, BEGINS, &log), now)[0], ("stuck", None, true));
        let after = [("stuck", None, true), ("quick", Some(7.0), false)];
        assert_eq!(told(&gauges.read(now, LONG, &log), now), after);
        // Long after that it still hangs, so it is not read by a second thread.
        let late = now.plus(Duration::from_secs(3600));
        assert_eq!(told(&gauges.read(late, LONG, &log), late)[0], ("stuck", None, true));
        assert_eq!(Arc::strong_count(&gauges.threads), 3);
        drop(release);
        while Arc::strong_count(&gauges.threads) > 2 {
            std::thread::yield_now();
        }
        let late = Tick::now().plus(Duration::from_secs(3600));
        assert_eq!(told(&gauges.read(late, LONG, &log), late)[0], ("stuck", Some(1.0), false));
    }

    #[test]
    fn gauges_that_hang_take_only_so_many_threads() {
        let gauges = Gauges::default();
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let releases: Vec<_> = names
            .iter()
            .map(|name| {
                let (gauge, release) = hangs(name);
                gauges.add(gauge);
                release
            })
            .collect();
        for _ in names {
            gauges.read(Tick::now(), SHORT, &Log::silent());
        }
        assert!(Arc::strong_count(&gauges.threads) <= THREADS_MAX + 1);
        drop(releases);
    }

    #[test]
    fn a_gauge_that_panics_has_no_values() {
        let gauges = Gauges::default();
        let panics = || std::panic::resume_unwind(Box::new("no"));
        gauges.add(Gauge::new(Metric::gauge("broken", "Any"), None, Box::new(panics)));
        gauges.add(quick("quick"));
        let now = Tick::now();
        let after = [("broken", None, false), ("quick", Some(7.0), false)];
        assert_eq!(told(&gauges.read(now, LONG, &Log::silent()), now), after);
    }
}
