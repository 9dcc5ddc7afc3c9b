//! Pages that the application wrote into memcached or Valkey, sent without waking it.
//!
//! `wanted` tells which requests a page may answer, `servers` ask the stores, `kept` has pages in memory that only need to be confirmed,
//! and `format::page` reads entries. `versioned` finds the pages of response_bank and cacheable, `timed` those of HC1. The way of a
//! request to them is in `crate::answer`.

mod accepts;
pub(crate) mod claims;
mod kept;
mod made;
pub(crate) mod plain;
mod purges;
mod reply;
pub(crate) mod servers;
mod timed;
mod versioned;
pub(crate) mod wanted;

use crate::cache::named;
use crate::options::{AppOptions, BadApp, PageFormat, PagesOptions};
use crate::view::PagesView;
use bytes::Bytes;
use claims::Claims;
use format::page::Unusable;
use format::page::coding::Coding;
use front::{KernelCopies, Reply};
use kept::{Content, Kept, KeptEntry, Place};
use made::Made;
use purges::{Purged, Purges};
pub(crate) use servers::Right;
use servers::{Answer, Ask, Item, Servers, Trouble, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::{Event, Millis, Op, PageOutcome, Recorder, Text};
use wanted::Wanted;

/// The most bodies in the kernel's memory.
const COPIES: u64 = 512;

/// The pages of one application.
#[derive(Debug)]
pub(crate) struct Pages {
    pub(crate) options: PagesOptions,
    servers: Arc<Servers>,
    kept: Kept,
    /// Bodies in the kernel's memory.
    copies: KernelCopies,
    purges: Purges,
    /// Who has pages written again.
    pub(crate) claims: Arc<Claims>,
    /// Requests, by what became of the page.
    counts: [AtomicU64; PageOutcome::COUNT],
    recorder: Arc<Recorder>,
}

/// What was found for a request.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one, and goes from call to call by return")]
pub(crate) enum Found {
    /// A page is the answer.
    Page(PageOutcome, Reply, Option<Refill>),
    /// The application answers. `None`: there is a page, in no coding that the client accepts. The page is sent if the application fails.
    Nothing(Option<PageOutcome>, Option<Instead>),
}

/// A page that is to be written again.
#[derive(Debug)]
pub(crate) struct Refill {
    /// Its key in the store.
    pub(crate) key: Bytes,
    pub(crate) version: Option<Version>,
    /// A time in seconds in which it has expired.
    expires_s: u32,
    /// The coding that it has now.
    pub(crate) coding: Coding,
    /// The headers of the request that select it.
    pub(crate) selected_by: Box<[Box<str>]>,
    /// The store has given this server the right already.
    pub(crate) won: bool,
}

/// A page that is sent if the application fails.
#[derive(Debug)]
pub(crate) struct Instead(Usable);

/// A page that may be used.
#[derive(Debug)]
struct Usable {
    entry: Arc<KeptEntry>,
    /// [`PageOutcome::Old`]: only if the application fails.
    outcome: PageOutcome,
    refill: Option<Refill>,
    accepts: accepts::Accepts,
}

/// An entry that the store has.
#[derive(Debug)]
struct Settled {
    entry: Arc<KeptEntry>,
    /// It is the one that was kept.
    holds: bool,
    /// This server is to have it written again.
    won: bool,
    /// It was marked as stale.
    stale: bool,
}

/// Why a page is not used; `None`: it has no coding that the client accepts.
type NotUsed = Option<PageOutcome>;

impl Pages {
    /// The pages of an application with these settings; `None`: it writes none. The bounds are registered at `recorder`.
    pub(crate) fn new(
        name: &Text,
        options: &AppOptions,
        recorder: &Arc<Recorder>,
    ) -> Result<Option<Box<Self>>, BadApp> {
        let Some(pages) = &options.pages else { return Ok(None) };
        Ok(Some(Box::new(Self {
            servers: Servers::new(name, pages, recorder)?,
            options: pages.clone(),
            kept: Kept::new(&options.name, options.page_bytes(), pages.value_bytes, recorder),
            copies: KernelCopies::new(&format!("{name}/pages"), COPIES, recorder),
            purges: Purges::default(),
            claims: Arc::default(),
            counts: [const { AtomicU64::new(0) }; PageOutcome::COUNT],
            recorder: recorder.clone(),
        })))
    }

    /// Looks for the page for a request. Takes at most the timeout of the settings for each round trip, of which most requests need one.
    pub(crate) async fn find(&self, wanted: &Wanted<'_>, event: &mut Event) -> Found {
        let usable = match self.options.format {
            PageFormat::Hc1 => self.timed(wanted, event).await,
            PageFormat::ResponseBank | PageFormat::Cacheable => self.versioned(wanted, event).await,
        };
        match usable {
            Ok(usable) if usable.outcome.is_hit() => {
                self.count(usable.outcome);
                match usable.reply(usable.outcome, self.now()) {
                    Some(reply) => Found::Page(usable.outcome, reply, usable.refill),
                    None => Found::Nothing(None, None),
                }
            }
            Ok(usable) => {
                self.count(usable.outcome);
                Found::Nothing(Some(usable.outcome), Some(Instead(usable)))
            }
            Err(outcome) => {
                outcome.into_iter().for_each(|outcome| self.count(outcome));
                Found::Nothing(outcome, None)
            }
        }
    }

    /// The reply with a page in place of a failure of the application.
    pub(crate) fn instead(&self, instead: &Instead) -> Option<Reply> {
        let reply = instead.0.reply(PageOutcome::HitError, self.now())?;
        // It was counted as old when the application was asked.
        self.counts[instead.0.outcome as usize].fetch_sub(1, Ordering::Relaxed);
        self.count(PageOutcome::HitError);
        Some(reply)
    }

    /// Asks the store for the right to have a page written again.
    pub(crate) async fn right(&self, refill: &Refill) -> Right {
        self.servers.right(&refill.key, refill.version, refill.expires_s).await
    }

    /// Drops pages of these URLs, and with these tags, that were stored until now: in memory at once, in the store when they are read. A URL
    /// is absolute, or a path and query. Returns how many were in memory.
    pub(crate) fn purge(&self, urls: &[String], tags: &[String]) -> u64 {
        // Without a host in its key, a page is that of all hosts.
        let has_host = self.options.format == PageFormat::Hc1;
        let urls: Vec<_> = urls.iter().filter_map(|url| named(url)).collect();
        let urls = || urls.iter().map(|(host, target)| (host.as_deref().filter(|_| has_host), target.as_str()));
        let of_urls = urls().map(|(host, target)| match host {
            Some(host) => Purged::Url(host, target),
            None => Purged::Path(target),
        });
        let of_tags = tags.iter().map(|tag| Purged::Tag(tag.as_bytes()));
        self.purges.purge(self.now().seconds(), of_urls.chain(of_tags));
        self.kept.sweep(|place, made| {
            let mut all = urls();
            all.any(|(host, target)| target == place.target && host.is_none_or(|host| host == place.host))
                || tags.iter().any(|tag| made.has_tag(tag.as_bytes()))
        })
    }

    /// Its state, for operators.
    pub(crate) fn view(&self) -> PagesView {
        let requests = PageOutcome::ALL.iter().map(|outcome| (outcome.as_str(), &self.counts[*outcome as usize]));
        let requests = requests.map(|(name, count)| (name, count.load(Ordering::Relaxed)));
        PagesView {
            format: self.options.format.as_str(),
            requests: requests.filter(|(_, count)| *count > 0).collect(),
            bytes: self.kept.bound().used(),
            max_bytes: self.kept.bound().capacity(),
            servers: self.servers.view(),
        }
    }

    fn count(&self, outcome: PageOutcome) {
        self.counts[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn now(&self) -> Millis {
        self.recorder.clock().now()
    }

    /// A key with the namespace of the application's store.
    fn key(&self, key: &str) -> Bytes {
        match self.options.namespace.as_str() {
            "" => Bytes::copy_from_slice(key.as_bytes()),
            namespace => Bytes::from(format!("{namespace}:{key}")),
        }
    }

    async fn read(&self, asks: &[Ask], event: &mut Event) -> Vec<Answer> {
        event.during(Op::AppPagesRead, self.servers.read(asks)).await
    }

    /// The entry that the answer to a read of `key` is about. `known`: the one that is kept, of this key.
    fn settle(
        &self,
        place: &Place<'_>,
        key: &Bytes,
        known: Option<&Arc<KeptEntry>>,
        answer: Answer,
        make: impl FnOnce(Item) -> KeptEntry,
        event: &mut Event,
    ) -> Result<Settled, PageOutcome> {
        let (won, stale) = match &answer {
            Answer::Unchanged { won, stale } | Answer::Item(Item { won, stale, .. }) => (*won, *stale),
            Answer::Missing | Answer::TooLarge { .. } | Answer::Failed(_) => (false, false),
        };
        let holds = match (&answer, known) {
            (Answer::Unchanged { .. }, Some(_)) => true,
            (Answer::Item(item), Some(known)) => known.is(item),
            _ => false,
        };
        match known {
            Some(_) => self.kept.found(holds),
            None => self.kept.absent(place),
        }
        match (answer, known) {
            (_, Some(known)) if holds => Ok(Settled { entry: known.clone(), holds, won, stale }),
            (Answer::Item(item), _) => {
                // Others may have read it at the same time.
                if let Some(entry) = self.kept.get(place).filter(|entry| entry.key == *key && entry.is(&item)) {
                    return Ok(Settled { entry, holds: false, won, stale });
                }
                let mut entry = event.time(Op::AppPagesMake, || make(item));
                let stored_s = entry.page().and_then(Made::stored_s);
                if stored_s.is_some_and(|stored_s| !self.purges.saw(stored_s, self.now().seconds())) {
                    // No purge would ever reach it.
                    entry.content = Content::Unusable(PageOutcome::Unknown);
                }
                let entry = Arc::new(entry);
                self.kept.put(place, &entry);
                Ok(Settled { entry, holds, won, stale })
            }
            (Answer::Missing, known) => {
                known.into_iter().for_each(|_| self.kept.remove(place));
                Err(PageOutcome::Miss)
            }
            (Answer::TooLarge { version }, _) => {
                let mut entry = make(Item { value: Bytes::new(), flags: 0, version, won, stale });
                entry.content = Content::Unusable(PageOutcome::TooLarge);
                let entry = Arc::new(entry);
                // Its bytes are not transferred again while it has this version.
                version.into_iter().for_each(|_| self.kept.put(place, &entry));
                Ok(Settled { entry, holds, won, stale })
            }
            (Answer::Failed(trouble), _) => Err(of_trouble(trouble)),
            // Nothing was known.
            (Answer::Unchanged { .. }, _) => Err(PageOutcome::Invalid),
        }
    }

    /// The same entry, with its page in a form that the client accepts: decoded once for all clients.
    fn formed(
        &self,
        place: &Place<'_>,
        entry: Arc<KeptEntry>,
        accepts: accepts::Accepts,
        event: &mut Event,
    ) -> Result<Arc<KeptEntry>, NotUsed> {
        let made = match &entry.content {
            Content::Page(made) => made,
            Content::Unusable(outcome) => return Err(Some(*outcome)),
            Content::Vary(_) => return Err(Some(PageOutcome::Unknown)),
        };
        if made.form(accepts).is_some() {
            return Ok(entry);
        }
        if !accepts.takes(Coding::Identity) {
            return Err(None);
        }
        // Another request may have had it decoded meanwhile.
        let same = |other: &Arc<KeptEntry>| other.key == entry.key && other.version == entry.version;
        let other = self.kept.get(place).filter(|other| entry.version.is_some() && same(other));
        if let Some(other) = other.filter(|other| other.page().is_some_and(|made| made.form(accepts).is_some())) {
            return Ok(other);
        }
        if let Some(why) = made.undecodable() {
            return Err(Some(unusable(why)));
        }
        let entry = Arc::new(entry.with_page(event.time(Op::AppPagesMake, || made.decode(self.options.value_bytes))));
        self.kept.put(place, &entry);
        match entry.page().and_then(Made::undecodable) {
            Some(why) => Err(Some(unusable(why))),
            None => Ok(entry),
        }
    }
}

impl Usable {
    fn reply(&self, outcome: PageOutcome, now: Millis) -> Option<Reply> {
        let made = self.entry.page()?;
        Some(reply::reply(made, made.form(self.accepts)?, outcome, now))
    }
}

fn unusable(why: Unusable) -> PageOutcome {
    match why {
        Unusable::Spliced => PageOutcome::Spliced,
        Unusable::Metadata => PageOutcome::Metadata,
        Unusable::Unknown => PageOutcome::Unknown,
        Unusable::Damaged => PageOutcome::Damaged,
        Unusable::Status => PageOutcome::Status,
        Unusable::TooLarge => PageOutcome::TooLarge,
    }
}

fn of_trouble(trouble: Trouble) -> PageOutcome {
    match trouble {
        Trouble::Timeout => PageOutcome::Timeout,
        Trouble::Unreachable => PageOutcome::Unreachable,
        Trouble::Refused => PageOutcome::Refused,
        Trouble::Invalid => PageOutcome::Invalid,
        Trouble::Busy => PageOutcome::Busy,
    }
}
