//! The busiest minute of each hour of the last days, for every pool and limit. The thread of findings samples them once a second.

use super::minute::{Minute, OpenMinute, Second};
use crate::hash::FastMap;
use crate::signals::bounds::difference;
use crate::signals::concurrency::Concurrency;
use crate::signals::facts::Facts;
use std::collections::VecDeque;
use std::sync::Arc;
use telemetry::{Bound, BoundName, CallSums, Histogram, Millis, PoolName, PoolThreads, Recorder, process_nanos};

/// An hour, in milliseconds.
const HOUR: i64 = 3_600_000;
/// The hours that are kept: a week and a day.
const HOURS_MAX: usize = 192;
/// The samples of a minute.
const SAMPLES: u64 = 60;
/// The most pools and limits with figures. Further hosts and applications have none.
const RESOURCES_MAX: usize = 512;

/// The pools of threads that are sized, each with the bound of its waits.
pub(crate) const POOLS: [(PoolName, Option<BoundName>); 5] = [
    (PoolName::TruthReaders, Some(BoundName::TruthReaders)),
    (PoolName::WorkThreads, Some(BoundName::WorkThreads)),
    (PoolName::BlobThreads, Some(BoundName::BlobThreads)),
    (PoolName::FileThreads, Some(BoundName::FileThreads)),
    (PoolName::Back, None),
];

/// The limits that are sized, besides those of cost classes. They turn callers away and queue none.
pub(crate) const LIMITS: [BoundName; 5] = [
    BoundName::Requests,
    BoundName::Connections,
    BoundName::ClientConnections,
    BoundName::UpstreamWaiters,
    BoundName::Flights,
];

/// Something with places.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Resource {
    /// The processors that this process may use.
    Processors,
    /// A pool of threads, by its name.
    Pool(&'static str),
    /// The calls to a host of upstreams, by the number of its bound.
    Calls(Box<str>),
    /// The slots of an application or one of its lanes.
    Slots(Box<str>),
    /// A limit, by its name and what distinguishes limits of that name.
    Limit(&'static str, Box<str>),
}

/// The figures of one hour.
#[derive(Debug, Clone, Copy, Default)]
struct Hour {
    /// The hours since the epoch.
    number: i64,
    busiest: Minute,
    minutes: u64,
    load: Concurrency,
}

/// The figures of one pool or limit.
#[derive(Debug, Clone, Default)]
struct Kept {
    open: OpenMinute,
    load: Concurrency,
    hours: VecDeque<Hour>,
    /// The counts at the last sample, and the waits at the begin of the minute.
    before: Counts,
    waits: Histogram,
    /// The waits when they were read last.
    waits_now: Histogram,
}

/// Counts since the start.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    served: u64,
    nanos: u64,
    squares: u64,
    rejected: u64,
    /// Services that ended, and their time in nanoseconds: whether they take longer the more are under way.
    ended: u64,
    ended_nanos: u64,
}

/// What was seen of a pool or limit within a period.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Busiest {
    /// Its busiest minute.
    pub(crate) minute: Minute,
    /// The hour in which that was, as it begins.
    pub(crate) hour: Millis,
    /// The minutes with figures.
    pub(crate) minutes: u64,
    /// Whether services take longer the more are under way.
    pub(crate) slows_down: bool,
}

/// The figures of all pools and limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loads {
    kept: FastMap<Resource, Kept>,
    /// When the first sample was taken.
    pub(crate) since: Option<Millis>,
    samples: u64,
}

impl Loads {
    /// Without a sample since this moment.
    #[cfg(test)]
    pub(super) fn begun(since: Millis) -> Self {
        Self { since: Some(since), ..Self::default() }
    }

    /// Takes the sample of a second, and now and then the waits ([`Loads::read_waits`]).
    pub(crate) fn sample(&mut self, recorder: &Recorder, facts: &Facts, now: Millis) {
        self.since.get_or_insert(now);
        let (bounds, pools) = (recorder.bounds(), recorder.pools());
        for (name, bound) in POOLS {
            if let Some(pool) = pools.iter().find(|pool| pool.name() == name) {
                self.pool(pool, bound, &bounds);
            }
        }
        let sums = sums(recorder, facts);
        for bound in &bounds {
            match bound.name() {
                BoundName::UpstreamCalls => {
                    let sums = bound.which().parse().ok().and_then(|number: u64| sums.get(&number).copied());
                    self.queue(Resource::Calls(bound.which().into()), bound, sums);
                }
                BoundName::AppSlots => self.queue(Resource::Slots(bound.which().into()), bound, None),
                name if LIMITS.contains(&name) => self.limit(bound),
                _ => {}
            }
        }
        self.processors(facts);
        self.samples += 1;
        if self.samples >= SAMPLES {
            self.samples = 0;
            self.read_waits(recorder);
            self.end(now);
        }
    }

    /// Reads the waits so far, which costs more than the rest of a sample: at the end of a minute, and when somebody wants to know.
    pub(crate) fn read_waits(&mut self, recorder: &Recorder) {
        let bounds = recorder.bounds();
        for (resource, kept) in &mut self.kept {
            let is_own = |bound: &&Arc<Bound>| match resource {
                Resource::Pool(name) => bound.name().as_str() == *name,
                Resource::Calls(which) => bound.name() == BoundName::UpstreamCalls && bound.which() == &**which,
                Resource::Slots(which) => bound.name() == BoundName::AppSlots && bound.which() == &**which,
                Resource::Processors | Resource::Limit(..) => false,
            };
            let mut own = bounds.iter().filter(is_own).peekable();
            if own.peek().is_some() {
                kept.waits_now = Histogram::default();
                own.for_each(|bound| kept.waits_now.merge(&bound.waits()));
            }
        }
    }

    fn pool(&mut self, pool: &PoolThreads, of: Option<BoundName>, bounds: &[Arc<Bound>]) {
        let work = pool.read();
        let own: Vec<&Arc<Bound>> = bounds.iter().filter(|bound| Some(bound.name()) == of).collect();
        let served = own.iter().map(|bound| bound.wait_count()).sum();
        let present = own.iter().map(|bound| bound.used()).sum::<u64>().max(work.busy);
        let Some(kept) = self.kept(Resource::Pool(pool.name().as_str())) else { return };
        let (nanos, squares) = (work.nanos, work.squares);
        let counts = Counts { served, nanos, squares, ended: served, ended_nanos: nanos, rejected: 0 };
        kept.see(pool.threads(), present, counts, None);
    }

    /// Calls and slots: callers wait for a place, and the places in use are sampled. `sums`: of calls that ended, where they are known now.
    fn queue(&mut self, resource: Resource, bound: &Arc<Bound>, sums: Option<CallSums>) {
        let used = bound.used();
        let Some(kept) = self.kept(resource) else { return };
        let (served, rejected) = (bound.wait_count(), bound.rejected());
        let mut counts = Counts { served, rejected, nanos: 0, ..kept.before };
        if let Some(CallSums { calls, nanos, squares, .. }) = sums {
            (counts.ended, counts.ended_nanos, counts.squares) = (calls, nanos, squares);
        }
        kept.see(bound.capacity(), used + bound.waiters(), counts, Some(used as f64));
    }

    fn limit(&mut self, bound: &Bound) {
        let resource = Resource::Limit(bound.name().as_str(), bound.which().into());
        let Some(kept) = self.kept(resource) else { return };
        let counts = Counts { rejected: bound.rejected(), ..Counts::default() };
        kept.see(bound.capacity(), bound.used() + bound.waiters(), counts, Some(bound.used() as f64));
    }

    /// The processor time of this process.
    fn processors(&mut self, facts: &Facts) {
        let cores = facts.setting("server.cores").and_then(|setting| setting.number).unwrap_or(1);
        let Some(kept) = self.kept(Resource::Processors) else { return };
        let counts = Counts { nanos: process_nanos(), ..Counts::default() };
        kept.see(cores, 0, counts, None);
    }

    fn kept(&mut self, resource: Resource) -> Option<&mut Kept> {
        if !self.kept.contains_key(&resource) && self.kept.len() >= RESOURCES_MAX {
            return None;
        }
        Some(self.kept.entry(resource).or_default())
    }

    /// Ends the minute.
    fn end(&mut self, now: Millis) {
        let number = now.0.div_euclid(HOUR);
        for kept in self.kept.values_mut().filter(|kept| kept.open.samples() > 0) {
            let minute = kept.minute();
            let load = std::mem::take(&mut kept.load);
            (kept.open, kept.waits) = (OpenMinute::default(), kept.waits_now.clone());
            if kept.hours.back().is_none_or(|hour| hour.number != number) {
                kept.hours.push_back(Hour { number, ..Hour::default() });
            }
            if kept.hours.len() > HOURS_MAX {
                kept.hours.pop_front();
            }
            if let Some(hour) = kept.hours.back_mut() {
                hour.minutes += 1;
                hour.load.add(&load);
                if minute.present() >= hour.busiest.present() {
                    hour.busiest = minute;
                }
            }
        }
        // Hosts and applications that are gone.
        self.kept.retain(|_, kept| kept.hours.back().is_some_and(|hour| number - hour.number < HOURS_MAX as i64));
    }

    /// What was seen in hours that are within a period at least in part. `now`: the present moment.
    pub(crate) fn busiest(&self, resource: &Resource, from: Millis, to: Millis, now: Millis) -> Option<Busiest> {
        let kept = self.kept.get(resource)?;
        let open = Hour { number: now.0.div_euclid(HOUR), busiest: kept.minute(), minutes: 1, load: kept.load };
        let open = (kept.open.samples() >= super::minute::SAMPLES_MIN).then_some(open);
        let meets = |hour: &Hour| hour.number * HOUR < to.0.max(from.0 + 1) && (hour.number + 1) * HOUR > from.0;
        let mut found: Option<Busiest> = None;
        let mut load = Concurrency::default();
        for hour in kept.hours.iter().chain(&open).filter(|hour| meets(hour)) {
            load.add(&hour.load);
            let minutes = found.map_or(0, |found| found.minutes) + hour.minutes;
            let best = found.filter(|best| best.minute.present() > hour.busiest.present());
            let new = Busiest { minute: hour.busiest, hour: Millis(hour.number * HOUR), minutes, slows_down: false };
            found = Some(Busiest { minutes, ..best.unwrap_or(new) });
        }
        found.map(|found| Busiest { slows_down: load.slows_down(), ..found })
    }

    /// All pools and limits, in order.
    pub(crate) fn resources(&self) -> Vec<&Resource> {
        let mut all: Vec<&Resource> = self.kept.keys().collect();
        all.sort();
        all
    }
}

impl Kept {
    /// Adds a second. `used`: the places in use now, where the time for which they are in use is not counted.
    fn see(&mut self, capacity: u64, present: u64, counts: Counts, used: Option<f64>) {
        let before = std::mem::replace(&mut self.before, counts);
        let more = |now: u64, before: u64| now.saturating_sub(before);
        // The first sample only has the counts of the time before.
        if before.served + before.nanos == 0 && counts.nanos > 0 {
            return;
        }
        let nanos = more(counts.nanos, before.nanos);
        let served = more(counts.served, before.served);
        let used_s = used.unwrap_or(nanos as f64 / 1e9);
        let present = if used.is_none() && present == 0 { used_s.round() as u64 } else { present };
        // The squares wrap around. The number of services does not: where it went back, the counts began again.
        let began_again = counts.ended < before.ended;
        let squares = if began_again { 0 } else { counts.squares.wrapping_sub(before.squares) } as f64 / 1e12;
        let rejected = more(counts.rejected, before.rejected);
        self.open.see(&Second { capacity, present, served, used_s, squares, rejected });
        let (ended, ended_nanos) = (more(counts.ended, before.ended), more(counts.ended_nanos, before.ended_nanos));
        self.load.add(&Concurrency::of(ended, ended_nanos));
    }

    fn minute(&self) -> Minute {
        self.open.minute(&difference(&self.waits_now, &self.waits))
    }
}

/// The sums of the calls to each host, by the number of its bound.
fn sums(recorder: &Recorder, facts: &Facts) -> FastMap<u64, CallSums> {
    if facts.hosts.is_empty() {
        return FastMap::default();
    }
    let numbers: FastMap<&str, u64> = facts.hosts.iter().map(|host| (host.host.as_str(), host.number)).collect();
    let upstreams = recorder.upstreams();
    upstreams.iter().filter_map(|calls| Some((*numbers.get(calls.host())?, calls.sums()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Clock;

    #[test]
    fn the_busiest_minute_of_a_period_is_found_and_hours_before_it_do_not_count() {
        let recorder = Recorder::silent(Clock::default());
        let bound = Bound::new(BoundName::UpstreamCalls, "7", 16);
        recorder.register(bound.clone());
        let (mut loads, facts) = (Loads::default(), Facts::default());
        let at = |hour: i64| Millis(hour * HOUR);
        // Ten hours, each with one minute: as many calls as the hour says.
        for hour in 0..10_i64 {
            let calls: Vec<_> = (0..10 - hour).map(|_| bound.enter().unwrap()).collect();
            for _ in 0..SAMPLES {
                calls.iter().for_each(|_| bound.waited(0));
                loads.sample(&recorder, &facts, at(hour));
            }
        }
        let calls = Resource::Calls("7".into());
        let busiest = |from, to| {
            let found = loads.busiest(&calls, at(from), at(to), at(10)).unwrap();
            (found.minute.mean(), found.hour.0 / HOUR, found.minutes)
        };
        assert_eq!(busiest(0, 10), (10.0, 0, 10));
        assert_eq!(busiest(3, 6), (7.0, 3, 3));
        assert_eq!(loads.since, Some(at(0)));
        assert!(loads.busiest(&calls, at(20), at(30), at(10)).is_none() && loads.resources().contains(&&calls));
        assert!(loads.busiest(&Resource::Calls("8".into()), at(0), at(9), at(9)).is_none());
    }

    #[test]
    fn counts_that_go_back_or_are_missing_for_a_while_add_no_squares() {
        let mut kept = Kept::default();
        let mut see = |ended, squares| {
            kept.see(8, 1, Counts { served: 9, squares, ended, ..Counts::default() }, Some(1.0));
            kept.minute().squares
        };
        assert_eq!(see(3, 5_000_000_000_000), 5.0);
        assert_eq!(see(0, 0), 5.0);
        assert_eq!(see(1, 1_000_000_000_000), 6.0);
        let recorder = Recorder::silent(Clock::default());
        let bound = Bound::new(BoundName::UpstreamCalls, "7", 16);
        let mut loads = Loads::default();
        let calls = Resource::Calls("7".into());
        let known = CallSums { calls: 4, nanos: 40, squares: 9, ..CallSums::default() };
        for sums in [Some(known), None] {
            loads.queue(calls.clone(), &bound, sums);
            let before = loads.kept[&calls].before;
            assert_eq!((before.ended, before.ended_nanos, before.squares), (4, 40, 9));
        }
        assert!(sums(&recorder, &Facts::default()).is_empty());
    }

    #[test]
    fn the_minute_under_way_counts_once_it_has_some_samples() {
        let recorder = Recorder::silent(Clock::default());
        let (pool, bound) = (recorder.pool(PoolName::BlobThreads, 2), Bound::new(BoundName::BlobThreads, "single", 9));
        recorder.register(bound.clone());
        let (mut loads, facts, now) = (Loads::default(), Facts::default(), Millis(HOUR + 5));
        let (_working, _slots) = (pool.work(), [bound.enter(), bound.enter(), bound.enter()]);
        let blobs = Resource::Pool("blob.threads");
        for samples in 1..=6 {
            loads.sample(&recorder, &facts, now);
            let found = loads.busiest(&blobs, Millis(0), now, now);
            assert_eq!(found.is_some(), samples >= 5, "{samples}");
        }
        let minute = loads.busiest(&blobs, Millis(0), now, now).unwrap().minute;
        assert_eq!((minute.capacity, minute.peak, minute.full_share()), (2, 3, 1.0));
    }
}
