//! Whether clients get a version, and if not, why.

use crate::policy::hidden::Hidden;
use store::{Entry, State, Withdrawal};
use telemetry::Millis;

/// Whether clients of a repository get a version.
#[derive(Debug, Clone)]
pub enum Standing {
    /// They get it. The exceptions that let it through, in words.
    Visible(Option<String>),
    /// The list of its upstream does not name it any more. Clients that name it get the cached file.
    Unlisted,
    /// A policy hides it.
    Hidden(Box<Hidden>),
    /// Another member of the group answers for the name.
    Shadowed(Box<Shadowed>),
    /// It was published and is not any more.
    Withdrawn {
        /// When that changed.
        at: Millis,
        /// Why.
        why: Gone,
    },
    /// It was published after the moment of the view.
    Later,
}

/// Why a version is not published any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// Its owners yanked it.
    Yanked,
    /// Somebody deleted it.
    Deleted,
    /// A cleanup, or the retention of snapshots, removed it.
    CleanedUp,
    /// It was purged with its bytes.
    Purged,
}

/// Why a member of a group that has a version does not answer for it.
#[derive(Debug, Clone)]
pub struct Shadowed {
    /// The reason.
    pub why: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl Standing {
    /// From the decision of [`shown`](crate::visible::shown) about a row that is offered or hidden. `None`: it is withdrawn or not yet
    /// published.
    pub(crate) fn of(shown: Result<Option<String>, Option<Hidden>>) -> Option<Self> {
        match shown {
            Ok(let_through) => Some(Standing::Visible(let_through)),
            Err(Some(hidden)) => Some(Standing::Hidden(Box::new(hidden))),
            Err(None) => None,
        }
    }

    /// The same for a cached version that is not in the list of its upstream.
    pub(crate) fn without_list(self) -> Self {
        if self.is_visible() { Standing::Unlisted } else { self }
    }

    /// Whether lists name it to clients.
    pub fn is_visible(&self) -> bool {
        matches!(self, Standing::Visible(_))
    }
}

impl Gone {
    /// Why a withdrawn entry is gone.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        if entry.state == State::Live {
            return None;
        }
        Some(match entry.withdrawal {
            // Earlier versions of this program recorded no reason, and withdrew only yanked versions and deleted files.
            Some(Withdrawal::Retracted) | None => Gone::Yanked,
            Some(Withdrawal::Deleted) => Gone::Deleted,
            Some(Withdrawal::Pruned | Withdrawal::Cleanup { .. }) => Gone::CleanedUp,
            Some(Withdrawal::Purged { .. }) => Gone::Purged,
        })
    }
}
