//! Counts of requests that do not depend on the machine: calls, members, hits, bytes. By cost class, kind of file and status.

use crate::hash::same;
use telemetry::{Class, Glance, Kind, MemberSaid, Op, OpPlace, Tally, closed_list};

/// The most kinds of requests that are told apart. Further ones are not counted.
const CELLS_MAX: usize = 64;

closed_list! {
    /// The counts of requests of one kind.
    pub(crate) enum Count {
        /// All of them.
        Requests = "requests",
        /// Those answered from memory.
        Hits = "hits",
        /// The others.
        Made = "made",
        /// Operations on the line of the others. Waits and pieces of bodies are not counted: how many there are depends on the machine.
        LineOps = "line_ops",
        /// Operations within them, those of members of groups included.
        InnerOps = "inner_ops",
        /// Operations of both that changed nothing.
        Vain = "vain",
        /// Requests that asked members of a group.
        OfGroups = "of_groups",
        /// The members that they asked.
        Members = "members",
        /// Requests and jobs that called upstreams themselves.
        Fetches = "fetches",
        /// Their calls.
        Calls = "calls",
        /// Connections that were opened for these.
        Connects = "connects",
        /// Bytes of bodies that were sent.
        Bytes = "bytes",
        /// Nanoseconds in operations that compute and wait for nothing.
        ComputeNanos = "compute_nanos",
    }
}

/// The kinds of requests that are told apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellKey {
    /// Whether these are background jobs.
    pub(crate) job: bool,
    /// The kind of file or operation; of a job its name.
    pub(crate) file: &'static str,
    /// The first digit of the status; 0 for jobs.
    pub(crate) status: u8,
}

impl PartialEq for CellKey {
    fn eq(&self, other: &Self) -> bool {
        (self.job, self.status) == (other.job, other.status) && same(self.file, other.file)
    }
}

impl Eq for CellKey {}

/// The counts of requests of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) key: CellKey,
    /// The cost class of the requests that were not answered from memory. `None`: none had one.
    pub(crate) class: Option<Class>,
    pub(crate) counts: [u64; Count::COUNT],
}

impl Cell {
    pub(crate) fn new(key: CellKey) -> Self {
        Self { key, class: None, counts: [0; Count::COUNT] }
    }

    pub(crate) fn of(&self, count: Count) -> u64 {
        self.counts[count as usize]
    }

    fn count(&mut self, what: Count, by: u64) {
        self.counts[what as usize] += by;
    }

    fn add(&mut self, other: &Self) {
        self.class = other.class.or(self.class);
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// The counts of a stretch of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cells {
    all: Vec<Cell>,
    /// The last one that was counted in: requests of one kind often follow each other.
    last: usize,
}

impl Cells {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.all.iter()
    }

    /// The number of kinds.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Counts a finished event.
    pub(crate) fn see(&mut self, event: &Glance<'_>) {
        let figures = event.figures;
        let job = figures.kind == Kind::Job;
        // Requests without a kind of file are of one kind for each cost class.
        let of_class = || figures.class.map_or("", Class::as_str);
        let key = match job {
            true => CellKey { job, file: figures.method, status: 0 },
            false => CellKey {
                job,
                file: if figures.file.is_empty() { of_class() } else { figures.file },
                status: (figures.status / 100).min(9) as u8,
            },
        };
        let Some(cell) = self.cell(key) else { return };
        cell.count(Count::Requests, 1);
        // A request that waited for the fetch of another one has its calls, too, and did not make them.
        let mut called = event.ops.iter().chain(event.members.iter().flat_map(|member| &member.ops));
        let called = !event.is_hit() && called.any(|(op, _)| *op == Op::UpstreamFirstByte);
        if job && !called {
            // How much such a job does depends on the time since the one before it.
            return;
        }
        cell.count(Count::Bytes, figures.bytes_out);
        if event.is_hit() {
            return cell.count(Count::Hits, 1);
        }
        cell.class = figures.class.or(cell.class);
        cell.count(Count::Made, 1);
        for (op, tally) in event.ops {
            let place = if op.place() == OpPlace::Line { Count::LineOps } else { Count::InnerOps };
            ran(cell, place, *op, *tally);
        }
        let beside = event.more.iter().flat_map(|more| &more.beside);
        for (op, tally) in event.members.iter().flat_map(|member| &member.ops).chain(beside) {
            ran(cell, Count::InnerOps, *op, *tally);
        }
        let asked = event.members.iter().filter(|member| member.said != MemberSaid::NotAsked).count() as u64;
        cell.count(Count::OfGroups, u64::from(asked > 0));
        cell.count(Count::Members, asked);
        if let Some(used) = event.more.and_then(|more| more.upstream.as_ref())
            && called
        {
            cell.count(Count::Fetches, 1);
            cell.count(Count::Calls, used.calls.into());
            cell.count(Count::Connects, used.connects.into());
        }
    }

    fn cell(&mut self, key: CellKey) -> Option<&mut Cell> {
        if self.all.get(self.last).is_none_or(|cell| cell.key != key) {
            let known = self.all.iter().position(|cell| cell.key == key);
            self.last = match known {
                Some(at) => at,
                None if self.all.len() >= CELLS_MAX => return None,
                None => {
                    self.all.push(Cell::new(key));
                    self.all.len() - 1
                }
            };
        }
        self.all.get_mut(self.last)
    }

    /// Adds the counts of another stretch.
    pub(crate) fn add(&mut self, other: &Self) {
        for theirs in &other.all {
            if let Some(mine) = self.cell(theirs.key) {
                mine.add(theirs);
            }
        }
    }
}

/// An operation ran so often.
fn ran(cell: &mut Cell, place: Count, op: Op, tally: Tally) {
    if computes(op) {
        cell.count(Count::ComputeNanos, tally.nanos);
    }
    if is_steady(op) {
        cell.count(place, tally.count.into());
        cell.count(Count::Vain, tally.vain.into());
    }
}

/// Whether the number of runs depends on the request alone. Waits are recorded only where there was something to wait for, bodies come
/// in as many pieces as the network makes of them, and connections are counted by themselves.
fn is_steady(op: Op) -> bool {
    let name = op.as_str();
    let waits = name.ends_with(".wait") || matches!(op, Op::UpstreamPause | Op::UpstreamBody | Op::HeadRead);
    let connects = matches!(op, Op::TlsHandshake | Op::AppConnect) || Op::OF_SET_UP.contains(&op);
    let bodies =
        matches!(op, Op::BodySend | Op::BodyRead | Op::BodyReceive | Op::SpoolWrite | Op::BlobWrite | Op::AppBody);
    !waits && !connects && !bodies
}

/// Whether it computes and waits for nothing but a processor.
fn computes(op: Op) -> bool {
    matches!(
        op,
        Op::PageLookup
            | Op::PageKeep
            | Op::PageCompress
            | Op::Route
            | Op::ReplyMake
            | Op::HeadParse
            | Op::Hash
            | Op::BodyDecode
            | Op::PackageRead
            | Op::IndexRender
            | Op::IndexExtend
            | Op::KojiApply
            | Op::Merge
            | Op::TokenCheck
            | Op::AppCacheLookup
            | Op::AppPagesMake
    )
}
