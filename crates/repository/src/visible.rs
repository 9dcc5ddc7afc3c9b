//! The one way from rows to anything a client may see.
//!
//! Indexes, metadata, downloads and lists are all made from [`Visible`] entries, and only [`visible`] makes them: so
//! a policy that is added here holds on every route at once (invariant 4 of ARCHITECTURE.md).

use store::{CachedFile, Entry, Outline, State};
use telemetry::Millis;

/// From where, and when, a repository is looked at.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// As it was at the end of this moment; `None`: as it is.
    pub as_of: Option<Millis>,
    /// The time of day.
    pub now: Millis,
    /// What the repository's policy says.
    pub rules: &'a Rules,
}

/// A repository's policy: origin, cooldown, allow and deny will stand here. So far there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {}

/// What is looked at, whole or in outline.
pub trait Row {
    /// Whether it is offered, when it was published, and when it last changed.
    fn standing(&self) -> (State, Millis, Millis);
}

impl Row for Entry {
    fn standing(&self) -> (State, Millis, Millis) {
        (self.state, self.published, self.changed)
    }
}

impl Row for Outline {
    fn standing(&self) -> (State, Millis, Millis) {
        (self.state, self.published, self.changed)
    }
}

impl Row for CachedFile {
    fn standing(&self) -> (State, Millis, Millis) {
        (State::Live, self.first_seen, self.fetched)
    }
}

/// An entry that the view shows.
#[derive(Debug)]
pub struct Visible<'a, R = Entry>(&'a R);

impl<R> Clone for Visible<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Visible<'_, R> {}

impl<'a, R> Visible<'a, R> {
    /// The entry.
    pub fn entry(self) -> &'a R {
        self.0
    }
}

/// Those of `rows` that the view shows, in their order.
pub fn visible<'a, R: Row>(rows: &'a [R], view: View<'_>) -> impl Iterator<Item = Visible<'a, R>> {
    let as_of = view.as_of.unwrap_or(Millis(i64::MAX));
    rows.iter()
        .filter(move |row| {
            let (state, published, changed) = row.standing();
            let withdrawn = state == State::Withdrawn && changed <= as_of;
            published <= as_of && !withdrawn
        })
        .map(Visible)
}

/// Those of `rows` that somebody took away, for operators who may bring them back. Nothing else is made from them.
pub(crate) fn removed(rows: &[Entry]) -> impl Iterator<Item = &Entry> {
    rows.iter().filter(|row| row.state == State::Withdrawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Digest, Hashes};

    fn entry(key: &str, state: State, published: i64, changed: i64) -> Entry {
        let hashes = Hashes {
            sha256: Digest([0; 32]),
            sha512: String::new(),
            sha1: String::new(),
            md5: String::new(),
            size_bytes: 0,
        };
        Entry {
            unit: "rack".into(),
            key: key.into(),
            state,
            published: Millis(published),
            changed: Millis(changed),
            hashes,
            facts: serde_json::Value::Null,
            line: None,
        }
    }

    fn keys(rows: &[Entry], as_of: Option<i64>) -> Vec<&str> {
        let view = View { as_of: as_of.map(Millis), now: Millis(100), rules: &Rules::default() };
        visible(rows, view).map(|seen| seen.entry().key.as_str()).collect()
    }

    #[test]
    fn withdrawn_entries_are_not_seen_but_were_before() {
        let rows = [entry("a", State::Live, 10, 10), entry("b", State::Withdrawn, 20, 30)];
        assert_eq!(keys(&rows, None), ["a"]);
        assert_eq!(keys(&rows, Some(9)), [""; 0]);
        assert_eq!(keys(&rows, Some(29)), ["a", "b"]);
        assert_eq!(keys(&rows, Some(30)), ["a"]);
    }
}
