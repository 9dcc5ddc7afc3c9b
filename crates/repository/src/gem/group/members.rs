//! The known facts about the members of a group that decide who owns a name, and what the owner publishes under it.

use crate::error::Result;
use crate::format::Format;
use crate::gem::group::GroupGems;
use crate::gem::group::owner::{self, Holder};
use crate::gem::group::says::{hosted_says, joined};
use crate::gem::indexes::view_log::ToSay;
use crate::gem::upstream::listing::Listing;
use crate::gem::upstream::view_versions::to_say;
use crate::group::is_hosted;
use crate::index::rope::log::Log;
use crate::package::listed::Among;
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;
use crate::repository::shared::Shared;
use format::gem::upstream::Versions;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use store::{Entry, Lane, Store};
use telemetry::{Event, Millis};

/// Number of gems that one step of a reader thread reads.
const PAGE: usize = 1_000;

/// Makes the facts about a name from its rows in a hosted member. The arguments are the member's index, the member, the
/// rows and the time.
type ReadRows = fn(usize, &Repository, &[Entry], Millis) -> Result<Option<Published>>;

/// The known facts about the members: the names of hosted members, all or some, and the indexes of the upstreams.
#[derive(Debug)]
pub(crate) struct KnownMembers {
    pub(super) leaves: Arc<[Arc<Repository>]>,
    /// By name: the hosted members that have or had it.
    pub(super) published: BTreeMap<String, Vec<Published>>,
    /// The listings of upstreams, by the index of the member. A missing one is read in its present state.
    pub(super) listings: HashMap<usize, Listing>,
    /// The largest of these, if no rule hides any of it: the index of the member, and its lines.
    largest: Option<(usize, Log)>,
    /// Whether any name is shared.
    shares: bool,
    /// For the answers of a group: the state that all its views share.
    group: Option<Arc<Shared>>,
    now: Millis,
}

/// A name that a hosted member has, or had.
#[derive(Debug)]
pub(super) struct Published {
    place: usize,
    began: Millis,
    says: ToSay,
}

impl KnownMembers {
    /// The facts about these names.
    pub(crate) async fn of_names<'n>(
        group: GroupGems<'_>,
        names: impl IntoIterator<Item = &'n str>,
        event: &mut Event,
    ) -> Result<Self> {
        let members = Self::of_these(group.leaves(), group.among, group.local.store, group.now(), names, event).await?;
        Ok(Self { group: Some(group.local.repository.shared.clone()), ..members })
    }

    /// The same, for members outside of a request.
    pub(crate) async fn of_these<'n>(
        leaves: &[Arc<Repository>],
        among: Among<'_>,
        store: &Store,
        now: Millis,
        names: impl IntoIterator<Item = &'n str>,
        event: &mut Event,
    ) -> Result<Self> {
        let mut members = Self::new(leaves, now);
        let hosted: Vec<(usize, &Arc<Repository>)> =
            leaves.iter().enumerate().filter(|(_, leaf)| is_hosted(leaf) && among.may_be(leaf)).collect();
        for name in names {
            let ids = hosted.iter().map(|(_, leaf)| leaf.id).collect();
            let units: Vec<Vec<Entry>> = match hosted.iter().find_map(|(_, leaf)| leaf.as_of) {
                None => {
                    let units = store.unit_of_each(ids, name, Lane::Index, event).await?;
                    units.into_iter().map(|unit| unit.entries).collect()
                }
                Some(_) => {
                    let mut units = Vec::with_capacity(hosted.len());
                    for (_, leaf) in &hosted {
                        units.push(leaf.unit(store, name, event).await?);
                    }
                    units
                }
            };
            for ((place, leaf), rows) in hosted.iter().zip(units) {
                if let Some(published) = Published::of(*place, leaf, &rows, members.now)? {
                    members.published.entry(name.to_owned()).or_default().push(published);
                }
            }
        }
        Ok(members)
    }

    /// The present facts about all names.
    pub(crate) async fn of_all(group: GroupGems<'_>, event: &mut Event) -> Result<Self> {
        let mut members = Self::of_upstreams(group.leaves(), group.now());
        members.read_hosted(group.local.store, Published::of, event).await?;
        Ok(Self { group: Some(group.local.repository.shared.clone()), ..members })
    }

    /// The members that have each name, without what they publish.
    pub(crate) async fn holding(
        leaves: &[Arc<Repository>],
        store: &Store,
        now: Millis,
        event: &mut Event,
    ) -> Result<Self> {
        let mut members = Self::of_upstreams(leaves, now);
        members.read_hosted(store, Published::silent, event).await?;
        Ok(members)
    }

    /// The facts about the upstreams alone.
    pub(crate) fn of_upstreams(leaves: &[Arc<Repository>], now: Millis) -> Self {
        let mut members = Self::new(leaves, now);
        for (place, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| !is_hosted(leaf)) {
            let known =
                leaf.shared.gems().followed.read(leaf.origin, |known| (known.listing.clone(), known.log().clone()));
            let Some((listing, lines)) = known else { continue };
            members.listings.insert(place, listing);
            if members.largest.as_ref().is_none_or(|(_, largest)| lines.len() > largest.len()) {
                members.largest = Some((place, lines));
            }
        }
        members.largest = members.largest.filter(|(place, _)| leaves[*place].rules.is_open());
        members
    }

    /// Adds what `of` makes from the rows of each name that hosted members have or had.
    async fn read_hosted(&mut self, store: &Store, of: ReadRows, event: &mut Event) -> Result<()> {
        for place in 0..self.leaves.len() {
            let (leaf, now) = (self.leaves[place].clone(), self.now);
            let mut after = Some(String::new()).filter(|_| is_hosted(&leaf));
            while let Some(from) = after {
                let seen = leaf.clone();
                let read = move |name: &str, rows: Vec<Entry>| {
                    of(place, &seen, &rows, now).map(|one| one.map(|one| (name.to_owned(), one)))
                };
                let (some, last) = leaf.units(store, &from, PAGE, read, event).await?;
                for one in some {
                    if let Some((name, published)) = one? {
                        self.published.entry(name).or_default().push(published);
                    }
                }
                after = last;
            }
        }
        Ok(())
    }

    pub(super) fn new(leaves: &[Arc<Repository>], now: Millis) -> Self {
        let leaves: Arc<[_]> = leaves.into();
        let shares = leaves.iter().any(|leaf| leaf.rules.share_any());
        Self { leaves, published: BTreeMap::new(), listings: HashMap::new(), largest: None, shares, group: None, now }
    }

    /// The members that have or had the name, by the as-of moment.
    pub(crate) fn holders(&self, name: &str) -> Vec<Holder> {
        let mut holders = self.published_by(name);
        for (place, leaf) in self.remotes() {
            let by_then = |listing: &Listing| match leaf.as_of {
                None => listing.began(name, usize::MAX),
                Some(past) => listing.began(name, listing.end(past.exceptions_by)?),
            };
            if let Some(began) = self.listed(place, by_then).flatten() {
                holders.push(Holder { place, is_hosted: false, stands: leaf.stands_since, began });
            }
        }
        holders
    }

    /// The hosted members among them.
    fn published_by(&self, name: &str) -> Vec<Holder> {
        let holder = |published: &Published| {
            let (place, stands) = (published.place, self.leaves[published.place].stands_since);
            Holder { place, is_hosted: true, stands, began: Some(published.began) }
        };
        self.published.get(name).into_iter().flatten().map(holder).collect()
    }

    /// The first member that claims the name, hosted ones first.
    pub(crate) fn claiming(&self, name: &str) -> Option<usize> {
        let claims = |place: &usize| self.leaves[*place].record.claims(name);
        let all = 0..self.leaves.len();
        let claiming = all.filter(claims);
        claiming.min_by_key(|place| (!is_hosted(&self.leaves[*place]), *place))
    }

    /// The owner of a name, if it does not depend on the lists of upstreams.
    pub(crate) fn sure_owner(&self, name: &str) -> Option<usize> {
        let hosted = || owner::owner(&self.published_by(name));
        self.claiming(name).or_else(hosted).filter(|_| !self.shares)
    }

    /// The indexes of the members that answer for a name, hosted ones first: its owner, or all that share it.
    pub(crate) fn owners(&self, name: &str) -> Vec<usize> {
        self.owners_among(&self.holders(name), name)
    }

    /// The same, given the members that have it.
    pub(super) fn owners_among(&self, holders: &[Holder], name: &str) -> Vec<usize> {
        let owner = self.claiming(name).or_else(|| owner::owner(holders));
        let mut owners: Vec<usize> = owner.into_iter().collect();
        if self.shares {
            let sharing = holders.iter().map(|holder| holder.place).filter(|place| self.is_shared(*place, name));
            owners.extend(sharing);
            owners.sort_by_key(|place| (!is_hosted(&self.leaves[*place]), *place));
            owners.dedup();
        }
        owners
    }

    /// What the group publishes under a name; `None`: no member ever had it.
    pub(crate) fn says(&self, name: &str) -> Option<ToSay> {
        let says: Vec<ToSay> =
            self.owners(name).into_iter().filter_map(|place| self.member_says(place, name)).collect();
        joined(says, self.group.as_ref().map(|group| &group.gems().learned))
    }

    /// The largest index of the upstreams, if no rule hides any of it.
    pub(crate) fn largest(&self) -> Option<(Log, Versions)> {
        let (place, lines) = self.largest.as_ref()?;
        Some((lines.clone(), self.listings.get(place)?.log().clone()))
    }

    /// Calls `say` with each name that a member has or had, and with what the group publishes under it.
    pub(crate) fn each(&self, say: impl FnMut(&str, ToSay)) {
        self.each_beside(None, say);
    }

    /// The same without the names that only the [largest](Self::largest) index has: for these the group publishes the
    /// lines of that index.
    pub(crate) fn each_beside_largest(&self, say: impl FnMut(&str, ToSay)) {
        self.each_beside(self.largest.as_ref().map(|(place, _)| *place), say);
    }

    fn each_beside(&self, largest: Option<usize>, mut say: impl FnMut(&str, ToSay)) {
        let claimed: HashSet<&str> =
            self.leaves.iter().flat_map(|leaf| &leaf.record.claims).map(String::as_str).collect();
        for (place, leaf) in self.remotes() {
            let Some(listing) = self.listings.get(&place) else { continue };
            let (view, learned) = (leaf.view(self.now), &leaf.shared.gems().learned);
            listing.read_each(usize::MAX, |offer| {
                let others = self.listings.iter().filter(|(other, _)| **other != place);
                let mut listing_it = others.filter(|(_, other)| other.log().lists(offer.name)).map(|(other, _)| *other);
                let is_plain = !self.shares
                    && !self.published.contains_key(offer.name)
                    && !claimed.contains(offer.name)
                    && listing_it.next().is_none();
                if is_plain {
                    if largest != Some(place) {
                        say(offer.name, to_say(listing, learned, offer, view));
                    }
                } else if !self.published.contains_key(offer.name) && self.is_first_listing(place, offer.name) {
                    say(offer.name, self.says(offer.name).unwrap_or_else(|| ToSay::nothing(None)));
                }
            });
        }
        for name in self.published.keys() {
            say(name, self.says(name).unwrap_or_else(|| ToSay::nothing(None)));
        }
    }

    /// Whether no earlier remote member lists the name.
    fn is_first_listing(&self, place: usize, name: &str) -> bool {
        !self.listings.iter().any(|(other, listing)| *other < place && listing.log().lists(name))
    }

    fn member_says(&self, place: usize, name: &str) -> Option<ToSay> {
        let leaf = &self.leaves[place];
        if is_hosted(leaf) {
            let published = self.published.get(name)?.iter().find(|published| published.place == place);
            return published.map(|published| published.says.clone());
        }
        let learned = &leaf.shared.gems().learned;
        let say =
            |listing: &Listing| listing.read_one(name, |offer| to_say(listing, learned, offer, leaf.view(self.now)));
        self.listed(place, say).flatten()
    }

    pub(super) fn remotes(&self) -> impl Iterator<Item = (usize, &Arc<Repository>)> {
        self.leaves.iter().enumerate().filter(|(_, leaf)| !is_hosted(leaf))
    }

    /// What `read` returns for the index of a member's upstream.
    pub(super) fn listed<T>(&self, place: usize, read: impl FnOnce(&Listing) -> T) -> Option<T> {
        match self.listings.get(&place) {
            Some(listing) => Some(read(listing)),
            None => {
                let leaf = &self.leaves[place];
                leaf.shared.gems().followed.read(leaf.origin, |known| read(&known.listing))
            }
        }
    }

    fn is_shared(&self, place: usize, name: &str) -> bool {
        let (package, version) = (name.into(), "".into());
        let what = PackageVersion { format: Format::Gem, package, version, since: Since::Always, upstream: true };
        self.leaves[place].rules.shares(&what)
    }
}

impl Published {
    fn of(place: usize, leaf: &Repository, rows: &[Entry], now: Millis) -> Result<Option<Self>> {
        let Some(began) = rows.iter().map(|row| row.published).min() else { return Ok(None) };
        Ok(Some(Self { place, began, says: hosted_says(rows, leaf, leaf.view(now))? }))
    }

    /// The index of the member, and what it publishes.
    pub(super) fn says(&self) -> (usize, ToSay) {
        (self.place, self.says.clone())
    }

    /// The facts without the published versions.
    fn silent(place: usize, _: &Repository, rows: &[Entry], _: Millis) -> Result<Option<Self>> {
        let began = rows.iter().map(|row| row.published).min();
        Ok(began.map(|began| Self { place, began, says: ToSay::nothing(None) }))
    }
}
