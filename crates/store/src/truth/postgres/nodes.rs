//! The nodes, as the last beat saw them, and since when the row of each stands still.

use super::rhythm::{GONE, WAIT};
use crate::journal::record::Seq;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use telemetry::{Tick, lock};

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// It takes in the changes that it lacks.
    Joining,
    /// It ends the requests in progress.
    Draining,
    /// It has stopped, or has given no sign of life for some seconds.
    Gone,
    /// It answers. A state that a later version knows is one of a node that lives.
    #[serde(other)]
    Serving,
}

impl NodeState {
    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Serving => "serving",
            Self::Draining => "draining",
            Self::Gone => "gone",
        }
    }
}

/// A node, as the last beat saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// Its name (`cluster.node`).
    pub name: String,
    /// A random text for each start of its program, which only nodes and readers of the database know.
    pub instance: String,
    /// The number of its last beat.
    pub beat: i64,
    /// The URL by which other nodes reach it.
    pub url: String,
    /// The version of its program.
    pub version: String,
    /// The newest version of journal rows that it reads.
    pub form: u32,
    /// What it does.
    pub state: NodeState,
    /// Whether it calls its answers fresh.
    pub fresh: bool,
    /// The last change that it has.
    pub seen: Seq,
    /// Milliseconds since its last beat, by the clock of the database; `None`: the database has no beat of it.
    pub beat_age_ms: Option<u64>,
    /// Whether it is this node.
    pub is_self: bool,
}

/// A node as the database has it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) instance: String,
    pub(super) beat: i64,
    pub(super) seen: Seq,
    pub(super) fresh: bool,
    state: NodeState,
    url: String,
    version: String,
    form: u32,
    age_ms: u64,
}

impl Row {
    /// Whether it has changes that the database lacks, if that ends with this one, and may put them back.
    pub(super) fn is_ahead(&self, counter: Seq) -> bool {
        self.state != NodeState::Gone && self.seen > counter
    }

    /// Whether it lives, or was there within the last hour.
    pub(super) fn was_there(&self) -> bool {
        self.state != NodeState::Gone || self.age_ms < HOUR_MS
    }

    /// Whether this is the living node of that name and start.
    pub(super) fn lives_as(&self, name: &str, instance: &str) -> bool {
        self.name == name && self.instance == instance && self.state != NodeState::Gone
    }
}

/// Milliseconds.
const HOUR_MS: u64 = 60 * 60 * 1000;

/// A node whose row stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) name: String,
    pub(super) beat: i64,
    pub(super) is_gone: bool,
}

/// A row, and what this node has seen of it.
#[derive(Debug)]
struct Watched {
    row: Row,
    /// When its last beat was first seen.
    moved: Tick,
    /// Whether it has beaten since this node knows it.
    beats: bool,
}

/// All nodes.
#[derive(Debug, Default)]
pub(super) struct Nodes(Mutex<Vec<Watched>>);

impl Nodes {
    /// A beat told of these, now.
    pub(super) fn are(&self, rows: Vec<Row>, now: Tick) {
        let mut known = lock(&self.0);
        let watched = rows.into_iter().map(|row| {
            let before = known.iter().find(|known| known.row.name == row.name && known.row.instance == row.instance);
            let (moved, beats) = match before {
                Some(known) if known.row.beat == row.beat => (known.moved, known.beats),
                before => (now, before.is_some()),
            };
            Watched { row, moved, beats }
        });
        *known = watched.collect();
    }

    /// The last rows.
    pub(super) fn rows(&self) -> Vec<Row> {
        lock(&self.0).iter().map(|watched| watched.row.clone()).collect()
    }

    /// Nodes other than `instance` whose rows stand still for so long that their trust has ended, and the database does not say so yet.
    pub(super) fn standing(&self, instance: &str, now: Tick) -> Vec<Standing> {
        let known = lock(&self.0);
        let others = known.iter().filter(|watched| watched.row.instance != instance);
        let standing = others.filter_map(|Watched { row, moved, .. }| {
            let is_gone = now > moved.plus(GONE);
            let is_news = (row.fresh && now > moved.plus(WAIT)) || (row.state != NodeState::Gone && is_gone);
            is_news.then(|| Standing { name: row.name.clone(), beat: row.beat, is_gone })
        });
        standing.collect()
    }

    /// The beat of another node that has the name `name`, if it stands still.
    pub(super) fn stands_at(&self, name: &str, now: Tick) -> Option<i64> {
        let known = lock(&self.0);
        let named = known.iter().find(|watched| watched.row.name == name)?;
        (now > named.moved.plus(WAIT)).then_some(named.row.beat)
    }

    /// The URL of another node that has the name `name` and beats.
    pub(super) fn beats_as(&self, name: &str) -> Option<String> {
        let known = lock(&self.0);
        known.iter().find(|watched| watched.row.name == name && watched.beats).map(|watched| watched.row.url.clone())
    }

    /// The names of the others that live.
    pub(super) fn living_others(&self, instance: &str) -> Vec<String> {
        let known = lock(&self.0);
        let live = known.iter().filter(|one| one.row.instance != instance && one.row.state != NodeState::Gone);
        live.map(|one| one.row.name.clone()).collect()
    }

    /// The nodes that live, this one included, which does not wait for its first beat.
    pub(super) fn living(&self, instance: &str) -> u64 {
        let known = lock(&self.0);
        let live = |watched: &&Watched| watched.row.instance != instance && watched.row.state != NodeState::Gone;
        1 + known.iter().filter(live).count() as u64
    }

    /// A node that lives and does not read rows of the form `form`: its name, its version, and the highest form that it reads.
    pub(super) fn reads_less(&self, form: u32) -> Option<(String, String, u32)> {
        let known = lock(&self.0);
        let row =
            known.iter().map(|watched| &watched.row).find(|row| row.form < form && row.state != NodeState::Gone)?;
        Some((row.name.clone(), row.version.clone(), row.form))
    }

    /// All, the one with `instance` first.
    pub(super) fn told(&self, instance: &str) -> Vec<NodeRow> {
        let mut rows: Vec<_> = self.rows().into_iter().map(|row| row.told(instance)).collect();
        rows.sort_by_key(|row| !row.is_self);
        rows
    }
}

impl Row {
    fn told(self, instance: &str) -> NodeRow {
        NodeRow {
            is_self: self.instance == instance,
            name: self.name,
            instance: self.instance,
            beat: self.beat,
            url: self.url,
            version: self.version,
            form: self.form,
            state: self.state,
            fresh: self.fresh,
            seen: self.seen,
            beat_age_ms: Some(self.age_ms),
        }
    }
}
