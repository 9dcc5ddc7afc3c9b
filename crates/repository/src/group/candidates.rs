//! Decides which members of a group are asked for a file, and in which order, from the known facts about its folder.
//!
//! The facts are about single members. The order of members, nesting and policy are applied here for each request, so a
//! change of these voids no fact.

#[cfg(test)]
mod tests;

use crate::repository::Repository;
use crate::tree::file::File;
use format::tree;
use std::sync::Arc;
use store::UpstreamPresence;
use telemetry::Millis;

/// The known facts about a folder in one remote member.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FolderFact<'a> {
    /// By the answers of its upstream so far.
    Seen(UpstreamPresence<'a>),
    /// By the list of all its files: whether it has the folder.
    Mapped(bool),
}

impl FolderFact<'_> {
    fn has(self) -> bool {
        match self {
            FolderFact::Seen(seen) => seen.has,
            FolderFact::Mapped(has) => has,
        }
    }

    /// Until when a name is recorded as missing. Where all files are known the member is asked, since it tells why.
    fn missing_until(self, name: &str) -> Option<Millis> {
        match self {
            FolderFact::Seen(seen) => seen.missing_until(name),
            FolderFact::Mapped(_) => None,
        }
    }
}

/// The known facts about the remote members of a group. The vectors are in the order of the members.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// The member that is asked first and alone.
    pub(crate) pin: Option<usize>,
    /// Until when each member is known not to have the file.
    pub(crate) missing: Vec<Option<Millis>>,
    /// Until when each member is asked last, because its own list of prefixes excludes the folder. That list is no
    /// proof.
    pub(crate) unlikely: Vec<Option<Millis>>,
    /// Whether the folder belongs to a release.
    pub(crate) is_release: bool,
}

impl Candidates {
    /// The known facts about the remote members `leaves` and a file, whose folder `facts` are about. `unlikely` are the members whose own lists exclude
    /// it.
    pub(crate) fn new(
        leaves: &[&Arc<Repository>],
        facts: &[Option<FolderFact<'_>>],
        mut unlikely: Vec<Option<Millis>>,
        file: &File<'_>,
        now: Millis,
    ) -> Self {
        let is_release = file.is_of_release();
        // A member without the file has no checksum of it either.
        let names = [file.path, file.checksum().map_or(file.path, |(of, _)| of.path)].map(name);
        let missing: Vec<Option<Millis>> = facts
            .iter()
            .zip(leaves)
            .map(|(fact, leaf)| {
                let missing = |name: &&str| (*fact)?.missing_until(name);
                names.iter().find_map(|name| missing(name).filter(|until| leaf.counts_as_missing(file, *until, now)))
            })
            .collect();
        // A proof takes precedence over a list.
        unlikely.iter_mut().zip(facts).filter(|(_, fact)| fact.is_some()).for_each(|(unlikely, _)| *unlikely = None);
        let likely = |at: usize| unlikely[at].is_none();
        // All files of a release come from one member: the first that has some of them, if all members before it were
        // asked. The age of that fact does not matter, because a release does not move. Any other file comes from the
        // first member that is not proven to lack it.
        let open = if is_release {
            (0..leaves.len()).find(|at| facts[*at].map_or_else(|| likely(*at), FolderFact::has))
        } else {
            (0..leaves.len()).find(|at| missing[*at].is_none() && likely(*at))
        };
        let pin = open.filter(|at| missing[*at].is_none() && facts[*at].is_some_and(FolderFact::has));
        Self { pin, missing, unlikely, is_release }
    }

    /// Whether the facts about the folder spare a member.
    pub(crate) fn narrow(&self) -> bool {
        self.pin.is_some() || self.missing.iter().any(Option::is_some)
    }
}

/// The name of a file in its folder.
fn name(path: &str) -> &str {
    path.get(tree::folder(path).len()..).map_or(path, |name| name.trim_start_matches('/'))
}
