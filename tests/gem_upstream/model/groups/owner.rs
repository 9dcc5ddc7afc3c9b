//! The owner of a name and its visible versions, computed independently of the server.

use super::places::Place;
use super::{GROUPS, REMOTE, Trial};
use std::collections::BTreeSet;

/// The visible versions of a name.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The versions that must be visible, and the versions that may be.
    pub(super) must: BTreeSet<String>,
    pub(super) may: BTreeSet<String>,
}

impl Shown {
    /// Whether these versions satisfy both conditions.
    pub(super) fn is(&self, tokens: &BTreeSet<String>) -> bool {
        self.must.is_subset(tokens) && tokens.is_subset(&self.may)
    }
}

impl Trial<'_> {
    /// The member of a group that owns the name; `None`: none does.
    pub(super) fn owner(&self, group: usize, name: usize) -> Option<Place> {
        let places = self.places(group);
        let (hosted, remote): (Vec<&Place>, Vec<&Place>) = places.iter().partition(|place| place.is_hosted());
        let claims = |place: &&&Place| self.claims[place.leaf] == Some(name);
        let lists = |place: &&&Place| self.leaves[place.leaf].lists(name);
        let claiming = hosted.iter().find(claims).or_else(|| remote.iter().find(claims));
        let first = |places: &[&Place]| match places.iter().filter(lists).collect::<Vec<_>>()[..] {
            [one, other] if self.takes(name, one, other) => Some(Place::clone(other)),
            [one, ..] => Some(Place::clone(one)),
            [] => None,
        };
        claiming.map(|place| Place::clone(place)).or_else(|| first(&hosted)).or_else(|| first(&remote))
    }

    /// Whether the other of two members owns a name, because the first began to list it after the other did and after
    /// their order was set.
    fn takes(&self, name: usize, one: &Place, other: &Place) -> bool {
        let began =
            |place: &Place| self.leaves[place.leaf].began(name).map_or(i64::MIN, |at| i64::try_from(at).unwrap());
        began(one) > one.stands.max(other.stands) && began(one) > began(other)
    }

    /// The groups in which a first push of a name would hide what an upstream lists.
    pub(super) fn shadows(&self, at: usize, name: usize) -> Vec<usize> {
        let hides = |group: &usize| {
            let places = self.places(*group);
            let lists = |place: &Place| self.leaves[place.leaf].lists(name);
            let is_ours = |place: &Place| place.is_hosted() && (lists(place) || self.claims[place.leaf] == Some(name));
            let holds = places.iter().any(|place| place.leaf == at);
            let is_private = |place: &Place| place.way.iter().any(|group| self.rules[group - GROUPS.start].keeps(name));
            let is_lost = |place: &Place| REMOTE.contains(&place.leaf) && lists(place) && !is_private(place);
            holds && !places.iter().any(is_ours) && places.iter().any(is_lost)
        };
        GROUPS.filter(hides).collect()
    }

    /// The versions of a name that a group must or may show.
    pub(super) fn shown(&self, group: usize, name: usize) -> Shown {
        let mut shown = Shown::default();
        let Some(place) = self.owner(group, name) else { return shown };
        for (token, since) in self.leaves[place.leaf].versions(name) {
            let is_hidden = |at: Option<u64>| self.is_hidden(&place, name, token, at);
            if is_hidden(since.map(|(earliest, _)| earliest)) {
                continue;
            }
            let is_sure = since.map_or(!self.counts_ages(&place), |(_, latest)| !is_hidden(Some(latest)));
            shown.may.insert(token.clone());
            shown.must.extend(is_sure.then(|| token.clone()));
        }
        shown
    }

    /// Whether a policy on the way certainly hides a version of a member.
    pub(super) fn is_hidden(&self, place: &Place, name: usize, token: &str, since: Option<u64>) -> bool {
        place.way.iter().any(|group| {
            let rules = self.rules[group - GROUPS.start];
            let rules = if place.is_hosted() { rules.of_hosted() } else { rules };
            rules.hide(name, token, since, self.now)
        })
    }

    /// Whether a policy on the way has a cooldown.
    pub(super) fn counts_ages(&self, place: &Place) -> bool {
        place.way.iter().any(|group| self.rules[group - GROUPS.start].count_ages())
    }
}
