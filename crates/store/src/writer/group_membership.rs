//! Maps a repository to the groups that contain it, directly or through other groups. A change of the repository invalidates the
//! pages of all of them, and a change of its settings those of all members of these groups, too.

use crate::journal::record::{RepositoryId, RepositoryRecord};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The repositories that are not removed, indexed by their members.
#[derive(Debug, Default)]
pub(crate) struct GroupMembership {
    /// By the name of a member: the groups that list it.
    groups: HashMap<String, Vec<RepositoryId>>,
    names: HashMap<RepositoryId, String>,
    /// By the name of a repository: its id.
    ids: HashMap<String, RepositoryId>,
    /// The names of the members that each group lists.
    members: HashMap<RepositoryId, Vec<String>>,
}

impl GroupMembership {
    pub(crate) fn new(repositories: Vec<(RepositoryId, RepositoryRecord)>) -> Self {
        let mut membership = Self::default();
        for (id, record) in repositories {
            for member in &record.members {
                membership.groups.entry(member.clone()).or_default().push(id);
            }
            membership.members.insert(id, record.members);
            membership.ids.insert(record.name.clone(), id);
            membership.names.insert(id, record.name);
        }
        membership
    }

    /// The repositories that are not removed.
    pub(crate) fn repositories(&self) -> HashSet<RepositoryId> {
        self.names.keys().copied().collect()
    }

    /// The repository itself and every group that contains it. Terminates even if the records form a cycle.
    pub(crate) fn with_groups(&self, repository: RepositoryId) -> BTreeSet<RepositoryId> {
        reach(repository, |id| self.groups_of(id).collect())
    }

    /// The repository itself and all that can be reached from it through groups, upwards and downwards. Its settings may be a part of
    /// what these answer: a group sees its members by its own rules, and members know the names that others in their groups claim.
    pub(crate) fn connected(&self, repository: RepositoryId) -> BTreeSet<RepositoryId> {
        let members = |id: RepositoryId| self.members.get(&id).into_iter().flatten();
        reach(repository, |id| {
            self.groups_of(id).chain(members(id).filter_map(|name| self.ids.get(name).copied())).collect()
        })
    }

    fn groups_of(&self, id: RepositoryId) -> impl Iterator<Item = RepositoryId> + '_ {
        self.names.get(&id).and_then(|name| self.groups.get(name)).into_iter().flatten().copied()
    }
}

/// The repository and all that can be reached from it, a step at a time.
fn reach(from: RepositoryId, step: impl Fn(RepositoryId) -> Vec<RepositoryId>) -> BTreeSet<RepositoryId> {
    let mut found = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        for next in step(id) {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RepositoryKind;
    use telemetry::Millis;

    fn record(name: &str, members: &[&str]) -> RepositoryRecord {
        let kind = if members.is_empty() { RepositoryKind::Hosted } else { RepositoryKind::Group };
        let members = members.iter().map(|member| (*member).into()).collect();
        RepositoryRecord { members, ..RepositoryRecord::new(name, "any", kind, Millis(0)) }
    }

    #[test]
    fn groups_of_groups_contain_a_repository_and_a_cycle_ends() {
        let [hosted, inner, outer, other] = [1, 2, 3, 4].map(RepositoryId);
        let membership = GroupMembership::new(vec![
            (hosted, record("hosted", &[])),
            (inner, record("inner", &["hosted", "outer"])),
            (outer, record("outer", &["inner"])),
            (other, record("other", &["elsewhere"])),
        ]);
        assert_eq!(membership.with_groups(hosted), BTreeSet::from([hosted, inner, outer]));
        assert_eq!(membership.with_groups(other), BTreeSet::from([other]));
        assert_eq!(membership.connected(hosted), BTreeSet::from([hosted, inner, outer]));
        assert_eq!(membership.connected(other), BTreeSet::from([other]));
    }

    #[test]
    fn repositories_are_connected_that_share_a_group_and_so_are_those_of_groups_that_share_a_member() {
        let [ours, central, one, other, alone] = [1, 2, 3, 4, 5].map(RepositoryId);
        let membership = GroupMembership::new(vec![
            (ours, record("ours", &[])),
            (central, record("central", &[])),
            (one, record("one", &["ours", "central"])),
            (other, record("other", &["central"])),
            (alone, record("alone", &[])),
        ]);
        let all = BTreeSet::from([ours, central, one, other]);
        for id in [ours, central, one, other] {
            assert_eq!(membership.connected(id), all);
        }
        assert_eq!(membership.connected(alone), BTreeSet::from([alone]));
    }
}
