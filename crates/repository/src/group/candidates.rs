//! What is known of a file's folder before anybody is asked: who is asked first and alone, and who need not be.
//!
//! Facts are about members, so the order of members, nesting and policy are applied here, each time anew (decision 3 of the
//! design): when those change nothing of what is known is void.

#[cfg(test)]
mod tests;

use crate::repository::Repository;
use crate::tree::file::File;
use format::tree;
use std::sync::Arc;
use store::FolderPresence;
use telemetry::Millis;

/// What is known of members, by their places in order.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// Who is asked first and alone.
    pub(crate) pin: Option<usize>,
    /// Until when each counts as not having the file.
    pub(crate) missing: Vec<Option<Millis>>,
    /// Until when each is asked last, as it says itself that it has nothing there. That proves nothing.
    pub(crate) unlikely: Vec<Option<Millis>>,
    /// Whether the folder is that of a release.
    pub(crate) steady: bool,
}

impl Candidates {
    /// What is known of `leaves`, all remote, about the file at `path`; who of them are `unlikely` to have it, where nothing is known.
    pub(crate) fn new(
        leaves: &[&Arc<Repository>],
        folder: &FolderPresence,
        mut unlikely: Vec<Option<Millis>>,
        file: &File<'_>,
        now: Millis,
    ) -> Self {
        let steady = file.is_of_release();
        // A member that lacks a file has no checksum of it either.
        let names = [file.path, file.checksum().map_or(file.path, |(of, _)| of.path)].map(name);
        let facts: Vec<_> = leaves.iter().map(|leaf| folder.upstream(leaf.origin)).collect();
        let missing: Vec<Option<Millis>> = facts
            .iter()
            .map(|fact| names.iter().find_map(|name| fact.as_ref()?.missing_until(name).filter(|until| now < *until)))
            .collect();
        // What was proven says more than what is said.
        unlikely.iter_mut().zip(&facts).filter(|(_, fact)| fact.is_some()).for_each(|(unlikely, _)| *unlikely = None);
        let likely = |at: usize| unlikely[at].is_none();
        // The files of a release are of one member: the first that has some of them, of those before which all were asked
        // about it; however long ago, as a release does not wander. All else is of the first that was not proven to lack it.
        let open = if steady {
            (0..leaves.len()).find(|at| facts[*at].map_or_else(|| likely(*at), |fact| fact.has))
        } else {
            (0..leaves.len()).find(|at| missing[*at].is_none() && likely(*at))
        };
        let pin = open.filter(|at| missing[*at].is_none() && facts[*at].is_some_and(|fact| fact.has));
        Self { pin, missing, unlikely, steady }
    }
}

/// The name of a file in its folder.
fn name(path: &str) -> &str {
    path.get(tree::folder(path).len()..).map_or(path, |name| name.trim_start_matches('/'))
}
