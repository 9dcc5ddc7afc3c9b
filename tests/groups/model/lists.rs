//! The allowed answers to a request for the versions of an artifact, and the check of an answer.

use super::Trial;
use super::policy::{Age, Verdict, When};
use super::steps::{ARTIFACTS, Form, HOSTED, Look, REMOTE, VERSIONS};
use std::collections::BTreeSet;

/// The possible lists of a member.
#[derive(Debug, Default)]
struct Lists {
    /// For each member, the versions that it certainly lists and the versions that it may list. `None`: it has no list.
    may: Vec<Option<(BTreeSet<usize>, BTreeSet<usize>)>>,
    fails: bool,
    hides: bool,
}

impl Lists {
    fn may_have_none(&self) -> bool {
        self.fails || self.hides || self.may.contains(&None)
    }
}

impl Trial<'_> {
    /// The possible lists of each member.
    fn may_list(&self, repository: usize, artifact: usize, when: When) -> Vec<Lists> {
        let mut all = Vec::new();
        for (at, layers) in &self.members(repository) {
            let (at, upstream) = (*at, REMOTE.contains(at));
            if upstream && self.is_kept_from(repository, layers, artifact) {
                continue;
            }
            if upstream && layers.iter().any(|layer| self.policies[*layer].is_private(artifact)) {
                all.push(Lists { hides: true, ..Lists::default() });
                continue;
            }
            let seen = |versions: &mut dyn Iterator<Item = (usize, Age)>| {
                let (mut least, mut most) = (BTreeSet::new(), BTreeSet::new());
                for (version, age) in versions {
                    match self.verdict(layers, ((artifact, version), upstream), age, when) {
                        Verdict::Hidden => continue,
                        Verdict::Shown => drop(least.insert(version)),
                        Verdict::Either => {}
                    }
                    most.insert(version);
                }
                (least, most)
            };
            if HOSTED.contains(&at) {
                let mut listed = self.hosted[at].listed(artifact, when.at).peekable();
                let some = listed.peek().is_some();
                let mut ages = listed.map(|(version, since)| (version, Age { earliest: since, latest: Some(since) }));
                all.push(Lists { may: vec![some.then(|| seen(&mut ages))], ..Lists::default() });
                continue;
            }
            let remote = self.remote(at);
            let aged = |version: usize| Some((version, remote.age((artifact, version))?));
            if when.at < when.now {
                // The versions that had been seen by then.
                let met = |(_, age): &(usize, Age)| age.earliest <= when.at;
                let (_, most) = seen(&mut (0..VERSIONS.len()).filter_map(aged).filter(met));
                all.push(Lists { may: vec![None, Some((BTreeSet::new(), most))], ..Lists::default() });
                continue;
            }
            let (lists, fails) = remote.may_list(artifact, when.now, self.ages);
            let may =
                lists.iter().map(|list| (!list.is_empty()).then(|| seen(&mut list.iter().copied().filter_map(aged))));
            all.push(Lists { may: may.collect(), fails, hides: false });
        }
        all
    }

    pub(super) fn versions(&mut self, look: Look, artifact: usize) {
        let (repository, when) = (look.repository, self.when(look));
        let may = self.may_list(repository, artifact, when);
        let path = format!("org/example/{}/maven-metadata.xml", ARTIFACTS[artifact]);
        let asked = self.asked(repository, artifact, None);
        let answer = self.fetch(look, &path, &asked);
        let told = || {
            let text = String::from_utf8_lossy(&answer.body);
            format!(
                "{} {text:?} of {} by {} at {when:?}: {may:?}",
                answer.status,
                ARTIFACTS[artifact],
                self.name(repository)
            )
        };
        match answer.status {
            200 => {
                let named = |element: &str| -> Vec<usize> {
                    let open = format!("<{element}>");
                    let found = answer.text().split(&open).skip(1).map(|part| part.split('<').next().unwrap());
                    found.map(|version| VERSIONS.iter().position(|one| *one == version).unwrap()).collect()
                };
                let said = named("version");
                assert!(said.is_sorted_by(|a, b| a < b), "in order, each once: {}", told());
                let lists = || may.iter().flat_map(|one| one.may.iter().flatten());
                let most: BTreeSet<usize> = lists().flat_map(|(_, most)| most).copied().collect();
                let newest = [named("latest"), named("release")].concat();
                assert!(said.iter().chain(&newest).all(|version| most.contains(version)), "{}", told());
                for one in may.iter().filter(|one| !one.fails && !one.hides && !one.may.is_empty()) {
                    let least = |version: &usize| {
                        one.may.iter().all(|list| list.as_ref().is_some_and(|(least, _)| least.contains(version)))
                    };
                    assert!((0..VERSIONS.len()).filter(least).all(|version| said.contains(&version)), "{}", told());
                }
                assert!(lists().next().is_some(), "{}", told());
            }
            404 => assert!(may.iter().all(|one| one.may.contains(&None)), "{}", told()),
            403 => {
                assert!(may.iter().any(|one| one.hides), "{}", told());
                assert!(may.iter().all(|one| one.hides || one.may.contains(&None)), "{}", told());
            }
            502 => {
                assert!(may.iter().any(|one| one.fails), "{}", told());
                assert!(may.iter().all(Lists::may_have_none), "{}", told());
            }
            _ => panic!("{}", told()),
        }
        for at in &asked {
            self.remotes[at - REMOTE.start].listed(artifact, self.now);
        }
        self.again(look, &path, &answer, None);
        self.again(Look { form: Form::Sum, ..look }, &path, &answer, None);
    }
}
