//! Complete answers in memory. A page is given out only while its stamp holds, so nobody ever invalidates one.
//!
//! The front stands before access control. A page is therefore found by what the reply depended on: the path, the query
//! where the URL reads one, and the access class of the credentials.

pub(crate) mod accept_encoding;
mod admission;
mod compressor;
mod doorkeeper;
mod kernel_copy;
mod page;
mod page_cache;

use crate::reply::{Body, Reply};
use crate::request::Request;
use accept_encoding::takes_gzip;
use bytes::Bytes;
use compressor::Compressor;
use http::{HeaderMap, StatusCode};
use kernel_copy::KernelCopies;
use page::Page;
use page_cache::{PageCache, PageKeyRef};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Layer, Millis, Op, Reason, Recorder, Subject};

/// The access class of pages that anyone may have.
pub const PUBLIC: u64 = 0;

/// Headers to access class and expiry.
pub type ClassOf = dyn Fn(&HeaderMap) -> Option<(u64, Millis)> + Send + Sync;
/// Whether a stamp holds at a moment.
pub type StampHolds<S> = dyn Fn(&S, Millis) -> bool + Send + Sync;

/// What the pages ask the program. All of these are called for every request: they neither wait nor lock.
pub struct PageHooks<S> {
    /// Which page a path and a query stand for.
    pub canon: for<'a> fn(&'a str, Option<&'a str>) -> PageUrl<'a>,
    /// Access class of the credentials in these headers, never [`PUBLIC`], and when they expire; `None` when there are
    /// none or they are not known here, which is a miss and never a refusal.
    pub class: Box<ClassOf>,
    /// Whether nothing that the stamp was made from has changed, and its time has not come.
    pub holds: Box<StampHolds<S>>,
}

/// Which page a URL stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageUrl<'a> {
    /// Path of the page.
    pub path: Cow<'a, str>,
    /// The query, where the answer depends on it. Where it does not, one that changes with each request finds the same
    /// page.
    pub query: Option<&'a str>,
    /// The build that wants it recorded. A build's record is exact, so its reads go the whole way.
    pub build: Option<&'a str>,
}

/// Complete answers, bounded in bytes. `S` is the stamp.
pub struct Pages<S> {
    hooks: PageHooks<S>,
    found: Arc<PageCache<S>>,
    /// Answers that something is not there, on a small cache of their own: anyone can ask for any number of names.
    missing: PageCache<S>,
    compressor: Compressor<S>,
    copies: KernelCopies,
}

/// Which pages are to be searched for a request. Each is searched once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageSearch {
    /// The public pages, then those of the access class of the request's credentials.
    All,
    /// Only those of the access class: the fast path has searched the public ones.
    AccessClass,
}

/// A page as HTTP/1.1 sends it.
#[derive(Debug)]
pub(crate) struct PreparedPage {
    pub(crate) status: StatusCode,
    /// Status and headers, without those that each reply has of its own.
    pub(crate) head: Bytes,
    pub(crate) body: Bytes,
    /// The same body, where the kernel can send it from.
    pub(crate) file: Option<Arc<File>>,
    pub(crate) subject: Subject,
    pub(crate) reason: Option<Reason>,
}

impl<S: Clone + Send + Sync + 'static> Pages<S> {
    /// Pages of `bytes` in all, and the thread that compresses them. Of large ones the kernel holds up to `files` as well, so that it
    /// sends them without a copy. `recorder` is told how full they are.
    pub fn new(bytes: u64, files: u64, hooks: PageHooks<S>, recorder: &Arc<Recorder>) -> Self {
        let missing = bytes / 16;
        let found = bytes - missing;
        // A build asks for most files once, and the next one for the same.
        let found = Arc::new(PageCache::new("found", (found, found / 2), recorder));
        let compressor = Compressor::start(found.clone(), recorder.clone());
        let (missing, copies) = (PageCache::new("missing", (missing, 0), recorder), KernelCopies::new(files, recorder));
        Self { hooks, found, missing, compressor, copies }
    }

    /// The page for `request`, if there is one whose stamp holds. It becomes the answer's layer and subject in `event`.
    pub(crate) fn hit(&self, request: &Request, search: PageSearch, event: &mut Event) -> Option<Reply> {
        if !admission::may_be_read(request) {
            return None;
        }
        let now = event.at;
        let page = event.time(Op::PageLookup, || self.find(request, search, now))?;
        event.layer = Layer::Page;
        event.subject = page.subject.clone();
        event.reason = page.reason;
        let form = page.form(|| takes_gzip(request));
        let (headers, body) = (form.headers.clone(), Body::Bytes(form.body.clone()));
        let (status, ranges) = (page.status, page.ranges.clone());
        Some(Reply { status, headers, body, ranges, phrase: None, margin: Duration::ZERO })
    }

    /// A public page first, which needs no look at the credentials; then that of whoever asks.
    fn find(&self, request: &Request, search: PageSearch, now: Millis) -> Option<Arc<Page<S>>> {
        let gzip = || takes_gzip(request);
        let find = |class| self.holding(&self.canon(request.path(), request.query())?.key(class), gzip, now);
        let public = if search == PageSearch::All { find(PUBLIC) } else { None };
        public.or_else(|| find(self.class(request, now)?))
    }

    /// The public page for a plain question (`GET` or `HEAD` without conditions, ranges or a body), if there is one whose stamp
    /// holds. `gzip` tells whether whoever asks takes that.
    pub(crate) fn prepared(
        &self,
        path: &str,
        query: Option<&str>,
        gzip: &dyn Fn() -> bool,
        now: Millis,
    ) -> Option<PreparedPage> {
        let page = self.holding(&self.canon(path, query)?.key(PUBLIC), gzip, now)?;
        let form = page.form(gzip);
        let (head, body, file) = (form.head.clone(), form.body.clone(), self.copies.of(&form.body, &form.copy));
        Some(PreparedPage { status: page.status, head, body, file, subject: page.subject.clone(), reason: page.reason })
    }

    /// The page that is key, on whichever cache, if its stamp holds. If not it is taken away.
    fn holding(&self, key: &PageKeyRef<'_>, gzip: impl Fn() -> bool, now: Millis) -> Option<Arc<Page<S>>> {
        let caches = [&*self.found, &self.missing];
        let (cache, page) = caches.into_iter().find_map(|cache| Some((cache, cache.get(key)?)))?;
        if !(self.hooks.holds)(&page.stamp, now) {
            cache.remove(key, &page);
            return None;
        }
        if page.lacks_gzip(gzip) {
            self.compressor.ask(key.key(), &page);
        }
        Some(page)
    }

    /// The page that this stands for. A build's record is exact, so its reads go the whole way.
    fn canon<'a>(&self, path: &'a str, query: Option<&'a str>) -> Option<PageUrl<'a>> {
        let canon = (self.hooks.canon)(path, query);
        canon.build.is_none().then_some(canon)
    }

    /// The access class of whoever asks, if it is known and more than anyone's.
    fn class(&self, request: &Request, now: Millis) -> Option<u64> {
        let (class, expires) = (self.hooks.class)(&request.headers)?;
        (class != PUBLIC && now < expires).then_some(class)
    }

    /// Keeps `reply`, which was made from what `stamp` stands for (taken before the work), if it is one to keep and there is
    /// room for it, or it was key before. `public`: anyone may have it; else it is for those of the asker's class alone.
    pub fn keep(&self, request: &Request, reply: &Reply, public: bool, stamp: S, event: &mut Event) {
        if !admission::may_be_read(request) || !admission::may_be_kept(request, reply) {
            return;
        }
        let cache = if reply.status == StatusCode::NOT_FOUND { &self.missing } else { &*self.found };
        let class = if public { Some(PUBLIC) } else { self.class(request, event.at) };
        let (Some(canon), Some(class)) = (self.canon(request.path(), request.query()), class) else { return };
        let key = canon.key(class);
        // Whoever is turned away is before more is done.
        if !cache.lets_in(&key) || !admission::lets_it_be_kept(&reply.headers) {
            return;
        }
        let (subject, reason) = (event.subject.clone(), event.reason);
        event.time(Op::PageKeep, || {
            if let Some(page) = Page::new(reply, key.weight(), stamp, subject, reason) {
                cache.put(&key, page);
            }
        });
    }
}

impl PageUrl<'_> {
    fn key(&self, class: u64) -> PageKeyRef<'_> {
        PageKeyRef { path: &self.path, query: self.query, class }
    }
}

impl<S> fmt::Debug for Pages<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for PageHooks<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageHooks").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
