//! The figures of one client.

use super::loops::Loops;
use super::path_sample::PathSample;
use crate::hash::hash_of;
use crate::signals::worst::Worst;
use std::sync::Arc;
use telemetry::{Agent, Glance, Op, OpPlace, Outcome};

/// The kinds of answers that are neither files nor documents. Answers without a kind are neither as well.
const OTHERS: [&str; 2] = ["checksum", "dependencies"];
/// The kinds of documents that change at their path, so that clients ask for them again.
pub(crate) const DOCUMENTS: [&str; 5] = ["metadata", "versions", "info", "names", "specs"];
/// The most agents of a client that are told apart.
const AGENTS_MAX: usize = 4;

/// How long requests took, and what of it was work of this server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClientTime {
    /// Requests that ended.
    pub(crate) requests: u64,
    /// Their durations, in nanoseconds.
    pub(crate) nanos: u64,
    /// The part of it in which the server worked, in nanoseconds.
    pub(crate) work: u64,
    /// The part of it in which they waited for threads of the server, in nanoseconds.
    pub(crate) waited: u64,
    /// Requests that were refused for lack of room (503).
    pub(crate) shed: u64,
}

impl ClientTime {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.nanos += other.nanos;
        self.work += other.work;
        self.waited += other.waited;
        self.shed += other.shed;
    }
}

/// The time of a request.
pub(super) fn works(event: &Glance<'_>) -> ClientTime {
    let figures = event.figures;
    let shed = u64::from(figures.outcome == Some(Outcome::Shed));
    let mut time = ClientTime { requests: 1, nanos: figures.duration, work: 0, waited: 0, shed };
    if event.is_hit() {
        time.work = figures.first_byte;
        return time;
    }
    let mut elsewhere = 0;
    for (op, tally) in event.ops.iter().filter(|(op, _)| op.place() == OpPlace::Line) {
        match spent(*op) {
            Spent::Waiting => time.waited += tally.nanos,
            Spent::Elsewhere => elsewhere += tally.nanos,
            Spent::Working => {}
        }
    }
    time.work = figures.duration.saturating_sub(elsewhere + time.waited);
    for (op, tally) in event.members.iter().flat_map(|member| &member.ops) {
        match spent(*op) {
            Spent::Waiting => time.waited += tally.nanos,
            Spent::Working => time.work += tally.nanos,
            Spent::Elsewhere => {}
        }
    }
    time
}

/// What the time of an operation was spent on.
enum Spent {
    /// Work of this server.
    Working,
    /// Waiting for threads of this server.
    Waiting,
    /// Waiting for clients, upstreams and applications. Members of groups have their own operations.
    Elsewhere,
}

fn spent(op: Op) -> Spent {
    match op {
        Op::TruthWait | Op::CommitWait | Op::CacheWait | Op::BlobWait | Op::WorkWait | Op::ViewWait | Op::LoopWait => {
            Spent::Waiting
        }
        Op::ObjectWait => Spent::Waiting,
        Op::HeadRead
        | Op::BodyReceive
        | Op::BodySend
        | Op::BodyWait
        | Op::MembersAsk
        | Op::FlightWait
        | Op::TurnWait => Spent::Elsewhere,
        Op::UpstreamWait | Op::UpstreamPause | Op::UpstreamResolve | Op::UpstreamTcp | Op::UpstreamProxy => {
            Spent::Elsewhere
        }
        Op::UpstreamTls | Op::UpstreamFirstByte | Op::UpstreamBody | Op::AppWait | Op::AppConnect | Op::AppAnswer => {
            Spent::Elsewhere
        }
        Op::ObjectPut | Op::ObjectGet | Op::ObjectLook | Op::ObjectList | Op::ObjectDelete => Spent::Elsewhere,
        Op::EventsWait | Op::AskWait | Op::MetricsWrite | Op::AppPagesRead | Op::CommitEverywhere | Op::NodesWait => {
            Spent::Elsewhere
        }
        _ => Spent::Working,
    }
}

/// The figures of one client: an address with a token.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientSeen {
    /// The hash of its address and token.
    pub(super) key: u64,
    /// Its address, as it is recorded: it may be that of a network, or empty.
    pub(crate) address: Arc<str>,
    /// The name of its token. Empty: it sent none.
    pub(crate) token: Box<str>,
    /// The agent of its first request, without the id of the run.
    pub(crate) agent: Arc<str>,
    /// The hashes of its agents, the first ones.
    pub(crate) agents: Vec<u64>,
    /// The hash of its last agent, with the id of the run.
    pub(super) last_agent: u64,
    /// The time of all its requests.
    pub(crate) time: ClientTime,
    /// How long others waited for threads while this client took at least half of the server's work, in nanoseconds, and how many of their
    /// requests were refused meanwhile: known of sums only.
    pub(crate) blamed: (u64, u64),
    /// Bytes that it was sent.
    pub(crate) bytes: u64,
    /// Requests for repositories.
    pub(crate) requests: u64,
    /// Requests with a TLS handshake, and the nanoseconds of these.
    pub(crate) handshakes: (u64, u64),
    /// Files that never change: the downloads, their nanoseconds and bytes.
    pub(crate) downloads: Sum,
    /// Documents that change: answers with their content.
    pub(crate) documents: Sum,
    /// Documents that change: answers without content, since the client's copy is current.
    pub(crate) current: u64,
    /// A sample of the files.
    pub(crate) files: PathSample,
    /// A sample of the documents.
    pub(crate) lists: PathSample,
    /// The paths that it asked for most.
    pub(crate) loops: Loops,
    /// The paths that failed most.
    pub(crate) failing: Loops,
    /// Its request that took longest.
    pub(crate) worst: Worst,
}

/// Requests with their time and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Requests.
    pub(crate) count: u64,
    /// Their durations, in nanoseconds.
    pub(crate) nanos: u64,
    /// The bytes of their answers.
    pub(crate) bytes: u64,
}

impl Sum {
    fn see(&mut self, event: &Glance<'_>) {
        self.add(&Sum { count: 1, nanos: event.figures.duration, bytes: event.figures.bytes_out });
    }

    fn add(&mut self, other: &Sum) {
        self.count += other.count;
        self.nanos += other.nanos;
        self.bytes += other.bytes;
    }
}

impl ClientSeen {
    /// How it is named as a subject: by its address with its token.
    pub(crate) fn subject(&self) -> String {
        match (&*self.address, &*self.token) {
            ("", token) => format!("token:{token}"),
            (address, "") => format!("client:{address}"),
            (address, token) => format!("client:{address}/{token}"),
        }
    }

    /// Its name in a sentence.
    pub(crate) fn name(&self) -> String {
        match (&*self.address, &*self.token) {
            ("", token) => format!("the token `{token}`"),
            (address, "") => format!("the client {address}"),
            (address, token) => format!("the client {address} with the token `{token}`"),
        }
    }

    /// Its filter of a question.
    pub(crate) fn filter(&self) -> [serde_json::Value; 2] {
        [serde_json::json!(["client", "=", &*self.address]), serde_json::json!(["token", "=", self.token])]
    }

    /// Those with the smallest weight are forgotten first.
    pub(super) fn weight(&self) -> u64 {
        // A request that costs nothing counts as 100 microseconds: tight loops are cheap, and are to be seen.
        self.time.nanos + self.time.requests * 100_000
    }

    /// Counts a request for a repository. `path`: the hash of its path. Returns whether it shows a fault best.
    pub(super) fn see(&mut self, event: &Glance<'_>, path: u64) -> bool {
        let figures = event.figures;
        self.requests += 1;
        self.bytes += figures.bytes_out;
        if let Some((_, tally)) = event.ops.iter().find(|(op, _)| *op == Op::TlsHandshake) {
            self.handshakes.0 += 1;
            self.handshakes.1 += tally.nanos;
        }
        self.worst.see(figures.duration, figures.id);
        let mut shows = self.loops.see(event, path);
        if matches!(figures.outcome, Some(Outcome::Failed | Outcome::Shed)) {
            shows |= self.failing.see(event, path);
        } else if figures.method != "GET" || figures.file.is_empty() {
            // Nothing that a client could keep.
        } else if DOCUMENTS.contains(&figures.file) {
            match figures.outcome {
                Some(Outcome::Answered) => {
                    self.documents.see(event);
                    shows |= self.lists.see(event, path);
                }
                Some(Outcome::NotModified) => self.current += 1,
                _ => {}
            }
        } else if figures.outcome == Some(Outcome::Answered) && !OTHERS.contains(&figures.file) {
            self.downloads.see(event);
            shows |= self.files.see(event, path);
        }
        shows
    }

    pub(super) fn see_agent(&mut self, agent: &str) {
        let raw = hash_of(&[agent]);
        if raw == self.last_agent || self.agents.len() >= AGENTS_MAX {
            return;
        }
        self.last_agent = raw;
        let without = Agent::without_run(agent);
        if self.agents.is_empty() {
            self.agent = (&*without).into();
        }
        self.know_agent(hash_of(&[&without]));
    }

    fn know_agent(&mut self, agent: u64) {
        if !self.agents.contains(&agent) && self.agents.len() < AGENTS_MAX {
            self.agents.push(agent);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        if self.agents.is_empty() {
            self.agent.clone_from(&other.agent);
        }
        other.agents.iter().for_each(|agent| self.know_agent(*agent));
        self.time.add(&other.time);
        self.blamed = (self.blamed.0 + other.blamed.0, self.blamed.1 + other.blamed.1);
        self.bytes += other.bytes;
        self.requests += other.requests;
        self.handshakes = (self.handshakes.0 + other.handshakes.0, self.handshakes.1 + other.handshakes.1);
        self.downloads.add(&other.downloads);
        self.documents.add(&other.documents);
        self.current += other.current;
        self.files.add(&other.files);
        self.lists.add(&other.lists);
        self.loops.add(&other.loops);
        self.failing.add(&other.failing);
        self.worst.add(&other.worst);
    }
}
