//! Paths that have to be fetched again before their TTL ends, because a hint says that the upstream has changed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::{Millis, lock};
use tokio::sync::Mutex as Turn;

/// Maximum number of paths. With more, everything has to be fetched again.
const PATHS_MAX: usize = 1_000;
/// Maximum TTL of any answer, in milliseconds: a year. Older hints have no effect.
const KEPT_MS: i64 = 366 * 86_400_000;

/// The paths, each with the date of the last hint. A path includes everything below it.
#[derive(Debug, Default)]
pub(crate) struct Due {
    /// Held by the job that fetches documents because of hints.
    pub(crate) looking: Arc<Turn<()>>,
    any: AtomicBool,
    paths: Mutex<HashMap<String, Millis>>,
    /// The folders that clients requested recently. Their answers may be in memory.
    recent: Mutex<Vec<String>>,
}

impl Due {
    /// Marks a path and everything below it as due; an empty path marks everything.
    pub(crate) fn mark(&self, path: &str, now: Millis) {
        let mut paths = lock(&self.paths);
        paths.retain(|_, at| now.0 - at.0 < KEPT_MS);
        if paths.len() >= PATHS_MAX && !paths.contains_key(path) {
            paths.clear();
            paths.insert(String::new(), now);
        } else {
            paths.insert(path.to_owned(), now);
        }
        self.any.store(true, Ordering::Relaxed);
    }

    /// Records the folders that clients requested recently.
    pub(crate) fn set_recent(&self, folders: Vec<String>) {
        *lock(&self.recent) = folders;
    }

    /// The folders that clients requested before the last hint about everything.
    pub(crate) fn recent(&self) -> Vec<String> {
        lock(&self.recent).clone()
    }

    /// The date of the last hint about a path, the same path without its query, or a folder above it.
    pub(crate) fn since(&self, path: &str) -> Option<Millis> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let paths = lock(&self.paths);
        let folders = path.match_indices(['/', '?']).map(|(at, _)| &path[..at]);
        folders.chain(["", path]).filter_map(|path| paths.get(path).copied()).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_about_a_path_and_what_is_below_it() {
        let due = Due::default();
        assert_eq!(due.since("org/lamp/1.0/a.pom"), None);
        due.mark("org/lamp", Millis(5));
        due.mark("org/lamp/1.0", Millis(4));
        assert_eq!(due.since("org/lamp/1.0/a.pom"), Some(Millis(5)));
        assert_eq!(
            (due.since("org/lamp"), due.since("org/lampoon/x"), due.since("org")),
            (Some(Millis(5)), None, None)
        );
        due.mark("", Millis(9));
        assert_eq!(due.since("org/lampoon/x"), Some(Millis(9)));
        for at in 0..PATHS_MAX {
            due.mark(&format!("a/{at}"), Millis(10));
        }
        assert_eq!(due.since("anything"), Some(Millis(10)), "too many to tell");
    }
}
