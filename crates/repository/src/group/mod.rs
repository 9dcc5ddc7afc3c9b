//! A repository that joins others behind one URL.
//!
//! In reading order: [`fetch`] decides which member answers for a file, [`candidates`] which members are asked first, [`race`] asks
//! several at once, [`outcome`] combines their answers; [`merged`] makes one document of those of all members, and [`gather`] waits
//! for them; [`member`] asks one member. [`namespace_guard`] says which names upstreams are not asked for.

pub(crate) mod candidates;
pub(crate) mod concurrent;
pub(crate) mod fetch;
pub(crate) mod gather;
pub(crate) mod member;
pub(crate) mod merged;
pub(crate) mod namespace_guard;
pub(crate) mod not_found;
pub(crate) mod outcome;
pub(crate) mod race;

use crate::content::Content;
use crate::context::Context;
use crate::error::Error;
use crate::repository::Repository;
use crate::tree::file::File;
use crate::tree::inventory::Inventory;
use crate::upstream::{Remote, Remotes};
use crate::waiters::Place;
use std::sync::Arc;
use store::{RepositoryKind, Store};
use telemetry::{Bound, Counter, Event, Layer, Millis};

/// A group and what its members work with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) inventory: &'a Inventory,
    pub(crate) remotes: &'a Arc<Remotes>,
    /// Bytes of documents that are merged.
    pub(crate) merging: &'a Arc<Bound>,
    pub(crate) repository: &'a Arc<Repository>,
    /// That of the request.
    pub(crate) place: &'a Arc<Place>,
}

impl<'g> Group<'g> {
    /// Its hosted members. They come first: they are asked in process, and no other member answers for their files.
    pub(crate) fn hosted(self) -> impl Iterator<Item = &'g Arc<Repository>> + Clone {
        self.repository.leaves.iter().filter(|leaf| is_hosted(leaf))
    }

    /// Its members that stand for upstreams.
    pub(crate) fn remote(self) -> impl Iterator<Item = &'g Arc<Repository>> {
        self.repository.leaves.iter().filter(|leaf| !is_hosted(leaf))
    }

    /// A remote member, asked for this request.
    pub(crate) fn upstream(&self, leaf: &Arc<Repository>) -> Remote {
        self.remotes.remote(leaf, self.place)
    }

    /// Counts work that is done to answer a request. An explanation is not counted.
    pub(crate) fn count(&self, counter: Counter) {
        if self.repository.asks {
            self.context.recorder.count(counter);
        }
    }
}

/// Whether a member answers from what is published here; else it stands for an upstream.
pub(crate) fn is_hosted(leaf: &Repository) -> bool {
    leaf.record.kind == RepositoryKind::Hosted
}

/// The file of one of the members, or a document that is made of those of all.
pub(crate) async fn answer(
    group: Group<'_>,
    file: &File<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Content, Error> {
    event.layer = Layer::Group;
    match file.document() {
        Some(document) => merged::fetch(group, file, document, now, event).await,
        None => fetch::fetch(group, file, now, event).await,
    }
}
