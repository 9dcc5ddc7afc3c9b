//! Figures of a minute for baselines. They are taken out of each window before windows are summed up.

use crate::normal::cells::Cells;
use crate::normal::view::Key;
use std::collections::HashMap;
use telemetry::{Class, Glance, Histogram, Kind, Layer, Op, Outcome, Tally, UpstreamUse};

/// The most hosts of upstreams that are told apart.
pub(crate) const HOSTS_MAX: usize = 64;

/// Figures of a minute: how long requests took, and counts that do not depend on the machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct NormalSeen {
    classes: Vec<Histogram>,
    layers: Vec<Histogram>,
    ops: Vec<Histogram>,
    hosts: HashMap<Box<str>, Histogram>,
    /// Counts that do not depend on the machine.
    pub(crate) cells: Cells,
}

impl NormalSeen {
    /// Counts a finished event.
    pub(crate) fn see(&mut self, event: &Glance<'_>) {
        self.cells.see(event);
        if event.is_hit() {
            return;
        }
        let figures = event.figures;
        if figures.kind == Kind::Request && !matches!(figures.outcome, None | Some(Outcome::Shed)) {
            let uploading = event.ops.iter().find(|(op, _)| *op == Op::BodyReceive).map_or(0, |(_, tally)| tally.nanos);
            let nanos = figures.first_byte.saturating_sub(uploading);
            if let Some(class) = figures.class {
                at(&mut self.classes, class as usize, Class::COUNT).record(nanos);
            }
            at(&mut self.layers, figures.layer as usize, Layer::COUNT).record(nanos);
            for (op, tally) in event.ops.iter().chain(event.members.iter().flat_map(|member| &member.ops)) {
                at(&mut self.ops, *op as usize, Op::COUNT).record(tally.nanos);
            }
        }
        self.called(event.ops, event.more.and_then(|more| more.upstream.as_ref()));
        event.members.iter().for_each(|member| self.called(&member.ops, member.upstream.as_deref()));
    }

    /// Calls to a host, of the event that made them: a request that waited for another's fetch has not this operation.
    fn called(&mut self, ops: &[(Op, Tally)], used: Option<&UpstreamUse>) {
        let calls = ops.iter().find(|(op, _)| *op == Op::UpstreamFirstByte);
        let (Some((_, calls)), Some(used)) = (calls, used.filter(|used| !used.host.is_empty())) else { return };
        let (full, host): (bool, &str) = (self.hosts.len() >= HOSTS_MAX, &used.host);
        let times = match self.hosts.get_mut(host) {
            Some(times) => times,
            None if full => return,
            None => self.hosts.entry(host.into()).or_default(),
        };
        times.record_sum(calls.nanos, calls.count.into());
    }

    /// Adds the figures of another stretch.
    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in
            [(&mut self.classes, &other.classes), (&mut self.layers, &other.layers), (&mut self.ops, &other.ops)]
        {
            for (place, times) in theirs.iter().enumerate().filter(|(_, times)| times.count() > 0) {
                at(mine, place, theirs.len()).merge(times);
            }
        }
        for (host, times) in &other.hosts {
            if self.hosts.len() < HOSTS_MAX || self.hosts.contains_key(host) {
                self.hosts.entry(host.clone()).or_default().merge(times);
            }
        }
        self.cells.add(&other.cells);
    }

    /// The times by subject.
    pub(crate) fn times(&self) -> impl Iterator<Item = (Key, &Histogram)> {
        let classes = Class::ALL.iter().zip(&self.classes).map(|(class, times)| (Key::Class(*class), times));
        let layers = Layer::ALL.iter().zip(&self.layers).map(|(layer, times)| (Key::Layer(*layer), times));
        let ops = Op::ALL.iter().zip(&self.ops).map(|(op, times)| (Key::Op(*op), times));
        let hosts = self.hosts.iter().map(|(host, times)| (Key::Upstream(host.clone()), times));
        classes.chain(layers).chain(ops).chain(hosts).filter(|(_, times)| times.count() > 0)
    }
}

fn at(all: &mut Vec<Histogram>, place: usize, count: usize) -> &mut Histogram {
    if all.is_empty() {
        all.resize(count, Histogram::default());
    }
    &mut all[place]
}
