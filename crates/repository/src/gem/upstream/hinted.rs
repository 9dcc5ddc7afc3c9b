//! Hints that a gem changed upstream: the index is checked until it confirms the change.

use crate::gem::upstream::follow::{Follow, Whose};
use crate::gem::upstream::index::Known;
use crate::hints::announcement::Announcement;
use crate::hints::hint::Hint;
use crate::hints::waiting::{Arrived, Hints};
use format::gem::upstream::Change;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use telemetry::Millis;

/// The change to look for in `/versions`. A version for a platform other than Ruby has the platform in its token.
pub(crate) fn hint(said: &Announcement) -> Hint {
    let version = said.version.clone().unwrap_or_default();
    let platform = said.platform.as_deref().filter(|platform| !matches!(*platform, "" | "ruby"));
    let version = match platform {
        Some(platform) if !version.is_empty() => format!("{version}-{platform}"),
        _ => version,
    };
    Hint { package: said.package.clone().unwrap_or_default(), version, gone: said.gone }
}

impl Follow {
    /// Accepts a hint, and looks at once if a look is due.
    pub(crate) fn take_hint(&self, hint: Hint, published: Option<Millis>, shared: &Arc<AtomicBool>) {
        let (hints, at) = (self.hints(), self.now());
        let (basis, seen) = (self.said_of(&hint), self.shows(&hint, None) || self.is_withdrawn(&hint));
        hints.count_taken(at);
        hints.take(Arrived { hint, at, published, basis, shared }, seen, &self.remote.remotes.hints.bound);
        self.look_for_hints();
    }

    /// Starts a look if one is due. Returns the time of the next.
    pub(crate) fn look_for_hints(&self) -> Option<Millis> {
        let (hints, now) = (self.hints(), self.now());
        let due = hints.due(now)?;
        if due > now || !self.remote.repository.asks {
            return Some(due);
        }
        // A running look may have begun before the hint arrived, so this one waits for its end.
        if let Ok(turn) = self.index().looking.clone().try_lock_owned() {
            drop(self.start_if_followed(Whose::Hints, turn));
        }
        Some(due)
    }

    /// Evaluates the hints after the look with this number.
    pub(crate) fn settle_hints(&self, look: u64, began: Millis) {
        let hints = self.hints();
        if self.index().read(self.remote.repository.origin, |_| ()).is_none() {
            hints.forget();
        }
        hints.end_look(look, began, self.now(), |hint, basis| self.shows(hint, Some(basis)));
        self.remote.remotes.hints.changed.notify_one();
    }

    /// Compares the changes that a look found with the hints.
    pub(crate) fn hold_against_hints(&self, changes: &[Change]) {
        // Their hooks may have gone to other nodes.
        if self.remote.remotes.store.living() > 1 {
            return;
        }
        let of = |change: &Change, tokens: &[String], gone: bool| {
            let made = |token: &String| Hint { package: change.name.clone(), version: token.clone(), gone };
            tokens.iter().map(made).collect::<Vec<_>>()
        };
        let found =
            changes.iter().flat_map(|change| [of(change, &change.new, false), of(change, &change.gone, true)].concat());
        self.hints().find(found, self.now());
    }

    pub(crate) fn hints(&self) -> &Hints {
        &self.remote.repository.shared.hints
    }

    /// Whether the index confirms a hint. `basis` is the state of the index when the hint arrived.
    fn shows(&self, hint: &Hint, basis: Option<&str>) -> bool {
        if !hint.is_exact() {
            return basis.is_some_and(|basis| self.said_of(hint) != basis);
        }
        let origin = self.remote.repository.origin;
        let known = self.index().read(origin, |_| ()).is_some();
        let listed = self.index().gem(origin, &hint.package).is_some_and(|gem| gem.has(&hint.version));
        known && listed != hint.gone
    }

    /// Whether the announced version was listed once and is gone: an old hook was sent again.
    fn is_withdrawn(&self, hint: &Hint) -> bool {
        let gone = |known: &Known| known.listing.gone(&hint.package, &hint.version, 0).is_some();
        hint.is_exact() && !hint.gone && self.index().read(self.remote.repository.origin, gone) == Some(true)
    }

    /// The state of the hint's gem, or of the whole index. A different text means that it changed.
    fn said_of(&self, hint: &Hint) -> String {
        let origin = self.remote.repository.origin;
        let said = match hint.package.as_str() {
            "" => self.index().read(origin, |known| known.last.0.to_string()),
            name => self.index().gem(origin, name).map(|gem| gem.md5),
        };
        said.unwrap_or_default()
    }
}
