//! Finding the page of HC1 for a request: the one for its URL and, where the page depends on headers of the request, for these. It is used
//! for the times that it names, while its counters have the values that it names.

use super::kept::{Content, KeptEntry, Place};
use super::made::{Counter, Life, Made, Times};
use super::servers::{Answer, Ask, Item};
use super::wanted::Wanted;
use super::{NotUsed, Pages, Refill, Settled, Usable, of_trouble, unusable};
use crate::cache::rules::fields::joined;
use bytes::Bytes;
use format::page::coding::Coding;
use format::page::hc1::{self, COUNTER_PREFIX, Entry};
use std::sync::Arc;
use telemetry::{Event, Millis, PageOutcome};

/// The page of a URL for some headers of the request.
#[derive(Debug)]
struct Variant {
    /// Its key, without the namespace: the place where it is kept, too.
    name: String,
    /// The headers.
    selected_by: Box<[Box<str>]>,
    known: Option<Arc<KeptEntry>>,
}

impl Pages {
    pub(super) async fn timed(&self, wanted: &Wanted<'_>, event: &mut Event) -> Result<Usable, NotUsed> {
        let place = Place { host: wanted.url.host(), target: wanted.url.target(), coding: Coding::Identity };
        let known = self.kept.get(&place);
        let mut variant = known.as_ref().and_then(|known| self.variant(known, wanted));
        let mut asks = vec![match &known {
            Some(known) => known.ask(),
            None => Ask::item(self.key(&hc1::key(&host(wanted), wanted.url.target()))),
        }];
        asks.extend(variant.as_ref().map(|variant| self.ask_variant(variant)));
        let page = variant.as_ref().map_or(known.as_ref(), |variant| variant.known.as_ref());
        asks.extend(page.into_iter().flat_map(|page| page.counters()).map(|counter| Ask::item(counter.key.clone())));
        let key = asks[0].key.clone();
        let mut answers = self.read(&asks, event).await.into_iter();

        let make = |item: Item| self.make_timed(key.clone(), &[], &item);
        let answer = answers.next().unwrap_or(Answer::Missing);
        let mut settled = self.settle(&place, &key, known.as_ref(), answer, make, event)?;
        let mut holds = settled.holds;
        if !holds {
            // What was asked with it was about another entry.
            variant = self.variant(&settled.entry, wanted);
            answers = match &variant {
                Some(variant) => self.read(&[self.ask_variant(variant)], event).await.into_iter(),
                None => Vec::new().into_iter(),
            };
        }
        let mut place = place;
        if let Some(variant) = &variant {
            place = Place { host: "", target: &variant.name, coding: Coding::Identity };
            let key = self.key(&variant.name);
            let make = |item: Item| self.make_timed(key.clone(), &variant.selected_by, &item);
            let answer = answers.next().unwrap_or(Answer::Missing);
            settled = self.settle(&place, &key, variant.known.as_ref(), answer, make, event)?;
            holds &= settled.holds;
        }
        settled.entry = self.formed(&place, settled.entry, wanted.accepts, event)?;
        let counters = settled.entry.counters();
        if !holds && !counters.is_empty() {
            let asks: Vec<Ask> = counters.iter().map(|counter| Ask::item(counter.key.clone())).collect();
            answers = self.read(&asks, event).await.into_iter();
        }
        for counter in counters {
            counted(counter, answers.next().unwrap_or(Answer::Missing))?;
        }
        let selected_by = variant.map(|variant| variant.selected_by).unwrap_or_default();
        self.in_time(settled, selected_by, wanted)
    }

    /// What the age of a page allows.
    fn in_time(&self, settled: Settled, selected_by: Box<[Box<str>]>, wanted: &Wanted<'_>) -> Result<Usable, NotUsed> {
        let Settled { entry, won, stale, .. } = settled;
        let Some((page, Life::Timed(times))) = entry.page().map(|page| (page, &page.life)) else {
            return Err(Some(PageOutcome::Unknown));
        };
        if page.is_purged(&self.purges, &wanted.url) {
            return Err(Some(PageOutcome::Purged));
        }
        let outcome = times.allow(page, stale, self.now());
        if outcome == PageOutcome::Old && !times.hides(page, self.now()) {
            return Err(Some(outcome));
        }
        let refill = (outcome == PageOutcome::HitStale).then(|| Refill {
            key: entry.key.clone(),
            version: entry.version,
            expires_s: times.fresh.saturating_add(times.stale_while.max(times.stale_error)).saturating_add(1),
            coding: page.coding(),
            selected_by,
            won,
        });
        Ok(Usable { entry, outcome, refill, accepts: wanted.accepts })
    }

    /// The variant for a request; `None`: the entry has the page itself, or nothing that can be sent.
    fn variant(&self, entry: &KeptEntry, wanted: &Wanted<'_>) -> Option<Variant> {
        let Content::Vary(names) = &entry.content else { return None };
        let value = |name: &str| joined(wanted.headers, name).unwrap_or_default();
        let values: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (&**name, value(name))).collect();
        let name = hc1::variant_key(&host(wanted), wanted.url.target(), &values);
        let known = self.kept.get(&Place { host: "", target: &name, coding: Coding::Identity });
        Some(Variant { name, selected_by: names.clone(), known })
    }

    fn ask_variant(&self, variant: &Variant) -> Ask {
        variant.known.as_ref().map_or_else(|| Ask::item(self.key(&variant.name)), |known| known.ask())
    }

    fn make_timed(&self, key: Bytes, selected_by: &[Box<str>], item: &Item) -> KeptEntry {
        let content = match hc1::read(&item.value, self.options.value_bytes) {
            Ok(Entry::Vary(names)) => Content::Vary(names.into()),
            Ok(Entry::Page(timed)) => {
                let counter = |(name, value): &(Box<str>, Bytes)| Counter {
                    key: self.key(&format!("{COUNTER_PREFIX}{name}")),
                    value: value.clone(),
                };
                let times = Times {
                    fresh: timed.fresh_s,
                    stale_while: timed.stale_while_s,
                    stale_error: timed.stale_error_s,
                    counters: timed.counters.iter().map(counter).collect(),
                };
                match Made::timed(timed.page, selected_by, &timed.tags, times) {
                    Ok(page) => Content::Page(Box::new(page)),
                    Err(why) => Content::Unusable(why),
                }
            }
            Err(why) => Content::Unusable(unusable(why)),
        };
        KeptEntry::new(key, Box::default(), item, content)
    }
}

impl Times {
    /// Whether the page is fresh, may be sent while it is written again, or is old. `is_marked`: the application has marked it as stale.
    fn allow(&self, page: &Made, is_marked: bool, now: Millis) -> PageOutcome {
        let Some(age) = page.age_ms(now) else { return PageOutcome::Old };
        let (fresh, stale) = (i64::from(self.fresh) * 1000, i64::from(self.stale_while) * 1000);
        match age {
            _ if age < fresh && !is_marked => PageOutcome::Hit,
            // One that is marked early has its time from then on, after which memcached drops it.
            _ if age < fresh + stale && stale > 0 => PageOutcome::HitStale,
            _ => PageOutcome::Old,
        }
    }

    /// Whether the page may be sent if the application fails.
    fn hides(&self, page: &Made, now: Millis) -> bool {
        let until = (i64::from(self.fresh) + i64::from(self.stale_error)) * 1000;
        page.age_ms(now).is_some_and(|age| age < until)
    }
}

impl KeptEntry {
    /// The counters on which its page depends.
    fn counters(&self) -> &[Counter] {
        match self.page().map(|page| &page.life) {
            Some(Life::Timed(times)) => &times.counters,
            _ => &[],
        }
    }
}

/// Whether a counter has the value that a page names.
fn counted(counter: &Counter, answer: Answer) -> Result<(), PageOutcome> {
    match answer {
        Answer::Item(item) if item.value == counter.value => Ok(()),
        Answer::Item(_) => Err(PageOutcome::Old),
        Answer::Missing => Err(PageOutcome::Miss),
        Answer::Failed(trouble) => Err(of_trouble(trouble)),
        Answer::TooLarge { .. } | Answer::Unchanged { .. } => Err(PageOutcome::Invalid),
    }
}

/// The host in the keys of a request.
fn host(wanted: &Wanted<'_>) -> String {
    hc1::host(wanted.url.host())
}
