//! Which members of a group are asked for a file, and in which order, from what is known of its folder.
//!
//! The facts are about single members. The order of members, nesting and policy are applied here for each request, so that a change
//! of them voids no fact.

#[cfg(test)]
mod tests;

use crate::repository::Repository;
use crate::tree::file::File;
use format::tree;
use std::sync::Arc;
use store::FolderPresence;
use telemetry::Millis;

/// What is known of the remote members of a group, each by its place in their order.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// The member that is asked first and alone.
    pub(crate) pin: Option<usize>,
    /// Until when each counts as not having the file.
    pub(crate) missing: Vec<Option<Millis>>,
    /// Until when each is asked last, because its own list says that it has nothing there. That proves nothing.
    pub(crate) unlikely: Vec<Option<Millis>>,
    /// Whether the folder is that of a release.
    pub(crate) is_release: bool,
}

impl Candidates {
    /// What is known of the remote members `leaves` about a file. `unlikely` are those whose own lists lack it.
    pub(crate) fn new(
        leaves: &[&Arc<Repository>],
        folder: &FolderPresence,
        mut unlikely: Vec<Option<Millis>>,
        file: &File<'_>,
        now: Millis,
    ) -> Self {
        let is_release = file.is_of_release();
        // A member that lacks a file has no checksum of it either.
        let names = [file.path, file.checksum().map_or(file.path, |(of, _)| of.path)].map(name);
        let facts: Vec<_> = leaves.iter().map(|leaf| folder.upstream(leaf.origin)).collect();
        let missing: Vec<Option<Millis>> = facts
            .iter()
            .zip(leaves)
            .map(|(fact, leaf)| {
                let missing = |name: &&str| fact.as_ref()?.missing_until(name);
                names.iter().find_map(|name| missing(name).filter(|until| leaf.counts_as_missing(file, *until, now)))
            })
            .collect();
        // A proof counts more than a list.
        unlikely.iter_mut().zip(&facts).filter(|(_, fact)| fact.is_some()).for_each(|(unlikely, _)| *unlikely = None);
        let likely = |at: usize| unlikely[at].is_none();
        // The files of a release are of one member: the first that has some of them, of those before which all were asked
        // about it; however long ago, as a release does not wander. All else is of the first that was not proven to lack it.
        let open = if is_release {
            (0..leaves.len()).find(|at| facts[*at].map_or_else(|| likely(*at), |fact| fact.has))
        } else {
            (0..leaves.len()).find(|at| missing[*at].is_none() && likely(*at))
        };
        let pin = open.filter(|at| missing[*at].is_none() && facts[*at].is_some_and(|fact| fact.has));
        Self { pin, missing, unlikely, is_release }
    }
}

/// The name of a file in its folder.
fn name(path: &str) -> &str {
    path.get(tree::folder(path).len()..).map_or(path, |name| name.trim_start_matches('/'))
}
