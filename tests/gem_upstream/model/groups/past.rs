//! A group as of an earlier moment: the versions that the present owners had then.

use super::super::bundler::{lines, version};
use super::super::checked::{Checked as _, told};
use super::super::pool::{NAMES, TOKENS, edition, full_name, package};
use super::{BEGINS, REMOTE, Trial};
use crate::world::{Answer, hex, sums};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

impl Trial<'_> {
    /// Reads a group and a gem as of a moment.
    pub(super) fn past(&mut self, group: usize, at: usize, name: usize) {
        let earlier = self.moments.iter().filter(|moment| moment.at < self.now).count();
        if earlier == 0 {
            return;
        }
        let moment = at % earlier;
        let second = BEGINS + i64::try_from(self.moments[moment].at).unwrap();
        // The later of two changes of a gem has the later date, however quickly it follows.
        let end = Timestamp::from_millisecond(second * 1000 + 999).unwrap();
        let segment = format!("{}@{end}", self.called(group));
        self.observe();
        let answer = self.stage.get(&format!("{segment}/versions"), &[]);
        self.observe();
        if !self.is_had(group, &answer) {
            return;
        }
        let all = sums(answer.text(), false);
        for (other, called) in NAMES.iter().enumerate() {
            let said: BTreeSet<String> = all.get(*called).into_iter().flat_map(|sum| sum.tokens.clone()).collect();
            let (may, is_sure) = self.shown_then(group, moment, other);
            let words = || format!("{segment}: {may:?} were there: {}\n{}", self.words(group, other), answer.text());
            assert!(said.is_subset(&may) && (!is_sure || said == may), "{}", words());
        }
        let answer = self.stage.get(&format!("{segment}/info/{}", NAMES[name]), &[]);
        if answer.status == 200 {
            let (may, _) = self.shown_then(group, moment, name);
            for line in lines(answer.text()) {
                let is_owners = may.contains(version(line).0) && self.is_line(group, name, line);
                assert!(is_owners, "{segment}: {line:?} of {}, {may:?} were there", self.words(group, name));
            }
        }
        self.past_gem(group, moment, &segment, name, at % TOKENS.len());
    }

    fn past_gem(&mut self, group: usize, moment: usize, segment: &str, name: usize, token: usize) {
        let answer = self.stage.get(&format!("{segment}/gems/{}.gem", full_name(name, token)), &[]);
        if answer.status != 200 {
            return;
        }
        let (may, _) = self.shown_then(group, moment, name);
        let sha256 = hex(&Sha256::digest(&answer.body));
        let owner = self.owner(group, name).map(|place| place.leaf);
        let editions = |at: usize| {
            if REMOTE.contains(&at) {
                (0..3).map(|count| edition(at - REMOTE.start, count)).collect()
            } else {
                vec![edition(at + 2, 0)]
            }
        };
        let is_owners =
            owner.is_some_and(|at| editions(at).into_iter().any(|one| package(name, token, one).sha256 == sha256));
        assert!(
            is_owners && may.contains(TOKENS[token]),
            "{segment}: {} is had: {}",
            full_name(name, token),
            self.words(group, name)
        );
    }

    /// The versions that may be visible as of a moment, and whether all of them must be. A look that was running at the
    /// end of the moment may have found versions that the test observed at the next one.
    fn shown_then(&self, group: usize, moment: usize, name: usize) -> (BTreeSet<String>, bool) {
        let Some(place) = self.owner(group, name) else { return (BTreeSet::new(), true) };
        let next = self.moments.get(moment + 1).map_or(&self.leaves, |moment| &moment.leaves);
        let [then, next] = [&self.moments[moment].leaves, next].map(|leaves| {
            let tokens = leaves[place.leaf].versions(name).iter().map(|(token, _)| token);
            tokens.filter(|token| !self.is_hidden(&place, name, token, None)).cloned().collect::<BTreeSet<_>>()
        });
        let is_sure = then == next && !self.counts_ages(&place);
        (then.union(&next).cloned().collect(), is_sure)
    }

    fn is_had(&self, group: usize, answer: &Answer) -> bool {
        let is_known = self.places(group).iter().all(|place| self.leaves[place.leaf].synced);
        assert!(answer.status == 200 || !is_known, "{}", told(answer));
        answer.status == 200
    }
}
