//! An upstream, and what a server that stands for it may remember.

use super::May;
use super::steps::{ARTIFACTS, Change, Place, VERSIONS};
use crate::world::{Says, Upstream};
use std::collections::{BTreeMap, BTreeSet};

/// A remote repository: what is upstream, and what may be remembered of it.
#[derive(Default)]
pub(super) struct Remote {
    /// What is there now, in which edition.
    has: BTreeMap<Place, u32>,
    editions: u32,
    fails: bool,
    /// What was answered with once: kept for ever.
    kept: BTreeMap<Place, String>,
    /// What may be kept, as it was there when somebody asked.
    maybe: BTreeMap<Place, BTreeSet<String>>,
    /// When it was last asked for what it lacked.
    lacked: BTreeMap<Place, u64>,
    /// What it had when it was asked.
    pub(super) found: BTreeSet<Place>,
    /// Lists that may be kept, and when they were there.
    lists: BTreeMap<usize, Vec<(u64, BTreeSet<usize>)>>,
    /// Whose it is, in the bytes.
    name: &'static str,
}

impl Remote {
    pub(super) fn change(&mut self, change: Change) {
        match change {
            Change::Appears(place) => {
                self.editions += 1;
                self.has.insert(place, self.editions);
            }
            Change::Goes(place) => drop(self.has.remove(&place)),
            Change::Fails => self.fails = true,
            Change::Recovers => self.fails = false,
        }
    }

    /// Has the upstream answer so.
    pub(super) fn tell(&mut self, upstream: &Upstream, number: usize, name: &'static str) {
        self.name = name;
        for (artifact, name_of) in ARTIFACTS.iter().enumerate() {
            let path = |place: Place| format!("/{number}/{}", place.path());
            for version in 0..VERSIONS.len() {
                for place in [0, 1].map(|file| Place { artifact, version, file }) {
                    match self.has.get(&place) {
                        _ if self.fails => upstream.says(&path(place), Says::status(401)),
                        Some(edition) => upstream.file(&path(place), place.content(name, *edition)),
                        None => upstream.forget(&path(place)),
                    }
                    let sum = format!("{}.sha1", path(place));
                    if self.fails { upstream.says(&sum, Says::status(401)) } else { upstream.forget(&sum) }
                }
            }
            let metadata = format!("/{number}/org/example/{name_of}/maven-metadata.xml");
            match self.list(artifact) {
                _ if self.fails => upstream.says(&metadata, Says::status(401)),
                list if list.is_empty() => upstream.forget(&metadata),
                list => upstream.file(&metadata, document(artifact, &list)),
            }
        }
    }

    /// The versions that have a POM.
    fn list(&self, artifact: usize) -> BTreeSet<usize> {
        let poms = self.has.keys().filter(|place| place.artifact == artifact && place.file == 0);
        poms.map(|place| place.version).collect()
    }

    pub(super) fn may_say(&self, place: Place, now: u64, missing_s: u64) -> May {
        if let Some(kept) = self.kept.get(&place) {
            return May { has: [kept.clone()].into(), ..May::default() };
        }
        let there = self.has.get(&place).filter(|_| !self.fails).map(|edition| place.content(self.name, *edition));
        let lately = self.lacked.get(&place).is_some_and(|at| now < at + missing_s);
        let maybe = self.maybe.get(&place).into_iter().flatten().cloned();
        May {
            lacks: (there.is_none() && !self.fails) || lately,
            fails: self.fails,
            has: there.into_iter().chain(maybe).collect(),
        }
    }

    /// Whether it lacked a file of this folder when it was asked.
    pub(super) fn lacked_any(&self, place: Place) -> bool {
        self.lacked.keys().any(|lacked| lacked.folder() == place.folder())
    }

    /// It may have been asked for a file.
    pub(super) fn asked(&mut self, place: Place, now: u64) {
        match self.has.get(&place) {
            _ if self.fails => {}
            Some(edition) => {
                self.found.insert(place);
                self.maybe.entry(place).or_default().insert(place.content(self.name, *edition));
            }
            None => drop(self.lacked.insert(place, now)),
        }
    }

    /// It was answered with.
    pub(super) fn keeps(&mut self, place: Place, content: String) {
        self.found.insert(place);
        self.kept.insert(place, content);
    }

    /// The lists it may give, empty for none, and whether it may fail.
    pub(super) fn may_list(
        &self,
        artifact: usize,
        now: u64,
        (fresh_s, missing_s): (u64, u64),
    ) -> (Vec<BTreeSet<usize>>, bool) {
        let kept = self.lists.get(&artifact);
        let good = |(at, list): &&(u64, BTreeSet<usize>)| {
            let age = if list.is_empty() { missing_s } else { fresh_s };
            now < at + age || (self.fails && !list.is_empty())
        };
        let mut may: Vec<_> = kept.into_iter().flatten().filter(good).map(|(_, list)| list.clone()).collect();
        if !self.fails {
            may.push(self.list(artifact));
        }
        (may, self.fails)
    }

    /// It may have been asked for the list.
    pub(super) fn listed(&mut self, artifact: usize, now: u64) {
        if !self.fails {
            let list = self.list(artifact);
            self.lists.entry(artifact).or_default().push((now, list));
        }
    }
}

fn document(artifact: usize, versions: &BTreeSet<usize>) -> String {
    let versions: String =
        versions.iter().map(|version| format!("<version>{}</version>", VERSIONS[*version])).collect();
    format!(
        "<metadata><groupId>org.example</groupId><artifactId>{}</artifactId><versioning><versions>{versions}</versions>\
         </versioning></metadata>",
        ARTIFACTS[artifact]
    )
}
