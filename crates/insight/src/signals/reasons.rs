//! Requests that had no answer for a reason, by reason and repository.

use std::collections::HashMap;
use telemetry::{EventId, Glance, Kind, Reason};

/// The most pairs of a reason and a repository with figures.
const PAIRS_MAX: usize = 1024;
/// The most paths of one pair that are told apart.
const PATHS_MAX: usize = 16;
/// The longest text that is kept of an event, in bytes.
const TEXT_MAX: usize = 400;

/// The requests of one reason in one repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReasonSeen {
    /// Requests.
    pub(crate) requests: u64,
    /// Their durations, in nanoseconds.
    pub(crate) nanos: u64,
    /// The first of them.
    pub(crate) event: Option<EventId>,
    /// Details of the first of them for each path, at most 16.
    pub(crate) details: HashMap<Box<str>, Box<str>>,
}

/// The requests by reason and repository. Only some reasons are counted: the ones that checks read.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReasonsSeen(pub(crate) HashMap<(Reason, Box<str>), ReasonSeen>);

/// The reasons that are counted.
const COUNTED: &[Reason] = &[
    Reason::HiddenByPolicy,
    Reason::DiskNearlyFull,
    Reason::StorePoisoned,
    Reason::ClockDoubted,
    Reason::TruthUnreachable,
    Reason::ObjectsAway,
];

impl ReasonsSeen {
    /// Those of a reason, by repository.
    pub(crate) fn of(&self, reason: Reason) -> impl Iterator<Item = (&str, &ReasonSeen)> {
        self.0.iter().filter(move |((of, _), _)| *of == reason).map(|((_, name), seen)| (&**name, seen))
    }

    /// Counts an event. Returns whether it is the first of its reason and repository: then it is stored.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        let Some(reason) = event.figures.reason.filter(|reason| COUNTED.contains(reason)) else { return false };
        if event.figures.kind != Kind::Request {
            return false;
        }
        let key = (reason, Box::from(event.repository));
        if self.0.len() >= PAIRS_MAX && !self.0.contains_key(&key) {
            return false;
        }
        let seen = self.0.entry(key).or_default();
        seen.requests += 1;
        seen.nanos += event.figures.duration;
        // A rule that hides a file is told by the member that has it.
        let of_members = event.members.iter().map(|member| &*member.detail);
        let detail = std::iter::once(event.detail).chain(of_members).find(|detail| !detail.is_empty());
        if let Some(detail) =
            detail.filter(|_| seen.details.len() < PATHS_MAX && !seen.details.contains_key(event.path))
        {
            seen.details.insert(event.path.into(), clipped(detail).into());
        }
        let is_first = seen.event.is_none();
        seen.event.get_or_insert(event.figures.id);
        is_first
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, theirs) in &other.0 {
            if self.0.len() >= PAIRS_MAX && !self.0.contains_key(key) {
                continue;
            }
            let mine = self.0.entry(key.clone()).or_default();
            mine.requests += theirs.requests;
            mine.nanos += theirs.nanos;
            mine.event = mine.event.or(theirs.event);
            for (path, detail) in &theirs.details {
                if mine.details.len() < PATHS_MAX && !mine.details.contains_key(path) {
                    mine.details.insert(path.clone(), detail.clone());
                }
            }
        }
    }
}

fn clipped(text: &str) -> &str {
    let end = (0..=TEXT_MAX.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Event, Figures};

    #[test]
    fn the_first_request_of_a_reason_and_repository_is_stored_and_others_are_counted() {
        let mut seen = ReasonsSeen::default();
        let mut see = |repository: &str, path: &str, reason| {
            let mut event = Event::default();
            (event.path, event.reason, event.detail) = (path.into(), reason, "é".repeat(400));
            event.kind = Kind::Request;
            event.subject.repository = repository.into();
            event.duration = 5;
            let figures = Figures::of(&event);
            seen.see(&Glance::of(&event, &figures))
        };
        let hidden = Some(Reason::HiddenByPolicy);
        assert_eq!(
            [see("gems", "/a", hidden), see("gems", "/b", hidden), see("maven", "/a", hidden)],
            [true, false, true]
        );
        assert!(!see("gems", "/a", None) && !see("gems", "/a", Some(Reason::NoSuchFile)));
        for path in 0..100 {
            see("gems", &path.to_string(), hidden);
        }
        let mut twice = ReasonsSeen::default();
        twice.add(&seen);
        twice.add(&seen);
        let of = |seen: &ReasonsSeen| {
            let (_, gems) = seen.of(Reason::HiddenByPolicy).find(|(name, _)| *name == "gems").unwrap();
            (
                gems.requests,
                gems.nanos,
                gems.details.len(),
                gems.details.values().all(|detail| detail.len() == TEXT_MAX),
            )
        };
        assert_eq!((of(&seen), of(&twice)), ((102, 510, PATHS_MAX, true), (204, 1020, PATHS_MAX, true)));
    }
}
