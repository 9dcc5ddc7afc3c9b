//! The parts of making a connection, timed. The event gets each part that began, also if the call is given up in the
//! middle of it.

use telemetry::{Event, Op, Tick, UnderWay, under_way};

/// Times the parts of making a connection, one after the other. When this is dropped, the part under way ends.
#[derive(Debug, Default)]
pub(crate) struct SetUp<'a> {
    /// `None`: the parts are neither recorded nor shown as under way.
    event: Option<&'a mut Event>,
    under_way: Option<(Op, Tick, UnderWay)>,
}

impl<'a> SetUp<'a> {
    /// Records the parts in an event.
    pub(crate) fn of(event: &'a mut Event) -> Self {
        Self { event: Some(event), under_way: None }
    }

    /// The part under way ends, and `op` begins.
    pub(crate) fn begin(&mut self, op: Op) {
        if self.event.is_none() {
            return;
        }
        let now = Tick::now();
        self.end_at(now);
        self.under_way = Some((op, now, under_way(op)));
    }

    fn end_at(&mut self, now: Tick) {
        if let (Some(event), Some((op, began, _))) = (&mut self.event, self.under_way.take()) {
            event.add(op, now.since(began));
        }
    }
}

impl Drop for SetUp<'_> {
    fn drop(&mut self) {
        self.end_at(Tick::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Millis;

    #[test]
    fn each_part_that_began_is_recorded_once_whatever_follows() {
        let mut event = Event::job("test", Millis(1));
        let mut set_up = SetUp::of(&mut event);
        for op in [Op::UpstreamResolve, Op::UpstreamTcp] {
            set_up.begin(op);
        }
        drop(set_up);
        let ran: Vec<(Op, u32)> = event.tallies().map(|(op, tally)| (op, tally.count)).collect();
        assert_eq!(ran, [(Op::UpstreamResolve, 1), (Op::UpstreamTcp, 1)]);
        let mut unrecorded = SetUp::default();
        unrecorded.begin(Op::UpstreamTls);
        assert!(unrecorded.under_way.is_none());
    }
}
