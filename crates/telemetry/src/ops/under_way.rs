//! The operations that a request waits for at this moment.
//!
//! Code that waits holds a guard ([`under_way`]). The guards of a thread form one small value in a thread-local variable. The front moves
//! the value of a request there for each poll of the request ([`OpsUnderWay::during`]). So a guard needs neither the request nor its
//! event, and a wait costs two stores.

use crate::Op;
use crate::threads::register;
use std::cell::Cell;

thread_local!(static HERE: Cell<OpsUnderWay> = const { Cell::new(OpsUnderWay(0)) });

/// The operations that a request waits for, the latest first. A group asks up to eight members at once; if there are more operations, the
/// first ones are forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpsUnderWay(u64);

/// A wait. Dropping it ends the wait.
#[derive(Debug)]
#[must_use = "the wait ends when this is dropped"]
pub struct UnderWay(Op);

/// The request that this thread polls waits for `op` until the guard is dropped. Nothing happens outside of a request.
pub fn under_way(op: Op) -> UnderWay {
    here(HERE.get().with(op));
    UnderWay(op)
}

/// Sets the operations that the request of this thread waits for.
fn here(ops: OpsUnderWay) {
    HERE.set(ops);
    register::waits_for(ops.latest());
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // Fails on a thread that is ending.
        if let Ok(ops) = HERE.try_with(Cell::get) {
            here(ops.without(self.0));
        }
    }
}

impl OpsUnderWay {
    /// Bits of one operation. 0 is no operation.
    const BITS: u32 = 8;

    /// Only this operation.
    pub fn only(op: Op) -> Self {
        Self::default().with(op)
    }

    /// Polls the request whose operations these are.
    pub fn during<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        here(*self);
        let polled = poll();
        *self = HERE.take();
        polled
    }

    /// All of them, the latest first.
    pub fn all(self) -> impl Iterator<Item = Op> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let code = usize::from(rest.to_le_bytes()[0]);
            rest >>= Self::BITS;
            Op::ALL.get(code.checked_sub(1)?).copied()
        })
    }

    /// The code of the latest: its number and 1. 0: none.
    fn latest(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    fn with(self, op: Op) -> Self {
        Self(self.0 << Self::BITS | (u64::from(op as u8) + 1))
    }

    /// Without the latest run of `op`. The guards of a request may be dropped in any order.
    fn without(self, op: Op) -> Self {
        let Some(at) = self.all().position(|other| other == op) else { return self };
        let above = u64::MAX.checked_shl(Self::BITS * at as u32).unwrap_or(0);
        Self((self.0 >> Self::BITS & above) | (self.0 & !above))
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ops: OpsUnderWay) -> Vec<Op> {
        ops.all().collect()
    }

    #[test]
    fn waits_end_in_any_order_and_the_latest_is_the_first() {
        let mut ops = OpsUnderWay::default();
        let guards = ops.during(|| [Op::MembersAsk, Op::FlightWait, Op::TruthRead, Op::FlightWait].map(under_way));
        assert_eq!(all(ops), [Op::FlightWait, Op::TruthRead, Op::FlightWait, Op::MembersAsk]);
        let [members, first, truth, second] = guards;
        ops.during(|| drop(truth));
        assert_eq!(all(ops), [Op::FlightWait, Op::FlightWait, Op::MembersAsk]);
        ops.during(|| drop((first, members)));
        assert_eq!(all(ops), [Op::FlightWait]);
        ops.during(|| drop(second));
        assert_eq!(ops, OpsUnderWay::default());
    }

    #[test]
    fn the_waits_of_one_request_are_not_those_of_another_or_of_the_thread() {
        let (mut one, mut other) = (OpsUnderWay::default(), OpsUnderWay::default());
        let waits = one.during(|| under_way(Op::TruthRead));
        let waits_too = other.during(|| under_way(Op::BlobOpen));
        drop(under_way(Op::CacheRead));
        assert_eq!((all(one), all(other)), (vec![Op::TruthRead], vec![Op::BlobOpen]));
        // A request that is dropped between two polls.
        drop(waits);
        assert_eq!(all(other), [Op::BlobOpen]);
        other.during(|| drop(waits_too));
        assert_eq!(all(other), []);
    }

    #[test]
    fn of_too_many_waits_the_first_are_forgotten() {
        let mut ops = OpsUnderWay::only(Op::MembersAsk);
        let guards: Vec<UnderWay> = ops.during(|| (0..8).map(|_| under_way(Op::FlightWait)).collect());
        assert_eq!(all(ops), [Op::FlightWait; 8]);
        ops.during(|| drop(guards));
        assert_eq!(all(ops), []);
    }
}
