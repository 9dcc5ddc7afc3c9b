//! Decides whether a condition of a batch holds.

use super::state::Model;
use crate::journal::change::Change;
use crate::journal::entry::Entry;
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::Expect;

impl Model {
    pub(super) fn holds(&self, expect: &Expect) -> bool {
        match expect {
            Expect::UnitAt { repository, unit, seq } => {
                self.units.get(&(*repository, unit.clone())).copied().unwrap_or_default() == *seq
            }
            Expect::FirstSeenAt { repository, unit, seq } => {
                let of = |change: &Change| matches!(change, Change::FirstSeen { repository: id, unit: name, .. } if id == repository && name == unit);
                let last = self.journal.iter().rev().find(|row| of(&row.change));
                last.map_or(Seq(0), |row| row.seq) == *seq
            }
            Expect::KeyFree { repository, key } => !self.entries.contains_key(&(*repository, key.clone())),
            Expect::KeyFreeInAnyCase { repository, key } => self.ignoring_case(*repository, key).is_none(),
            Expect::UnitSpeltOneWay { repository, unit } => self.other_case(*repository, unit).is_none(),
            Expect::RepositoryLives(id) => self.repositories.get(id).is_some_and(|record| record.removed.is_none()),
            Expect::RepositoryIs { id, record } => self.repositories.get(id) == Some(&**record),
            Expect::RepositoriesAt(seq) => self.last_of_repositories() == *seq,
            Expect::JournalAt(seq) => self.seq() == *seq,
            Expect::NoChangeAfter(moment) => self.moment().is_none_or(|last| last <= *moment),
            Expect::RepositoryNameFree(name) => {
                !self.repositories.values().any(|record| record.removed.is_none() && record.name == *name)
            }
            Expect::TokenNameFree(name) => {
                !self.tokens.values().any(|record| record.revoked.is_none() && record.name == *name)
            }
            Expect::BlobKept(digest) => !self.collected.contains_key(digest),
            Expect::BlobAt { digest, generation } => {
                let last = self
                    .journal
                    .iter()
                    .rev()
                    .find(|row| matches!(&row.change, Change::Collected { blobs } if blobs.contains(digest)));
                last.map_or(Seq(0), |row| row.seq) == *generation
            }
            Expect::RepositoryWhole(id) => !self.lost.contains(id),
            Expect::TokenIs(record) => self.tokens.get(&record.hash) == Some(&**record),
            Expect::TokenLives(hash) => self.tokens.get(hash).is_some_and(|record| record.revoked.is_none()),
        }
    }

    /// The first entry whose key equals `key` without regard to the case of ASCII letters.
    pub(super) fn ignoring_case(&self, repository: RepositoryId, key: &str) -> Option<&Entry> {
        self.entries_of(repository).find(|entry| entry.key.eq_ignore_ascii_case(key))
    }

    /// The first other unit with a live entry whose name equals `unit` without regard to the case of ASCII letters.
    pub(super) fn other_case(&self, repository: RepositoryId, unit: &str) -> Option<&String> {
        let units = self.live_entries_of(repository).map(|entry| &entry.unit);
        units.filter(|other| *other != unit && other.eq_ignore_ascii_case(unit)).min()
    }
}
