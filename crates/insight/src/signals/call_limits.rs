//! The limit of a host as it is learnt: how many calls it answered before it said that there were too many (429), and how fast the
//! calls since then come to that number again.

use super::concurrency::Concurrency;
use std::collections::{BTreeMap, VecDeque};
use telemetry::{CallSums, Recorder, Tick};

/// The length of a stretch whose calls are counted together, in seconds.
const STRETCH_S: u64 = 10;
/// Stretches in an hour: limits of hosts are for an hour at most, or for a day, which would be learnt as that of an hour.
const STRETCHES: usize = 360;
/// Windows of limits, in seconds: a minute, five, a quarter of an hour, an hour.
const WINDOWS: [u64; 4] = [60, 300, 900, 3600];
/// The fewest calls in its window before a 429 from which a limit is learnt.
const CALLS_MIN: u64 = 10;
/// The shortest time from which a rate is told, in seconds.
const RATE_MIN_S: f64 = 5.0;

/// A limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct CallLimit {
    /// Calls in a window before the host said that there were too many.
    pub(crate) calls: u64,
    /// The window, in seconds: the shortest usual one that is not shorter than the pause and has enough calls.
    pub(crate) window_s: u64,
    /// The pause that the host asked for, in seconds.
    pub(crate) pause_s: f64,
}

/// How far the calls to a host are from its limit, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LimitSeen {
    /// Calls in this stretch of time that were answered with 429.
    pub(crate) refused: u64,
    /// The moment of the fields below.
    pub(crate) at: u64,
    /// The limit that was learnt last. `None`: the host has not said yet that there were too many calls.
    pub(crate) limit: Option<CallLimit>,
    /// Calls since the last pause ended, at most in the window of the limit.
    pub(crate) calls: u64,
    /// Calls in a second, lately.
    pub(crate) rate: f64,
    /// The host asked for a pause that has not ended.
    pub(crate) blocked: bool,
}

impl LimitSeen {
    /// Adds those of another stretch of time.
    pub(crate) fn add(&mut self, other: &Self) {
        let refused = self.refused + other.refused;
        if other.at > self.at {
            *self = *other;
        }
        self.refused = refused;
    }

    /// The seconds until the limit is reached at the present rate. `None`: it is not known, or this rate does not reach it.
    pub(crate) fn reached_in_s(&self) -> Option<f64> {
        let limit = self.limit?;
        let reaches = self.rate * limit.window_s as f64 >= limit.calls as f64;
        reaches.then(|| limit.calls.saturating_sub(self.calls) as f64 / self.rate)
    }
}

/// The calls to the hosts so far.
#[derive(Debug, Default)]
pub(crate) struct CallLimits(BTreeMap<String, Host>);

#[derive(Debug, Default)]
struct Host {
    sums: CallSums,
    /// Calls in stretches of ten seconds, with the number of each stretch.
    stretches: VecDeque<(u64, u64)>,
    /// When the last pause ended, in seconds; at first when it was seen first.
    since: f64,
    /// Calls since then.
    calls: u64,
    limit: Option<CallLimit>,
    blocked: bool,
}

impl CallLimits {
    /// Takes a sample. `tell` gets the figures of each host that was called.
    pub(crate) fn sample(&mut self, recorder: &Recorder, mut tell: impl FnMut(&str, LimitSeen, Concurrency)) {
        let now = Tick::now();
        let all = recorder.upstreams();
        // The last one is for hosts without a name.
        let named = all.len().saturating_sub(1);
        for calls in all.iter().take(named) {
            if !self.0.contains_key(calls.host()) {
                let since = now.0 as f64 / 1e9;
                self.0.insert(calls.host().to_owned(), Host { since, ..Host::default() });
            }
            if let Some(host) = self.0.get_mut(calls.host()) {
                let (before, sums) = (host.sums, calls.sums());
                let more = |now: u64, before: u64| now.saturating_sub(before);
                let load = Concurrency::of(more(sums.calls, before.calls), more(sums.nanos, before.nanos));
                tell(calls.host(), host.see(sums, now), load);
            }
        }
        self.0.retain(|name, _| all.iter().any(|calls| calls.host() == *name));
    }
}

impl Host {
    fn see(&mut self, sums: CallSums, now: Tick) -> LimitSeen {
        let second = now.0 as f64 / 1e9;
        let refused = sums.limited.saturating_sub(self.sums.limited);
        let answered = sums.calls.saturating_sub(self.sums.calls).saturating_sub(refused);
        self.sums = sums;
        if refused > 0 {
            self.count(answered, second);
            let pause_s = sums.pause_ms as f64 / 1e3;
            if !self.blocked {
                let limit = self.learnt(pause_s, second);
                self.limit = limit.or(self.limit);
            }
            (self.since, self.calls, self.blocked) = (second + pause_s, 0, true);
        } else {
            self.blocked &= answered == 0 && second < self.since;
            self.count(answered, second);
        }
        let window_s = self.limit.map_or(WINDOWS[0], |limit| limit.window_s);
        let calls = self.within(window_s, second).min(self.calls);
        let lately = (second - self.since).clamp(0.0, WINDOWS[0] as f64).max(RATE_MIN_S);
        let rate = self.within(WINDOWS[0], second).min(self.calls) as f64 / lately;
        LimitSeen { refused, at: now.0, limit: self.limit, calls, rate, blocked: self.blocked }
    }

    /// The limit, of the shortest window that is no shorter than the pause and has enough calls. `None`: none has, so the limit is that of a
    /// longer time, or of a host that refuses nearly everything.
    fn learnt(&self, pause_s: f64, second: f64) -> Option<CallLimit> {
        let windows = WINDOWS.into_iter().filter(|window| *window as f64 >= pause_s || *window == WINDOWS[3]);
        let mut limits = windows.map(|window_s| {
            let calls = self.within(window_s, second).min(self.calls);
            CallLimit { calls, window_s, pause_s }
        });
        limits.find(|limit| limit.calls >= CALLS_MIN)
    }

    fn count(&mut self, calls: u64, second: f64) {
        if calls == 0 {
            return;
        }
        self.calls += calls;
        let number = second as u64 / STRETCH_S;
        match self.stretches.back_mut() {
            Some((last, count)) if *last == number => *count += calls,
            _ => self.stretches.push_back((number, calls)),
        }
        if self.stretches.len() > STRETCHES {
            self.stretches.pop_front();
        }
    }

    /// Calls in the last seconds, to whole stretches.
    fn within(&self, seconds: u64, second: f64) -> u64 {
        let first = (second as u64).saturating_sub(seconds) / STRETCH_S;
        self.stretches.iter().rev().take_while(|(number, _)| *number >= first).map(|(_, calls)| calls).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Tick {
        Tick(second * 1_000_000_000)
    }

    /// A host that is called so often a second and that refuses a call at each of these seconds, with a pause of 30 s.
    fn called(rates: impl IntoIterator<Item = u64>, refused: &[u64]) -> Vec<LimitSeen> {
        let (mut host, mut sums) = (Host::default(), CallSums { pause_ms: 30_000, ..CallSums::default() });
        let mut seen = Vec::new();
        for (second, rate) in rates.into_iter().enumerate() {
            let limited = u64::from(refused.contains(&(second as u64)));
            sums.calls += rate + limited;
            sums.limited += limited;
            seen.push(host.see(sums, at(1000 + second as u64)));
        }
        seen
    }

    #[test]
    fn the_calls_before_a_429_are_the_limit_and_the_rate_since_the_pause_tells_when_it_is_reached_again() {
        let rates = (0..100).map(|second| if (50..80).contains(&second) { 0 } else { 2 });
        let seen = called(rates, &[50]);
        assert_eq!((seen[49].limit, seen[49].reached_in_s()), (None, None));
        assert_eq!(seen[50].limit, Some(CallLimit { calls: 100, window_s: 60, pause_s: 30.0 }));
        assert!(seen[60].blocked && !seen[80].blocked);
        let last = seen[99];
        assert_eq!((last.calls, last.reached_in_s().map(f64::round)), (40, Some(29.0)), "{last:?}");
    }

    #[test]
    fn a_rate_below_the_limit_is_no_danger_and_without_a_429_none_is_known() {
        let rates = (0..200).map(|second| if second < 50 { 10 } else { u64::from(second >= 80) * 6 });
        let seen = called(rates, &[50]);
        assert_eq!(seen[50].limit.unwrap().calls, 500);
        assert_eq!(seen[199].reached_in_s(), None, "{:?}", seen[199]);
        assert_eq!(called([100; 60], &[]).last().unwrap().reached_in_s(), None);
    }

    #[test]
    fn a_window_with_fewer_than_ten_calls_is_no_limit() {
        // A call in 30 s, with a pause of 30 s: the minute before the 429 has three, five minutes have ten.
        let every = |seconds: u64| (0..400).map(move |second| u64::from(second % seconds == 0));
        let limit = called(every(30), &[300])[300].limit;
        assert_eq!(limit, Some(CallLimit { calls: 11, window_s: 300, pause_s: 30.0 }));
        assert_eq!(called(every(50), &[300]).last().unwrap().limit, None, "seven calls so far");
        let limit = called((0..20).map(|second| u64::from(second < 10)), &[10])[10].limit;
        assert_eq!(limit.map(|limit| (limit.calls, limit.window_s)), Some((10, 60)));
        assert_eq!(called((0..20).map(|second| u64::from(second < 9)), &[10])[10].limit, None);
    }

    #[test]
    fn the_last_moment_counts_in_sums_and_refusals_add_up() {
        let seen = called((0..60).map(|_| 2), &[50, 51]);
        let mut sum = LimitSeen::default();
        seen.iter().rev().for_each(|one| sum.add(one));
        assert_eq!((sum.refused, sum.at), (2, 1059 * 1_000_000_000));
    }
}
