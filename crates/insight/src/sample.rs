//! Events for tests.

pub(crate) mod busy;

use crate::block::Block;
use crate::row::{RepositoryFacts, Row};
use proptest::prelude::*;
use std::borrow::Borrow;
use telemetry::{Event, EventId, Millis, Op, Outcome};

/// The parts of an event that tests vary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plain {
    pub(crate) at: i64,
    pub(crate) id: u64,
    pub(crate) path: String,
    pub(crate) package: &'static str,
    pub(crate) status: u16,
    pub(crate) bytes_out: u64,
    pub(crate) duration: u64,
    pub(crate) ops: Vec<(Op, u64)>,
    pub(crate) weight: u32,
}

impl Plain {
    pub(crate) fn event(&self) -> Event {
        let mut event = Event::default();
        (event.at, event.id, event.weight) = (Millis(self.at), EventId(self.id), self.weight);
        event.path.clone_from(&self.path);
        event.status = self.status;
        event.outcome = Some(if self.status < 500 { Outcome::Answered } else { Outcome::Failed });
        event.bytes_out = self.bytes_out;
        (event.first_byte, event.duration) = (self.duration / 2, self.duration);
        event.subject.package = self.package.into();
        self.ops.iter().for_each(|(op, nanos)| event.add(*op, *nanos));
        event
    }
}

/// A block of these events.
pub(crate) fn block(events: impl IntoIterator<Item = impl Borrow<Event>>) -> Block {
    let mut block = Block::default();
    events.into_iter().for_each(|event| block.push(&Row::of(event.borrow(), RepositoryFacts::default())));
    block
}

/// Any event.
pub(crate) fn plain() -> impl Strategy<Value = Plain> {
    let at = prop_oneof![1_800_000_000_000..1_800_000_000_100_i64, 0..2_000_000_000_000_i64];
    let path = prop_oneof!["/[ab]{0,2}", "/\\PC{0,20}"];
    let package = prop::sample::select(vec!["", "rack", "rails", "org.a:b"]);
    let status = prop::sample::select(vec![200, 304, 404, 503]);
    let bytes_out = prop_oneof![0..3_u64, any::<u64>()];
    let ops = prop::collection::vec((prop::sample::select(Op::ALL.to_vec()), 0..1_000_000_000_u64), 0..4);
    (at, any::<u64>(), path, package, status, bytes_out, any::<u32>().prop_map(u64::from), ops, 1..100_u32).prop_map(
        |(at, id, path, package, status, bytes_out, duration, ops, weight)| Plain {
            at,
            id,
            path,
            package,
            status,
            bytes_out,
            duration,
            ops,
            weight,
        },
    )
}
