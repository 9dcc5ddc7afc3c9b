//! Samples events: which of them are stored, and how many events each of them stands for.
//!
//! Events that somebody may have to explain are stored whole: up to 200 a second for each reason. The others, and trouble beyond that, are
//! sampled by key: the kind of the repository, the cost class, the layer, the class of the status and the reason. Frequent keys have a
//! thinner sample than rare ones ([`keys`]), and below the goal ([`goal`]) everything is stored. The weights of a key sum to all its
//! events, except for those since the one that was stored last.

mod goal;
mod keys;
mod kinds;
mod slow;

pub use goal::{Budget, Goal};

use crate::row::RepositoryFacts;
use keys::{Key, Keys};
use kinds::Kinds;
use slow::SlowTimes;
use telemetry::{Because, Census, Class, Clock, Glance, Kind, Outcome, SamplingDecision};

/// Chooses the events that are stored.
pub struct Sampler {
    clock: Clock,
    goal: Goal,
    kinds: Kinds,
    /// The kind of the repository of the event before.
    kind: u8,
    slow: SlowTimes,
    keys: Keys,
    /// Events that were stored whole in this second, by reason.
    whole: [u32; REASONS],
    whole_max: u32,
    /// Events that were stored whole for each second, smoothed.
    whole_rate: f32,
    /// The moment at which this second began, in milliseconds since the epoch.
    second: i64,
    /// The next event is the first one after a pause.
    paused: bool,
}

/// Reasons to store an event: `Because::All` is the last one, and is never a reason here.
const REASONS: usize = Because::All as usize;

impl Sampler {
    /// `facts` tells the kind of a repository by its name. It must not wait, and is called once in a while for each name.
    pub fn new(clock: Clock, goal: Goal, facts: impl Fn(&str) -> RepositoryFacts + Send + 'static) -> Self {
        let second = clock.now().0;
        let mut rate = Self {
            clock,
            goal,
            kinds: Kinds::new(Box::new(facts)),
            kind: 0,
            slow: SlowTimes::default(),
            keys: Keys::default(),
            whole: [0; REASONS],
            whole_max: 0,
            whole_rate: 0.0,
            second,
            paused: true,
        };
        rate.next_second(0.0);
        rate
    }

    /// Begins the next second if this one is over.
    fn turn(&mut self) {
        self.paused = false;
        let now = self.clock.now().0;
        let passed = now - self.second;
        // A clock that was set back has begun another second as well.
        if (0..1000).contains(&passed) {
            return;
        }
        self.second = now;
        self.next_second((passed.max(1000) as f64 / 1000.0).min(86_400.0));
    }

    /// Divides the goal among the keys, after this many seconds.
    fn next_second(&mut self, passed: f64) {
        let whole: u32 = self.whole.iter().sum();
        self.goal.passed(passed, u64::from(whole) + u64::from(self.keys.stored()));
        if passed > 0.0 {
            self.whole_rate = keys::smooth(self.whole_rate, whole, passed);
            self.slow.passed(passed);
            self.kinds.passed(passed);
        }
        self.whole = [0; REASONS];
        self.whole_max = self.goal.whole();
        let goal = self.goal.each_second();
        self.keys.divide((goal - self.whole_rate).max(goal / 4.0), passed);
    }

    /// Why this event is stored. Also counts how long it took.
    fn reason(&mut self, event: &Glance<'_>, class: usize) -> Because {
        let figures = event.figures;
        let job = figures.kind == Kind::Job;
        let slow = !job && self.slow.note(class, figures.first_byte);
        let trouble = event.trouble();
        if trouble == Some(Because::Failed) || is_failure(event) {
            Because::Failed
        } else if let Some(trouble) = trouble {
            trouble
        } else if slow {
            Because::Slow
        } else if event.more.is_some_and(|more| more.trace.is_some()) {
            Because::Traced
        } else if job {
            Because::Job
        } else {
            Because::Sample
        }
    }
}

/// Failures that are not in [`Glance::trouble`].
fn is_failure(event: &Glance<'_>) -> bool {
    event.figures.status >= 500 || event.figures.outcome == Some(Outcome::TurnedAway)
}

impl Census for Sampler {
    fn name(&self) -> &'static str {
        "rate"
    }

    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        if self.paused {
            self.turn();
        }
        if !event.same_repository {
            self.kind = self.kinds.of(event.repository);
        }
        let class = event.figures.class.map_or(Class::COUNT, |class| class as usize);
        let because = self.reason(event, class);
        if because != Because::Sample {
            let whole = &mut self.whole[because as usize];
            if *whole < self.whole_max {
                *whole += 1;
                return SamplingDecision::store(1, because);
            }
        }
        let figures = event.figures;
        let key = Key { kind: self.kind, class, layer: figures.layer, status: figures.status, because };
        SamplingDecision { weight: self.keys.see(key), because }
    }

    fn pause(&mut self) {
        // The first event of the next buffer is compared with an empty text.
        (self.paused, self.kind) = (true, kinds::NONE);
    }
}

#[cfg(test)]
mod tests;
