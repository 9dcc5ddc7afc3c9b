//! All protocols of a group agree with each other, and in the end with the owners.

use super::super::answers::Tokens;
use super::super::bundler::{Bundler, Sum, lines, sums, version};
use super::super::pool::{NAMES, TOKENS, full_name, name_of};
use super::answers::TRIES;
use super::{GROUPS, REMOTE, Trial};
use format::gem::info::md5_hex;
use std::collections::BTreeSet;

impl Trial<'_> {
    /// Checks that every protocol that can be used gives the same versions.
    pub(super) fn agree(&mut self, group: usize) {
        let mut wrong = String::new();
        for _ in 0..TRIES {
            match self.disagreement(group) {
                None => return,
                Some(found) => wrong = found,
            }
        }
        panic!("{wrong}");
    }

    fn disagreement(&mut self, group: usize) -> Option<String> {
        let versions = self.versions(group, None)?;
        let all = sums(versions.text());
        let listed: Tokens = all.iter().flat_map(|(name, sum)| tokens(name, sum)).collect();
        let offered: Vec<&String> =
            all.iter().filter(|(_, sum)| !sum.tokens.is_empty()).map(|(name, _)| name).collect();
        let names = self.names(group).unwrap();
        if names.iter().collect::<Vec<_>>() != offered {
            return Some(format!("names are {names:?}, and these have versions: {offered:?}"));
        }
        let (released, early) = (self.specs(group, 0).unwrap(), self.specs(group, 1).unwrap());
        let specs: Tokens = released.union(&early).cloned().collect();
        if specs != listed {
            return Some(format!("the older index has {specs:?}, and listed are {listed:?}"));
        }
        let latest = self.specs(group, 2).unwrap();
        if !latest.is_subset(&released) {
            return Some(format!("the latest of {released:?} are {latest:?}"));
        }
        (0..NAMES.len()).find_map(|name| self.disagreement_of(group, name))
    }

    fn disagreement_of(&mut self, group: usize, name: usize) -> Option<String> {
        let (which, info) = (group - GROUPS.start, self.info(group, name, None)?);
        let told: Tokens = lines(info.text()).into_iter().map(|line| (name, version(line).0.to_owned())).collect();
        for other in [self.needs(group, name)?, self.versions_json(group, name)?] {
            if other != told {
                return Some(format!("/info has {told:?}, and programs are told {other:?}"));
            }
        }
        let versions = self.versions(group, None)?;
        let Some(said) = sums(versions.text()).remove(NAMES[name]).map(|sum| sum.md5) else {
            return (!told.is_empty()).then(|| format!("{told:?} is not listed: {}", versions.text()));
        };
        let is = md5_hex(&info.bytes);
        let mut doubtful = false;
        if let Some(at) = self.owner(group, name).map(|place| place.leaf).filter(|at| REMOTE.contains(at)) {
            let (truth, health) = (&self.truths[at - REMOTE.start], &mut self.health[at - REMOTE.start]);
            if said == is && truth.is_coherent(name) {
                health.doubtful[name] = false;
            }
            doubtful = health.doubtful[name];
        }
        // A file that is marked as not matching the index may be the older one.
        let is_stale = self.seen[which].stale[name].is_some();
        let older = said != is && !is_stale && self.seen[which].infos[name].contains(&said);
        (older && !doubtful).then(|| {
            let (called, info, versions) = (NAMES[name], info.text(), versions.text());
            let words = self.words(group, name);
            format!(
                "a client with an older /info of {called} does not learn that it changed: {words}\n{info}{versions}"
            )
        })
    }

    /// The upstreams recover and time passes: then everything is as the owners have it.
    pub(super) fn settle(&mut self) {
        for which in 0..self.truths.len() {
            let now = self.now;
            self.truths[which].recover(now);
        }
        self.note_upstreams();
        for _ in 0..3 {
            self.wait(3_700);
            for group in GROUPS {
                for name in 0..NAMES.len() {
                    self.info(group, name, None);
                }
                self.agree(group);
            }
            self.note_upstreams();
        }
        for group in GROUPS {
            let mut wrong = Some(String::new());
            for _ in 0..TRIES {
                wrong = self.difference(group);
                if wrong.is_none() {
                    break;
                }
            }
            assert_eq!(wrong, None);
        }
        self.clients_have_all();
        self.note_upstreams();
    }

    /// The first difference from the owners.
    fn difference(&mut self, group: usize) -> Option<String> {
        let versions = self.versions(group, None).unwrap();
        let all = sums(versions.text());
        for (name, called) in NAMES.iter().enumerate() {
            let place = self.owner(group, name);
            let mut expected: BTreeSet<&str> = BTreeSet::new();
            for token in TOKENS {
                let has = |leaf: usize| match REMOTE.contains(&leaf) {
                    true => self.truths[leaf - REMOTE.start].tokens(name).contains(&token),
                    false => self.leaves[leaf].has(name, token),
                };
                let is_seen =
                    |place: &super::places::Place| has(place.leaf) && !self.is_hidden(place, name, token, None);
                expected.extend(place.as_ref().is_some_and(is_seen).then_some(token));
            }
            let said: BTreeSet<&str> =
                all.get(*called).into_iter().flat_map(|sum| &sum.tokens).map(String::as_str).collect();
            if said != expected {
                return Some(format!(
                    "{said:?} are said, and {expected:?} are there: {}\n{}",
                    self.words(group, name),
                    versions.text()
                ));
            }
            for (token, number) in TOKENS.iter().enumerate() {
                let (had, wanted) = (self.gem(group, name, token).is_some(), expected.contains(number));
                if had != wanted {
                    return Some(format!(
                        "{} cannot be had: {}: {}",
                        full_name(name, token),
                        !wanted,
                        self.words(group, name)
                    ));
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
            let (is, said) = (md5_hex(&info.bytes), &all[*called].md5);
            if self.is_ours(group, name) && is != *said {
                return Some(format!("{called} has the MD5 {is}, and not:\n{}", versions.text()));
            }
        }
        None
    }

    /// Every client with older files has the present ones after its usual requests.
    fn clients_have_all(&mut self) {
        for client in 0..self.clients.len() {
            for (name, called) in NAMES.iter().enumerate() {
                self.bundle(client, name);
                let (group, Bundler { infos, .. }) = &self.clients[client];
                let (group, kept) = (*group, infos.get(&name).cloned());
                let Some(kept) = kept else { continue };
                let now = self.info(group, name, None).unwrap();
                assert_eq!(kept.text(), now.text(), "a client has an older /info of {called}");
            }
        }
    }
}

fn tokens(name: &str, sum: &Sum) -> impl Iterator<Item = (usize, String)> {
    let name = name_of(name);
    sum.tokens.iter().map(move |token| (name, token.clone()))
}
