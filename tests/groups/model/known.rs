//! An upstream, and the facts that a server may have stored about it.

use super::files::May;
use super::policy::Age;
use super::steps::{ARTIFACTS, Change, Dated, Place, VERSIONS};
use super::time;
use crate::world::{Says, Upstream, hex};
use sha1::{Digest, Sha1};
use std::collections::{BTreeMap, BTreeSet};

/// A remote repository: the content of its upstream, and what may be stored of it.
#[derive(Default)]
pub(super) struct Remote {
    /// The present content: its edition and its `Last-Modified`.
    has: BTreeMap<Place, (u32, Option<u64>)>,
    editions: u32,
    fails: bool,
    /// Immutable files that were answered once and stay in the cache.
    kept: BTreeMap<Place, String>,
    /// Contents that may be in the cache, because they were there at some request.
    maybe: BTreeMap<Place, BTreeSet<String>>,
    /// When it was last asked for a file that it lacked.
    lacked: BTreeMap<Place, u64>,
    /// The files that it had when they were requested.
    found: BTreeSet<Place>,
    /// Lists that may be in the cache, with their dates.
    lists: BTreeMap<usize, Vec<(u64, BTreeSet<usize>)>>,
    /// All contents that ever existed.
    ever: BTreeMap<Place, Vec<String>>,
    /// The earliest moment at which a version can have appeared.
    since: BTreeMap<(usize, usize), u64>,
    /// When a version was certainly seen here; `None`: just now, and it may not be recorded yet.
    met: BTreeMap<(usize, usize), Option<u64>>,
    /// The number of the repository, which is part of the bytes.
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

    /// Makes the upstream answer with this content, below its folder of this number.
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

    /// All contents that it ever had there.
    pub(super) fn ever(&self, place: Place) -> &[String] {
        self.ever.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The age of a version; `None`: it never existed.
    pub(super) fn age(&self, what: (usize, usize)) -> Option<Age> {
        let latest = self.met.get(&what).copied().flatten();
        self.since.get(&what).map(|earliest| Age { earliest: *earliest, latest })
    }

    pub(super) fn lacked_lately(&self, place: Place, now: u64, missing_s: u64) -> bool {
        self.lacked.get(&place).is_some_and(|at| now < at + missing_s)
    }

    /// Whether it lacked a file of this folder at some request.
    pub(super) fn lacked_any(&self, place: Place) -> bool {
        self.lacked.keys().any(|lacked| lacked.what() == place.what())
    }

    /// Whether it had a file of this folder at some request.
    pub(super) fn found_any(&self, place: Place) -> bool {
        self.found.iter().any(|found| found.what() == place.what())
    }

    /// Records a possible request for a file.
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

    /// Records an answer with a file of this repository.
    pub(super) fn answered(&mut self, place: Place, content: &str) {
        if self.ever(place).iter().any(|one| one == content) {
            self.found.insert(place);
            self.kept.insert(place, content.to_owned());
            self.met.entry(place.what()).or_insert(None);
        }
    }

    /// The clock advances: everything seen before is recorded by now.
    pub(super) fn settle(&mut self, now: u64) {
        self.met.values_mut().for_each(|met| *met = met.or(Some(now)));
    }

    /// The lists that it may give, empty for none, and whether it may fail.
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

    /// Records a possible request for the list, and for the POMs that date versions.
    pub(super) fn listed(&mut self, artifact: usize, now: u64) {
        if !self.fails {
            let list = self.list(artifact);
            self.lists.entry(artifact).or_default().push((now, list));
        }
        (0..VERSIONS.len()).for_each(|version| self.asked(Place { artifact, version, file: 0 }, now));
    }
}

/// A file with an ETag, as upstreams send it.
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
