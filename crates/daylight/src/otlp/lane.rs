//! One kind of requests to the receiver, with its connection, its pauses and its figures. A kind that fails holds up no other.

use super::receiver::{Receiver, Sent, compressed};
use bytes::Bytes;
use client::Connection;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use telemetry::log::Incident;
use telemetry::{Clock, Log, Tally, Tick};

/// The first pause after a failure. Each further one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// The longest pause that the receiver did not ask for.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The figures of a kind of requests, in spans or points.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Taken by the receiver.
    pub(super) taken: AtomicU64,
    /// Refused by it: alone (`partial_success`), or with their request.
    pub(super) rejected: AtomicU64,
    /// Given up while it was away.
    pub(super) dropped: AtomicU64,
    /// Taken from the queue, while it is not known whether they arrive.
    in_hand: AtomicU64,
    /// Requests that failed.
    pub(super) failures: AtomicU64,
    runs: AtomicU64,
    nanos: AtomicU64,
}

impl Counts {
    /// Gives up these items and those in hand, of which nothing will be known. Returns how many they are.
    pub(super) fn give_up(&self, items: u64) -> u64 {
        let given_up = items + self.in_hand.swap(0, Relaxed);
        self.dropped.fetch_add(given_up, Relaxed);
        given_up
    }

    /// The requests since the last call, for an event.
    pub(super) fn tally(&self) -> Tally {
        let count = u32::try_from(self.runs.swap(0, Relaxed)).unwrap_or(u32::MAX);
        Tally { count, vain: 0, nanos: self.nanos.swap(0, Relaxed) }
    }
}

/// Items that were taken from the queue. Unless they are settled, dropping it counts them as dropped: their job was stopped or panicked.
pub(super) struct InHand(Arc<Counts>);

impl InHand {
    pub(super) fn of(counts: &Arc<Counts>, items: u64) -> Self {
        counts.in_hand.store(items, Relaxed);
        Self(counts.clone())
    }

    /// They were sent, refused or dropped, and counted so.
    pub(super) fn settle(self) {
        self.0.in_hand.store(0, Relaxed);
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.give_up(0);
    }
}

/// Says once that the receiver is away, and once that it is back, however many kinds of requests fail.
#[derive(Debug, Default)]
pub(super) struct Reach {
    failing: AtomicU64,
    away: Incident,
}

impl Reach {
    fn change(&self, bit: u64, fails: Option<&str>, url: &str, log: &Log) {
        match fails {
            Some(why) => {
                self.failing.fetch_or(bit, Relaxed);
                let why = why.to_owned();
                self.away.begin(|| {
                    log.warn("the OpenTelemetry receiver did not take a request", &[("url", &url), ("why", &why)])
                });
            }
            None if self.failing.fetch_and(!bit, Relaxed) & !bit == 0 => {
                self.away.end(|| log.info("the OpenTelemetry receiver takes all requests again", &[("url", &url)]));
            }
            None => {}
        }
    }
}

/// One kind of requests.
pub(super) struct Lane {
    /// The path below the base URL.
    pub(super) path: &'static str,
    /// Its bit among the kinds that fail.
    pub(super) bit: u64,
    pub(super) receiver: Receiver,
    pub(super) counts: Arc<Counts>,
    pub(super) reach: Arc<Reach>,
    pub(super) log: Log,
    pub(super) clock: Clock,
    pub(super) connection: Connection,
    /// Failures without a success in between.
    pub(super) failed: u32,
}

impl Lane {
    /// Sends a message once. Returns it and a pause if it may be sent again. `items`: the spans or points in it.
    pub(super) async fn send(&mut self, message: &impl Message, items: u64) -> Result<(), Repeat> {
        self.send_bytes(compressed(message), items).await
    }

    /// The same for a message that was sent before.
    pub(super) async fn send_bytes(&mut self, body: Bytes, items: u64) -> Result<(), Repeat> {
        let began = Tick::now();
        let sent = self.receiver.send(&mut self.connection, self.path, body.clone(), self.clock.now()).await;
        self.counts.runs.fetch_add(1, Relaxed);
        self.counts.nanos.fetch_add(Tick::now().since(began), Relaxed);
        match sent {
            Sent::Taken { rejected } => {
                let rejected = rejected.min(items);
                self.counts.taken.fetch_add(items - rejected, Relaxed);
                self.counts.rejected.fetch_add(rejected, Relaxed);
                self.failed = 0;
                self.reach.change(self.bit, None, &self.url(), &self.log);
                Ok(())
            }
            Sent::Refused { why } => {
                self.counts.rejected.fetch_add(items, Relaxed);
                Err(Repeat { body: None, items, pause: self.fails(&why, None) })
            }
            Sent::Away { why, pause } => Err(Repeat { body: Some(body), items, pause: self.fails(&why, pause) }),
        }
    }

    fn url(&self) -> String {
        format!("{}{}", self.receiver.url(), self.path)
    }

    /// Gives up items that were not sent.
    pub(super) fn drop_items(&self, items: u64) {
        self.counts.dropped.fetch_add(items, Relaxed);
    }

    /// Counts a failure. Returns how long to wait: what the receiver asks for, or twice as long as before.
    fn fails(&mut self, why: &str, asked: Option<Duration>) -> Duration {
        self.counts.failures.fetch_add(1, Relaxed);
        self.reach.change(self.bit, Some(why), &self.url(), &self.log);
        let own = PAUSE_FIRST.saturating_mul(1 << self.failed.min(10)).min(PAUSE_MAX);
        self.failed = self.failed.saturating_add(1);
        // Servers that lost their receiver at the same moment come back at different ones.
        asked.unwrap_or(own) + own.mul_f64((Tick::now().0 % 1000) as f64 / 4000.0)
    }
}

/// A request that failed.
#[derive(Debug)]
pub(super) struct Repeat {
    /// The request, if it may be sent again.
    pub(super) body: Option<Bytes>,
    /// The spans or points in it.
    pub(super) items: u64,
    /// How long nothing is sent.
    pub(super) pause: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(reach: &Arc<Reach>, bit: u64) -> Lane {
        Lane {
            path: "/v1/traces",
            bit,
            receiver: Receiver::new("http://a.test", None).unwrap(),
            counts: Arc::default(),
            reach: reach.clone(),
            log: Log::silent(),
            clock: Clock::default(),
            connection: Receiver::connection(),
            failed: 0,
        }
    }

    #[test]
    fn items_in_hand_are_dropped_unless_they_are_settled_and_are_counted_once() {
        let counts = Arc::new(Counts::default());
        InHand::of(&counts, 5).settle();
        assert_eq!(counts.dropped.load(Relaxed), 0);
        drop(InHand::of(&counts, 7));
        assert_eq!(counts.dropped.load(Relaxed), 7);
        let hand = InHand::of(&counts, 2);
        assert_eq!(counts.give_up(3), 5);
        drop(hand);
        assert_eq!(counts.dropped.load(Relaxed), 12);
    }

    #[test]
    fn pauses_double_up_to_a_minute_and_one_that_is_asked_for_is_kept() {
        let mut lane = lane(&Arc::default(), 1);
        for wanted in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = lane.fails("away", None);
            let wanted = Duration::from_secs(wanted);
            assert!(pause >= wanted && pause <= wanted.mul_f64(1.25), "{pause:?}, not {wanted:?}");
        }
        assert!(lane.fails("away", Some(Duration::from_secs(300))) >= Duration::from_secs(300));
        assert_eq!(lane.counts.failures.load(Relaxed), 9);
    }

    #[test]
    fn the_receiver_is_back_when_all_kinds_of_requests_are_taken() {
        let reach = Arc::new(Reach::default());
        let (mut spans, mut points) = (lane(&reach, 1), lane(&reach, 2));
        spans.fails("away", None);
        points.fails("away", None);
        reach.change(1, None, "", &Log::silent());
        assert!(reach.away.is_on(), "it still takes no metrics");
        reach.change(2, None, "", &Log::silent());
        assert!(!reach.away.is_on());
    }
}
