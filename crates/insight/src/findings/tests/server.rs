//! A server in a test: its census, sampler, windows and states, with clocks that the test sets.

use super::super::catalogue::checks;
use super::super::examine::{Examination, Examiner};
use super::super::state::States;
use crate::normal::normals::Normals;
use crate::reuse::streams::reals;
use crate::signals::Facts;
use crate::signals::census::{FindingsCensus, Handover};
use crate::signals::ring::Ring;
use crate::signals::sampler::Sampler;
use crate::signals::seen::Seen;
use crate::signals::telemetry::TelemetrySeen;
use crate::signals::window::Window;
use crate::{HostFact, RepositoryFact, SettingFact};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Bound, Census, Clock, Event, EventId, Figures, Glance, Log, Millis, Recorder, Tick};

/// A server in a test.
pub(super) struct Server {
    pub(super) recorder: Arc<Recorder>,
    handover: Arc<Handover>,
    census: FindingsCensus,
    ring: Ring,
    sampler: Sampler,
    sampled: Window,
    pub(super) seen: Seen,
    examiner: Examiner,
    pub(super) states: States,
    pub(super) now: Millis,
    /// The processor time of the checks.
    pub(super) spent: TelemetrySeen,
    /// Baselines, if the test has them.
    pub(super) normals: Option<Normals>,
    tick: u64,
    ids: u64,
}

impl Server {
    pub(super) fn new(now: Millis, facts: Facts, bounds: impl Iterator<Item = Arc<Bound>>) -> Self {
        let recorder = Recorder::silent(Clock::at(now));
        bounds.for_each(|bound| recorder.register(bound));
        let handover = Arc::<Handover>::default();
        Self {
            recorder,
            census: FindingsCensus::new(handover.clone()),
            handover,
            ring: Ring::default(),
            sampler: Sampler::default(),
            sampled: Window::default(),
            seen: Seen { facts: Arc::new(facts), now, ..Seen::default() },
            examiner: Examiner::new(checks(), &[], None, Log::silent()),
            states: States::default(),
            now,
            spent: TelemetrySeen::default(),
            normals: None,
            tick: 1_000_000_000,
            ids: 0,
        }
    }

    /// Starts again: nothing but the states is known of the run before.
    pub(super) fn restart(&mut self) {
        let facts = self.seen.facts.clone();
        self.handover = Arc::default();
        self.census = FindingsCensus::new(self.handover.clone());
        (self.ring, self.sampler, self.sampled) = (Ring::default(), Sampler::default(), Window::default());
        self.seen = Seen { facts, now: self.now, ..Seen::default() };
        self.examiner = Examiner::new(checks(), &[], None, Log::silent());
    }

    /// An event ends.
    pub(super) fn end(&mut self, event: &mut Event) {
        self.ids += 1;
        (event.id, event.at) = (EventId(self.ids), self.now);
        self.census.see(&Glance::of(event, &Figures::of(event)));
    }

    /// A second passes, and a sample is taken. `whole`: before a look.
    pub(super) fn sample(&mut self, seconds: u64, whole: bool) {
        self.tick += seconds * 1_000_000_000;
        self.now = Millis(self.now.0 + seconds.cast_signed() * 1000);
        let (uptime, trends) = (self.ring.uptime(), &mut self.seen.trends);
        self.sampler.sample(&self.recorder, whole, uptime, &mut self.sampled, trends);
        self.handover.tell(reals(&self.recorder.bounds()));
    }

    /// What the machine and the pools did since the last look.
    pub(super) fn machine(&mut self, change: impl FnOnce(&mut Window)) {
        change(&mut self.sampled);
    }

    /// Looks.
    pub(super) fn look(&mut self, whole: bool) -> Examination {
        self.sum();
        self.seen.now = self.now;
        let mut all = self.examiner.examine(&self.seen, whole, &mut self.spent);
        self.states.look(std::mem::take(&mut all.found), self.now, Tick(self.tick));
        all
    }

    /// Adds the figures since the last time to the windows.
    pub(super) fn sum(&mut self) {
        self.census.pause();
        let mut taken = self.handover.take();
        let normal = std::mem::take(&mut taken.normal);
        if let Some(normals) = &mut self.normals {
            self.seen.normal = normals.take(&normal, self.now, Tick(self.tick));
        }
        taken.add(&std::mem::take(&mut self.sampled));
        self.ring.take(*taken, Tick(self.tick), false, &mut self.seen);
    }
}

/// Facts about so many repositories and hosts. Every third repository is hosted, every third a remote one, every third a group of the two.
pub(super) fn facts(repositories: usize, hosts: usize) -> Facts {
    let mut facts = Facts::default();
    for (key, number) in [
        ("store.readers", 4),
        ("server.pages_bytes", 64 << 20),
        ("store.cached_bytes", 256 << 20),
        ("upstream.max_calls", 32),
        ("telemetry.events_buffered", 16_384),
    ] {
        let (value, limits) = (number.to_string(), Some((1, u64::MAX)));
        facts.settings.push(SettingFact { key: key.to_owned(), value, number: Some(number), limits, live: true });
    }
    for number in 0..hosts {
        let host = HostFact { host: host(number), number: number as u64, ..HostFact::default() };
        facts.hosts.push(host);
    }
    for number in 0..repositories {
        let of = |number: usize| format!("repository-{number}");
        let (kind, leaves, host) = match number % 3 {
            0 => ("hosted", Vec::new(), None),
            1 => ("remote", Vec::new(), Some(number / 3 % hosts)),
            _ => ("group", vec![of(number - 2), of(number - 1)], None),
        };
        if let Some(host) = host {
            facts.hosts[host].repositories.push(of(number));
        }
        facts.repositories.push(RepositoryFact {
            name: of(number),
            kind,
            format: if number % 2 == 0 { "maven" } else { "gem" },
            members: leaves.clone(),
            leaves,
            host: host.map(self::host),
            ..RepositoryFact::default()
        });
    }
    facts
}

/// The name of a host.
pub(super) fn host(number: usize) -> String {
    format!("host-{number}.example.org:443")
}

/// A duration in nanoseconds.
pub(super) fn millis(millis: u64) -> u64 {
    Duration::from_millis(millis).as_nanos() as u64
}
