//! Finds changes upstream that no hint announced: the hint was lost or never sent.

use crate::hints::hint::Hint;
use std::collections::{HashMap, VecDeque};
use telemetry::Millis;

/// A hint may arrive up to 5 minutes after its version was found; then it is not lost. A hint that names no version
/// covers everything that is found within that time.
const GRACE_MS: i64 = 300_000;
/// How long a hint covers its version, in milliseconds: a day. A version that is found later was not announced.
const KEPT_MS: i64 = 86_400_000;
/// Maximum number of remembered hints, and of remembered versions. A version beyond that counts as lost at once.
const MAX: usize = 10_000;

/// Recent hints, and recently found versions without a hint.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    hints: HashMap<Hint, Millis>,
    order: VecDeque<(Hint, Millis)>,
    found: HashMap<Hint, Millis>,
    lost: Vec<Hint>,
}

impl Announced {
    /// Records a hint. Returns whether it names a version that no recent hint named.
    pub(crate) fn announce(&mut self, hint: &Hint, at: Millis) -> bool {
        let is_new = hint.is_exact() && !self.hints.contains_key(hint);
        let covers = |found: &Hint| {
            found == hint || (!hint.is_exact() && (hint.package.is_empty() || hint.package == found.package))
        };
        if hint.is_exact() {
            self.found.remove(hint);
        } else {
            self.found.retain(|found, _| !covers(found));
        }
        if self.hints.insert(hint.clone(), at).is_none() {
            self.order.push_back((hint.clone(), at));
        }
        while self.order.len() > MAX || self.order.front().is_some_and(|(_, at_first)| at.0 - at_first.0 > KEPT_MS) {
            if let Some((oldest, _)) = self.order.pop_front() {
                self.hints.remove(&oldest);
            }
        }
        is_new
    }

    /// Records a version that a look at the upstream found.
    pub(crate) fn find(&mut self, found: Hint, now: Millis) {
        if self.is_announced(&found, now) {
            return;
        }
        match self.found.len() < MAX {
            true => drop(self.found.insert(found, now)),
            false => self.lost.push(found),
        }
    }

    /// Returns the versions whose hints are lost, each once.
    pub(crate) fn take_lost(&mut self, now: Millis) -> Vec<Hint> {
        let mut lost = std::mem::take(&mut self.lost);
        self.found.retain(|found, at| {
            let waits = now.0 - at.0 < GRACE_MS;
            if !waits {
                lost.push(found.clone());
            }
            waits
        });
        lost.sort_by(|one, other| (&one.package, &one.version).cmp(&(&other.package, &other.version)));
        lost
    }

    fn is_announced(&self, found: &Hint, now: Millis) -> bool {
        let within = |hint: &Hint, most: i64| self.hints.get(hint).is_some_and(|at| now.0 - at.0 <= most);
        let vague = |package: &str, gone: bool| Hint { package: package.to_owned(), version: String::new(), gone };
        within(found, KEPT_MS)
            || [false, true]
                .into_iter()
                .any(|gone| within(&vague(&found.package, gone), GRACE_MS) || within(&vague("", gone), GRACE_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(package: &str, version: &str) -> Hint {
        Hint { package: package.into(), version: version.into(), gone: false }
    }

    #[test]
    fn what_no_hint_announces_before_or_soon_after_is_lost_once() {
        let mut announced = Announced::default();
        announced.announce(&hint("lamp", "1"), Millis(0));
        announced.find(hint("lamp", "1"), Millis(10));
        announced.find(hint("lamp", "2"), Millis(10));
        announced.find(hint("oil", "1"), Millis(20));
        announced.announce(&hint("lamp", "2"), Millis(5_000));
        assert_eq!(announced.take_lost(Millis(GRACE_MS + 19)), []);
        assert_eq!(announced.take_lost(Millis(GRACE_MS + 20)), [hint("oil", "1")]);
        assert_eq!(announced.take_lost(Millis(10 * GRACE_MS)), []);
    }

    #[test]
    fn a_hint_without_a_version_stands_for_all_of_that_time() {
        let mut announced = Announced::default();
        announced.find(hint("oil", "1"), Millis(0));
        announced.announce(&hint("oil", ""), Millis(1_000));
        announced.find(hint("oil", "2"), Millis(2_000));
        announced.announce(&Hint::anything(), Millis(3_000));
        announced.find(hint("wick", "1"), Millis(3_000 + GRACE_MS));
        announced.find(hint("wick", "2"), Millis(3_001 + GRACE_MS));
        assert_eq!(announced.take_lost(Millis(i64::MAX / 2)), [hint("wick", "2")]);
    }

    #[test]
    fn what_does_not_fit_is_lost_at_once() {
        let mut announced = Announced::default();
        for at in 0..=MAX {
            announced.find(hint("oil", &at.to_string()), Millis(0));
        }
        assert_eq!(announced.take_lost(Millis(1)).len(), 1);
        for at in 0..=MAX {
            announced.announce(&hint("oil", &at.to_string()), Millis(0));
        }
        assert_eq!(announced.hints.len(), MAX);
    }
}
