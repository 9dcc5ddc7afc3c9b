//! Requests to each repository, counted by the collector.

use crate::Outcome;
use std::collections::HashMap;

/// The most repositories that are counted one by one. Requests for other repositories count together.
const REPOSITORIES_MAX: usize = 16 << 10;

/// Finds the format of a repository by its name.
pub(crate) type FormatOf = dyn Fn(&str) -> Option<&'static str> + Send + Sync;

/// The counts of one repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RepositoryCounts {
    pub(crate) requests: u64,
    pub(crate) received_bytes: u64,
    pub(crate) sent_bytes: u64,
    /// Requests for content that were answered from memory or from the data folder.
    pub(crate) hits: u64,
    /// Requests for content that waited for an upstream.
    pub(crate) misses: u64,
    pub(crate) outcomes: [u64; Outcome::COUNT],
}

impl RepositoryCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.hits += other.hits;
        self.misses += other.misses;
        self.outcomes.iter_mut().zip(&other.outcomes).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// The index of a repository in the table of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RepositoryIndex(usize);

impl RepositoryIndex {
    /// The index of requests that are for no repository, or for one that the caller may not read.
    pub(crate) const NONE: RepositoryIndex = RepositoryIndex(0);
    /// The index of all repositories that do not fit.
    const REST: RepositoryIndex = RepositoryIndex(1);
}

/// The counts of all repositories.
#[derive(Debug, Clone)]
pub(crate) struct Repositories {
    indexes: HashMap<String, RepositoryIndex>,
    counts: Vec<(&'static str, RepositoryCounts)>,
}

impl Default for Repositories {
    fn default() -> Self {
        Self { indexes: HashMap::new(), counts: vec![("", RepositoryCounts::default()); 2] }
    }
}

impl Repositories {
    /// The index of a repository, which is added if it is new.
    pub(crate) fn index(&mut self, name: &str, format_of: Option<&FormatOf>) -> RepositoryIndex {
        if name.is_empty() {
            return RepositoryIndex::NONE;
        }
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        if self.indexes.len() == REPOSITORIES_MAX {
            return RepositoryIndex::REST;
        }
        let index = RepositoryIndex(self.counts.len());
        let format = format_of.and_then(|format_of| format_of(name)).unwrap_or_default();
        self.indexes.insert(name.to_owned(), index);
        self.counts.push((format, RepositoryCounts::default()));
        index
    }

    /// The format of a repository; empty if it is unknown.
    pub(crate) fn format(&self, index: RepositoryIndex) -> &'static str {
        self.counts[index.0].0
    }

    /// The counts of a repository, to add to.
    pub(crate) fn counts_mut(&mut self, index: RepositoryIndex) -> &mut RepositoryCounts {
        &mut self.counts[index.0].1
    }

    /// The counts of the repository of that name.
    pub(crate) fn named(&self, name: &str) -> Option<&RepositoryCounts> {
        self.indexes.get(name).map(|index| &self.counts[index.0].1)
    }

    /// The counts of all repositories that did not fit.
    pub(crate) fn rest(&self) -> &RepositoryCounts {
        &self.counts[RepositoryIndex::REST.0].1
    }

    /// Adds the counts of another table.
    pub(crate) fn merge(&mut self, other: &Repositories) {
        for (name, theirs) in &other.indexes {
            let (format, counts) = other.counts[theirs.0];
            let mine = self.index(name, Some(&|_| Some(format)));
            self.counts_mut(mine).add(&counts);
        }
        for index in [RepositoryIndex::NONE, RepositoryIndex::REST] {
            self.counts_mut(index).add(&other.counts[index.0].1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_beyond_the_limit_count_together() {
        let mut repositories = Repositories::default();
        for number in 0..REPOSITORIES_MAX + 3 {
            let index = repositories.index(&format!("r{number}"), None);
            repositories.counts_mut(index).requests += 1;
        }
        assert_eq!((repositories.rest().requests, repositories.indexes.len()), (3, REPOSITORIES_MAX));
        assert_eq!(repositories.named("r0").unwrap().requests, 1);
    }

    #[test]
    fn two_tables_add_up_by_name() {
        let (mut one, mut other) = (Repositories::default(), Repositories::default());
        for (table, names) in [(&mut one, ["a", "b"]), (&mut other, ["b", "c"])] {
            for name in names {
                let index = table.index(name, Some(&|_| Some("raw")));
                table.counts_mut(index).sent_bytes += 7;
            }
        }
        one.merge(&other);
        let sent = |name| one.named(name).map(|counts| counts.sent_bytes);
        assert_eq!([sent("a"), sent("b"), sent("c"), sent("d")], [Some(7), Some(14), Some(7), None]);
        let index = one.index("c", None);
        assert_eq!(one.format(index), "raw");
    }
}
