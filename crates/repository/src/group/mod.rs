//! A repository that joins others behind one URL.
//!
//! In reading order: [`fetch`] says which member answers for a file, [`leads`] who is asked first, [`race`] asks several at once,
//! [`outcome`] is what their answers come to; [`merged`] has all of them answer for a [`document`], and [`hear`] listens to them;
//! [`member`] asks one. [`ours`] says which names upstreams are not asked for.

mod document;
mod fetch;
mod hear;
mod leads;
mod member;
mod merged;
mod nothing;
mod ours;
mod outcome;
mod race;
mod wide;

use crate::hosted::{Inventory, Keeper};
use crate::remote::{Remote, Remotes};
use crate::{Error, Found, Place, Repository};
use document::Asked;
pub(crate) use document::MERGING;
pub(crate) use ours::artifacts;
use std::sync::Arc;
use store::{RepositoryKind, Store};
use telemetry::{Bound, Counter, Event, Layer, Millis};

/// A group and what its members work with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) store: &'a Store,
    pub(crate) keeper: &'a Keeper,
    pub(crate) inventory: &'a Inventory,
    pub(crate) remotes: &'a Arc<Remotes>,
    /// Bytes of documents that are made one of.
    pub(crate) merging: &'a Arc<Bound>,
    pub(crate) repository: &'a Arc<Repository>,
    /// That of the request.
    pub(crate) place: &'a Arc<Place>,
}

impl<'g> Group<'g> {
    /// Its hosted members. They come first: they are asked in process, and what they hold is nobody else's to answer.
    fn hosted(self) -> impl Iterator<Item = &'g Arc<Repository>> + Clone {
        self.repository.leaves.iter().filter(|leaf| is_hosted(leaf))
    }

    /// Those that stand for upstreams.
    fn remote(self) -> impl Iterator<Item = &'g Arc<Repository>> {
        self.repository.leaves.iter().filter(|leaf| !is_hosted(leaf))
    }

    /// A remote member, asked for this request.
    fn upstream(&self, leaf: &Arc<Repository>) -> Remote {
        self.remotes.remote(leaf, self.place)
    }

    /// Counts what is done to answer; what is only explained is not.
    fn count(&self, counter: Counter) {
        if self.repository.asks {
            self.keeper.recorder.count(counter);
        }
    }
}

/// Whether a member answers from what is published here; else it stands for an upstream.
fn is_hosted(leaf: &Repository) -> bool {
    leaf.record.kind == RepositoryKind::Hosted
}

/// What the group has at `path`: the file of one of its members, or a document that is made of those of all.
pub(crate) async fn answer(group: Group<'_>, path: &str, now: Millis, event: &mut Event) -> Result<Found, Error> {
    event.layer = Layer::Group;
    match Asked::read(group.repository.format, path) {
        Some(asked) => merged::fetch(group, (asked, path), now, event).await,
        None => fetch::fetch(group, path, now, event).await,
    }
}
