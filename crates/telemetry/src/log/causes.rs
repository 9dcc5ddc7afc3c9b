//! The causes of one problem that lasts for a while. The log has each of them once.

use crate::lock;
use std::collections::HashSet;
use std::sync::Mutex;

/// The most causes that the log has of one problem.
const TOLD_MAX: usize = 8;

/// The causes that the log has of a problem that goes on.
#[derive(Debug, Default)]
pub struct Causes(Mutex<HashSet<String>>);

impl Causes {
    /// Whether the log does not have this cause yet. Numbers, paths and URLs make no difference.
    pub fn is_new(&self, cause: &str) -> bool {
        let is_word = |word: &&str| !word.contains(|c: char| c.is_ascii_digit() || c == '/');
        let words = cause.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ");
        let mut told = lock(&self.0);
        told.len() < TOLD_MAX && told.insert(words)
    }

    /// The problem is over.
    pub fn forget(&self) {
        lock(&self.0).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_new_once_until_the_problem_is_over_whatever_its_numbers_and_names_of_files_are() {
        let causes = Causes::default();
        let refused = |ms: u32| format!("PUT of blobs/{ms:x} failed in {ms}ms: refused");
        assert_eq!([1, 2, 3].map(|ms| causes.is_new(&refused(ms))), [true, false, false]);
        assert!(causes.is_new("nothing listens there") && !causes.is_new("nothing listens there"));
        causes.forget();
        assert!(causes.is_new(&refused(4)));
        let many = (b'a'..=b'z').filter(|letter| causes.is_new(&char::from(*letter).to_string())).count();
        assert_eq!(many, TOLD_MAX - 1);
    }
}
