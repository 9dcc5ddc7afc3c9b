//! Findings of the past, within a bound.

use super::{Finding, FindingState};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;
use telemetry::Millis;

/// The most findings of the past that had opened.
const OPENED_MAX: usize = 300;
/// The most that never opened.
const PENDING_MAX: usize = 100;

/// A finding of the past.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Past {
    /// Its content at the look at which it cost most.
    pub(super) finding: Finding,
    /// When it opened. `None`: it never did.
    pub(super) opened: Option<Millis>,
    /// When it closed, or was not seen any more.
    pub(super) ended: Millis,
}

impl Past {
    /// The finding in `from..to`. `None`: it was not there.
    fn within(&self, from: Millis, to: Millis) -> Option<Finding> {
        let meets = self.finding.since < to && from <= self.ended;
        meets.then(|| {
            let found = as_of(&self.finding, self.opened, to);
            Finding { ended: Some(self.ended), lost_s: lost_within(&self.finding, self.ended, from..to), ..found }
        })
    }

    fn closed(&self) -> Option<Finding> {
        self.opened?;
        let (opened, ended) = (self.opened, Some(self.ended));
        Some(Finding { state: FindingState::Closed, since: self.ended, opened, ended, ..self.finding.clone() })
    }
}

/// A finding before a moment: open if it opened before it.
pub(super) fn as_of(finding: &Finding, opened: Option<Millis>, to: Millis) -> Finding {
    let state = if opened.is_some_and(|opened| opened < to) { FindingState::Open } else { FindingState::Pending };
    Finding { state, opened: opened.filter(|opened| *opened < to), ..finding.clone() }
}

/// The part of what was lost until `ended` that lies in `time`: as large as the part of the time in which the finding was seen.
pub(super) fn lost_within(finding: &Finding, ended: Millis, time: Range<Millis>) -> f64 {
    let length = ended.0.saturating_sub(finding.since.0);
    if length <= 0 {
        return finding.lost_s;
    }
    let inside = ended.min(time.end).0.saturating_sub(finding.since.max(time.start).0).max(0);
    finding.lost_s * inside as f64 / length as f64
}

/// The findings of the past, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    opened: VecDeque<Past>,
    pending: VecDeque<Past>,
}

impl History {
    /// Adds a finding that has ended. The oldest goes if there are too many.
    pub(super) fn push(&mut self, past: Past) {
        let (all, most) = match past.opened {
            Some(_) => (&mut self.opened, OPENED_MAX),
            None => (&mut self.pending, PENDING_MAX),
        };
        all.push_back(past);
        if all.len() > most {
            all.pop_front();
        }
    }

    /// The last one of this id that had opened.
    pub(super) fn last_mut(&mut self, id: &str) -> Option<&mut Finding> {
        self.of(id).next()
    }

    /// All of this id that had opened, the newest first.
    pub(super) fn of(&mut self, id: &str) -> impl Iterator<Item = &mut Finding> {
        self.opened.iter_mut().rev().map(|past| &mut past.finding).filter(move |finding| finding.id == id)
    }

    /// Drops the older half.
    pub(super) fn halve(&mut self) {
        for all in [&mut self.opened, &mut self.pending] {
            all.drain(..all.len().div_ceil(2));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.opened.is_empty() && self.pending.is_empty()
    }

    /// The findings that were pending or open at some time in `from..to`.
    pub(super) fn within(&self, from: Millis, to: Millis) -> impl Iterator<Item = Finding> {
        self.opened.iter().chain(&self.pending).filter_map(move |past| past.within(from, to))
    }

    /// The closed ones that had opened, the newest first.
    pub(super) fn closed(&self) -> impl Iterator<Item = Finding> {
        self.opened.iter().rev().filter_map(Past::closed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::FindingKind;
    use super::*;

    fn past(id: &str, since: i64, opened: Option<i64>, ended: i64) -> Past {
        let mut finding = Finding::empty(id, "", FindingKind::Cause);
        finding.since = Millis(since);
        Past { finding, opened: opened.map(Millis), ended: Millis(ended) }
    }

    #[test]
    fn a_finding_of_the_past_is_told_for_the_time_in_which_it_was() {
        let mut history = History::default();
        history.push(past("opened", 100, Some(400), 2000));
        history.push(past("went", 100, None, 150));
        let within = |from, to| {
            let found = history.within(Millis(from), Millis(to));
            found.map(|finding| (finding.id, finding.state)).collect::<Vec<_>>()
        };
        let (open, pending) = (FindingState::Open, FindingState::Pending);
        assert_eq!(within(0, 100), []);
        assert_eq!(within(0, 300), [("opened".to_owned(), pending), ("went".to_owned(), pending)]);
        assert_eq!(within(151, 401), [("opened".to_owned(), open)]);
        assert_eq!(within(2000, 3000), [("opened".to_owned(), open)]);
        assert_eq!(within(2001, 3000), []);
        let closed: Vec<_> = history.closed().map(|finding| (finding.id, finding.state, finding.since)).collect();
        assert_eq!(closed, [("opened".to_owned(), FindingState::Closed, Millis(2000))]);
    }

    #[test]
    fn what_was_lost_is_told_for_the_part_of_the_time_that_was_asked_for() {
        let mut history = History::default();
        let mut one = past("opened", 1000, Some(1000), 3000);
        one.finding.lost_s = 60.0;
        history.push(one);
        let lost = |from, to| history.within(Millis(from), Millis(to)).map(|finding| finding.lost_s).sum::<f64>();
        assert_eq!([lost(0, 9000), lost(2000, 9000), lost(0, 1500), lost(2000, 2500)], [60.0, 30.0, 15.0, 15.0]);
        let ended: Vec<_> = history.within(Millis(0), Millis(9000)).map(|finding| finding.ended).collect();
        assert_eq!(ended, [Some(Millis(3000))]);
    }

    #[test]
    fn the_past_is_bounded_and_what_never_opened_does_not_push_out_what_did() {
        let mut history = History::default();
        history.push(past("opened", 1, Some(1), 1));
        for at in 0..1000 {
            history.push(past("went", at, None, at));
        }
        assert_eq!(history.within(Millis(0), Millis(5000)).count(), 1 + PENDING_MAX);
        for at in 0..1000 {
            history.push(past("opened", at, Some(at), at));
        }
        assert_eq!(history.closed().count(), OPENED_MAX);
        assert_eq!(history.closed().next().unwrap().since, Millis(999));
        history.halve();
        assert_eq!(history.closed().count(), OPENED_MAX / 2);
    }
}
