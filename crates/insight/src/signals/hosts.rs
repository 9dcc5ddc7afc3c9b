//! Figures of calls to hosts of upstreams, and of what requests waited for them.
//!
//! The event that ran the operations of a call counts it: the job of a download, or a request that called by itself. Requests that waited
//! for a download count as its followers, and name the client that caused the call.

use super::call_limits::LimitSeen;
use super::causes::Causes;
use super::concurrency::Concurrency;
use super::lost_packets::LostPackets;
use super::worst::Worst;
use crate::hash::FastMap;
use std::collections::HashMap;
use telemetry::{ClosedBy, Glance, Kind, MemberRecord, MemberSaid, Op, Outcome, Reason, Tally, UpstreamUse};

/// The most hosts with figures of their own. Calls to further ones are not counted.
const HOSTS_MAX: usize = 64;
/// The most repositories of a host whose waits are told apart.
const REPOSITORIES_MAX: usize = 64;

/// From this time on the head of a response is slow, in nanoseconds: a second.
pub(crate) const SLOW: u64 = 1_000_000_000;

/// One operation of the calls to a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CallPart {
    /// The runs.
    pub(crate) runs: u64,
    /// Their time, in nanoseconds.
    pub(crate) nanos: u64,
    /// The time that requests waited for them, in nanoseconds: the time of a download counts for each request that waits for it.
    pub(crate) waited: u64,
    /// The event for which most was waited.
    pub(crate) worst: Worst,
}

/// The figures of one host.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostSeen {
    /// Calls that were made.
    pub(crate) calls: u64,
    /// Connections that were opened for them.
    pub(crate) connects: u64,
    /// Calls over a connection that an earlier call had left open.
    pub(crate) reused: u64,
    /// Connections that the upstream closed after a call.
    pub(crate) closed_by_upstream: u64,
    /// Connections that this server closed.
    pub(crate) closed_by_us: u64,
    /// Responses whose head came later than [`SLOW`].
    pub(crate) slow_heads: u64,
    /// Connections and lookups of names that took as long as a lost packet is repeated after.
    pub(crate) lost_packets: LostPackets,
    /// How far its limit is.
    pub(crate) limit: LimitSeen,
    /// Whether more calls at once take longer.
    pub(crate) load: Concurrency,
    /// Requests that needed it; members of groups count one by one.
    pub(crate) asked: u64,
    /// Those of them that failed because of it, the time that they took, in nanoseconds, and the one that took longest.
    pub(crate) failed: u64,
    pub(crate) failed_nanos: u64,
    pub(crate) worst_failed: Worst,
    /// Requests that got an older file because of it.
    pub(crate) stale: u64,
    /// Requests that went well since the last that did not.
    pub(crate) well: u64,
    /// Requests that failed or got an older file because of it, by reason.
    pub(crate) reasons: HashMap<Reason, u64>,
    /// Who causes the calls.
    pub(crate) causes: Causes,
    /// By repository, the time that requests waited for each part, in nanoseconds.
    by_repository: HashMap<Box<str>, [u64; Op::OF_CALLS.len()]>,
    parts: [CallPart; Op::OF_CALLS.len()],
}

/// The place of an operation among those of a call.
fn place(op: Op) -> Option<usize> {
    Op::OF_CALLS.iter().position(|part| *part == op)
}

impl HostSeen {
    /// The figures of an operation of the calls.
    pub(crate) fn part(&self, op: Op) -> CallPart {
        place(op).map(|at| self.parts[at]).unwrap_or_default()
    }

    /// The figures of an operation of the calls, to be changed.
    #[cfg(test)]
    pub(crate) fn part_mut(&mut self, op: Op) -> &mut CallPart {
        &mut self.parts[place(op).unwrap_or_default()]
    }

    /// The seconds of a call with a place and a connection: from the request to the last byte of the response.
    pub(crate) fn service_s(&self) -> f64 {
        let nanos = |op| self.part(op).nanos;
        let all = self.set_up_nanos() + nanos(Op::UpstreamFirstByte) + nanos(Op::UpstreamBody);
        all as f64 / 1e9 / self.calls.max(1) as f64
    }

    /// The time to set connections up, in nanoseconds.
    pub(crate) fn set_up_nanos(&self) -> u64 {
        Op::OF_SET_UP.into_iter().map(|op| self.part(op).nanos).sum()
    }

    /// The seconds that requests waited for these operations, by repository.
    pub(crate) fn waited(&self, ops: &[Op]) -> impl Iterator<Item = (&str, f64)> {
        let places: Vec<usize> = ops.iter().filter_map(|op| place(*op)).collect();
        let of = move |nanos: &[u64; Op::OF_CALLS.len()]| places.iter().map(|at| nanos[*at]).sum::<u64>();
        self.by_repository.iter().map(move |(name, nanos)| (&**name, of(nanos) as f64 / 1e9)).filter(|(_, s)| *s > 0.0)
    }

    /// Adds time that requests of a repository waited for an operation.
    pub(crate) fn wait(&mut self, repository: &str, op: Op, nanos: u64) {
        let Some(at) = place(op).filter(|_| nanos > 0) else { return };
        let is_full = self.by_repository.len() >= REPOSITORIES_MAX;
        match self.by_repository.get_mut(repository) {
            Some(mine) => mine[at] += nanos,
            None if is_full => {}
            None => self.by_repository.entry(repository.into()).or_default()[at] = nanos,
        }
    }

    /// Counts the calls that an event made itself. `followers`: requests that waited for it. Returns whether the event shows a fault best.
    fn call(&mut self, event: &Glance<'_>, used: &UpstreamUse, ops: &[(Op, Tally)], followers: u64) -> bool {
        if used.flight.is_none() {
            self.calls += u64::from(used.calls);
            self.connects += u64::from(used.connects);
            self.reused += u64::from(used.reused);
            self.closed_by_upstream += u64::from(used.closed_by == Some(ClosedBy::Upstream));
            self.closed_by_us += u64::from(used.closed_by == Some(ClosedBy::Us));
        } else {
            // The record of an event that waited for a download as well has the calls and connections of the download. Its own ones are
            // known by its operations; how they were closed is not.
            let runs = |part: Op| ops.iter().find(|(op, _)| *op == part).map_or(0, |(_, tally)| u64::from(tally.count));
            let heads = runs(Op::UpstreamFirstByte);
            let connects = runs(Op::UpstreamTcp).min(u64::from(used.connects));
            self.calls += heads;
            self.connects += connects;
            self.reused += heads.saturating_sub(connects).min(u64::from(used.reused));
        }
        let mut shows = false;
        for (op, tally) in ops {
            let Some(at) = place(*op) else { continue };
            let waited = tally.nanos.saturating_mul(followers);
            let part = &mut self.parts[at];
            part.runs += u64::from(tally.count);
            part.nanos += tally.nanos;
            part.waited += waited;
            shows |= followers > 0 && part.worst.see(waited, event.figures.id);
            self.wait(event.repository, *op, waited);
            let each = tally.nanos / u64::from(tally.count.max(1));
            if *op == Op::UpstreamFirstByte && each > SLOW {
                self.slow_heads += u64::from(tally.count);
            }
            self.lost_packets.see(*op, each, followers);
        }
        shows
    }

    /// Counts a request that needed the host. Returns whether the event shows a failure best.
    fn ask(&mut self, event: &Glance<'_>, ops: &[(Op, Tally)], trouble: Option<Trouble>) -> bool {
        self.asked += 1;
        let Some(Trouble { reason, is_stale }) = trouble else {
            self.well += 1;
            return false;
        };
        self.well = 0;
        if let Some(reason) = reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
        if is_stale {
            self.stale += 1;
        } else {
            let waits = |op: Op| op == Op::FlightWait || place(op).is_some();
            self.failed += 1;
            self.failed_nanos += ops.iter().filter(|(op, _)| waits(*op)).map(|(_, tally)| tally.nanos).sum::<u64>();
        }
        self.worst_failed.keep(event.figures.duration, event.figures.id)
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.connects += other.connects;
        self.reused += other.reused;
        self.closed_by_upstream += other.closed_by_upstream;
        self.closed_by_us += other.closed_by_us;
        self.slow_heads += other.slow_heads;
        self.lost_packets.add(&other.lost_packets);
        // Sums are made in the order of time.
        self.well = if other.failed + other.stale == 0 { self.well + other.well } else { other.well };
        self.limit.add(&other.limit);
        self.load.add(&other.load);
        self.asked += other.asked;
        self.failed += other.failed;
        self.failed_nanos += other.failed_nanos;
        self.worst_failed.add(&other.worst_failed);
        self.stale += other.stale;
        other.reasons.iter().for_each(|(reason, count)| *self.reasons.entry(*reason).or_default() += count);
        self.causes.add(&other.causes);
        for (repository, theirs) in &other.by_repository {
            Op::OF_CALLS.iter().zip(theirs).for_each(|(op, nanos)| self.wait(repository, *op, *nanos));
        }
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            mine.runs += theirs.runs;
            mine.nanos += theirs.nanos;
            mine.waited += theirs.waited;
            mine.worst.add(&theirs.worst);
        }
    }
}

/// The hosts that were called, by `name:port`.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostsSeen(pub(crate) FastMap<Box<str>, HostSeen>);

impl HostsSeen {
    /// The figures of a host.
    pub(crate) fn of(&self, host: &str) -> Option<&HostSeen> {
        self.0.get(host)
    }

    /// Adds what was sampled about a host.
    pub(crate) fn sampled(&mut self, host: &str, limit: &LimitSeen, load: &Concurrency) {
        if let Some(host) = self.host(host) {
            host.limit.add(limit);
            host.load.add(load);
        }
    }

    /// Counts an event. Returns whether it is worth storing, because it shows a fault best.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        let mut shows = false;
        for member in event.members {
            if let Some(used) = member.upstream.as_deref() {
                let said = Trouble::of_member(member);
                shows |= self.see_part(event, used, &member.ops, said);
            }
        }
        let has_members = event.members.iter().any(|member| member.upstream.is_some());
        // The record of a group is the sum of those of its members.
        if let Some(used) = event.more.and_then(|more| more.upstream.as_ref()).filter(|_| !has_members) {
            shows |= self.see_part(event, used, event.ops, Trouble::of_request(event));
        }
        shows
    }

    fn see_part(
        &mut self,
        event: &Glance<'_>,
        used: &UpstreamUse,
        ops: &[(Op, Tally)],
        trouble: Option<Trouble>,
    ) -> bool {
        let Some(host) = self.host(&used.host) else { return false };
        let is_request = event.figures.kind == Kind::Request;
        let mut shows = false;
        if ops.iter().any(|(op, _)| place(*op).is_some()) {
            let followers = if is_request { 1 } else { u64::from(used.followed) };
            shows = host.call(event, used, ops, followers);
        }
        if is_request {
            host.causes.see(event.client, event.token, u64::from(used.calls));
            shows |= host.ask(event, ops, trouble);
        }
        shows
    }

    fn host(&mut self, name: &str) -> Option<&mut HostSeen> {
        if name.is_empty() || (self.0.len() >= HOSTS_MAX && !self.0.contains_key(name)) {
            return None;
        }
        if !self.0.contains_key(name) {
            self.0.insert(name.into(), HostSeen::default());
        }
        self.0.get_mut(name)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, theirs) in &other.0 {
            if let Some(mine) = self.host(name) {
                mine.add(theirs);
            }
        }
    }
}

/// What an upstream did to a request.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    reason: Option<Reason>,
    /// It got an older file, and is no failure.
    is_stale: bool,
}

impl Trouble {
    fn of_member(member: &MemberRecord) -> Option<Self> {
        let reason = member.reason.filter(|reason| is_of_upstream(*reason));
        match member.said {
            MemberSaid::Stale => Some(Self { reason, is_stale: true }),
            MemberSaid::Failed | MemberSaid::Timeout => Some(Self { reason, is_stale: false }),
            _ => None,
        }
    }

    fn of_request(event: &Glance<'_>) -> Option<Self> {
        let failed = matches!(event.figures.outcome, Some(Outcome::Failed | Outcome::Shed));
        let reason = event.figures.reason.filter(|reason| failed && is_of_upstream(*reason))?;
        Some(Self { reason: Some(reason), is_stale: false })
    }
}

fn is_of_upstream(reason: Reason) -> bool {
    reason.as_str().starts_with("upstream_")
}
