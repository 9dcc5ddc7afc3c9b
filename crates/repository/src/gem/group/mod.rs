//! A group of gem repositories: one URL for the gems of its members.
//!
//! In reading order: [`owner`] decides which member owns a name, pure; [`members`] has the known facts about the
//! members, and [`owners`] updates them. [`info`], [`file`] and [`describe`] ask the owner of a name. [`versions`] keeps
//! `/versions` as one log that only grows, made from the [states](says) that owners publish, also after a change of the
//! members ([`regrouped`]); [`past`] reads the states as of a moment. [`explained`] writes the owner of a name into
//! events. [`collisions`] lists the names that several members have, [`waiting`] finds names that an administrator has
//! to decide about, and [`owner_changes`] predicts changes of owners.

pub(crate) mod answer;
pub(crate) mod collisions;
pub(crate) mod describe;
pub(crate) mod explained;
pub(crate) mod file;
pub(crate) mod info;
pub(crate) mod members;
pub(crate) mod owner;
pub(crate) mod owner_changes;
pub(crate) mod owners;
pub(crate) mod past;
pub(crate) mod regrouped;
pub(crate) mod says;
pub(crate) mod versions;
pub(crate) mod waiting;
pub(crate) mod waiting_metrics;
pub(crate) mod waiting_names;

use crate::gem::hosted::Hosted;
use crate::gem::upstream::RemoteGems;
use crate::group::is_hosted;
use crate::package::listed::Among;
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::upstream::Remote;
use crate::upstream::failure::Failure;
use std::sync::Arc;
use telemetry::Millis;

/// A group of gem repositories, and the tools that its members need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupGems<'a> {
    pub(crate) services: &'a Services,
    pub(crate) ask: &'a Ask<'a>,
    /// The group itself: its indexes, and the cache of views.
    pub(crate) local: Hosted<'a>,
    /// The hosted members that may have the names in question.
    pub(crate) among: Among<'a>,
}

/// A member, prepared for one request.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    pub(crate) local: Hosted<'a>,
    remote: Option<Remote>,
}

impl Member<'_> {
    /// A remote member.
    pub(crate) fn upstream(&self) -> Option<RemoteGems<'_>> {
        self.remote.as_ref().map(|remote| RemoteGems::of(remote, self.local))
    }
}

impl<'a> GroupGems<'a> {
    pub(crate) fn now(self) -> Millis {
        self.services.clock.now()
    }

    /// Its hosted and remote members, in order, as they are seen through it.
    pub(crate) fn leaves(self) -> &'a [Arc<Repository>] {
        &self.local.repository.leaves
    }

    /// A member, prepared for a request.
    pub(crate) fn member(self, leaf: &'a Arc<Repository>) -> Member<'a> {
        let through = Some(self.local.repository.id);
        let local = Hosted { through, ..Hosted::of(self.services, leaf, self.local.settings) };
        let remote = (!is_hosted(leaf)).then(|| self.services.remotes.remote(leaf, &self.ask.place));
        Member { local, remote }
    }

    /// Why the index of this member may be missing from the lists of the group: it is the default upstream, and all looks
    /// at it have failed. `None`: it may not be missing.
    pub(crate) fn why_missing(self, leaf: &Repository) -> Option<Failure> {
        let url = leaf.record.remote.as_ref()?.urls.first()?;
        let is_default = self.services.gem_caches.default_upstream.as_ref() == Some(url);
        let is_known = || leaf.shared.gems().followed.read(leaf.origin, |_| ()).is_some();
        leaf.shared.gems().followed.failure_after(0).filter(|_| is_default && !is_known())
    }

    /// Whether the member is a remote repository without an upstream URL.
    pub(crate) fn is_unset(leaf: &Repository) -> bool {
        leaf.record.remote.as_ref().is_none_or(|remote| !remote.is_set())
    }
}
