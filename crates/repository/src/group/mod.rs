//! A repository that joins others behind one URL.
//!
//! In reading order: [`fetch`] finds the member that answers for a file, [`candidates`] orders the members, [`race`]
//! asks several concurrently, [`outcome`] combines their answers; [`merged`] merges a document of all members, and
//! [`gather`] collects these; [`member`] asks one member. [`namespace_guard`] decides for which names no upstream is
//! called.

pub(crate) mod candidates;
pub(crate) mod concurrent;
pub(crate) mod fetch;
pub(crate) mod gather;
pub(crate) mod kept_names;
pub(crate) mod member;
pub(crate) mod merged;
pub(crate) mod namespace_guard;
pub(crate) mod not_found;
pub(crate) mod outcome;
pub(crate) mod race;

use crate::content::Content;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::tree::file::File;
use crate::tree::inventory::Inventory;
use crate::upstream::{Remote, Remotes};
use crate::waiters::Place;
use std::sync::Arc;
use store::{RepositoryKind, Store};
use telemetry::{Bound, Counter, Event, Layer, Millis};

/// A group and the tools that its members need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) inventory: &'a Inventory,
    pub(crate) remotes: &'a Arc<Remotes>,
    /// The bound of bytes of documents that are being merged.
    pub(crate) merging: &'a Arc<Bound>,
    pub(crate) repository: &'a Arc<Repository>,
    /// The place of the request.
    pub(crate) place: &'a Arc<Place>,
}

impl<'g> Group<'g> {
    /// Its hosted members. They come first, because they are asked in process and no other member answers for their
    /// files.
    pub(crate) fn hosted(self) -> impl Iterator<Item = &'g Arc<Repository>> + Clone {
        self.repository.leaves.iter().filter(|leaf| is_hosted(leaf))
    }

    /// Its remote members.
    pub(crate) fn remote(self) -> impl Iterator<Item = &'g Arc<Repository>> {
        self.repository.leaves.iter().filter(|leaf| !is_hosted(leaf))
    }

    /// A remote member, prepared for this request.
    pub(crate) fn upstream(&self, leaf: &Arc<Repository>) -> Remote {
        self.remotes.remote(leaf, self.place)
    }

    /// Counts work for an answer. The work of an explanation is not counted.
    pub(crate) fn count(&self, counter: Counter) {
        if self.repository.asks {
            self.context.recorder.count(counter);
        }
    }
}

/// Why a group has no list of prefixes and no search index.
const WHOLE: &str = "this file describes all of one repository, so a group has none: ask a member for it";

/// Whether a member is hosted. Otherwise it is remote.
pub(crate) fn is_hosted(leaf: &Repository) -> bool {
    leaf.record.kind == RepositoryKind::Hosted
}

/// Returns the file of one member, or a document merged from all.
pub(crate) async fn answer(group: Group<'_>, file: &File<'_>, now: Millis, event: &mut Event) -> Result<Content> {
    event.layer = Layer::Group;
    if file.is_of_whole_repository() {
        event.detail = WHOLE.to_owned();
        return Err(Error::NoSuchFile(file.path.to_owned()));
    }
    match file.document() {
        Some(document) => merged::fetch(group, file, document, now, event).await,
        None => fetch::fetch(group, file, now, event).await,
    }
}
