//! Events as a busy server has them: mostly hits, with 300,000 paths and 40,000 packages of which few are requested often.

use telemetry::{Arrival, Class, Event, EventId, Kind, Layer, MemberRecord, MemberSaid, Millis, Op, Outcome, Tick};

/// Generates events. The same seed gives the same events.
#[derive(Debug)]
pub(crate) struct Busy {
    seed: u64,
    micros: u64,
}

impl Busy {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, micros: 1_800_000_000_000_000 }
    }

    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    /// A number below `end`; small ones are frequent, as of Zipf's law.
    fn rank(&mut self, end: u64) -> u64 {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        (((end as f64).powf(share)) as u64).clamp(1, end) - 1
    }

    /// Nanoseconds of an operation: around `usual`, rarely much more.
    fn nanos(&mut self, usual: u64) -> u64 {
        let usual = usual / 2 + self.below(usual);
        match self.below(1000) {
            0 => usual * 400,
            1..30 => usual * 8,
            _ => usual,
        }
    }

    /// The next event, half a millisecond after the last one.
    pub(crate) fn event(&mut self) -> Event {
        self.micros += self.below(1000);
        let at = Millis((self.micros / 1000).cast_signed());
        let mut event = *Event::request(at, Tick(0));
        let count = (self.micros % 1000) & 0x3FF;
        event.id = EventId((at.0.cast_unsigned() << 22) | (0x5A5 << 10) | count);
        let place = self.rank(300_000);
        let package = place * 40_000 / 300_000;
        let version = format!("{}.{}.{}", place % 9, place % 13, place % 7);
        event.subject.repository = ["gems", "company", "public"][(package % 3) as usize].into();
        event.subject.package = format!("package-name-{package:05}").into();
        (event.protocol, event.method) = ("HTTP/1.1", "GET");
        let info = self.below(3) > 0;
        event.subject.kind = if info { "info" } else { "gem" };
        event.path = if info {
            format!("/{}/info/{}", event.subject.repository, event.subject.package)
        } else {
            event.subject.version = version.as_str().into();
            format!("/{}/gems/{}-{version}-{place}.gem", event.subject.repository, event.subject.package)
        };
        let client = self.rank(200);
        event.client = format!("10.1.{}.{}", client / 250, client % 250).into();
        let run = at.0 / 100 * 200 + client.cast_signed();
        event.agent = format!(
            "bundler/2.6.{} rubygems/3.6.2 ruby/3.3.5 (x86_64-linux) command/install ci/gitlab {run:016x}",
            client % 4
        )
        .into();
        event.token = if client.is_multiple_of(3) { format!("team-{}", client % 20) } else { String::new() };
        (event.class, event.layer) = (Some(Class::ALL[0]), if info { Layer::Page } else { Layer::Open });
        event.status = if info && self.below(3) == 0 { 304 } else { 200 };
        event.outcome = Some(Outcome::Answered);
        event.bytes_out = if event.status == 304 { 0 } else { 300 + place % 7919 * if info { 1 } else { 97 } };
        for (op, usual) in [(Op::PageLookup, 2_000), (Op::ReplyWrite, 15_000), (Op::BodySend, 20_000)] {
            let nanos = self.nanos(usual);
            event.add(op, nanos);
        }
        if self.below(20) == 0 {
            self.miss(&mut event);
        }
        let line: u64 = event.tallies().map(|(_, tally)| tally.nanos).sum();
        event.duration = line + self.nanos(3_000);
        event.first_byte = event.duration - event.tally(Op::BodySend).nanos;
        (event.weight, event.kind) = (1 + self.below(4) as u32, Kind::Request);
        event
    }

    /// Makes a miss of it, through a group of four members.
    fn miss(&mut self, event: &mut Event) {
        event.layer = Layer::Group;
        for (op, usual) in [
            (Op::Route, 4_000),
            (Op::TruthWait, 9_000),
            (Op::TruthRead, 80_000),
            (Op::CacheRead, 90_000),
            (Op::MembersAsk, 900_000),
            (Op::LoopWait, 30_000),
        ] {
            let nanos = self.nanos(usual);
            event.add(op, nanos);
        }
        let winner = self.below(4);
        for (place, name) in ["private", "mirror", "public", "legacy"].into_iter().enumerate() {
            let said = if place as u64 == winner { MemberSaid::Hit } else { MemberSaid::NotFound };
            let nanos = self.nanos(700_000);
            event.absorb(MemberRecord { nanos, ..MemberRecord::new(name, said, None) });
        }
        let (in_flight, late, class_used) = (self.below(40) as u32, self.nanos(50_000), self.below(30) as u32);
        event.more_mut().arrival = Some(Arrival { in_flight, late, class_used });
        event.more_mut().size = 1;
        if self.below(50) == 0 {
            (event.status, event.outcome) = (502, Some(Outcome::Failed));
            event.detail = "the upstream closed the connection before the head of its response".to_owned();
            event.because = telemetry::Because::Failed;
        }
    }
}
