//! The names whose owner a change of settings would change.

use crate::error::Result;
use crate::format::Format;
use crate::gem::group::members::KnownMembers;
use crate::gem::upstream::follow::Follow;
use crate::repository::{Repository, RepositoryTable};
use crate::services::{Served, Services};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{Lane, RepositoryId};
use telemetry::{Event, Op};

/// Maximum number of names that are listed. All are counted.
const LISTED_MAX: usize = 20;

/// The names of gems that would have another owner, in groups that hold the repository. Absent where there is no such group, and where the
/// upstream would be another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PreviewOwners")]
pub struct OwnerChanges {
    /// Their number, in all groups.
    pub count: usize,
    /// The first 20.
    pub names: Vec<OwnerChange>,
}

/// A name that would have another owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnerChange {
    /// The group.
    pub group: String,
    /// The name.
    pub name: String,
    /// The member whose it is.
    pub before: String,
    /// Whose it would be. Null: no member would have it.
    pub after: Option<String>,
}

/// The names in gem groups whose owner changes with the settings in `after`, which differ in one repository. This
/// calls no upstream. `None`: the repository is in no gem group, or gets another upstream, whose names are unknown.
pub async fn owner_changes(
    services: &Services,
    before: &RepositoryTable,
    after: &RepositoryTable,
    changed: RepositoryId,
    event: &mut Event,
) -> Result<Option<OwnerChanges>> {
    let mut groups: Vec<(&Arc<Repository>, &Arc<Repository>)> = before
        .by_name
        .iter()
        .filter_map(|(name, group)| Some((group, after.by_name.get(name)?)))
        .filter(|(group, then)| {
            let holds = |one: &Repository| one.id == changed || one.leaves.iter().any(|leaf| leaf.id == changed);
            group.format == Format::Gem && !group.leaves.is_empty() && (holds(group) || holds(then))
        })
        .collect();
    let origin = |table: &RepositoryTable| table.by_name.values().find(|one| one.id == changed).map(|one| one.origin);
    if groups.is_empty() || origin(before) != origin(after) {
        return Ok(None);
    }
    groups.sort_by(|(one, _), (other, _)| one.record.name.cmp(&other.record.name));
    let mut changes = OwnerChanges::default();
    for (group, then) in groups {
        let now = services.clock.now();
        for leaf in group.leaves.iter().chain(then.leaves.iter()).filter(|leaf| leaf.follows()) {
            let of = Served { services, repository: leaf, settings: &before.stamp };
            Follow::of(of).load(event).await?;
        }
        let is = KnownMembers::holding(&group.leaves, &services.store, now, event).await?;
        let would_be = KnownMembers::holding(&then.leaves, &services.store, now, event).await?;
        let (name, room) = (group.record.name.clone(), LISTED_MAX.saturating_sub(changes.names.len()));
        let compare = move |(): &mut ()| is.owner_changes(&would_be, &name, room);
        let more = services.context.workers.run(Lane::Index, Op::IndexRender, event, compare).await?;
        changes.count += more.count;
        changes.names.extend(more.names);
    }
    Ok(Some(changes))
}

impl KnownMembers {
    fn owner_changes(&self, then: &Self, group: &str, room: usize) -> OwnerChanges {
        let mut names: BTreeSet<String> = self.contested();
        names.extend(then.contested());
        // All names of the members that would be removed.
        for (place, leaf) in self.leaves.iter().enumerate() {
            if then.leaves.iter().all(|other| other.id != leaf.id)
                && let Some(listing) = self.listings.get(&place)
            {
                listing.read_each(usize::MAX, |offer| names.extend([offer.name.to_owned()]));
            }
        }
        let mut changes = OwnerChanges::default();
        for name in names {
            let Some(before) = self.owner_of(&name) else { continue };
            let after = then.owner_of(&name);
            if after.is_some_and(|after| after.id == before.id) {
                continue;
            }
            changes.count += 1;
            if changes.names.len() < room {
                let (before, after) = (before.record.name.clone(), after.map(|after| after.record.name.clone()));
                changes.names.push(OwnerChange { group: group.to_owned(), name, before, after });
            }
        }
        changes
    }

    fn owner_of(&self, name: &str) -> Option<&Repository> {
        // A claim of a name that nobody has makes no owner.
        let holders = Some(self.holders(name)).filter(|holders| !holders.is_empty())?;
        self.owners_among(&holders, name).first().map(|place| &*self.leaves[*place])
    }
}
