//! Which backend gets a request.

use super::backend::AppBackend;
use std::sync::Arc;
use telemetry::Tick;

/// The most backends of an application.
pub(super) const BACKENDS_MAX: usize = 64;

/// The backends that a request has tried.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tried(u64);

impl Tried {
    pub(super) fn with(self, at: usize) -> Self {
        Self(self.0 | 1 << at)
    }

    fn has(self, at: usize) -> bool {
        self.0 & 1 << at != 0
    }
}

/// The backend that is tried next, among the others: one that can be used before one that is down, and one that is down before one that
/// asked for no new requests; then the one with the fewest requests under way. Between equal ones it is `turn` that decides.
pub(super) fn next(all: &[Arc<AppBackend>], tried: Tried, turn: impl FnOnce() -> usize) -> Option<usize> {
    let at = match all {
        [_] if tried.has(0) => return None,
        [_] => 0,
        _ => {
            let (now, turn, count) = (Tick::now(), turn(), all.len());
            let order = (0..count).map(|step| turn.wrapping_add(step) % count).filter(|at| !tried.has(*at));
            order.min_by_key(|at| (all[*at].rank(now), all[*at].busy()))?
        }
    };
    all[at].tried();
    Some(at)
}
