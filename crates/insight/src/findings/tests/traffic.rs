//! Requests as healthy clients send them, the same ones for each seed.

use super::server::{Server, host, millis};
use crate::random::Random;
use telemetry::{Class, Event, EventId, Kind, Layer, MemberRecord, MemberSaid, Op, Outcome, Reason, UpstreamUse};

/// Requests of one server.
pub(super) struct Traffic {
    pub(super) random: Random,
    /// The repositories and hosts.
    pub(super) repositories: u64,
    pub(super) hosts: u64,
    pub(super) clients: u64,
    /// The packages of a repository.
    pub(super) packages: u64,
    /// How long a host takes for a response, in milliseconds: each has its own, which stays.
    pub(super) slowest_ms: u64,
    /// The percentage of requests that are answered from memory, and of others that need an upstream.
    pub(super) hits: u64,
    pub(super) misses: u64,
    /// The host that cannot be reached now.
    pub(super) gone: Option<u64>,
}

impl Traffic {
    /// One request ends, with the job of its download if it needed one.
    pub(super) fn request(&mut self, server: &mut Server) {
        let repository = self.skewed(self.repositories);
        let client = self.skewed(self.clients);
        // A few packages are asked for often.
        let package = self.skewed(self.packages);
        let version = self.random.below(3);
        let mut event = Event::default();
        (event.kind, event.method, event.protocol) = (Kind::Request, "GET", "HTTP/1.1");
        event.client = format!("10.0.{}.{}", client / 250, client % 250 + 1).as_str().into();
        event.agent = ["Bundler/2.5.22", "Apache-Maven/3.9.9", "RubyGems/3.6.2"][(client % 3) as usize].into();
        event.subject.repository = format!("repository-{repository}").as_str().into();
        event.subject.package = format!("org.example:package-{package}").as_str().into();
        event.subject.version = format!("1.{version}").as_str().into();
        event.subject.kind = if self.random.below(4) == 0 { "info" } else { "gem" };
        event.path = format!("/repository/repository-{repository}/org/example/package-{package}/1.{version}/file");
        event.class = Some(Class::Downloads);
        let conditional = !client.is_multiple_of(4) && self.random.below(3) != 0;
        (event.status, event.outcome) =
            if conditional { (304, Some(Outcome::NotModified)) } else { (200, Some(Outcome::Answered)) };
        event.bytes_out = if conditional { 0 } else { 1000 + self.random.below(400_000) };
        let sending = self.random.below(millis(1)) + 20_000;
        let hit = self.random.below(100) < self.hits;
        if hit {
            event.layer = if event.subject.kind == "info" { Layer::Page } else { Layer::Open };
            event.add(Op::PageLookup, 2000);
        } else {
            self.work(server, &mut event, repository, conditional);
        }
        event.add(Op::BodySend, sending);
        event.first_byte = event.tallies().map(|(_, tally)| tally.nanos).sum::<u64>().max(30_000) - sending.min(20_000);
        event.duration = event.first_byte + sending;
        server.end(&mut event);
    }

    /// What a request costs that is not answered from memory.
    fn work(&mut self, server: &mut Server, event: &mut Event, repository: u64, conditional: bool) {
        event.layer = [Layer::Hosted, Layer::Remote, Layer::Group][(repository % 3) as usize];
        event.add(Op::TruthRead, 50_000 + self.random.below(millis(1)));
        if !conditional {
            event.add(Op::BlobOpen, 20_000 + self.random.below(200_000));
        }
        if repository.is_multiple_of(3) || self.random.below(100) >= self.misses {
            if repository % 3 == 2 {
                let has = self.random.below(2);
                for (place, member) in [repository - 2, repository - 1].into_iter().enumerate().take(has as usize + 1) {
                    let said = if place as u64 == has { MemberSaid::Hit } else { MemberSaid::NotFound };
                    let record = MemberRecord::new(format!("repository-{member}"), said, None);
                    event.members.push(MemberRecord { nanos: 100_000 + self.random.below(500_000), ..record });
                }
            }
            return;
        }
        let remote = if repository % 3 == 2 { repository - 1 } else { repository };
        let number = remote / 3 % self.hosts;
        let gone = self.gone == Some(number);
        let first = match gone {
            true => millis(5) + self.random.below(millis(5)),
            false => self.first_byte(number),
        };
        let (flight, body) = (EventId(1 << 40 | self.random.below(1 << 30)), self.random.below(millis(20)));
        let mut used = UpstreamUse { host: host(number as usize).as_str().into(), calls: 1, ..UpstreamUse::default() };
        (used.reused, used.connects) = if self.random.below(10) == 0 { (0, 1) } else { (1, 0) };
        used.status = if gone { 0 } else { 200 };
        let mut job = Event::default();
        (job.kind, job.method, job.layer) = (Kind::Job, "flight", Layer::Remote);
        job.subject.repository = format!("repository-{remote}").as_str().into();
        job.add(if gone { Op::UpstreamTcp } else { Op::UpstreamFirstByte }, first);
        job.add(Op::UpstreamBody, body);
        (job.duration, job.outcome) = (first + body, Some(if gone { Outcome::Failed } else { Outcome::Done }));
        job.reason = gone.then_some(Reason::UpstreamUnreachable);
        job.more_mut().upstream = Some(UpstreamUse { followed: 1, ..used.clone() });
        server.end(&mut job);
        event.more_mut().upstream = Some(UpstreamUse { flight: Some(flight), ..used });
        event.add(Op::FlightWait, first + body);
        if gone {
            (event.status, event.outcome, event.reason) =
                (502, Some(Outcome::Failed), Some(Reason::UpstreamUnreachable));
        }
    }

    /// A background job ends.
    pub(super) fn job(&mut self, server: &mut Server, name: &'static str, seconds: u64) {
        let mut event = Event::default();
        (event.kind, event.method, event.outcome) = (Kind::Job, name, Some(Outcome::Done));
        event.duration = millis(seconds * 1000 + self.random.below(1000));
        server.end(&mut event);
    }

    /// How long a host takes for the head of a response.
    fn first_byte(&mut self, number: u64) -> u64 {
        let usual = millis(20) + millis(self.slowest_ms) * number / self.hosts.max(1);
        usual * (80 + self.random.below(40)) / 100
    }

    /// A number below `limit`, of which small ones are frequent.
    fn skewed(&mut self, limit: u64) -> u64 {
        let unit = (self.random.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((unit * unit * limit as f64) as u64).min(limit - 1)
    }
}
