//! What looking costs on a large server: 500 repositories, 200 hosts, 1,000 clients. The figures are printed; how they grow is checked.

use super::server::{Server, facts};
use super::traffic::Traffic;
use crate::normal::normals::Normals;
use crate::random::Random;
use std::sync::Arc;
use telemetry::{
    Bound, BoundName, Event, Kind, Layer, Log, MemberRecord, MemberSaid, Millis, Op, Outcome, UpstreamUse, thread_nanos,
};
use tempfile::TempDir;

const REPOSITORIES: u64 = 500;
const HOSTS: u64 = 200;
const CLIENTS: u64 = 1000;

struct Large {
    server: Server,
    _folder: TempDir,
    traffic: Traffic,
    /// The processor time of samples and looks, in nanoseconds.
    nanos: u64,
}

impl Large {
    fn new() -> Self {
        let bounds = (0..HOSTS).map(|number| Bound::new(BoundName::UpstreamCalls, &number.to_string(), 32));
        let others = BoundName::ALL.iter().map(|name| Bound::new(*name, "", 64));
        let bounds: Vec<Arc<Bound>> = bounds.chain(others).collect();
        let facts = facts(REPOSITORIES as usize, HOSTS as usize);
        let mut server = Server::new(Millis(1_793_534_400_000), facts, bounds.into_iter());
        let folder = tempfile::tempdir().unwrap();
        server.normals = Some(Normals::open(Some(folder.path().to_owned()), Arc::default(), Log::silent()));
        let traffic = Traffic {
            random: Random::new(7),
            repositories: REPOSITORIES,
            hosts: HOSTS,
            clients: CLIENTS,
            packages: 10_000,
            slowest_ms: 200,
            hits: 60,
            misses: 20,
            gone: None,
        };
        Self { server, _folder: folder, traffic, nanos: 0 }
    }

    /// A minute with so many requests.
    fn minute(&mut self, requests: u64) {
        for look in 0..6 {
            for _ in 0..requests / 6 {
                self.traffic.request(&mut self.server);
            }
            let began = thread_nanos();
            for second in 1..=10 {
                self.server.sample(1, second == 10);
            }
            self.server.look(look == 0);
            self.nanos += thread_nanos() - began;
        }
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it is a measurement, whose length a variable of the environment sets"
)]
fn looking_costs_no_more_later_than_at_first() {
    let mut large = Large::new();
    (0..6).for_each(|_| large.minute(1200));
    let first = std::mem::take(&mut large.nanos) / 6;
    let minutes = std::env::var("DAYLIGHT_COST_MINUTES").map_or(8, |minutes| minutes.parse().unwrap());
    (0..minutes).for_each(|_| large.minute(1200));
    let then = large.nanos / minutes;
    let window = &large.server.seen.recent;
    let (repositories, hosts) = (window.repositories.0.len(), window.hosts.0.len());
    let clients = window.clients.iter().count();
    println!(
        "a look at {repositories} repositories, {hosts} hosts and {clients} clients: {:.2} ms of processor time a minute at first, {:.2} ms later",
        first as f64 / 1e6,
        then as f64 / 1e6
    );
    let mut checks: Vec<_> = large.server.spent.checks.iter().collect();
    checks.sort_by_key(|(_, nanos)| std::cmp::Reverse(**nanos));
    for (name, nanos) in checks.iter().take(8) {
        println!("{:8.3} ms a minute for {name}", **nanos as f64 / 1e6 / (minutes + 6) as f64);
    }
    assert!(repositories > 400 && hosts > 50 && clients > 900, "{repositories} {hosts} {clients}");
    assert!(then < 4 * first, "{first} ns, then {then} ns");
}

/// A request through a group whose first member had nothing and whose second one called its upstream.
fn through_a_group(event: &mut Event) {
    event.layer = Layer::Group;
    [Op::TruthRead, Op::CacheRead, Op::MembersAsk, Op::BodySend].into_iter().for_each(|op| event.add(op, 50_000));
    let record = |name, said| MemberRecord { nanos: 40_000, ..MemberRecord::new(name, said, None) };
    let mut has = record("central", MemberSaid::Hit);
    let used = UpstreamUse { host: "central.example.org:443".into(), calls: 1, reused: 1, ..UpstreamUse::default() };
    has.upstream = Some(used.into());
    event.members = vec![record("ours", MemberSaid::NotFound), has];
}

/// A page hit, and a request through a group, of a repository and a client that were seen before.
#[test]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it is a measurement, whose length a variable of the environment sets"
)]
fn counting_requests_keeps_one_row_for_each_repository_client_and_member() {
    let mut server = Server::new(Millis(1_793_534_400_000), facts(6, 1), std::iter::empty());
    let mut event = Event::default();
    (event.kind, event.layer, event.status) = (Kind::Request, Layer::Page, 200);
    (event.client, event.agent) = ("10.0.0.1".into(), "Bundler/2.5.22".into());
    event.subject.repository = "repository-1".into();
    event.path = "/repository/repository-1/info/lamp".to_owned();
    (event.first_byte, event.duration, event.outcome) = (20_000, 40_000, Some(Outcome::Answered));
    event.add(Op::PageLookup, 2000);
    let hits = std::env::var("DAYLIGHT_COST_HITS").map_or(1000, |hits| hits.parse().unwrap());
    let mut count = |event: &mut Event| {
        let began = thread_nanos();
        (0..hits).for_each(|_| server.end(event));
        (thread_nanos() - began) / hits
    };
    let hit = count(&mut event);
    through_a_group(&mut event);
    let through = count(&mut event);
    println!("counting a page hit: {hit} ns of processor time; a request through a group: {through} ns");
    server.sample(10, true);
    server.look(true);
    let recent = &server.seen.recent;
    assert_eq!((recent.requests.all.hits, recent.repositories.0.len(), recent.clients.iter().count()), (hits, 1, 1));
    assert_eq!(recent.members.of("repository-1", "central").unwrap().hits, hits);
}
