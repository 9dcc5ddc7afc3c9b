//! Judges what clients of several nodes were told, by rules of its own: no code of the program is used here.
//!
//! The journal of the database gives the order of all changes, and each change has a value of its own. So every answer is held against the
//! states that its key had, one after the other.

mod lists;
mod wrong;

use std::collections::BTreeMap;
use std::time::Duration;

/// A moment, as the time since the history began. All of a history are read from one clock.
pub(super) type Moment = Duration;

/// A change that a client sent: a key gets a value, which nobody else gives to it, or is removed.
#[derive(Debug, Clone)]
pub(super) struct Write {
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) sent: Moment,
    pub(super) outcome: Outcome,
}

impl Write {
    pub(super) fn is_acknowledged(&self) -> bool {
        acknowledged(self).is_some()
    }
}

/// What the client was told of its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is done; the moment is that of the answer.
    Acknowledged(Moment),
    /// It is not done, and will not be.
    Refused,
    /// Nothing, or that it could not be done now: it may be done.
    Unknown,
}

/// What a node said of a key.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) node: usize,
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) sent: Moment,
    pub(super) answered: Moment,
    /// Whether the answer claims to be the present state. It says so if it may be older.
    pub(super) is_fresh: bool,
}

/// The whole `/versions` that a node sent.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    pub(super) node: usize,
    pub(super) sent: Moment,
    pub(super) answered: Moment,
    pub(super) is_fresh: bool,
    pub(super) text: String,
}

/// A row of the journal, and the change of a key in it, if it is one.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) seq: u64,
    pub(super) change: Option<(String, Option<String>)>,
}

/// What happened.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    /// How long after its acknowledgement a change may be unseen on other nodes.
    pub(super) grace: Duration,
    pub(super) writes: Vec<Write>,
    pub(super) reads: Vec<Read>,
    pub(super) listings: Vec<Listing>,
    /// The journal in the end, from the row that made the first repository of this history.
    pub(super) rows: Vec<Row>,
}

/// A state of a key.
struct State<'h> {
    /// The row that made it; 0: nothing was written yet.
    seq: u64,
    value: Option<&'h str>,
    /// When the change was sent.
    sent: Moment,
}

/// Fails with the first promise that was broken.
pub(super) fn judge(history: &History) -> Result<(), String> {
    for pair in history.rows.windows(2) {
        let (before, after) = (pair[0].seq, pair[1].seq);
        if after != before + 1 {
            return Err(format!("the journal has a gap: after row {before} comes row {after}"));
        }
    }
    let rows = rows_of_writes(history)?;
    in_order(history, &rows)?;
    reads(history, &rows)?;
    lists::judge(history, &rows)
}

/// The number of the row of each write.
fn rows_of_writes(history: &History) -> Result<Vec<Option<u64>>, String> {
    let mut known: BTreeMap<(&str, Option<&str>), Vec<u64>> = BTreeMap::new();
    for row in &history.rows {
        if let Some((key, value)) = &row.change {
            known.entry((key, value.as_deref())).or_default().push(row.seq);
        }
    }
    let mut rows = Vec::new();
    for Write { key, value, outcome, .. } in &history.writes {
        let found = known.remove(&(key.as_str(), value.as_deref())).unwrap_or_default();
        match (outcome, &found[..]) {
            (Outcome::Acknowledged(at), []) => {
                return Err(format!("lost: {key} = {value:?} was acknowledged at {at:?}"));
            }
            (Outcome::Refused, [seq, ..]) => {
                return Err(format!("row {seq} has {key} = {value:?}, which was refused"));
            }
            (_, [_, again, ..]) => return Err(format!("row {again} has {key} = {value:?} again")),
            (_, found) => rows.push(found.first().copied()),
        }
    }
    match known.into_iter().next() {
        Some((change, seqs)) => Err(format!("row {} has {change:?}, which nobody sent", seqs[0])),
        None => Ok(rows),
    }
}

/// A change that was sent after another one was acknowledged has the later row.
fn in_order(history: &History, rows: &[Option<u64>]) -> Result<(), String> {
    let placed = || history.writes.iter().zip(rows).filter_map(|(write, seq)| Some((write, (*seq)?)));
    let mut ends: Vec<(Moment, u64)> = placed().filter_map(|(write, seq)| Some((acknowledged(write)?, seq))).collect();
    ends.sort_unstable();
    let mut starts: Vec<(Moment, u64)> = placed().map(|(write, seq)| (write.sent, seq)).collect();
    starts.sort_unstable();
    let (mut ends, mut last) = (ends.into_iter().peekable(), 0);
    for (sent, seq) in starts {
        while let Some((_, ended)) = ends.next_if(|(at, _)| *at < sent) {
            last = last.max(ended);
        }
        if seq < last {
            return Err(format!("row {seq} was sent at {sent:?}, after row {last} was acknowledged"));
        }
    }
    Ok(())
}

fn acknowledged(write: &Write) -> Option<Moment> {
    match write.outcome {
        Outcome::Acknowledged(at) => Some(at),
        Outcome::Refused | Outcome::Unknown => None,
    }
}

/// The last row of these writes that a fresh answer must have seen, if its request was sent at this moment.
fn must_see<'h>(writes: impl Iterator<Item = (&'h Write, u64)>, sent: Moment, grace: Duration) -> u64 {
    let is_due = |write: &Write| acknowledged(write).is_some_and(|at| at + grace < sent);
    writes.filter(|(write, _)| is_due(write)).map(|(_, seq)| seq).max().unwrap_or(0)
}

fn reads(history: &History, rows: &[Option<u64>]) -> Result<(), String> {
    let mut by_key: BTreeMap<&str, Vec<(&Write, u64)>> = BTreeMap::new();
    for (write, seq) in history.writes.iter().zip(rows) {
        let of_key = by_key.entry(&write.key).or_default();
        of_key.extend(seq.map(|seq| (write, seq)));
    }
    by_key.values_mut().for_each(|writes| writes.sort_unstable_by_key(|(_, seq)| *seq));
    // What each node had said of a key: when it had answered, and the least row that it had then.
    let mut told: BTreeMap<(usize, &str), Vec<(Moment, u64)>> = BTreeMap::new();
    let mut in_time: Vec<&Read> = history.reads.iter().collect();
    in_time.sort_by_key(|read| read.sent);
    for read in in_time {
        let Read { node, key, value, sent, answered, .. } = read;
        let writes = by_key.get(key.as_str()).map(Vec::as_slice).unwrap_or_default();
        let due = if read.is_fresh { must_see(writes.iter().copied(), *sent, history.grace) } else { 0 };
        let earlier = told.entry((*node, key)).or_default();
        let had = earlier.iter().filter(|(at, _)| at < sent).map(|(_, seq)| *seq).max().unwrap_or(0);
        let said = || format!("node {node} said {key} = {value:?} at {sent:?} to {answered:?}");
        let states = states(writes);
        let mut with_value = (0..states.len()).filter(|at| states[*at].value == value.as_deref()).peekable();
        if with_value.peek().is_none() {
            return Err(format!("{}, which it never was", said()));
        }
        // A state lasts until the next one.
        let ends = |at: usize| states.get(at + 1).map_or(u64::MAX, |next| next.seq);
        let fits = |at: &usize| ends(*at) > due.max(had) && states[*at].sent <= *answered;
        match with_value.find(fits) {
            Some(at) => earlier.push((*answered, states[at].seq)),
            None if (0..states.len()).any(|at| ends(at) > had && states[at].value == value.as_deref()) => {
                return Err(format!("stale: {}; row {due} was acknowledged before", said()));
            }
            None => return Err(format!("back in time: {}; it had row {had} before", said())),
        }
    }
    Ok(())
}

/// The states of a key, from the first one, in which it has no value.
fn states<'h>(writes: &[(&'h Write, u64)]) -> Vec<State<'h>> {
    let first = State { seq: 0, value: None, sent: Moment::ZERO };
    let made = writes.iter().map(|(write, seq)| State { seq: *seq, value: write.value.as_deref(), sent: write.sent });
    std::iter::once(first).chain(made).collect()
}
