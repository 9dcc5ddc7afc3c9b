//! Of which names a group may say something else since its members were set anew. Most names of a large member are its own, whatever
//! becomes of the others: they are not looked at.

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::gem::group::GroupGems;
use crate::group::is_hosted;
use crate::repository::Repository;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use store::RepositoryId;
use telemetry::{Event, Millis};

/// Gems that are read in one turn of a reader.
const PAGE: usize = 1_000;

/// A member at its place, as a log notes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stood {
    member: Member,
    stands: Millis,
}

/// A member, and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Member {
    id: RepositoryId,
    /// The number of the origin.
    origin: i64,
    /// Whether anything is known of its upstream.
    known: bool,
}

/// How the members differ from those before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Regrouping {
    /// Those that are there now and were not.
    added: Vec<Member>,
    removed: Vec<Member>,
    /// Whether others have another order. Then it may be another's what several of them have.
    moved: bool,
}

impl Stood {
    pub(crate) fn of(leaf: &Repository) -> Self {
        let known = !is_hosted(leaf) && leaf.shared.followed.read(leaf.origin, |_| ()).is_some();
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
    /// How these members differ from those that are noted; `None`: the note is of another form.
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

    /// Whether this member was not there before.
    pub(crate) fn adds(&self, leaf: &Repository) -> bool {
        self.added.contains(&Stood::of(leaf).member)
    }
}

impl GroupGems<'_> {
    /// The names of which something else may be said. `None`: it may be any, or nobody knows.
    pub(crate) async fn regrouped(
        self,
        regrouping: &Regrouping,
        most: usize,
        event: &mut Event,
    ) -> Result<Option<BTreeSet<String>>, Error> {
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
            let table = self.repositories.table(event).await?;
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
                    let listing = leaf.shared.followed.read(leaf.origin, |known| known.listing.clone());
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

    async fn published_names(self, leaf: &Repository, event: &mut Event) -> Result<Vec<String>, Error> {
        let (mut names, mut after) = (Vec::new(), Some(String::new()));
        while let Some(from) = after {
            let store = self.local.store.as_of(self.local.store.last());
            let (some, last) = store.units(leaf.id, &from, PAGE, |name: &str, _| name.to_owned(), event).await?;
            names.extend(some);
            after = last;
        }
        Ok(names)
    }
}

/// The members one of which has each name that several have: all remote ones but the largest, and hosted ones where there are several. The
/// name of a hosted member is not a remote one's, whatever their order.
fn several(leaves: &[Arc<Repository>]) -> impl Iterator<Item = &Arc<Repository>> {
    let size = |leaf: &Repository| leaf.shared.followed.read(leaf.origin, |known| known.listing.log().names());
    let largest = leaves.iter().filter(|leaf| !is_hosted(leaf)).max_by_key(|leaf| size(leaf)).map(|leaf| leaf.id);
    let many_hosted = leaves.iter().filter(|leaf| is_hosted(leaf)).count() > 1;
    leaves.iter().filter(move |leaf| if is_hosted(leaf) { many_hosted } else { Some(leaf.id) != largest })
}
