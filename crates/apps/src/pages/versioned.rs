//! Finding the page of response_bank or cacheable for a request: the one whose version is the present one, or a recent one.

use super::kept::{Content, KeptEntry, Place};
use super::made::{Life, Made};
use super::servers::{Answer, Ask, Item};
use super::wanted::Wanted;
use super::{NotUsed, Pages, Usable, unusable};
use bytes::Bytes;
use format::page::coding::Coding;
use format::page::key::KeyRule;
use format::page::response_bank;
use std::sync::Arc;
use telemetry::{Event, Millis, PageOutcome};

/// A key under which the page may be.
#[derive(Debug)]
struct Candidate {
    key: Bytes,
    /// The tag of the present version.
    tag: String,
    /// The key is that of the present version. Otherwise the entry tells its version.
    is_versioned: bool,
}

impl Pages {
    pub(super) async fn versioned(&self, wanted: &Wanted<'_>, event: &mut Event) -> Result<Usable, NotUsed> {
        let place = Place { host: "", target: wanted.url.target(), coding: wanted.coding };
        let known = self.kept.get(&place);
        let entry = match &known {
            Some(known) => self.confirmed(&place, known, wanted, event).await?,
            None => self.first(&place, &self.candidates(wanted), 0, event).await?,
        };
        let entry = self.formed(&place, entry, wanted.accepts, event)?;
        let outcome = match entry.page() {
            Some(page) if page.is_purged(&self.purges, &wanted.url) => return Err(Some(PageOutcome::Purged)),
            Some(page) => self.of_version(page, self.now()),
            None => PageOutcome::Unknown,
        };
        if outcome.is_hit() {
            Ok(Usable { entry, outcome, refill: None, accepts: wanted.accepts })
        } else {
            Err(Some(outcome))
        }
    }

    fn of_version(&self, page: &Made, now: Millis) -> PageOutcome {
        let tolerance = i64::try_from(self.options.tolerance.as_millis()).unwrap_or(i64::MAX);
        match page.life {
            Life::Version { present: true } => PageOutcome::Hit,
            _ if tolerance > 0 && page.age_ms(now).is_some_and(|age| age <= tolerance) => PageOutcome::HitTolerated,
            _ => PageOutcome::Old,
        }
    }

    /// The entry of a place of which one is kept. The keys before its own are read too: after an update of the application or of its Ruby the
    /// page may be there, and the kept one is then an older one.
    async fn confirmed(
        &self,
        place: &Place<'_>,
        known: &Arc<KeptEntry>,
        wanted: &Wanted<'_>,
        event: &mut Event,
    ) -> Result<Arc<KeptEntry>, PageOutcome> {
        let mut asks: Vec<Ask> = known.earlier.iter().cloned().map(Ask::item).collect();
        asks.push(known.ask());
        let answers = self.read(&asks, event).await;
        let found = answers.into_iter().enumerate().find(|(_, answer)| *answer != Answer::Missing);
        let Some((at, answer)) = found else {
            self.kept.found(false);
            self.kept.remove(place);
            return self.first(place, &self.candidates(wanted), asks.len(), event).await;
        };
        let same = (at == known.earlier.len()).then_some(known);
        let make = |item| self.make(&self.candidates(wanted), at, &item);
        Ok(self.settle(place, &asks[at].key, same, answer, make, event)?.entry)
    }

    /// The first entry under these keys, from the one at `from` on.
    async fn first(
        &self,
        place: &Place<'_>,
        candidates: &[Candidate],
        from: usize,
        event: &mut Event,
    ) -> Result<Arc<KeptEntry>, PageOutcome> {
        let asks: Vec<Ask> = candidates.iter().skip(from).map(|candidate| Ask::item(candidate.key.clone())).collect();
        if asks.is_empty() {
            return Err(PageOutcome::Miss);
        }
        let answers = self.read(&asks, event).await;
        let found = answers.into_iter().enumerate().find(|(_, answer)| *answer != Answer::Missing);
        let (at, answer) = found.unwrap_or((0, Answer::Missing));
        let make = |item| self.make(candidates, from + at, &item);
        Ok(self.settle(place, &asks[at].key, None, answer, make, event)?.entry)
    }

    /// The entry under the key at `at`.
    fn make(&self, candidates: &[Candidate], at: usize, item: &Item) -> KeptEntry {
        let candidate = &candidates[at];
        let earlier = candidates[..at].iter().map(|candidate| candidate.key.clone()).collect();
        let content = match self.page(candidate, item) {
            Ok(page) => Content::Page(Box::new(page)),
            Err(why) => Content::Unusable(why),
        };
        KeptEntry::new(candidate.key.clone(), earlier, item, content)
    }

    fn page(&self, candidate: &Candidate, item: &Item) -> Result<Made, PageOutcome> {
        let entry = response_bank::read(&item.value, item.flags, self.options.value_bytes).map_err(unusable)?;
        let is_present = candidate.is_versioned || entry.tag.as_ref() == Some(&candidate.tag);
        Made::versioned(entry.page, is_present, candidate.is_versioned.then_some(candidate.tag.as_str()))
    }

    /// The keys under which the page of a request may be, in the order of the settings.
    fn candidates(&self, wanted: &Wanted<'_>) -> Vec<Candidate> {
        let (path, query) = wanted.path_and_query();
        let mut all = Vec::with_capacity(self.options.keys.len() + 1);
        for rule in &self.options.keys {
            let bare = matches!(rule, KeyRule::Bare | KeyRule::City);
            let coding = if bare { Coding::Identity } else { wanted.coding };
            let page = rule.key(path.as_bytes(), query.as_bytes(), coding);
            let (key, present) = (self.key(&page.key), bare.then(|| self.key(&page.tag)));
            // The older rules have an entry under the key of the version, too.
            if let Some(present) = present {
                all.push(Candidate { key: present, tag: page.tag.clone(), is_versioned: true });
            }
            all.push(Candidate { key, tag: page.tag, is_versioned: false });
        }
        all
    }
}
