//! All protocols of a repository agree with each other, and in the end with the upstreams and hosted members.

use super::bundler::{Bundler, lines, version};
use super::checked::{Checked, TRIES, Tokens};
use super::pool::{NAMES, TOKENS, name_of};
use crate::world::{Sum, sums};
use format::gem::info::md5_hex;

/// Clients, and the end of each sequence.
pub(super) trait Agrees: Checked {
    /// A client resolves a gem and installs its last version, as Bundler does.
    fn bundle(&mut self, client: usize, name: usize) {
        let at = self.clients()[client].0;
        let versions = self.clients()[client].1.versions.take();
        let versions = self.versions(at, versions.as_ref()).or(versions);
        self.clients()[client].1.versions = versions;
        if self.clients()[client].1.asks_for(name) {
            let kept = self.clients()[client].1.infos.get(&name).cloned();
            if let Some(info) = self.info(at, name, kept.as_ref()) {
                self.clients()[client].1.infos.insert(name, info);
            }
        }
        let Some(info) = self.clients()[client].1.infos.get(&name).cloned() else { return };
        if let Some(line) = lines(info.text()).last() {
            let (token, _) = version(line);
            let token = TOKENS.iter().position(|one| *one == token).unwrap();
            self.gem(at, name, token);
        }
    }

    /// Checks that every protocol that can be used gives the same versions.
    fn agree(&mut self, at: usize) {
        assert_eq!(self.repeated(|trial| trial.disagreement(at)), None);
    }

    /// The finding, if there is one each time.
    fn repeated(&mut self, mut find: impl FnMut(&mut Self) -> Option<String>) -> Option<String> {
        let mut last = None;
        for _ in 0..TRIES {
            last = Some(find(self)?);
        }
        last
    }

    fn disagreement(&mut self, at: usize) -> Option<String> {
        let versions = self.versions(at, None)?;
        let all = sums(versions.text(), false);
        let of = |(name, sum): (&String, &Sum)| {
            let name = name_of(name);
            sum.tokens.iter().map(move |token| (name, token.clone())).collect::<Vec<_>>()
        };
        let listed: Tokens = all.iter().flat_map(of).collect();
        let offered: Vec<&String> =
            all.iter().filter(|(_, sum)| !sum.tokens.is_empty()).map(|(name, _)| name).collect();
        let names = self.names(at).unwrap();
        if names.iter().collect::<Vec<_>>() != offered {
            return Some(format!("names are {names:?}, and these have versions: {offered:?}"));
        }
        let (released, early) = (self.specs(at, 0).unwrap(), self.specs(at, 1).unwrap());
        let specs: Tokens = released.union(&early).cloned().collect();
        if specs != listed {
            return Some(format!("the older index has {specs:?}, and listed are {listed:?}"));
        }
        let latest = self.specs(at, 2).unwrap();
        if !latest.is_subset(&released) {
            return Some(format!("the latest of {released:?} are {latest:?}"));
        }
        (0..NAMES.len()).find_map(|name| self.disagreement_of(at, name))
    }

    fn disagreement_of(&mut self, at: usize, name: usize) -> Option<String> {
        let info = self.info(at, name, None)?;
        let told: Tokens = lines(info.text()).into_iter().map(|line| (name, version(line).0.to_owned())).collect();
        for other in [self.needs(at, name)?, self.versions_json(at, name)?] {
            if other != told {
                return Some(format!("/info has {told:?}, and programs are told {other:?}"));
            }
        }
        let versions = self.versions(at, None)?;
        let Some(said) = sums(versions.text(), false).remove(NAMES[name]).map(|sum| sum.md5) else {
            let wrong = self.must_list() && !told.is_empty();
            return wrong.then(|| format!("{told:?} is not listed: {}", versions.text()));
        };
        let is = md5_hex(&info.bytes);
        let is_doubtful = self.is_doubtful(at, name, said == is);
        // A file that is marked as not matching the index may be the older one.
        let seen = self.seen(at);
        let older = said != is && seen.stale[name].is_none() && seen.infos[name].contains(&said);
        (older && !is_doubtful).then(|| {
            let (words, info, versions) = (self.words(at, name), info.text(), versions.text());
            format!("a client with an older /info does not learn that it changed: {words}\n{info}{versions}")
        })
    }

    /// The upstreams recover and time passes: then everything is as they and the hosted members have it.
    fn settle(&mut self) {
        self.recover();
        self.note_upstreams();
        for _ in 0..3 {
            self.wait(3_700);
            for at in self.sites() {
                (0..NAMES.len()).for_each(|name| drop(self.info(at, name, None)));
                self.agree(at);
            }
            self.note_upstreams();
        }
        for at in self.sites() {
            assert_eq!(self.repeated(|trial| trial.difference(at)), None);
        }
        // Every client with older files has the present ones after its usual requests.
        for client in 0..self.clients().len() {
            for (name, called) in NAMES.iter().enumerate() {
                self.bundle(client, name);
                let (at, Bundler { infos, .. }) = &self.clients()[client];
                let (at, Some(kept)) = (*at, infos.get(&name).cloned()) else { continue };
                let now = self.info(at, name, None).unwrap();
                assert_eq!(kept.text(), now.text(), "a client has an older /info of {called}");
            }
        }
        self.note_upstreams();
    }
}

impl<T: Checked> Agrees for T {}
