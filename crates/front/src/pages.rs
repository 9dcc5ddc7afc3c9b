//! Complete answers in memory. A page is given out only while its stamp holds, so nobody ever invalidates one.
//!
//! The front stands before access control. A page is therefore found by what the reply depended on: path, query and the
//! access class of the credentials. Keys are compared in full; a colliding hash gives nobody another's page.

use crate::{Body, Ranges, Reply, Request};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, Weighter};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Event, Layer, Millis, Op, Reason, Subject};

/// The access class of pages that anyone may have.
pub const PUBLIC: u64 = 0;

/// Headers to access class and expiry.
pub type Class = dyn Fn(&HeaderMap) -> Option<(u64, Millis)> + Send + Sync;
/// Whether a stamp holds at a moment.
pub type Holds<S> = dyn Fn(&S, Millis) -> bool + Send + Sync;

/// What the pages ask the program. All of these are called for every request: they neither wait nor lock.
pub struct Outside<S> {
    /// Path of the page that a path stands for, and the build that wants it recorded.
    pub canon: fn(&str) -> (Cow<'_, str>, Option<&str>),
    /// Access class of the credentials in these headers, never [`PUBLIC`], and when they expire; `None` when there are
    /// none or they are not known here, which is a miss and never a refusal.
    pub class: Box<Class>,
    /// Whether nothing that the stamp was made from has changed, and its time has not come.
    pub holds: Box<Holds<S>>,
}

/// Complete answers, bounded in bytes. `S` is the stamp.
pub struct Pages<S> {
    outside: Outside<S>,
    found: Shelf<S>,
    /// Answers that something is not there, on a small shelf of their own: anyone can ask for any number of names.
    missing: Shelf<S>,
    bound: Arc<Bound>,
}

struct Shelf<S> {
    cache: Cache<Key, Arc<Page<S>>, Weight>,
    /// Weight of the heaviest page that is kept.
    heaviest: u64,
}

/// A complete answer and what an event needs to be whole without asking anybody.
struct Page<S> {
    stamp: S,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    ranges: Ranges,
    subject: Subject,
    reason: Option<Reason>,
    weight: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    path: Box<str>,
    query: Option<Box<str>>,
    class: u64,
}

/// A [`Key`] that is not kept. Fields and their order are the same, so that it hashes alike.
#[derive(Hash)]
struct Wanted<'a> {
    path: &'a str,
    query: Option<&'a str>,
    class: u64,
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.class == key.class && self.query == key.query.as_deref() && self.path == &*key.path
    }
}

#[derive(Clone)]
struct Weight;

impl<S> Weighter<Key, Arc<Page<S>>> for Weight {
    fn weight(&self, _: &Key, page: &Arc<Page<S>>) -> u64 {
        page.weight
    }
}

impl<S: Clone + Send + Sync> Pages<S> {
    /// Pages of `bytes` in all. Register [`Pages::bound`].
    pub fn new(bytes: u64, outside: Outside<S>) -> Self {
        let missing = bytes / 16;
        Self {
            outside,
            found: Shelf::new(bytes - missing),
            missing: Shelf::new(missing),
            bound: Bound::new(BoundName::Pages, "", bytes),
        }
    }

    /// How full they are.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The page for `request`, if there is one whose stamp holds. It becomes the answer's layer and subject in `event`.
    pub fn hit(&self, request: &Request, event: &mut Event) -> Option<Reply> {
        let reads = request.method == Method::GET || request.method == Method::HEAD;
        if !reads || !request.upload.is_none() {
            return None;
        }
        let now = event.at;
        let page = event.time(Op::PageLookup, || self.find(request, now))?;
        event.layer = Layer::Page;
        event.subject = page.subject.clone();
        event.reason = page.reason;
        Some(Reply {
            status: page.status,
            headers: page.headers.clone(),
            body: Body::Bytes(page.body.clone()),
            ranges: page.ranges,
        })
    }

    /// A public page first, which needs no look at the credentials; then that of whoever asks.
    fn find(&self, request: &Request, now: Millis) -> Option<Arc<Page<S>>> {
        let path = self.path(request)?;
        let query = request.query();
        self.holding(&Wanted { path: &path, query, class: PUBLIC }, now).or_else(|| {
            let class = self.class(request, now)?;
            self.holding(&Wanted { path: &path, query, class }, now)
        })
    }

    /// The page that is wanted, on whichever shelf, if its stamp holds. If not it is taken away.
    fn holding(&self, wanted: &Wanted<'_>, now: Millis) -> Option<Arc<Page<S>>> {
        let (shelf, page) = [&self.found, &self.missing]
            .into_iter()
            .find_map(|shelf| shelf.cache.get(wanted).map(|page| (shelf, page)))?;
        if (self.outside.holds)(&page.stamp, now) {
            return Some(page);
        }
        // Only this one: another may stand there already.
        shelf.cache.remove_if(wanted, |there| Arc::ptr_eq(there, &page));
        self.observe();
        None
    }

    /// The path under which the page of `request` stands. A build's record is exact, so its reads go the whole way.
    fn path<'a>(&self, request: &'a Request) -> Option<Cow<'a, str>> {
        let (path, build) = (self.outside.canon)(request.path());
        build.is_none().then_some(path)
    }

    /// The access class of whoever asks, if it is known and more than anyone's.
    fn class(&self, request: &Request, now: Millis) -> Option<u64> {
        let (class, expires) = (self.outside.class)(&request.headers)?;
        (class != PUBLIC && now < expires).then_some(class)
    }

    /// Keeps `reply`, which was made from what `stamp` stands for (taken before the work), if it is one to keep:
    /// a `GET`'s complete 200 or 404 in memory, not too large, and not against its own `Cache-Control` or `Vary`.
    /// `public`: anyone may have it; else it is for those of the asker's class alone.
    pub fn keep(&self, request: &Request, reply: &Reply, public: bool, stamp: S, event: &mut Event) {
        let shelf = match reply.status {
            StatusCode::OK => &self.found,
            StatusCode::NOT_FOUND => &self.missing,
            _ => return,
        };
        let Body::Bytes(body) = &reply.body else { return };
        if request.method != Method::GET || !request.upload.is_none() || !may_be_kept(&reply.headers) {
            return;
        }
        let class = if public { Some(PUBLIC) } else { self.class(request, event.at) };
        let (Some(path), Some(class)) = (self.path(request), class) else { return };
        let weight = weight(&path, request.query(), reply, body);
        if weight > shelf.heaviest {
            return;
        }
        let key = Key { path: path.into(), query: request.query().map(Box::from), class };
        let page = Page {
            stamp,
            status: reply.status,
            headers: reply.headers.clone(),
            // A copy: the reply's may be a small part of something large that it would keep alive.
            body: Bytes::copy_from_slice(body),
            ranges: reply.ranges,
            subject: event.subject.clone(),
            reason: event.reason,
            weight,
        };
        event.time(Op::PageKeep, || shelf.cache.insert(key, Arc::new(page)));
        self.observe();
    }

    fn observe(&self) {
        self.bound.observe(self.found.cache.weight() + self.missing.cache.weight());
    }
}

impl<S> Shelf<S> {
    /// A page takes at most a 64th of a shelf, and never more than this.
    const HEAVIEST: u64 = 4 << 20;
    /// For the size of the tables: an index of a gem is about this large.
    const TYPICAL: u64 = 4 << 10;

    fn new(bytes: u64) -> Self {
        let items = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        let cache = Cache::with(items, bytes, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default());
        let heaviest = (bytes / 64).min(Self::HEAVIEST).min(cache.shard_capacity() / 2);
        Self { cache, heaviest }
    }
}

/// Bytes that a page takes, roughly.
fn weight(path: &str, query: Option<&str>, reply: &Reply, body: &Bytes) -> u64 {
    const FIXED: usize = 512;
    const EACH_HEADER: usize = 64;
    let headers = reply.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + EACH_HEADER);
    (FIXED + path.len() + query.map_or(0, str::len) + headers.sum::<usize>() + body.len()) as u64
}

/// Whether what a reply says about itself lets it be given to everyone of the same class.
fn may_be_kept(headers: &HeaderMap) -> bool {
    let lists = |name, wanted: fn(&str) -> bool| {
        headers.get_all(name).iter().all(|line| {
            line.to_str().is_ok_and(|line| line.split(',').all(|word| wanted(&word.trim().to_ascii_lowercase())))
        })
    };
    lists(header::CACHE_CONTROL, |directive| directive != "no-store")
        && lists(header::VARY, |name| matches!(name, "authorization" | "accept-encoding"))
        && !headers.contains_key(header::CONTENT_ENCODING)
        && !headers.contains_key(header::SET_COOKIE)
}

impl<S> fmt::Debug for Pages<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("bound", &self.bound).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Outside<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
