//! Which groups hold a repository, directly or through other groups: whose pages a change makes old.

use crate::{RepositoryId, RepositoryRecord};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The living repositories, seen from their members.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    /// By member's name: the groups that name it.
    groups: HashMap<String, Vec<RepositoryId>>,
    names: HashMap<RepositoryId, String>,
}

impl Holders {
    pub(crate) fn new(living: Vec<(RepositoryId, RepositoryRecord)>) -> Self {
        let mut holders = Self::default();
        for (id, record) in living {
            for member in record.members {
                holders.groups.entry(member).or_default().push(id);
            }
            holders.names.insert(id, record.name);
        }
        holders
    }

    /// All that live.
    pub(crate) fn living(&self) -> HashSet<RepositoryId> {
        self.names.keys().copied().collect()
    }

    /// The repository itself and every group that holds it. Ends on a cycle too, should a record ever say one.
    pub(crate) fn of(&self, repository: RepositoryId) -> BTreeSet<RepositoryId> {
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
        RepositoryRecord { members, ..RepositoryRecord::new(name, "gem", kind, Millis(0)) }
    }

    #[test]
    fn groups_of_groups_hold_a_repository_and_a_cycle_ends() {
        let [hosted, inner, outer, other] = [1, 2, 3, 4].map(RepositoryId);
        let holders = Holders::new(vec![
            (hosted, record("hosted", &[])),
            (inner, record("inner", &["hosted", "outer"])),
            (outer, record("outer", &["inner"])),
            (other, record("other", &["elsewhere"])),
        ]);
        assert_eq!(holders.of(hosted), BTreeSet::from([hosted, inner, outer]));
        assert_eq!(holders.of(other), BTreeSet::from([other]));
    }
}
