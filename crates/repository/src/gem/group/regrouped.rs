//! The names that a change of members can affect. Most names of a large member are its own in any order, so they are
//! not read.

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::gem::group::GroupGems;
use crate::group::is_hosted;
use crate::repository::Repository;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use store::RepositoryId;
use telemetry::{Event, Millis};

/// Number of gems that one step of a reader thread reads.
const PAGE: usize = 1_000;

/// A member with its place, as the log records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stood {
    member: Member,
    stands: Millis,
}

/// A member and its upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Member {
    id: RepositoryId,
    /// The number of the origin.
    origin: i64,
    /// Whether the index of its upstream was ever seen.
    known: bool,
}

/// The difference between two lists of members.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Regrouping {
    /// The added members.
    added: Vec<Member>,
    removed: Vec<Member>,
    /// Whether the others have a new order. Then names that several of them have may have another owner.
    moved: bool,
}

impl Stood {
    pub(crate) fn of(leaf: &Repository) -> Self {
        let known = !is_hosted(leaf) && leaf.shared.gems().followed.read(leaf.origin, |_| ()).is_some();
        Self { member: Member { id: leaf.id, origin: leaf.origin.number(), known }, stands: leaf.stands_since }
    }

    fn read(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let (id, origin) = (RepositoryId(fields.next()?.parse().ok()?), fields.next()?.parse().ok()?);
        let (stands, known) = (Millis(fields.next()?.parse().ok()?), fields.next()?.parse().ok()?);
        Some(Self { member: Member { id, origin, known }, stands })
    }
}

impl fmt::Display for Stood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { member: Member { id, origin, known }, stands } = self;
        write!(f, "{} {origin} {} {known}", id.0, stands.0)
    }
}

impl Regrouping {
    /// The difference from the recorded members; `None`: the record has another format.
    pub(crate) fn of(before: &str, now: &[Stood]) -> Option<Self> {
        let before: Vec<Stood> = before.split(',').map(Stood::read).collect::<Option<_>>()?;
        let of = |all: &[Stood]| all.iter().map(|stood| stood.member).collect::<HashSet<Member>>();
        let (were, are) = (of(&before), of(now));
        let only = |all: &[Stood], others: &HashSet<Member>| {
            all.iter().map(|stood| stood.member).filter(|member| !others.contains(member)).collect()
        };
        let kept_before: Vec<Stood> = before.iter().copied().filter(|stood| are.contains(&stood.member)).collect();
        let kept: Vec<Stood> = now.iter().copied().filter(|stood| were.contains(&stood.member)).collect();
        Some(Self { added: only(now, &were), removed: only(&before, &are), moved: kept != kept_before })
    }

    /// Whether this member was added.
    pub(crate) fn adds(&self, leaf: &Repository) -> bool {
        self.added.contains(&Stood::of(leaf).member)
    }
}

impl GroupGems<'_> {
    /// The affected names. `None`: any name, or unknown.
    pub(crate) async fn regrouped(
        self,
        regrouping: &Regrouping,
        most: usize,
        event: &mut Event,
    ) -> Result<Option<BTreeSet<String>>> {
        let leaves = self.leaves();
        if leaves.iter().any(|leaf| leaf.rules.share_any()) {
            return Ok(None);
        }
        let mut asked: HashMap<RepositoryId, Arc<Repository>> = HashMap::new();
        asked.extend(leaves.iter().filter(|leaf| regrouping.adds(leaf)).map(|leaf| (leaf.id, leaf.clone())));
        if regrouping.moved {
            asked.extend(several(leaves).map(|leaf| (leaf.id, leaf.clone())));
        }
        if !regrouping.removed.is_empty() {
            let table = self.services.table(event).await?;
            for gone in &regrouping.removed {
                let it = |other: &&Arc<Repository>| other.id == gone.id && other.origin.number() == gone.origin;
                let Some(gone) = table.by_name.values().find(it) else { return Ok(None) };
                asked.insert(gone.id, gone.clone());
            }
        }
        let mut names = BTreeSet::new();
        for leaf in asked.values() {
            match is_hosted(leaf) {
                true => names.extend(self.published_names(leaf, event).await?),
                false => {
                    let listing = leaf.shared.gems().followed.read(leaf.origin, |known| known.listing.clone());
                    if let Some(listing) = listing {
                        if listing.log().names() > most {
                            return Ok(None);
                        }
                        listing.log().read_each(usize::MAX, |name, _, _, _| {
                            names.insert(name.to_owned());
                        });
                    }
                }
            }
        }
        Ok(Some(names))
    }

    async fn published_names(self, leaf: &Repository, event: &mut Event) -> Result<Vec<String>> {
        let (mut names, mut after) = (Vec::new(), String::new());
        loop {
            let some = self.local.store.units_ever(leaf.id, &after, PAGE, event).await?;
            let Some(last) = some.last() else { return Ok(names) };
            after.clone_from(last);
            names.extend(some);
        }
    }
}

/// Members such that each name that several members have is in one of them: all remote ones except the largest, and
/// hosted ones if there are several. A hosted member's name never belongs to a remote one, whatever their order.
fn several(leaves: &[Arc<Repository>]) -> impl Iterator<Item = &Arc<Repository>> {
    let size = |leaf: &Repository| leaf.shared.gems().followed.read(leaf.origin, |known| known.listing.log().names());
    let largest = leaves.iter().filter(|leaf| !is_hosted(leaf)).max_by_key(|leaf| size(leaf)).map(|leaf| leaf.id);
    let many_hosted = leaves.iter().filter(|leaf| is_hosted(leaf)).count() > 1;
    leaves.iter().filter(move |leaf| if is_hosted(leaf) { many_hosted } else { Some(leaf.id) != largest })
}
