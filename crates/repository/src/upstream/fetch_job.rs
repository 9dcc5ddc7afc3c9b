//! What a flight does: ask the upstream, take what comes, hold it against what is said of it, and keep it.

use crate::format::Format;
use crate::upstream::abandoned::Followers;
use crate::upstream::checksum_policy::ChecksumPolicy;
use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::download::Download;
use crate::upstream::expected_digests::ExpectedDigests;
use crate::upstream::failure::Failure;
use crate::upstream::flights::{ArrivedBy, Arriving as Shown, FetchResult, Stage};
use crate::upstream::trouble::Trouble;
use crate::upstream::ttl::{Ttl, TtlState};
use crate::upstream::{KeptFile, Remembered, Remote, path_class};
use bytes::Bytes;
use client::{Arriving, Conditions, Upstream};
use format::maven::metadata::Metadata;
use format::tree;
use std::io;
use std::sync::Arc;
use store::{CachedFile, Lane, Stamp};
use telemetry::{Event, Op, Reason};
use tokio::sync::watch;

/// Metadata of so many bytes is read in passing, in less than what two changes of threads cost.
const SMALL: u64 = 16 << 10;

/// One flight, from its start to its landing.
pub(crate) struct FetchJob<'a> {
    remote: &'a Remote,
    path: &'a str,
    ages: Ttl,
    told: &'a watch::Sender<Stage>,
    /// Of before it began.
    stamp: Option<Stamp>,
}

impl<'a> FetchJob<'a> {
    pub(crate) fn new(remote: &'a Remote, path: &'a str, told: &'a watch::Sender<Stage>) -> Self {
        Self { remote, path, ages: Ttl::of(&remote.repository, path), told, stamp: remote.stamp(path) }
    }

    /// Has what is remembered made good again, or brings what is not.
    pub(crate) async fn fly(&self, event: &mut Event) -> Result<FetchResult, Trouble> {
        let now = self.remote.now();
        // Another flight may have landed after whoever asked for this one looked.
        let had = match self.remote.recall(self.path, event).await? {
            Some(Remembered::MissingUntil(until)) if now < until => return Ok(FetchResult::Missing(until)),
            Some(Remembered::File(file)) => match self.ages.at(file.known.checked, now) {
                TtlState::Fresh(_) => return Ok(FetchResult::File(file, ArrivedBy::Kept)),
                TtlState::Aging | TtlState::Stale => Some(file),
            },
            _ => None,
        };
        let upstream = self.remote.upstream(event).await?;
        let known = had.as_ref().map(|had| &had.known);
        let conditions = Conditions {
            etag: known.and_then(|known| known.etag.clone()),
            modified: known.and_then(|known| known.modified.clone()),
        };
        let call = upstream.get(self.path, &conditions, event);
        let answer = self.remote.while_followed((self.path, self.told), call).await?;
        self.remote.pin(&upstream, event).await?;
        let answer = answer?;
        match (answer.status(), had) {
            // A folder is no file of Maven's.
            (200, had) if answer.is_of_folder() && self.remote.repository.format == Format::Maven => {
                self.miss(had, event).await
            }
            (200, had) => self.take(&upstream, answer, had, event).await,
            (304, Some(had)) => self.confirm(had, event).await,
            (404 | 410, had) => self.miss(had, event).await,
            (status, _) => {
                if status == 401 {
                    self.remote.read_again().await;
                }
                let paused = upstream.states().iter().filter_map(|state| state.paused_until).max();
                Err(Failure::said(&answer, paused).into())
            }
        }
    }

    /// The upstream says that the bytes are as they were.
    async fn confirm(&self, had: KeptFile, event: &mut Event) -> Result<FetchResult, Trouble> {
        let checked = self.remote.now();
        let (store, of) = (&self.remote.remotes.store, self.remote.repository.origin);
        store.confirm_cached(of, self.path, checked, event).await?;
        let known = Arc::new(CachedFile { checked, ..(*had.known).clone() });
        let kept = KeptFile { known, held: had.held };
        self.remote.leave_open(self.path, &kept, self.stamp);
        Ok(FetchResult::File(kept, ArrivedBy::Confirmed))
    }

    /// The upstream has proven that there is no such file.
    async fn miss(&self, had: Option<KeptFile>, event: &mut Event) -> Result<FetchResult, Trouble> {
        let now = self.remote.now();
        let until = self.ages.missing_until(now);
        let (store, repository) = (&self.remote.remotes.store, &self.remote.repository);
        store.miss(repository.origin, self.path, (now, until), event).await?;
        if had.is_some() {
            store.refreshed(repository.id, tree::folder(self.path));
        }
        Ok(FetchResult::Missing(until))
    }

    /// The upstream gives the file.
    async fn take(
        &self,
        upstream: &Arc<Upstream>,
        mut answer: Arriving,
        had: Option<KeptFile>,
        event: &mut Event,
    ) -> Result<FetchResult, Trouble> {
        let html = answer.header("content-type").is_some_and(|kind| kind.contains("html"));
        let format = self.remote.repository.format;
        if html && !path_class::may_be_html(format, self.path) {
            return Err(Failure::page().into());
        }
        let coding = answer.header("content-encoding").unwrap_or_default();
        if !path_class::is_of_itself(self.path, coding) {
            let text = format!("the upstream answered with a coding that was not asked for: {}", Event::text(coding));
            return Err(Failure::new(Reason::UpstreamInvalid, text).into());
        }
        let now = self.remote.now();
        let policy = ChecksumPolicy::of(self.remote.repository.record.remote.as_deref());
        let asked = policy != ChecksumPolicy::Ignore;
        let looked_at = asked && !path_class::is_metadata(format, self.path);
        let claims = if looked_at { DeclaredDigests::of(&answer) } else { DeclaredDigests::default() };
        let mut promise = if asked && claims.is_empty() && path_class::has_checksum_beside(format, self.path) {
            ExpectedDigests::ask(upstream.clone(), self.path.to_owned(), now)
        } else {
            ExpectedDigests::Said(claims)
        };
        let text = |name| answer.header(name).map(str::to_owned);
        let (etag, modified) = (text("etag"), text("last-modified"));
        let (len, moment) = (answer.length(), modified.as_deref().and_then(client::moment));
        let show = |file, grown, promised| {
            // Who is promised what is not sure would refuse what we take.
            let promised = if policy == ChecksumPolicy::Strict { promised } else { Arc::default() };
            let shown = Shown { file, len, grown, promised, modified: moment, first_seen: now };
            self.told.send_replace(Stage::Arriving(shown));
        };
        let store = &self.remote.remotes.store;
        let followers = Followers::new(self.remote, self.path, self.told);
        let incoming =
            Download::take(store, (format, self.path), &mut answer, (&mut promise, show, followers), event).await?;
        let (claims, unknown) = match promise.sure(event).await? {
            Ok(claims) => (claims, None),
            Err(failure) if policy == ChecksumPolicy::Warn => (DeclaredDigests::default(), Some(failure)),
            Err(failure) => return Err(failure.into()),
        };
        if path_class::is_metadata(format, self.path) {
            self.look_inside(incoming.hashes.size_bytes, incoming.document(), event).await?;
        }
        let unverified = match claims.check(&incoming.hashes).map_err(|differs| Failure::differs(&differs)) {
            Err(failure) if policy == ChecksumPolicy::Warn => Some((Reason::ChecksumDiffers, failure.detail())),
            Err(failure) => return Err(failure.into()),
            Ok(()) if claims.is_empty() => {
                Some((Reason::Unverified, unknown.map_or_else(String::new, |failure| failure.detail())))
            }
            Ok(()) => None,
        };
        let verified = path_class::has_checksum_beside(format, self.path).then_some(unverified.is_none());
        // Where nobody wants checksums to be looked at, or clients publish none, that there was none is no news.
        let news = |(reason, _): &(Reason, String)| *reason != Reason::Unverified || (asked && verified == Some(false));
        if let Some((reason, detail)) = unverified.filter(news) {
            (event.reason, event.detail) = (Some(reason), detail);
        }
        let hashes = incoming.hashes.clone();
        // Other bytes are as old as they are, whatever was at their path before.
        let same = had.as_ref().filter(|had| had.known.hashes.sha256 == hashes.sha256);
        let first_seen = same.map_or(now, |had| had.known.first_seen);
        let known = Arc::new(CachedFile { hashes, etag, modified, first_seen, fetched: now, checked: now, verified });
        self.keep(had, (known, incoming), event).await
    }

    /// Refuses metadata that clients cannot read.
    async fn look_inside(
        &self,
        size_bytes: u64,
        document: impl FnOnce() -> io::Result<Bytes> + Send + 'static,
        event: &mut Event,
    ) -> Result<(), Trouble> {
        let look = move || {
            let bytes = document().map_err(|why| why.to_string())?;
            Metadata::read(&bytes).map(drop).map_err(|why| why.to_string())
        };
        let looked = match size_bytes {
            ..=SMALL => event.time(Op::PackageRead, look),
            _ => {
                let look = |_: &mut ()| look();
                self.remote.remotes.workers.run(Lane::Index, (Op::WorkWait, Op::PackageRead), event, look).await?
            }
        };
        let unreadable = |why| Failure::new(Reason::UpstreamInvalid, format!("the upstream's metadata: {why}"));
        Ok(looked.map_err(unreadable)?)
    }

    /// Keeps what is proven to be right. Where that fails it is answered with all the same, and fetched again next time.
    async fn keep(
        &self,
        had: Option<KeptFile>,
        (known, incoming): (Arc<CachedFile>, Download),
        event: &mut Event,
    ) -> Result<FetchResult, Trouble> {
        let Remote { remotes, repository, .. } = self.remote;
        let max_bytes = repository.record.remote.as_ref().and_then(|remote| remote.max_bytes);
        let folder = tree::folder(self.path);
        // The first file of a folder that lacked others: groups may have answered with those of other members.
        let lacked = remotes.store.folder_in_memory(folder);
        let first = lacked.is_some_and(|lacked| lacked.fact(repository.origin).is_some_and(|fact| !fact.has));
        let Download { held, arrival, growth, .. } = incoming;
        let kept = remotes
            .store
            .keep_cached(repository.origin, self.path, ((*known).clone(), arrival), max_bytes, event)
            .await;
        let file = KeptFile { known, held };
        match kept {
            Ok(true) => self.remote.leave_open(self.path, &file, self.stamp),
            Ok(false) => {}
            Err(error) => (event.reason, event.detail) = (Some(crate::error::store_reason(&error)), error.to_string()),
        }
        let hashes = &file.known.hashes;
        if first || had.is_some_and(|had| had.known.hashes.sha256 != hashes.sha256) {
            remotes.store.refreshed(repository.id, folder);
        }
        if let Some(growth) = growth {
            growth.whole(hashes.size_bytes);
        }
        Ok(FetchResult::File(file, ArrivedBy::Fetched))
    }
}
