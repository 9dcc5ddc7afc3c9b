//! All protocols agree with each other, and in the end with the upstream.

use super::Trial;
use super::answers::{TRIES, Tokens};
use super::bundler::{Bundler, Sum, lines, sums, version};
use super::pool::{NAMES, TOKENS, full_name, name_of, package};
use format::gem::info::md5_hex;

impl Trial<'_> {
    /// Checks that every protocol that can be used gives the same versions.
    pub(super) fn agree(&mut self) {
        let mut wrong = String::new();
        for _ in 0..TRIES {
            match self.disagreement() {
                None => return,
                Some(found) => wrong = found,
            }
        }
        panic!("{wrong}");
    }

    fn disagreement(&mut self) -> Option<String> {
        let versions = self.versions(None)?;
        let all = sums(versions.text());
        let listed: Tokens = all.iter().flat_map(|(name, sum)| tokens(name, sum)).collect();
        let offered: Vec<&String> =
            all.iter().filter(|(_, sum)| !sum.tokens.is_empty()).map(|(name, _)| name).collect();
        let names = self.names().unwrap();
        if names.iter().collect::<Vec<_>>() != offered {
            return Some(format!("names are {names:?}, and these have versions: {offered:?}"));
        }
        let (released, early) = (self.specs(0).unwrap(), self.specs(1).unwrap());
        let specs: Tokens = released.union(&early).cloned().collect();
        if specs != listed {
            return Some(format!("the older index has {specs:?}, and listed are {listed:?}"));
        }
        let latest = self.specs(2).unwrap();
        if !latest.is_subset(&released) {
            return Some(format!("the latest of {released:?} are {latest:?}"));
        }
        (0..NAMES.len()).find_map(|name| self.disagreement_of(name))
    }

    fn disagreement_of(&mut self, name: usize) -> Option<String> {
        let info = self.info(name, None)?;
        let told: Tokens = lines(info.text()).into_iter().map(|line| (name, version(line).0.to_owned())).collect();
        for other in [self.needs(name)?, self.versions_json(name)?] {
            if other != told {
                return Some(format!("/info has {told:?}, and programs are told {other:?}"));
            }
        }
        let versions = self.versions(None)?;
        let said = sums(versions.text()).remove(NAMES[name])?.md5;
        let is = md5_hex(&info.bytes);
        // The upstream itself may be inconsistent. It has to become consistent, and be looked at again.
        if said == is && self.truth.is_coherent(name) {
            self.seen.doubtful[name] = false;
        }
        // A file that is marked as not matching the index may be the older one.
        let is_stale = self.seen.stale[name].is_some();
        let older = said != is && !is_stale && self.seen.infos[name].contains(&said);
        (older && !self.seen.doubtful[name]).then(|| {
            let (called, rules, info, versions) = (NAMES[name], self.rules, info.text(), versions.text());
            format!(
                "a client with an older /info of {called} does not learn that it changed: {rules:?}\n{info}{versions}"
            )
        })
    }

    /// The upstream recovers and time passes: then everything is as the upstream has it.
    pub(super) fn settle(&mut self) {
        self.truth.recover(self.now);
        self.note_upstream();
        for _ in 0..3 {
            self.wait(3_700);
            for name in 0..NAMES.len() {
                self.info(name, None);
            }
            self.agree();
            self.note_upstream();
        }
        let mut wrong = String::new();
        for _ in 0..TRIES {
            match self.difference() {
                None => return self.clients_have_all(),
                Some(found) => wrong = found,
            }
        }
        panic!("{wrong}");
    }

    /// The first difference from the upstream.
    fn difference(&mut self) -> Option<String> {
        let versions = self.versions(None).unwrap();
        let all = sums(versions.text());
        for (name, called) in NAMES.iter().enumerate() {
            let hidden = |token: &str| self.rules.hide(name, token, None, self.now);
            let mut expected = self.truth.tokens(name);
            expected.retain(|token| !hidden(token));
            let Some(Sum { tokens, md5 }) = all.get(*called) else {
                if expected.is_empty() {
                    continue;
                }
                return Some(format!("{called} is not listed:\n{}", versions.text()));
            };
            let (mut is, mut wanted) = (tokens.iter().map(|token| &**token).collect::<Vec<_>>(), expected.clone());
            is.sort_unstable();
            wanted.sort_unstable();
            if is != wanted {
                return Some(format!("{called} has {wanted:?}, and is said to have {is:?}:\n{}", versions.text()));
            }
            let truth = self.truth.info(name);
            let seen = lines(&truth).into_iter().filter(|line| !hidden(version(line).0));
            let expected: String = seen.map(|line| format!("{line}\n")).collect();
            let info = self.info(name, None).unwrap_or_else(|| panic!("{called} is listed"));
            let whole = expected.len() + 4 == truth.len();
            if info.text() != format!("---\n{expected}") {
                return Some(format!("{called} is\n{expected}and is said to be\n{}", info.text()));
            }
            if let Some(stale) = &self.seen.stale[name] {
                return Some(format!("{called} is stale: {stale}\n{}", versions.text()));
            }
            if whole && !tokens.is_empty() && *md5 != md5_hex(&info.bytes) {
                return Some(format!("{called} has the MD5 {}, and not:\n{}", md5_hex(&info.bytes), versions.text()));
            }
            for (token, number) in TOKENS.iter().enumerate() {
                let had = self.gem(name, token);
                let wanted = is.contains(number);
                if had.is_some() != wanted {
                    return Some(format!("{} cannot be had: {}", full_name(name, token), !wanted));
                }
                let known = had.is_none_or(|had| (0..3).any(|edition| package(name, token, edition).bytes == had));
                assert!(known, "the bytes of {}", full_name(name, token));
            }
        }
        None
    }

    /// Every client with older files has the present ones after its usual requests.
    fn clients_have_all(&mut self) {
        for client in 0..self.clients.len() {
            for (name, called) in NAMES.iter().enumerate() {
                self.bundle(client, name);
                let Bundler { infos, .. } = &self.clients[client];
                let Some(kept) = infos.get(&name).cloned() else { continue };
                let now = self.info(name, None).unwrap();
                assert_eq!(kept.text(), now.text(), "a client has an older /info of {called}");
            }
        }
    }
}

fn tokens(name: &str, sum: &Sum) -> impl Iterator<Item = (usize, String)> {
    let name = name_of(name);
    sum.tokens.iter().map(move |token| (name, token.clone()))
}
