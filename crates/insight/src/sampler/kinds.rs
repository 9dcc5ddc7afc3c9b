//! The kinds of repositories, by their names.

use crate::row::RepositoryFacts;
use std::collections::HashMap;

/// The kind of an event that is not for a known repository.
pub(super) const NONE: u8 = 0;
/// How many kinds there are.
pub(super) const COUNT: usize = 4;

/// The kinds of repositories, by their names, as they were at most [`Kinds::VALID`] seconds ago.
pub(super) struct Kinds {
    facts: Box<dyn Fn(&str) -> RepositoryFacts + Send>,
    known: HashMap<Box<str>, u8>,
    /// Seconds since the list was emptied.
    age: f64,
}

impl Kinds {
    /// Names that are known at once. The names come from clients, and more are looked up each time.
    const MAX: usize = 4096;
    /// A repository may be removed, and made again as another kind.
    const VALID: f64 = 60.0;

    pub(super) fn new(facts: Box<dyn Fn(&str) -> RepositoryFacts + Send>) -> Self {
        Self { facts, known: HashMap::new(), age: 0.0 }
    }

    pub(super) fn of(&mut self, name: &str) -> u8 {
        if name.is_empty() {
            return NONE;
        }
        if let Some(kind) = self.known.get(name) {
            return *kind;
        }
        let kind = match (self.facts)(name).kind {
            "hosted" => 1,
            "remote" => 2,
            "group" => 3,
            _ => NONE,
        };
        if self.known.len() < Self::MAX {
            self.known.insert(name.into(), kind);
        }
        kind
    }

    /// Tells how many seconds passed.
    pub(super) fn passed(&mut self, seconds: f64) {
        self.age += seconds;
        if self.age >= Self::VALID {
            self.age = 0.0;
            self.known.clear();
        }
    }
}
