//! The period that sizing is asked about: its busiest minute by the exact counts of requests, and how that compares with the minutes in which
//! pools were sampled, which are those of this run of the server.

use super::loads::Loads;
use crate::ask::{Answer, Asked, Figure, Question};
use serde_json::json;
use telemetry::Millis;

/// A minute, in milliseconds.
const MINUTE: i64 = 60_000;
/// How long the answer may take, in milliseconds.
const WAIT_MS: u64 = 10_000;
/// Counts by minute are kept for so long, in milliseconds.
const KEPT: i64 = 8 * 24 * 60 * MINUTE;
/// Fewer requests in the busiest minute are an idle server: one a second.
const IDLE: u64 = 60;
/// The fewest requests of a sampled minute that may stand for a busier one, and how much busier that may be.
const SAMPLED_MIN: u64 = 60;
const FACTOR_MAX: f64 = 20.0;
/// With so many minutes of figures nothing more is needed.
const MINUTES_ENOUGH: u64 = 60;
/// With fewer it is a first guess.
const MINUTES_FEW: u64 = 10;

/// What sizing is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizingAsked {
    /// The traffic since this moment, of at most eight days.
    pub from: Millis,
    /// And before this one.
    pub to: Millis,
    /// The present moment.
    pub now: Millis,
    /// The multiple of the traffic that is told beside today's.
    pub times: f64,
}

impl SizingAsked {
    /// The question how many requests each minute of the period had. `None`: it ends in the minute in which it begins.
    pub fn question(&self) -> Option<Question> {
        // Whole minutes are counted.
        let whole = |at: i64| Millis(at - at.rem_euclid(MINUTE));
        let (from, to) = (whole(self.begin().0), if self.to >= self.now { self.now } else { whole(self.to.0) });
        let question = json!({
            "from": from.to_string(), "to": to.to_string(), "where": [["kind", "=", "request"]],
            "measures": ["count", "sum(bytes_out)"], "per": "1m", "wait_ms": WAIT_MS,
        });
        match Asked::read(&question.to_string(), self.now) {
            Ok(Asked::Question(question)) => Some(*question),
            Ok(Asked::Next { .. }) | Err(_) => None,
        }
    }

    /// The begin of the period, as far as minutes are counted.
    pub(super) fn begin(&self) -> Millis {
        Millis(self.from.0.max(self.now.0 - KEPT))
    }
}

/// A minute and its requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) at: Millis,
    pub(super) requests: u64,
    pub(super) bytes_out: u64,
}

/// The period that sizing is asked about.
pub(super) struct Period<'a> {
    pub(super) from: Millis,
    pub(super) to: Millis,
    pub(super) now: Millis,
    /// The multiple of the traffic.
    pub(super) times: f64,
    pub(super) loads: &'a Loads,
    /// The busiest minute. `None`: requests are not counted by minute.
    pub(super) busiest: Option<Counted>,
    /// The requests of the period.
    pub(super) requests: u64,
    /// The busiest minute in which pools were sampled.
    sampled: Option<Counted>,
}

impl<'a> Period<'a> {
    /// The period of a request, of which at most the last eight days count. `counts`: the answer to [`SizingAsked::question`].
    pub(super) fn new(asked: &SizingAsked, loads: &'a Loads, counts: Option<&Answer>) -> Self {
        let SizingAsked { to, now, times, .. } = *asked;
        let from = asked.begin();
        let rows = counts.into_iter().flat_map(|answer| &answer.rows);
        let minutes: Vec<Counted> = rows.filter_map(|row| counted(row)).collect();
        let busiest =
            |since: i64| minutes.iter().copied().filter(|minute| minute.at.0 >= since).max_by_key(|one| one.requests);
        // The sampling may have begun within a minute.
        let since = loads.since.map_or(i64::MAX, |since| since.0 - MINUTE);
        let requests = minutes.iter().map(|minute| minute.requests).sum();
        Self { from, to, now, times, loads, busiest: busiest(i64::MIN), requests, sampled: busiest(since) }
    }

    /// Whether nearly nobody asked.
    pub(super) fn is_idle(&self) -> bool {
        self.busiest.is_none_or(|busiest| busiest.requests < IDLE)
    }

    /// By what the sampled minutes stand for the busiest one. `None`: they do not, because there was next to no traffic since the start.
    pub(super) fn factor(&self) -> Option<f64> {
        let (busiest, sampled) = (self.busiest?, self.sampled?);
        if sampled.requests >= busiest.requests {
            return Some(1.0);
        }
        let factor = busiest.requests as f64 / sampled.requests.max(1) as f64;
        (sampled.requests >= SAMPLED_MIN && factor <= FACTOR_MAX).then_some(factor)
    }

    /// How sure a figure from so many minutes is, 0 to 1.
    pub(super) fn confidence(&self, minutes: u64) -> f64 {
        let of_minutes = match minutes {
            MINUTES_ENOUGH.. => 0.9,
            MINUTES_FEW.. => 0.7,
            _ => 0.4,
        };
        if self.factor() == Some(1.0) { of_minutes } else { of_minutes * 0.7 }
    }

    /// The same in words, as the end of a sentence.
    pub(super) fn certainty(&self, minutes: u64) -> String {
        match minutes {
            MINUTES_ENOUGH.. => String::new(),
            1 => ". Pools were sampled in one minute: it needs an hour of traffic to be sure".to_owned(),
            _ => format!(". Pools were sampled in {minutes} minutes: it needs an hour of traffic to be sure"),
        }
    }
}

/// A row of the answer.
fn counted(row: &[Figure]) -> Option<Counted> {
    let number = |figure: &Figure| match figure {
        Figure::Whole(number) => u64::try_from(*number).unwrap_or(0),
        // An estimate.
        Figure::Fraction(number) => *number as u64,
        _ => 0,
    };
    let [Figure::Moment(at), requests, bytes_out] = row else { return None };
    Some(Counted { at: *at, requests: number(requests), bytes_out: number(bytes_out) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(100 * MINUTE);
    const ASKED: SizingAsked = SizingAsked { from: Millis(0), to: NOW, now: NOW, times: 2.0 };

    /// An answer with a row for each minute of these, from minute 0.
    fn counts(requests: &[u64]) -> Answer {
        let mut answer = Answer::empty(&ASKED.question().unwrap());
        let row = |(minute, requests): (usize, &u64)| {
            let requests = i64::try_from(*requests).unwrap();
            vec![Figure::Moment(Millis(minute as i64 * MINUTE)), Figure::Whole(requests), Figure::Whole(7 * requests)]
        };
        answer.rows = requests.iter().enumerate().map(row).collect();
        answer
    }

    fn period(loads: &Loads, requests: &[u64]) -> (bool, Option<f64>) {
        let period = Period::new(&ASKED, loads, Some(&counts(requests)));
        (period.is_idle(), period.factor())
    }

    #[test]
    fn the_sampled_minutes_stand_for_the_busiest_one_as_far_as_they_can() {
        let loads = Loads::begun(Millis(3 * MINUTE));
        assert_eq!(period(&loads, &[10, 20, 600, 900]), (false, Some(1.0)));
        assert_eq!(period(&loads, &[1800, 20, 600, 900]), (false, Some(2.0)));
        assert_eq!(period(&loads, &[1800, 20, 6, 9]), (false, None), "next to none since the start");
        assert_eq!(period(&loads, &[50_000, 20, 6, 900]), (false, None), "another kind of traffic");
        assert_eq!(period(&loads, &[10, 20, 30, 59]), (true, Some(1.0)));
        assert_eq!(period(&loads, &[]), (true, None));
        assert_eq!(period(&Loads::default(), &[100]), (false, None), "nothing was sampled");
    }

    #[test]
    fn without_counts_nothing_is_known_and_older_minutes_are_not_asked_for() {
        let loads = Loads::default();
        let period = Period::new(&ASKED, &loads, None);
        assert!(period.is_idle() && period.busiest.is_none() && period.confidence(100) < 0.9);
        assert!(period.certainty(1).contains("an hour of traffic") && period.certainty(60).is_empty());
        let now = Millis(KEPT + 7 * MINUTE + 5);
        let asked = SizingAsked { to: Millis(now.0 - 1000), now, ..ASKED }.question().unwrap();
        assert_eq!((asked.from, asked.to), (Millis(7 * MINUTE), Millis(KEPT + 6 * MINUTE)));
        assert_eq!(SizingAsked { from: NOW, to: NOW, ..ASKED }.question(), None);
    }
}
