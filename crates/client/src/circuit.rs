//! A circuit breaker for each host: when calls to a failing host are stopped, and when it is tried again. It has no
//! clock and no lock; times are arguments.

use std::collections::VecDeque;
use std::time::Duration;
use telemetry::Millis;

/// When a circuit opens, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct CircuitOptions {
    /// The circuit opens after this number of failures without a success in between.
    pub failures: u32,
    /// The circuit stays open for this long at first, and twice as long after each failed trial.
    pub rest: Duration,
    /// The longest time for which the circuit stays open.
    pub rest_max: Duration,
}

impl Default for CircuitOptions {
    fn default() -> Self {
        Self { failures: 5, rest: Duration::from_secs(2), rest_max: Duration::from_secs(60) }
    }
}

/// The state of a circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circuit {
    /// Calls are made.
    Closed {
        /// Failures in a row.
        failures: u32,
    },
    /// No calls are made.
    Open {
        /// The next trial.
        until: Millis,
        /// How many times in a row the circuit has opened.
        times: u32,
    },
    /// One call is made as a trial. Other calls are refused until it ends.
    Trial {
        /// How many times in a row the circuit has opened.
        times: u32,
    },
}

/// How a call was admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admitted {
    Plainly,
    AsTrial,
}

impl Circuit {
    /// Whether the host is not called at this moment: the circuit is open, or a trial is under way. A circuit whose time is over refuses
    /// nothing, although nobody may have called the host since.
    pub fn refuses(&self, now: Millis) -> bool {
        match *self {
            Circuit::Closed { .. } => false,
            Circuit::Open { until, .. } => now < until,
            Circuit::Trial { .. } => true,
        }
    }

    /// Whether a call may be made now. A call that is admitted as a trial must report its result, or that it was abandoned.
    pub(crate) fn admit(&mut self, now: Millis) -> Result<Admitted, Option<Millis>> {
        match *self {
            Circuit::Closed { .. } => Ok(Admitted::Plainly),
            Circuit::Open { until, .. } if now < until => Err(Some(until)),
            Circuit::Open { times, .. } => {
                *self = Circuit::Trial { times };
                Ok(Admitted::AsTrial)
            }
            Circuit::Trial { .. } => Err(None),
        }
    }

    /// A call succeeded, so the host works.
    pub(crate) fn succeeded(&mut self) {
        *self = Circuit::Closed { failures: 0 };
    }

    /// A call failed. A call that was admitted before the circuit opened does not count.
    pub(crate) fn failed(&mut self, admitted: Admitted, now: Millis, options: &CircuitOptions) {
        match (*self, admitted) {
            (Circuit::Closed { failures }, _) if failures + 1 < options.failures => {
                *self = Circuit::Closed { failures: failures + 1 };
            }
            (Circuit::Closed { .. }, _) => *self = Self::open(1, now, options),
            (Circuit::Trial { times }, Admitted::AsTrial) => *self = Self::open(times + 1, now, options),
            (Circuit::Open { .. } | Circuit::Trial { .. }, _) => {}
        }
    }

    /// A call timed out, and no other call was answered since it began: the host hangs. The circuit opens at once, as
    /// every further call would wait equally long.
    pub(crate) fn hung(&mut self, admitted: Admitted, now: Millis, options: &CircuitOptions) {
        match (*self, admitted) {
            (Circuit::Closed { .. }, _) => *self = Self::open(1, now, options),
            (Circuit::Trial { times }, Admitted::AsTrial) => *self = Self::open(times + 1, now, options),
            (Circuit::Open { .. } | Circuit::Trial { .. }, _) => {}
        }
    }

    /// The trial was abandoned without a result. The next call is a trial.
    pub(crate) fn abandoned(&mut self, now: Millis) {
        if let Circuit::Trial { times } = *self {
            *self = Circuit::Open { until: now, times };
        }
    }

    fn open(times: u32, now: Millis, options: &CircuitOptions) -> Self {
        let rest = options.rest.saturating_mul(1 << (times - 1).min(16)).min(options.rest_max);
        Circuit::Open { until: now.plus(rest), times }
    }
}

/// Paths that a host answered with a server error since the last success. A path counts once: builds request one broken file
/// again and again, and this does not mean that the host fails.
#[derive(Debug, Default)]
pub(crate) struct FailingPaths(VecDeque<u64>);

/// The most paths that are remembered. The circuit of a host with so many failures has opened long before.
const FAILING_PATHS_MAX: usize = 64;

impl FailingPaths {
    /// Adds a path by its hash. Returns whether it is new.
    pub(crate) fn add(&mut self, path: u64) -> bool {
        let news = !self.0.contains(&path);
        if news {
            self.0.truncate(FAILING_PATHS_MAX - 1);
            self.0.push_front(path);
        }
        news
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A call succeeded.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: CircuitOptions =
        CircuitOptions { failures: 2, rest: Duration::from_millis(100), rest_max: Duration::from_millis(350) };

    fn opened() -> Circuit {
        let mut circuit = Circuit::Closed { failures: 0 };
        circuit.failed(Admitted::Plainly, Millis(0), &OPTIONS);
        assert_eq!(circuit.admit(Millis(0)), Ok(Admitted::Plainly));
        circuit.failed(Admitted::Plainly, Millis(0), &OPTIONS);
        circuit
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_not_after_as_many_with_a_success_between() {
        let mut circuit = opened();
        assert_eq!(circuit.admit(Millis(99)), Err(Some(Millis(100))));
        assert!(circuit.refuses(Millis(99)) && !circuit.refuses(Millis(100)), "its time is over without a call");
        circuit.succeeded();
        circuit.failed(Admitted::Plainly, Millis(0), &OPTIONS);
        assert_eq!(circuit, Circuit::Closed { failures: 1 });
    }

    #[test]
    fn one_trial_is_made_at_a_time_and_each_that_fails_doubles_the_rest() {
        let mut circuit = opened();
        let mut now = Millis(0);
        for rest in [100, 200, 350, 350] {
            assert_eq!(circuit.admit(Millis(now.0 + rest - 1)), Err(Some(Millis(now.0 + rest))));
            now = Millis(now.0 + rest);
            assert_eq!(circuit.admit(now), Ok(Admitted::AsTrial));
            assert_eq!(circuit.admit(now), Err(None));
            circuit.failed(Admitted::AsTrial, now, &OPTIONS);
        }
        circuit.succeeded();
        assert_eq!(circuit.admit(now), Ok(Admitted::Plainly));
    }

    #[test]
    fn it_opens_at_the_first_call_that_finds_the_host_hung_and_a_trial_that_does_doubles_the_rest() {
        let mut circuit = Circuit::Closed { failures: 0 };
        circuit.hung(Admitted::Plainly, Millis(0), &OPTIONS);
        assert_eq!(circuit, Circuit::Open { until: Millis(100), times: 1 });
        circuit.hung(Admitted::Plainly, Millis(50), &OPTIONS);
        assert_eq!(circuit.admit(Millis(100)), Ok(Admitted::AsTrial));
        circuit.hung(Admitted::AsTrial, Millis(100), &OPTIONS);
        assert_eq!(circuit, Circuit::Open { until: Millis(300), times: 2 });
    }

    #[test]
    fn late_failures_prolong_nothing_and_a_trial_that_was_given_up_is_made_by_the_next() {
        let mut circuit = opened();
        let before = circuit;
        circuit.failed(Admitted::Plainly, Millis(50), &OPTIONS);
        assert_eq!(circuit, before);
        assert_eq!(circuit.admit(Millis(100)), Ok(Admitted::AsTrial));
        circuit.failed(Admitted::Plainly, Millis(100), &OPTIONS);
        assert_eq!(circuit, Circuit::Trial { times: 1 });
        circuit.abandoned(Millis(100));
        assert_eq!(circuit.admit(Millis(100)), Ok(Admitted::AsTrial));
    }

    #[test]
    fn a_path_is_news_once_until_a_call_goes_well() {
        let mut ill = FailingPaths::default();
        assert_eq!([1, 2, 1, 1, 2].map(|path| ill.add(path)), [true, true, false, false, false]);
        assert!((3..1000).all(|path| ill.add(path)));
        assert_eq!((ill.0.len(), ill.add(999), ill.add(1)), (FAILING_PATHS_MAX, false, true));
        ill.forget();
        assert!(ill.add(999));
    }
}
