//! What a group must answer, in any state of its members.

use super::super::bundler::{Bundler, lines, version};
use super::super::checked::{Checked, Tokens};
use super::super::pool::{NAMES, TOKENS, edition, full_name, package};
use super::super::{HOUR, LATER, Seen, Stage};
use super::Trial;
use super::leaves::{Leaf, Moment};
use super::places::{CALLED, GROUPS, HOSTED, Place, REMOTE};
use crate::world::{Answer, Sum, sums};
use format::gem::info::md5_hex;
use std::collections::{BTreeMap, BTreeSet};

impl Checked for Trial<'_> {
    const STRIKES: usize = 4;
    type Observed = [Leaf; 4];

    fn stage(&mut self) -> &mut Stage {
        self.stage
    }

    fn sites(&self) -> Vec<usize> {
        GROUPS.collect()
    }

    fn called(&self, at: usize) -> String {
        format!("{}-{}", CALLED[at], self.number)
    }

    fn seen(&mut self, group: usize) -> &mut Seen {
        &mut self.seen[group - GROUPS.start]
    }

    fn clients(&mut self) -> &mut [(usize, Bundler)] {
        &mut self.clients
    }

    fn observe(&mut self) -> [Leaf; 4] {
        self.read_leaves();
        self.leaves.clone()
    }

    fn note_upstreams(&mut self) {
        self.observe();
        for (which, truth) in self.truths.iter().enumerate() {
            let health = &mut self.health[which];
            let asked = truth.upstream.asked();
            for asked in &asked[health.looked..] {
                let path = asked.path.split('?').next().unwrap();
                let name = path.strip_prefix("/info/").or_else(|| path.strip_prefix("/gems/")?.strip_suffix(".gem"));
                let Some(name) = name else {
                    assert_eq!(path, "/versions", "nothing else is asked for");
                    continue;
                };
                assert!(truth.listed.contains(name), "{path} is asked for, and not listed");
                let owned =
                    |at: usize| health.owned[at] && (name == NAMES[at] || name.starts_with(&format!("{}-", NAMES[at])));
                let called = CALLED[REMOTE.start + which];
                assert!((0..NAMES.len()).any(owned), "{called} is asked for {path}, and never owned it");
            }
            health.looked = asked.len();
            if !truth.is_well() {
                (health.trouble, health.long_trouble) = (self.now + LATER, self.now + HOUR + LATER);
            }
            for name in 0..NAMES.len() {
                health.doubtful[name] |= !truth.is_coherent(name);
            }
        }
    }

    fn wait(&mut self, seconds: u64) {
        self.observe();
        self.moments.push(Moment { at: self.now, leaves: self.leaves.clone() });
        self.now += seconds;
        self.stage.now = self.now;
        self.stage.set_time();
    }

    fn recover(&mut self) {
        let now = self.now;
        self.truths.iter_mut().for_each(|truth| truth.recover(now));
    }

    fn may_fail(&self, group: usize, answer: &Answer, name: Option<usize>) -> bool {
        let places = self.places(group);
        let mut remote = places.iter().filter(|place| !place.is_hosted()).map(|place| place.leaf);
        let is_unknown = |at: usize| !self.leaves[at].synced && self.now <= self.health[at - REMOTE.start].long_trouble;
        let owner = name.and_then(|name| Some((name, self.owner(group, name)?.leaf)));
        let is_missing = |(name, at): (usize, usize)| {
            REMOTE.contains(&at) && {
                let health = &self.health[at - REMOTE.start];
                !health.kept[name] && self.now <= health.trouble
            }
        };
        let is_failure = (500..=504).contains(&answer.status) && answer.status != 501;
        is_failure && (remote.any(is_unknown) || owner.is_some_and(is_missing))
    }

    fn lacks(&self, group: usize, (name, token): (usize, usize), promised: Option<&str>) -> bool {
        let Some(at) = self.owner(group, name).map(|place| place.leaf).filter(|at| REMOTE.contains(at)) else {
            return false;
        };
        let (truth, health) = (&self.truths[at - REMOTE.start], &self.health[at - REMOTE.start]);
        match promised {
            Some(promised) => {
                let packages = &self.seen[group - GROUPS.start].packages;
                let had = packages.get(&(name, token)).is_some_and(|had| had == promised);
                !had && (self.now <= health.trouble || !truth.has(name, token, promised))
            }
            // The index may list a version whose line does not exist yet or any more, until the whole file may be
            // fetched again.
            None => self.now <= health.changed.max(health.trouble) + HOUR,
        }
    }

    fn is_touched(&self) -> bool {
        self.rules.iter().any(|rules| rules.touched)
    }

    fn only_grows(&self) -> bool {
        true
    }

    fn foreign(&self, group: usize, tokens: &Tokens) -> Option<String> {
        let is_foreign = |(name, token): &&(usize, String)| !self.shown(group, *name).may.contains(token);
        let (name, token) = tokens.iter().find(is_foreign)?;
        Some(format!("{} {token} is shown: {}", NAMES[*name], self.words(group, *name)))
    }

    fn strange(&self, group: usize, tokens: &Tokens) -> Option<String> {
        let is_theirs = |(name, token): &(usize, String)| {
            let place = self.owner(group, *name).filter(|place| !place.is_hosted())?;
            let at = TOKENS.iter().position(|one| one == token)?;
            let pushed = self.truths[place.leaf - REMOTE.start].pushed.get(&(*name, at))?;
            let is_listed = self.leaves[place.leaf].has(*name, token);
            (!is_listed && !self.is_hidden(&place, *name, token, Some(*pushed))).then_some(())
        };
        let others = tokens.iter().filter(|token| is_theirs(token).is_none()).cloned().collect();
        self.foreign(group, &others)
    }

    fn wrong(&self, group: usize, all: &BTreeMap<String, Sum>) -> Option<String> {
        (0..NAMES.len()).find_map(|name| {
            let tokens = all.get(NAMES[name]).into_iter().flat_map(|sum| sum.tokens.clone()).collect();
            let wrong = !self.shown(group, name).is(&tokens);
            wrong.then(|| format!("{tokens:?} are said: {}", self.words(group, name)))
        })
    }

    fn is_line(&self, group: usize, name: usize, line: &str) -> bool {
        let Some(at) = self.owner(group, name).map(|place| place.leaf) else { return false };
        if REMOTE.contains(&at) {
            return self.truths[at - REMOTE.start].lines_ever.contains(&(name, line.to_owned()));
        }
        let (found, checksum) = version(line);
        let token = TOKENS.iter().position(|token| *token == found);
        token.is_some_and(|token| package(name, token, edition(at + 2, 0)).sha256 == checksum)
    }

    fn is_name(&self, group: usize, name: usize) -> bool {
        !self.shown(group, name).may.is_empty()
    }

    fn must_list(&self) -> bool {
        true
    }

    fn is_doubtful(&mut self, group: usize, name: usize, agrees: bool) -> bool {
        let Some(at) = self.owner(group, name).map(|place| place.leaf).filter(|at| REMOTE.contains(at)) else {
            return false;
        };
        let (truth, health) = (&self.truths[at - REMOTE.start], &mut self.health[at - REMOTE.start]);
        health.doubtful[name] &= !(agrees && truth.is_coherent(name));
        health.doubtful[name]
    }

    fn answered(&mut self, group: usize, name: Option<usize>) {
        let owner = name.and_then(|name| Some((name, self.owner(group, name).filter(|place| !place.is_hosted())?)));
        if let Some((name, place)) = owner {
            self.health[place.leaf - REMOTE.start].kept[name] = true;
        }
    }

    fn difference(&mut self, group: usize) -> Option<String> {
        let versions = self.versions(group, None).unwrap();
        let all = sums(versions.text(), false);
        for (name, called) in NAMES.iter().enumerate() {
            let place = self.owner(group, name);
            let has = |leaf: usize, token: &&str| match REMOTE.contains(&leaf) {
                true => self.truths[leaf - REMOTE.start].tokens(name).contains(token),
                false => self.leaves[leaf].has(name, token),
            };
            let is_there =
                |place: &Place, token: &&str| has(place.leaf, token) && !self.is_hidden(place, name, token, None);
            let is_shown = |token: &&str| place.as_ref().is_some_and(|place| is_there(place, token));
            let expected: BTreeSet<&str> = TOKENS.into_iter().filter(is_shown).collect();
            let words = || format!("{}\n{}", self.words(group, name), versions.text());
            let said: BTreeSet<&str> =
                all.get(*called).into_iter().flat_map(|sum| &sum.tokens).map(String::as_str).collect();
            if said != expected {
                return Some(format!("{said:?} are said, and {expected:?} are there: {}", words()));
            }
            for (token, number) in TOKENS.iter().enumerate() {
                let (had, wanted) = (self.gem(group, name, token).is_some(), expected.contains(number));
                if had != wanted {
                    let words = self.words(group, name);
                    return Some(format!("{} cannot be had: {}: {words}", full_name(name, token), !wanted));
                }
            }
            if !all.contains_key(*called) {
                continue;
            }
            let info = self.info(group, name, None).unwrap_or_else(|| panic!("{called} is listed"));
            let told: BTreeSet<&str> = lines(info.text()).into_iter().map(|line| version(line).0).collect();
            if told != expected {
                return Some(format!("{expected:?} of {called} are there, and told is\n{}", info.text()));
            }
            if let Some(place) = place.filter(|place| REMOTE.contains(&place.leaf)) {
                let truth = self.truths[place.leaf - REMOTE.start].info(name);
                if let Some(line) = lines(info.text()).into_iter().find(|line| !lines(&truth).contains(line)) {
                    return Some(format!("{line:?} of {called} is not what there is:\n{truth}"));
                }
            }
            if let Some(stale) = &self.seen[group - GROUPS.start].stale[name] {
                return Some(format!("{called} is stale: {stale}\n{}", versions.text()));
            }
            // Of a gem of a hosted member, all facts are available.
            let is_ours = self.owner(group, name).is_some_and(|place| HOSTED.contains(&place.leaf));
            let (is, said) = (md5_hex(&info.bytes), &all[*called].md5);
            if is_ours && is != *said {
                return Some(format!("{called} has the MD5 {is}, and not:\n{}", versions.text()));
            }
        }
        None
    }

    fn words(&self, group: usize, name: usize) -> String {
        let owner = self.owner(group, name).map_or("nobody", |place| CALLED[place.leaf]);
        let way: Vec<_> = self.places(group).iter().map(|place| CALLED[place.leaf]).collect();
        let shown = self.shown(group, name);
        format!(
            "{} is {owner}'s of {way:?}, which shows {shown:?} of it by {:?}, claims {:?}, stands {:?}",
            NAMES[name], self.rules, self.claims, self.stands
        )
    }
}
