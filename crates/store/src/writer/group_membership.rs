//! Maps a repository to the groups that contain it, directly or through other groups. A change of the repository invalidates the
//! pages of all of them.

use crate::journal::record::{RepositoryId, RepositoryRecord};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The repositories that are not removed, indexed by their members.
#[derive(Debug, Default)]
pub(crate) struct GroupMembership {
    /// By the name of a member: the groups that list it.
    groups: HashMap<String, Vec<RepositoryId>>,
    names: HashMap<RepositoryId, String>,
}

impl GroupMembership {
    pub(crate) fn new(repositories: Vec<(RepositoryId, RepositoryRecord)>) -> Self {
        let mut membership = Self::default();
        for (id, record) in repositories {
            for member in record.members {
                membership.groups.entry(member).or_default().push(id);
            }
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
        let mut found = BTreeSet::from([repository]);
        let mut open = vec![repository];
        while let Some(id) = open.pop() {
            let groups = self.names.get(&id).and_then(|name| self.groups.get(name));
            for group in groups.into_iter().flatten() {
                if found.insert(*group) {
                    open.push(*group);
                }
            }
        }
        found
    }
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
    }
}
