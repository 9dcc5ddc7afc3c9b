//! Complete replies in memory. A page is used only while its stamp holds, so no code invalidates pages.
//!
//! The front looks for pages before access control. The key of a page therefore has everything that its reply depends
//! on: the path, the query where the URL reads one, and the access class of the credentials.

pub(crate) mod accept_encoding;
mod admission;
pub(crate) mod browser;
mod compressor;
mod doorkeeper;
mod page;
mod page_cache;

use crate::body::kernel_copy::KernelCopies;
use crate::reply::{Body, Reply};
use crate::request::Request;
use accept_encoding::takes_gzip;
use browser::opens_pages;
use bytes::Bytes;
use compressor::Compressor;
use http::{HeaderMap, StatusCode};
use page::Page;
use page_cache::{PageCache, PageKeyRef};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::sync::Arc;
use telemetry::{Event, Layer, Millis, Miss, Op, Reason, Recorder, Subject, Tally, Tick};

/// The access class of pages for every client, with or without a token.
pub const PUBLIC: u64 = 0;

/// From the headers of a request to its access class, and when that expires.
pub type ClassOf = dyn Fn(&HeaderMap) -> Option<(u64, Millis)> + Send + Sync;
/// From a path and a query to the URL of the page.
pub type CanonicalUrl = dyn for<'a> Fn(&'a str, Option<&'a str>) -> PageUrl<'a> + Send + Sync;
/// Whether nothing that a page was made from has changed, and it has not expired at this moment.
pub type Validity = dyn Fn(Millis) -> bool + Send + Sync;

/// Functions of the program that the pages call for every request, so none may wait or take a lock.
pub struct PageHooks {
    /// The page for a path and a query.
    pub canon: Box<CanonicalUrl>,
    /// The access class of the credentials in these headers, never [`PUBLIC`], and when they expire. `None` if there
    /// are no credentials or the table in memory does not contain them: that is a cache miss and never a refusal.
    pub class: Box<ClassOf>,
}

/// The page for a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageUrl<'a> {
    /// The path of the page.
    pub path: Cow<'a, str>,
    /// The query, where the reply depends on it. `None` otherwise, so that changing queries find the same page.
    pub query: Option<&'a str>,
}

/// Complete replies, bounded in bytes.
pub struct Pages {
    hooks: PageHooks,
    /// Hashes their keys, which clients choose: its own keys are random.
    hasher: ahash::RandomState,
    found: Arc<PageCache>,
    /// Pages with status 404 have a small cache of their own: clients can request any number of names.
    missing: PageCache,
    compressor: Compressor,
    copies: KernelCopies,
}

/// The pages that are to be searched for a request. Each is searched once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageSearch {
    /// The public pages, then those of the access class of the request's credentials.
    All,
    /// Only those of the access class: the fast path has searched the public pages, and found none for this reason.
    AccessClass(Miss),
}

/// A page as HTTP/1.1 sends it.
#[derive(Debug)]
pub(crate) struct PreparedPage {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    /// The same body as a file that the kernel can send.
    pub(crate) file: Option<Arc<File>>,
    pub(crate) subject: Subject,
    pub(crate) reason: Option<Reason>,
}

impl Pages {
    /// Pages of up to `bytes` in all, and the thread that compresses them. Up to `files` large pages also get a copy
    /// that the kernel can send. Up to `compressions` pages are compressed or wait for it. The bounds are registered at `recorder`.
    pub fn new(bytes: u64, files: u64, compressions: u64, hooks: PageHooks, recorder: &Arc<Recorder>) -> Self {
        let missing = bytes / 16;
        let found = bytes - missing;
        // A build requests most files once, and the next build requests the same files.
        let found = Arc::new(PageCache::new("found", found, found / 2, recorder));
        let compressor = Compressor::start(found.clone(), compressions, recorder.clone());
        let missing = PageCache::new("missing", missing, 0, recorder);
        Self {
            hooks,
            hasher: ahash::RandomState::new(),
            found,
            missing,
            compressor,
            copies: KernelCopies::new("", files, recorder),
        }
    }

    /// The page for `request`, if there is one whose stamp holds, and when it was found. The head ended at `head_end` and
    /// was parsed at `parsed`, when the search begins. Sets the layer, subject and reason of `event`.
    pub(crate) fn hit(
        &self,
        request: &Request,
        search: PageSearch,
        head_end: Tick,
        parsed: Tick,
        event: &mut Event,
    ) -> Option<(Reply, Tick)> {
        if !admission::may_be_read(request) {
            return None;
        }
        let now = event.at;
        let page = self.find(request, search, now);
        let found = event.ran(Op::PageLookup, if page.is_ok() { head_end } else { parsed });
        let page = page.inspect_err(|miss| self.missed(*miss, event)).ok()?;
        event.layer = Layer::Page;
        event.subject = page.subject.clone();
        event.reason = page.reason;
        let representation = page.representation(|| takes_gzip(request));
        let (headers, body) = (representation.headers.clone(), Body::Bytes(representation.body.clone()));
        let (status, ranges) = (page.status, page.ranges.clone());
        let reply = Reply { headers, body, ranges, ..Reply::new(status) };
        Some((reply, found))
    }

    /// Counts a request that no page answers.
    fn missed(&self, miss: Miss, event: &mut Event) {
        self.found.miss(miss);
        if miss == Miss::Stale {
            // The lookup was in vain: no size of the cache would have made it a hit.
            event.add_all(Op::PageLookup, Tally { count: 0, vain: 1, nanos: 0 });
        }
    }

    /// Public pages are searched first, as they do not need the credentials.
    fn find(&self, request: &Request, search: PageSearch, now: Millis) -> Result<Arc<Page>, Miss> {
        let (gzip, browser) = (|| takes_gzip(request), || opens_pages(request));
        let url = (self.hooks.canon)(request.path(), request.query());
        let find = |class| self.holding(&self.key(&url, class), gzip, browser, now);
        let public = match search {
            PageSearch::All => find(PUBLIC),
            PageSearch::AccessClass(miss) => Err(miss),
        };
        public.or_else(|miss| self.class(request, now).map_or(Err(miss), find).map_err(|other| miss.max(other)))
    }

    /// The public page for a `GET` or `HEAD` without conditions, ranges or a body, if there is one whose stamp holds.
    /// `gzip`: whether the client accepts gzip. `browser`: whether it is a browser that opens a URL. Also `begin` of the head of the reply:
    /// status and headers, without the headers that differ in each reply.
    pub(crate) fn prepared<H>(
        &self,
        path: &str,
        query: Option<&str>,
        gzip: &dyn Fn() -> bool,
        browser: &dyn Fn() -> bool,
        now: Millis,
        begin: impl FnOnce(&[u8]) -> H,
    ) -> Result<(H, PreparedPage), Miss> {
        let url = (self.hooks.canon)(path, query);
        let page = self.holding(&self.key(&url, PUBLIC), gzip, browser, now)?;
        let form = page.representation(gzip);
        let (body, file) = (form.body.clone(), self.copies.of(&form.body, &form.copy));
        let (status, subject, reason) = (page.status, page.subject.clone(), page.reason);
        Ok((begin(&form.head), PreparedPage { status, body, file, subject, reason }))
    }

    fn key<'a>(&self, url: &'a PageUrl<'_>, class: u64) -> PageKeyRef<'a> {
        PageKeyRef::new(&url.path, url.query, class, &self.hasher)
    }

    /// The page with this key, from either cache, if its stamp holds. Removes the page if its stamp no longer holds.
    /// A browser gets no page with an error.
    fn holding(
        &self,
        key: &PageKeyRef<'_>,
        gzip: impl Fn() -> bool,
        browser: impl Fn() -> bool,
        now: Millis,
    ) -> Result<Arc<Page>, Miss> {
        let caches = [&*self.found, &self.missing];
        let Some((cache, page)) = caches.into_iter().find_map(|cache| Some((cache, cache.get(key)?))) else {
            return Err(self.found.why_absent(key).max(self.missing.why_absent(key)));
        };
        if !(page.valid)(now) {
            cache.remove(key, &page);
            return Err(Miss::Stale);
        }
        if page.status == StatusCode::NOT_FOUND && browser() {
            return Err(Miss::Absent);
        }
        if page.lacks_gzip(gzip) {
            self.compressor.ask(key.key(), &page);
        }
        Ok(page)
    }

    /// The access class of the request's credentials, if it is known and is not the public one.
    fn class(&self, request: &Request, now: Millis) -> Option<u64> {
        let (class, expires) = (self.hooks.class)(&request.headers)?;
        (class != PUBLIC && now < expires).then_some(class)
    }

    /// Keeps `reply` as a page if it may be one and the cache admits it. `valid` makes the function that is called for
    /// every hit, which must neither wait nor take a lock. Its stamp was taken before the work and covers everything that
    /// the reply was made from. `public`: it is for every client; otherwise only for clients of the request's access class.
    pub fn keep(
        &self,
        request: &Request,
        reply: &Reply,
        public: bool,
        valid: &dyn Fn() -> Arc<Validity>,
        event: &mut Event,
    ) {
        if !admission::may_be_read(request) {
            return;
        }
        let cache = if reply.status == StatusCode::NOT_FOUND { &self.missing } else { &*self.found };
        let Some(class) = (if public { Some(PUBLIC) } else { self.class(request, event.at) }) else { return };
        let url = (self.hooks.canon)(request.path(), request.query());
        let key = self.key(&url, class);
        // Checked before any more work is done.
        if !admission::may_be_kept(request, reply) || !admission::lets_it_be_kept(&reply.headers) {
            return cache.refuse(&key);
        }
        if !cache.admits(&key) {
            // A run in vain: a larger cache would have admitted the page.
            event.add_all(Op::PageKeep, Tally { count: 1, vain: 1, nanos: 0 });
            return cache.refuse(&key);
        }
        let (subject, reason) = (event.subject.clone(), event.reason);
        event.time(Op::PageKeep, || {
            if let Some(page) = Page::new(reply, key.weight(), valid(), subject, reason) {
                cache.put(&key, page);
            }
        });
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl fmt::Debug for PageHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageHooks").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
