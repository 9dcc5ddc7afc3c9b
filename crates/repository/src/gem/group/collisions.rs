//! The names that several members of a group have: the owner of each and the reason, and the members that would own it
//! if only the order counted.

use crate::bad_setting::BadSetting;
use crate::error::Result;
use crate::gem::group::GroupGems;
use crate::gem::group::members::KnownMembers;
use crate::gem::group::owner::Holder;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::listing::Listing;
use crate::group::is_hosted;
use crate::services::{Served, Services};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use store::Lane;
use telemetry::{Event, Op};

/// The reason why a member owns a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyOwner {
    /// It claims the name.
    Claimed,
    /// It is hosted, and has or had the name.
    Hosted,
    /// It comes first in the order of the members.
    Order,
    /// It had the name before a member that comes earlier in the order.
    FirstSeen,
    /// It comes first among the members that share the name.
    Shared,
}

/// A name that several members have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Collision {
    /// The name.
    pub name: String,
    /// The member whose it is.
    pub owner: String,
    /// Why: it claims the name; it is hosted and has or had it; it is the first in the order of the members; it had the name before one
    /// that precedes it; it is the first of the members that share it.
    #[schemars(with = "String", extend("enum" = ["claimed", "hosted", "order", "first_seen", "shared"]))]
    pub because: WhyOwner,
    /// The members that have it or had it, in their order.
    pub members: Vec<String>,
    /// The members among them that began to have it and precede the owner.
    pub waiting: Vec<String>,
}

/// The names that several members of a group of gems have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Collisions {
    /// How many there are.
    pub names: usize,
    /// How many of them wait for somebody who claims them for one of the members.
    pub waiting: usize,
    /// Remote members of whose index nothing is known yet.
    pub unknown: Vec<String>,
    /// By name; with `waiting=true` only the waiting ones.
    #[serde(rename = "collisions")]
    pub rows: Vec<Collision>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    pub next: Option<String>,
}

/// The same with the indexes of the members.
struct Contest {
    owner: usize,
    because: WhyOwner,
    holders: Vec<Holder>,
    waiting: Vec<usize>,
}

/// The names that several members of a gem group have, after `after`, at most `limit`, optionally only waiting
/// ones. This calls no upstream.
pub async fn collisions(
    services: &Services,
    group: &str,
    after: &str,
    limit: usize,
    only_waiting: bool,
    event: &mut Event,
) -> Result<Collisions> {
    let (group, settings) = services.find(group, event).await?;
    if !group.is_group_of_gems() {
        let text = format!("`{}` is no group of gems, so each name in it is its own", group.record.name);
        return Err(BadSetting::new(text, "this is for groups of format gem").into());
    }
    for leaf in group.leaves.iter().filter(|leaf| leaf.follows()) {
        let of = Served { services, repository: leaf, settings: &settings };
        Follow::of(of).load(event).await?;
    }
    let members = KnownMembers::holding(&group.leaves, &services.store, services.clock.now(), event).await?;
    let after = after.to_owned();
    let list = move |(): &mut ()| members.collisions(&after, limit, only_waiting);
    Ok(services.context.workers.run(Lane::Index, Op::IndexRender, event, list).await?)
}

impl KnownMembers {
    fn collisions(&self, after: &str, limit: usize, only_waiting: bool) -> Collisions {
        let mut all = Collisions { unknown: self.unknown(), ..Collisions::default() };
        for name in self.contested() {
            let Some(contest) = self.contest(&name) else { continue };
            all.names += 1;
            all.waiting += usize::from(!contest.waiting.is_empty());
            if name.as_str() <= after || only_waiting && contest.waiting.is_empty() {
                continue;
            }
            match all.rows.len() < limit {
                true => all.rows.push(self.tell(&name, contest)),
                false => all.next = all.rows.last().map(|last| last.name.clone()),
            }
        }
        all
    }

    /// The names that more than one member may have or claim.
    pub(super) fn contested(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self.published.keys().cloned().collect();
        names.extend(self.leaves.iter().flat_map(|leaf| leaf.record.claims.iter().cloned()));
        // The names of all other members are looked up in the longest list.
        let longest = self.listings.iter().max_by_key(|(place, listing)| (listing.log().names(), **place));
        for (place, listing) in
            self.listings.iter().filter(|(place, _)| longest.is_none_or(|(longest, _)| longest != *place))
        {
            let others: Vec<_> =
                self.listings.iter().filter(|(other, _)| *other != place).map(|(_, other)| other).collect();
            listing.read_each(usize::MAX, |offer| {
                if others.iter().any(|other| other.log().lists(offer.name)) {
                    names.insert(offer.name.to_owned());
                }
            });
        }
        names
    }

    /// The members that contest a name. `None`: only its owner has it.
    fn contest(&self, name: &str) -> Option<Contest> {
        let holders = self.holders(name);
        let owners = self.owners_among(&holders, name);
        let owner = *owners.first()?;
        if holders.iter().all(|holder| holder.place == owner) {
            return None;
        }
        let (is_shared, is_claimed) = (owners.len() > 1, self.claiming(name).is_some());
        let is_decided = is_shared || is_claimed;
        let first = holders.iter().find(|holder| holder.place == owner);
        let waits = |holder: &&Holder| !is_decided && first.is_some_and(|first| self.waits_for(first, holder));
        let waiting: Vec<usize> = holders.iter().filter(waits).map(|holder| holder.place).collect();
        let hosted_waits = waiting.iter().any(|place| is_hosted(&self.leaves[*place]));
        let because = match () {
            () if is_shared => WhyOwner::Shared,
            () if is_claimed => WhyOwner::Claimed,
            () if first.is_some_and(|first| first.is_hosted) && !hosted_waits => WhyOwner::Hosted,
            () if !waiting.is_empty() => WhyOwner::FirstSeen,
            () => WhyOwner::Order,
        };
        Some(Contest { owner, because, holders, waiting })
    }

    /// Whether an administrator has to decide between the owner of a name and another member that has it, too: a
    /// member that precedes the owner and began to have the name later; or an upstream that had the name already when
    /// it was first seen, while the name of the hosted owner is older than that and so was compared with no upstream.
    pub(super) fn waits_for(&self, owner: &Holder, other: &Holder) -> bool {
        if owner.is_hosted == other.is_hosted {
            return other.place < owner.place;
        }
        let seen = self.listed(other.place, Listing::since).flatten().filter(|_| other.began.is_none());
        // Members that are set after the upstream was seen are a decision.
        seen.is_some_and(|seen| owner.began.is_some_and(|began| began < seen) && other.stands < seen)
    }

    /// The entry of a name that several members have. `None`: not several have it.
    pub(super) fn collision(&self, name: &str) -> Option<Collision> {
        self.contest(name).map(|contest| self.tell(name, contest))
    }

    fn tell(&self, name: &str, contest: Contest) -> Collision {
        let Contest { owner, because, holders, waiting } = contest;
        let of = |place: usize| self.leaves[place].record.name.clone();
        let mut places: Vec<usize> = holders.iter().map(|holder| holder.place).collect();
        places.sort_unstable();
        Collision {
            name: name.to_owned(),
            owner: of(owner),
            because,
            members: places.into_iter().map(of).collect(),
            waiting: waiting.into_iter().map(of).collect(),
        }
    }

    /// Whether other members would own the name if only the order counted. A claimed or shared name never waits.
    pub(super) fn is_waiting(&self, name: &str) -> bool {
        self.contest(name).is_some_and(|contest| !contest.waiting.is_empty())
    }

    fn unknown(&self) -> Vec<String> {
        let is_unknown = |(place, _): &(usize, _)| !self.listings.contains_key(place);
        let unknown = self.remotes().filter(is_unknown).filter(|(_, leaf)| !GroupGems::is_unset(leaf));
        unknown.map(|(_, leaf)| leaf.record.name.clone()).collect()
    }
}
