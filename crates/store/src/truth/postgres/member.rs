//! This node among the others: it beats, and keeps what the beats tell.

use super::beat::{Beat, Beaten, Sender};
use super::everywhere::Everywhere;
use super::freshness::Freshness;
use super::leases::Leases;
use super::nodes::{NodeRow, NodeState, Nodes, Row};
use super::options::DatabaseOptions;
use super::rhythm::CONNECT;
use super::session::Session;
use crate::error::Error;
use crate::journal::record::Seq;
use crate::truth::catalog::JournalRow;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::log::Incident;
use telemetry::{Log, Metric, Recorder, Tick, lock};
use tokio::sync::{Notify, watch};

/// The states that a node has itself, in their order.
const STATES: [NodeState; 3] = [NodeState::Joining, NodeState::Serving, NodeState::Draining];

/// This node.
#[derive(Debug)]
pub(crate) struct Member {
    pub(super) by: Arc<Sender>,
    folder: String,
    options: DatabaseOptions,
    log: Log,
    nodes: Nodes,
    pub(crate) leases: Arc<Leases>,
    pub(crate) freshness: Arc<Freshness>,
    pub(crate) everywhere: Arc<Everywhere>,
    /// An index in [`STATES`].
    state: AtomicU8,
    /// The last change whose effects are done.
    seen: AtomicU64,
    /// The last change that others are told of.
    tells: AtomicU64,
    /// The connection over which the history of the database was found to be that of the copy.
    agreed: AtomicU64,
    /// The connection over which it was found to be another one.
    parted: AtomicU64,
    /// How many beats were sent.
    beats: AtomicI64,
    /// The last beat found no other node.
    is_alone: AtomicBool,
    /// The last beat found another node, or one that was there within the last hour; or there was no beat yet.
    has_others: AtomicBool,
    /// The names of nodes that lived and are not in the table of nodes any more, which is emptied by a failover: they may have changes that the
    /// database lacks.
    awaited: Mutex<Vec<String>>,
    /// This process has not seen a table of nodes that names all, so it does not know whom to await.
    is_new: AtomicBool,
    /// The number of the last change, as the last beat saw it.
    counter: AtomicU64,
    /// Whether this node has its name; `None`: it is not known yet.
    has_name: watch::Sender<Option<bool>>,
    nameless: Incident,
    /// Wakes the thread that beats.
    wake: Arc<Notify>,
    /// There is another moment at which something is due.
    pub(super) due: Arc<Notify>,
}

/// The knowledge that one connection gave.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// The number of the last change.
    counter: Option<Seq>,
    /// The last change that others were told of.
    told: Seq,
    /// All appends are over that did not find this node among the nodes that call answers fresh.
    is_known: bool,
    /// The database has all changes that any node has, as far as it can be known.
    is_whole: bool,
    /// Until when nodes are awaited that lived before.
    awaits_until: Tick,
}

/// What follows after a beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A beat at once.
    Beat,
    /// A beat when there is news, or after the usual time.
    Wait,
}

impl Member {
    pub(super) fn new(options: DatabaseOptions, folder: u128, instance: [u8; 16], log: Log, wake: Arc<Notify>) -> Self {
        let mut text = String::new();
        for byte in instance {
            let _ = write!(text, "{byte:02x}");
        }
        let due = Arc::<Notify>::default();
        Self {
            by: Arc::new(Sender { node: options.node.clone(), instance: text }),
            folder: format!("{folder:032x}"),
            nodes: Nodes::default(),
            leases: Leases::shared(wake.clone()),
            freshness: Freshness::by_beats(log.clone(), due.clone()),
            everywhere: Arc::new(Everywhere::new(due.clone(), wake.clone())),
            state: AtomicU8::new(0),
            seen: AtomicU64::new(0),
            tells: AtomicU64::new(0),
            agreed: AtomicU64::new(0),
            parted: AtomicU64::new(0),
            beats: AtomicI64::new(0),
            is_alone: AtomicBool::new(false),
            has_others: AtomicBool::new(true),
            awaited: Mutex::default(),
            is_new: AtomicBool::new(true),
            counter: AtomicU64::new(0),
            has_name: watch::Sender::new(None),
            nameless: Incident::default(),
            wake,
            due,
            options,
            log,
        }
    }

    pub(super) fn register(self: &Arc<Self>, recorder: &Recorder) {
        let member = self.clone();
        let doc = "1 while answers have every change that was acknowledged by any machine";
        recorder.figure(Metric::gauge("database_fresh", doc), move || member.freshness.is_fresh().into());
        let member = self.clone();
        let doc = "Machines that work on the database and are alive, this one included";
        recorder.figure(Metric::gauge("cluster_nodes", doc), move || member.living() as f64);
    }

    /// All changes up to `seq` have taken effect here. `others`: some of them are other nodes'.
    pub(crate) fn saw(&self, seq: Seq, others: bool) {
        self.seen.fetch_max(seq.0, Ordering::AcqRel);
        self.freshness.saw(seq);
        if others {
            self.tells.fetch_max(seq.0, Ordering::AcqRel);
        }
        // Others wait for this, or this node for others.
        if others || !self.is_alone.load(Ordering::Acquire) {
            self.wake.notify_one();
        }
    }

    /// The history of the database is that of the copy, over this connection.
    pub(super) fn agrees(&self, connection: u64) {
        self.parted.store(0, Ordering::Release);
        self.agreed.store(connection, Ordering::Release);
        self.wake.notify_one();
    }

    /// It is another one, or cannot be compared, over this connection: what this node has is nothing that others must wait for.
    pub(super) fn parts(&self, connection: u64) {
        self.agreed.store(0, Ordering::Release);
        self.parted.store(connection, Ordering::Release);
        self.wake.notify_one();
    }

    /// This node answers, or is about to stop.
    pub(crate) fn is_now(&self, state: NodeState) {
        let at = STATES.iter().position(|known| *known == state).unwrap_or_default();
        self.state.store(at as u8, Ordering::Release);
        self.wake.notify_one();
    }

    /// An error while tokens are not believed: others, of which the last beat knew, may have revoked them too long ago.
    pub(crate) fn believes_tokens(&self) -> Result<(), Error> {
        match self.freshness.stale_for() {
            Some(stale) if stale > self.options.stale_private && self.has_others.load(Ordering::Acquire) => {
                Err(Error::TokensDoubted(stale.as_secs()))
            }
            _ => Ok(()),
        }
    }

    /// What this node does.
    pub(crate) fn state(&self) -> NodeState {
        STATES[usize::from(self.state.load(Ordering::Acquire)).min(STATES.len() - 1)]
    }

    /// All nodes, this one first.
    pub(crate) fn told(&self) -> Vec<NodeRow> {
        self.nodes.told(&self.by.instance)
    }

    /// This node, as it knows itself.
    pub(crate) fn own(&self) -> NodeRow {
        NodeRow {
            name: self.by.node.clone(),
            instance: self.by.instance.clone(),
            beat: self.beats.load(Ordering::Acquire),
            url: self.options.node_url.clone(),
            version: self.options.version.clone(),
            form: JournalRow::VERSION,
            state: self.state(),
            fresh: self.freshness.is_fresh(),
            seen: Seq(self.seen.load(Ordering::Acquire)),
            beat_age_ms: None,
            is_self: true,
        }
    }

    /// The nodes that live, this one included.
    pub(crate) fn living(&self) -> u64 {
        self.nodes.living(&self.by.instance)
    }

    /// A living node that does not read rows of the form `form`: its name, its version, and the highest form that it reads.
    pub(super) fn reads_less(&self, form: u32) -> Option<(String, String, u32)> {
        self.nodes.reads_less(form)
    }

    /// Whether another node has the name of this one, as far as it is known.
    pub(crate) fn is_nameless(&self) -> bool {
        *self.has_name.borrow() == Some(false)
    }

    /// The number of the last change, as the last beat saw it.
    pub(crate) fn counter(&self) -> Seq {
        Seq(self.counter.load(Ordering::Acquire))
    }

    /// A connection begins. Nodes that lived are awaited if the database does not know them any more.
    pub(super) fn begin(&self) -> Course {
        let mut awaited = lock(&self.awaited);
        for name in self.nodes.living_others(&self.by.instance) {
            if !awaited.contains(&name) {
                awaited.push(name);
            }
        }
        Course { awaits_until: Tick::now().plus(CONNECT), ..Course::default() }
    }

    /// Whether nothing new may be written yet, since a node that lived may have changes that the database lacks.
    pub(super) fn awaits_others(&self) -> bool {
        self.is_new.load(Ordering::Acquire) || !lock(&self.awaited).is_empty()
    }

    /// The name of a node that has changes which the database lacks, as far as the last beats tell.
    pub(super) fn lacks_of(&self) -> Option<String> {
        let rows = self.nodes.rows();
        let ahead = rows.into_iter().find(|row| row.instance != self.by.instance && row.is_ahead(self.counter()));
        ahead.map(|row| row.name).or_else(|| lock(&self.awaited).first().cloned())
    }

    /// Notes what a beat tells of the other nodes. Returns whether the database has all that they have, as far as it can be known.
    fn is_whole(&self, answer: &Beaten, session: &Session, course: &Course) -> bool {
        let others = || answer.nodes.iter().filter(|row| row.instance != self.by.instance);
        let mut awaited = lock(&self.awaited);
        match Tick::now() < course.awaits_until {
            true => awaited.retain(|name| answer.nodes.iter().all(|row| row.name != *name)),
            false => awaited.clear(),
        }
        let is_new = self.is_new.load(Ordering::Acquire) && session.has_others() && !answer.names_all;
        let knows_all = awaited.is_empty() && !is_new;
        self.has_others.store(!knows_all || others().any(Row::was_there), Ordering::Release);
        let is_whole = answer.others.is_some() && knows_all && !others().any(|row| row.is_ahead(answer.counter));
        self.is_new.store(is_new, Ordering::Release);
        is_whole
    }

    /// Beats over a connection. Returns why the connection cannot be used any more.
    pub(super) async fn beat(&self, session: &Session, course: &mut Course) -> Result<Next, String> {
        let has_parted = self.parted.load(Ordering::Acquire) == session.number;
        let seen = if has_parted { Seq(0) } else { Seq(self.seen.load(Ordering::Acquire)) };
        let (sent, state) = (Tick::now(), self.state());
        let (tells, agrees) = (Seq(self.tells.load(Ordering::Acquire)), self.agreed.load(Ordering::Acquire));
        let agrees = agrees == session.number && !has_parted && state != NodeState::Joining;
        let has_all = course.counter.is_some_and(|counter| counter <= seen);
        let rows = self.nodes.rows();
        // A node that still trusts its copy says so.
        let fresh = self.freshness.keeps_trust() || (agrees && has_all && course.is_whole);
        // One that does not follow leaves work for all to the others.
        let works = state == NodeState::Serving && fresh;
        let beat = Beat {
            by: self.by.clone(),
            number: self.beats.fetch_add(1, Ordering::AcqRel) + 1,
            folder: self.folder.clone(),
            stands_at: self.nodes.stands_at(&self.by.node, sent),
            seen,
            fresh,
            state: state.as_str(),
            url: self.options.node_url.clone(),
            version: self.options.version.clone(),
            form: JournalRow::VERSION,
            tells: tells > course.told,
            wants: if works { self.leases.free(&rows) } else { Vec::new() },
        };
        let answer = session.beat(&beat).await?;
        course.is_whole = self.is_whole(&answer, session, course);
        if answer.nodes.len() > 1 && !session.has_others() {
            session.note_others().await;
        }
        course.told = tells.min(seen);
        self.counter.store(answer.counter.0, Ordering::Release);
        self.is_alone.store(answer.others == Some(0), Ordering::Release);
        self.everywhere.saw(&answer, &self.by.instance, sent);
        let unwanted = self.leases.are(answer.leases, &self.by.instance, sent, !works);
        self.nodes.are(answer.nodes, Tick::now());
        course.counter = Some(answer.counter);
        if !answer.is_ours {
            self.has_no_name();
            return Ok(Next::Wait);
        }
        self.has_name();
        if beat.fresh && (answer.joined || !course.is_known) {
            session.barrier().await?;
            course.is_known = true;
            return Ok(Next::Beat);
        }
        if beat.fresh && agrees && course.is_whole {
            self.freshness.beat(answer.counter, sent);
        }
        if !unwanted.is_empty() {
            session.give_back(&unwanted, &self.by.instance).await?;
        }
        let standing = self.nodes.standing(&self.by.instance, Tick::now());
        if !standing.is_empty() {
            session.stand(&standing).await?;
            return Ok(Next::Beat);
        }
        // It can be called fresh now.
        Ok(if !beat.fresh && agrees && course.is_whole && answer.counter <= seen { Next::Beat } else { Next::Wait })
    }

    fn has_name(&self) {
        self.has_name.send_if_modified(|known| known.replace(true) != Some(true));
        self.nameless.end(|| self.log.info("this node has its name again", &[("node", &self.by.node)]));
    }

    /// Another node has the name. It may have been killed: then its row stands still.
    fn has_no_name(&self) {
        let Some(url) = self.nodes.beats_as(&self.by.node) else { return };
        self.has_name.send_if_modified(|known| known.replace(false) != Some(false));
        self.nameless.begin(|| {
            let error = self.name_taken(url);
            let hint = error.hint().unwrap_or_default();
            self.log.error("this node calls no answer fresh", &[("error", &error), ("hint", &hint)]);
        });
    }

    fn name_taken(&self, url: String) -> Error {
        Error::NameTaken { name: self.by.node.clone(), url }
    }

    /// Waits until it is known whether this node has its name; ends with an error if another node has it.
    pub(super) async fn named(self: Arc<Self>) -> Result<(), Error> {
        let mut known = self.has_name.subscribe();
        let known = known.wait_for(Option::is_some).await.map_or(None, |known| *known);
        let url = (known == Some(false)).then(|| self.nodes.beats_as(&self.by.node)).flatten();
        url.map_or(Ok(()), |url| Err(self.name_taken(url)))
    }
}
