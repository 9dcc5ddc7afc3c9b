//! An upstream, and what a server that stands for it may remember.

use super::files::May;
use super::policy::Age;
use super::steps::{ARTIFACTS, Change, Dated, Place, VERSIONS};
use super::time;
use crate::world::{Says, Upstream, hex};
use sha1::{Digest, Sha1};
use std::collections::{BTreeMap, BTreeSet};

/// A remote repository: what is upstream, and what may be remembered of it.
#[derive(Default)]
pub(super) struct Remote {
    /// What is there now: in which edition, and what is said of when it was changed.
    has: BTreeMap<Place, (u32, Option<u64>)>,
    editions: u32,
    fails: bool,
    /// What was answered with once: kept for ever.
    kept: BTreeMap<Place, String>,
    /// What may be kept, as it was there when somebody asked.
    maybe: BTreeMap<Place, BTreeSet<String>>,
    /// When it was last asked for what it lacked.
    lacked: BTreeMap<Place, u64>,
    /// What it had when it was asked.
    found: BTreeSet<Place>,
    /// Lists that may be kept, and when they were there.
    lists: BTreeMap<usize, Vec<(u64, BTreeSet<usize>)>>,
    /// All bytes that were ever there.
    ever: BTreeMap<Place, Vec<String>>,
    /// Since when there is anything of a version, as far as anybody can say.
    since: BTreeMap<(usize, usize), u64>,
    /// When it was surely known of a version here; `None`: a moment ago, and it may not be written down.
    met: BTreeMap<(usize, usize), Option<u64>>,
    /// Which repository it is: the bytes say so.
    number: usize,
}

impl Remote {
    pub(super) fn new(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    pub(super) fn change(&mut self, change: Change, now: u64) {
        match change {
            Change::Appears(place, dated) => {
                self.editions += 1;
                let date = match dated {
                    Dated::Now => Some(now),
                    Dated::Before(seconds) => Some(now.saturating_sub(seconds)),
                    Dated::Not => None,
                };
                self.has.insert(place, (self.editions, date));
                self.ever.entry(place).or_default().push(place.content(self.number, self.editions));
                let earliest = self.since.entry(place.what()).or_insert(now);
                *earliest = date.map_or(*earliest, |date| date.min(*earliest));
            }
            Change::Goes(place) => drop(self.has.remove(&place)),
            Change::Fails => self.fails = true,
            Change::Recovers => self.fails = false,
        }
    }

    /// Has the upstream answer so, below its folder of this number.
    pub(super) fn tell(&self, upstream: &Upstream, number: usize, now: u64) {
        let says = |path: &str, says: Option<Says>| {
            let path = format!("/{number}/{path}");
            match says {
                _ if self.fails => upstream.says(&path, Says::status(401)),
                Some(says) => upstream.says(&path, says),
                None => upstream.forget(&path),
            }
        };
        for (artifact, name) in ARTIFACTS.iter().enumerate() {
            for place in (0..VERSIONS.len()).flat_map(|version| Place::of((artifact, version))) {
                let there = self.has.get(&place).map(|(edition, date)| (place.content(self.number, *edition), *date));
                let sum = there.as_ref().map(|(text, date)| said(hex(&Sha1::digest(text)), *date));
                says(&format!("{}.sha1", place.path()), sum);
                says(&place.path(), there.map(|(text, date)| said(text, date)));
            }
            let list = self.list(artifact);
            let metadata = (!list.is_empty()).then(|| said(document(artifact, &list, now), None));
            says(&format!("org/example/{name}/maven-metadata.xml"), metadata);
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
        let there = self.has.get(&place).filter(|_| !self.fails);
        let there = there.map(|(edition, _)| place.content(self.number, *edition));
        let maybe = self.maybe.get(&place).into_iter().flatten().cloned();
        May {
            lacks: (there.is_none() && !self.fails) || self.lacked_lately(place, now, missing_s),
            fails: self.fails,
            hides: false,
            has: there.into_iter().chain(maybe).collect(),
        }
    }

    /// All that it ever had there.
    pub(super) fn ever(&self, place: Place) -> &[String] {
        self.ever.get(&place).map_or(&[], Vec::as_slice)
    }

    /// How old a version is; `None`: it was never there.
    pub(super) fn age(&self, what: (usize, usize)) -> Option<Age> {
        let latest = self.met.get(&what).copied().flatten();
        self.since.get(&what).map(|earliest| Age { earliest: *earliest, latest })
    }

    pub(super) fn lacked_lately(&self, place: Place, now: u64, missing_s: u64) -> bool {
        self.lacked.get(&place).is_some_and(|at| now < at + missing_s)
    }

    /// Whether it lacked a file of this folder when it was asked.
    pub(super) fn lacked_any(&self, place: Place) -> bool {
        self.lacked.keys().any(|lacked| lacked.what() == place.what())
    }

    /// Whether it had a file of this folder when it was asked.
    pub(super) fn found_any(&self, place: Place) -> bool {
        self.found.iter().any(|found| found.what() == place.what())
    }

    /// It may have been asked for a file.
    pub(super) fn asked(&mut self, place: Place, now: u64) {
        match self.has.get(&place) {
            _ if self.fails => {}
            Some((edition, _)) => {
                self.found.insert(place);
                self.maybe.entry(place).or_default().insert(place.content(self.number, *edition));
            }
            None => drop(self.lacked.insert(place, now)),
        }
    }

    /// It was answered with, if it was this one's.
    pub(super) fn answered(&mut self, place: Place, content: &str) {
        if self.ever(place).iter().any(|one| one == content) {
            self.found.insert(place);
            self.kept.insert(place, content.to_owned());
            self.met.entry(place.what()).or_insert(None);
        }
    }

    /// The clock goes on: what was seen before is written down by now.
    pub(super) fn settle(&mut self, now: u64) {
        self.met.values_mut().for_each(|met| *met = met.or(Some(now)));
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

    /// It may have been asked for the list, and for the POMs that tell how old versions are.
    pub(super) fn listed(&mut self, artifact: usize, now: u64) {
        if !self.fails {
            let list = self.list(artifact);
            self.lists.entry(artifact).or_default().push((now, list));
        }
        (0..VERSIONS.len()).for_each(|version| self.asked(Place { artifact, version, file: 0 }, now));
    }
}

/// Bytes with a tag, as upstreams have it.
fn said(text: String, date: Option<u64>) -> Says {
    let tag = format!("\"{}\"", hex(&Sha1::digest(&text)));
    let says = Says::bytes(text).header("ETag", &tag);
    date.into_iter().fold(says, |says, date| says.header("Last-Modified", &time::in_headers(date)))
}

fn document(artifact: usize, versions: &BTreeSet<usize>, now: u64) -> String {
    let last = versions.last().map_or("", |version| VERSIONS[*version]);
    let versions: String =
        versions.iter().map(|version| format!("<version>{}</version>", VERSIONS[*version])).collect();
    format!(
        "<metadata><groupId>org.example</groupId><artifactId>{}</artifactId><versioning><latest>{last}</latest>\
         <release>{last}</release><versions>{versions}</versions><lastUpdated>{}</lastUpdated></versioning></metadata>",
        ARTIFACTS[artifact],
        time::in_metadata(now)
    )
}
