//! One repository with its present settings, and the table of all repositories.

mod past;
mod query;
pub(crate) mod shared;

use crate::as_of::Past;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::policy::rules::OPEN;
use crate::policy::rules::{Rules, View};
use crate::record::RepositoryRecord;
use crate::repository::shared::Shared;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::{Expect, Origin, RepositoryId, RepositoryKind, Seq, Stamp};
use telemetry::Millis;

/// One repository with its present settings.
#[derive(Debug)]
pub struct Repository {
    /// Its identity in the store.
    pub id: RepositoryId,
    /// Its settings.
    pub record: RepositoryRecord,
    /// Its settings as the store has them. A change that relies on them expects exactly these bytes.
    pub(crate) stored: Arc<store::RepositoryRecord>,
    /// Its format.
    pub format: Format,
    /// Its policy, and the policies of the groups through which it is seen.
    pub rules: Rules,
    /// The as-of moment; `None`: now.
    pub as_of: Option<Past>,
    /// The key of its files in the cache. A change of the upstream changes it.
    pub(crate) origin: Origin,
    /// Its state apart from the settings. It survives changes of the settings.
    pub shared: Arc<Shared>,
    /// Whether its upstream may be called.
    pub asks: bool,
    /// Since when it has had its place among the members of the group through which it is seen.
    pub(crate) stands_since: Millis,
    /// The names that members of its groups claim, a set for each group.
    pub(crate) claimed_in_groups: Arc<[Arc<HashSet<String>>]>,
    /// The hosted and remote members of a group, including those of nested groups, in order, as they are seen through
    /// it.
    pub leaves: Arc<[Arc<Repository>]>,
}

impl Repository {
    /// A repository with its present settings and its own policy. A group has no members yet.
    pub(crate) fn new(
        id: RepositoryId,
        record: RepositoryRecord,
        stored: Arc<store::RepositoryRecord>,
        format: Format,
        shared: Arc<Shared>,
    ) -> Self {
        let (origin, rules, leaves) = (Self::origin_of(id, &record), Rules::of(&record, format), Arc::default());
        let (as_of, stands_since, asks, claimed_in_groups) = (None, record.created, true, Arc::default());
        Self { id, record, stored, format, rules, as_of, origin, shared, asks, stands_since, claimed_in_groups, leaves }
    }

    /// Whether another member of its groups claims a name. Its upstream is not called for such a name, unless a client
    /// requests it from this repository itself.
    pub(crate) fn is_claimed_by_others(&self, name: &str) -> bool {
        !self.record.claims(name) && self.claimed_in_groups.iter().any(|claims| claims.contains(name))
    }

    /// Whether it is a remote repository whose content is that of tags of a Koji hub.
    pub(crate) fn is_koji(&self) -> bool {
        self.record.koji().is_some()
    }

    /// Expects that the stored settings have not changed.
    pub(crate) fn unchanged(&self) -> Expect {
        Expect::RepositoryIs { id: self.id, record: Box::new((*self.stored).clone()) }
    }

    /// The view of clients at `now`.
    pub fn view(&self, now: Millis) -> View<'_> {
        let exceptions_by = self.as_of.map(|past| past.exceptions_by);
        View { as_of: self.as_of.map(|past| past.until), exceptions_by, now, rules: &self.rules }
    }

    /// The view of a change at `now`: the policy hides nothing.
    pub(crate) fn whole(&self, now: Millis) -> View<'static> {
        View { as_of: None, exceptions_by: None, now, rules: &OPEN }
    }

    /// The next moment at which an exception of a policy ends.
    pub(crate) fn ends(&self, now: Millis) -> Option<Millis> {
        self.all_rules().filter_map(|rules| rules.ends(now)).min()
    }

    /// Whether a policy has an exception.
    pub(crate) fn has_exceptions(&self) -> bool {
        self.all_rules().any(|rules| rules.has_exceptions())
    }

    fn all_rules(&self) -> impl Iterator<Item = &Rules> {
        self.leaves.iter().map(|leaf| &leaf.rules).chain([&self.rules])
    }

    /// The same repository with other rules, as of another moment.
    pub(crate) fn seen(&self, rules: Rules, as_of: Option<Past>) -> Self {
        let (record, stored, shared) = (self.record.clone(), self.stored.clone(), self.shared.clone());
        let (claimed_in_groups, leaves) = (self.claimed_in_groups.clone(), self.leaves.clone());
        Self { record, stored, rules, as_of, shared, claimed_in_groups, leaves, ..*self }
    }

    /// The same repository without calls to upstreams: it answers from the cache.
    pub(crate) fn unasked(&self) -> Self {
        let leaves = self.leaves.iter().map(|leaf| Arc::new(leaf.unasked())).collect();
        Self { asks: false, leaves, ..self.seen(self.rules.clone(), self.as_of) }
    }

    /// The key of the cached files of a repository with these settings.
    pub(crate) fn origin_of(id: RepositoryId, record: &RepositoryRecord) -> Origin {
        match record.koji() {
            // Another hub may say of the same files that they are others.
            Some(koji) => Origin::of_all(id, &[&koji.hub, &koji.files]),
            None => Origin::new(id, record.remote.as_ref().map_or(&[], |remote| &remote.urls)),
        }
    }
}

impl RepositoryTable {
    /// The repository of that name.
    pub(crate) fn named(&self, name: &str) -> Result<&Arc<Repository>> {
        self.by_name.get(name).ok_or_else(|| Error::NoSuchRepository(name.to_owned()))
    }

    /// The revision of the settings that the answers of a repository depend on: its own, and those of all that share a group with it.
    /// Pages carry it.
    pub fn settings_of(&self, id: RepositoryId) -> Stamp {
        self.settings.get(&id).copied().unwrap_or(self.stamp)
    }

    /// The groups that have this repository among their members, by name.
    pub(crate) fn groups_with(&self, member: RepositoryId) -> Vec<&Arc<Repository>> {
        let is_in = |group: &Repository| group.leaves.iter().any(|leaf| leaf.id == member);
        let all = self.by_name.values();
        let mut groups: Vec<_> = all.filter(|one| one.record.kind == RepositoryKind::Group && is_in(one)).collect();
        groups.sort_by(|one, other| one.record.name.cmp(&other.record.name));
        groups
    }

    /// Expects that the settings of no repository have changed, for decisions that depend on several.
    pub(crate) fn unchanged(&self) -> Expect {
        Expect::RepositoriesAt(self.at)
    }
}

/// All repositories, as of a revision of the settings.
#[derive(Debug)]
pub struct RepositoryTable {
    /// By name. A `HashMap` is enough: there are hundreds at most.
    pub by_name: HashMap<String, Arc<Repository>>,
    /// The number of the last change of any repository when they were read.
    pub at: Seq,
    /// Taken before the settings were read. The table is current while the stamp holds.
    pub stamp: Stamp,
    /// For each repository the revision of the settings that its answers depend on.
    pub(crate) settings: HashMap<RepositoryId, Stamp>,
}
