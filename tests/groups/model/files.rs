//! The allowed answers to a request for a file, and the check of an answer.

use super::Trial;
use super::policy::{Age, Verdict, When};
use super::steps::{HOSTED, Look, Place, REMOTE};
use crate::world::hex;
use sha1::{Digest, Sha1};
use std::collections::BTreeSet;

/// The possible answers of a member.
#[derive(Debug, Clone, Default)]
pub(super) struct May {
    /// It may have one of these contents.
    pub(super) has: BTreeSet<String>,
    /// It may answer that it has none.
    pub(super) lacks: bool,
    /// It may fail.
    pub(super) fails: bool,
    /// It may answer that the file is hidden.
    pub(super) hides: bool,
}

impl May {
    fn may_not_have(&self) -> bool {
        self.lacks || self.fails || self.hides
    }
}

impl Trial<'_> {
    /// The possible answers of each member for a file, in order.
    fn may_say(&self, repository: usize, place: Place, when: When) -> Vec<May> {
        let (hosted, remote): (Vec<_>, Vec<_>) =
            self.members(repository).into_iter().partition(|(at, _)| HOSTED.contains(at));
        let mut all: Vec<May> =
            hosted.iter().map(|(at, layers)| self.hosted_may_say(*at, layers, place, when)).collect();
        for (order, (at, layers)) in remote.iter().enumerate() {
            if !self.is_kept_from(repository, layers, place.artifact) {
                let mut may = self.upstream_may_say(*at, layers, place, when);
                // A version stays with the member in which it was found, even if an earlier member gets it later.
                let found_later = remote[order + 1..].iter().any(|(later, _)| self.remote(*later).found_any(place));
                may.lacks |= found_later && self.remote(*at).lacked_any(place);
                all.push(may);
            }
        }
        all
    }

    fn hosted_may_say(&self, at: usize, layers: &[usize], place: Place, when: When) -> May {
        let Some(since) = self.hosted[at].since(place, when.at) else { return May { lacks: true, ..May::default() } };
        match self.verdict(layers, (place.what(), false), Age { earliest: since, latest: Some(since) }, when) {
            Verdict::Hidden => May { hides: true, ..May::default() },
            _ => May { has: [place.content(at, 0)].into(), ..May::default() },
        }
    }

    fn upstream_may_say(&self, at: usize, layers: &[usize], place: Place, when: When) -> May {
        let remote = self.remote(at);
        if layers.iter().any(|layer| self.policies[*layer].forbids(place.what(), true)) {
            let lacks = remote.lacked_lately(place, when.now, self.ages.1);
            return May { hides: true, lacks, ..May::default() };
        }
        let mut may = remote.may_say(place, when.now, self.ages.1);
        // As of that moment it may not have been seen.
        may.lacks |= when.at < when.now;
        let Some(age) = remote.age(place.what()).filter(|age| age.earliest <= when.at) else {
            may.has.clear();
            return may;
        };
        let verdict = self.verdict(layers, (place.what(), true), age, when);
        // As of that moment a version is hidden as a whole, whether or not it has this file.
        may.hides = (when.at < when.now || !may.has.is_empty()) && verdict != Verdict::Shown;
        if verdict == Verdict::Hidden {
            may.has.clear();
        }
        may
    }

    /// The checksums of everything that may be visible at a path.
    fn sums(&self, repository: usize, place: Place, when: When) -> BTreeSet<String> {
        let may = self.may_say(repository, place, when);
        let mut seen: BTreeSet<String> = may.into_iter().flat_map(|may| may.has).collect();
        // A checksum that was fetched alone is cached too.
        for (at, layers) in self.members(repository).iter().filter(|(at, _)| REMOTE.contains(at)) {
            let age = self.remote(*at).age(place.what()).filter(|age| age.earliest <= when.at);
            let may_see = |age| self.verdict(layers, (place.what(), true), age, when) != Verdict::Hidden;
            if !self.is_kept_from(repository, layers, place.artifact) && age.is_some_and(may_see) {
                seen.extend(self.remote(*at).ever(place).iter().cloned());
            }
        }
        seen.iter().map(|text| hex(&Sha1::digest(text))).collect()
    }

    pub(super) fn read(&mut self, look: Look, place: Place) {
        let (repository, when) = (look.repository, self.when(look));
        let may = self.may_say(repository, place, when);
        let asked = self.asked(repository, place.artifact, Some(place.version));
        let answer = self.fetch(look, &place.path(), &asked);
        let text = String::from_utf8_lossy(&answer.body).trim_end().to_owned();
        let told = || {
            let may: Vec<String> = may.iter().map(|may| format!("{may:?}").replace("  ", "")).collect();
            format!("{} {text:?} of {} by {} at {when:?}: {may:#?}", answer.status, place.path(), self.name(repository))
        };
        match answer.status {
            200 => {
                let first = may.iter().find(|member| member.has.contains(answer.text()) || !member.may_not_have());
                assert!(first.is_some_and(|member| member.has.contains(answer.text())), "{}", told());
            }
            404 => assert!(may.iter().all(|member| member.lacks), "{}", told()),
            403 => {
                assert!(may.iter().any(|member| member.hides), "{}", told());
                assert!(may.iter().all(|member| member.lacks || member.hides), "{}", told());
            }
            502 => {
                assert!(may.iter().any(|member| member.fails), "{}", told());
                assert!(may.iter().all(May::may_not_have), "{}", told());
            }
            _ => panic!("{}", told()),
        }
        for at in &asked {
            let remote = &mut self.remotes[at - REMOTE.start];
            remote.asked(place, self.now);
            // If its files have no date, the list of its artifact is read.
            remote.listed(place.artifact, self.now);
        }
        if answer.status == 200 {
            self.remotes.iter_mut().for_each(|remote| remote.answered(place, answer.text()));
        }
        let sums = self.sums(repository, place, when);
        self.again(look, &place.path(), &answer, Some(&sums));
    }
}
