//! Decides whether a 403 of an upstream is about the file or about this server.
//!
//! Some servers refuse single files: they are in quarantine, or missing where nobody may list an object store. Others
//! refuse everything: the credentials are wrong, or the address of this server is blocked. The status is the same. So
//! a 403 is about the file if the upstream has answered another request of this server before, and has not refused many
//! folders in a row since then.

use crate::circuit::FailingPaths;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use telemetry::lock;

/// The most folders that can be refused in a row. A build requests several versions at once, each with a few files.
const IN_A_ROW: usize = 16;

/// The 403s of an upstream since it last answered a request.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    state: Mutex<State>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct State {
    has_answered: bool,
    refused: FailingPaths,
}

impl Refusals {
    /// The upstream sent a file, or proved that it has none.
    pub(crate) fn served(&self) {
        let mut state = lock(&self.state);
        state.has_answered = true;
        state.refused.forget();
    }

    /// The upstream answered 403 for this path. Returns whether that is about the file.
    pub(crate) fn is_about_file(&self, path: &str) -> bool {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut state = lock(&self.state);
        state.refused.add(self.hasher.hash_one(folder));
        state.has_answered && state.refused.len() <= IN_A_ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_403_is_about_the_file_while_others_are_answered_and_not_when_all_are_refused() {
        let refusals = Refusals::default();
        assert!(!refusals.is_about_file("org/lamp/1/lamp-1.pom"), "nothing was answered yet");
        refusals.served();
        for folder in 0..IN_A_ROW {
            for file in ["pom", "jar", "jar.sha1"] {
                assert!(refusals.is_about_file(&format!("org/lamp/{folder}/{file}")), "{folder}");
            }
        }
        assert!(!refusals.is_about_file("org/lamp/many/pom"));
        refusals.served();
        assert!(refusals.is_about_file("org/lamp/many/pom"));
    }
}
