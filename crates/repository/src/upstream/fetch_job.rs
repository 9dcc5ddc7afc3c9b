//! The work of a fetch: request the file, receive it, verify it, and store it.

use crate::tree::file::File;
use crate::tree::readable::Readable;
use crate::upstream::abandoned::Followers;
use crate::upstream::checksum_policy::ChecksumPolicy;
use crate::upstream::content_coding::ContentCoding;
use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::download::{Download, Incoming};
use crate::upstream::expected_digests::ExpectedDigests;
use crate::upstream::failure::Failure;
use crate::upstream::flight::{ArrivedBy, Arriving as Shown, FetchResult, Stage};
use crate::upstream::flight_use::FlightUse;
use crate::upstream::pieces::Pieces;
use crate::upstream::proof::{IndexedFile, Proof};
use crate::upstream::trouble::Trouble;
use crate::upstream::ttl::{Ttl, TtlState};
use crate::upstream::{KeptFile, Looked, Remembered, Remote};
use bytes::Bytes;
use client::{Arriving, Conditions, Upstream};
use std::io;
use std::sync::Arc;
use store::{CachedFile, Lane, Stamp};
use telemetry::{Event, Millis, Op, Reason};
use tokio::sync::watch;

/// Metadata up to this size, in bytes, is parsed in place, in about the time of two thread switches.
const SMALL: u64 = 16 << 10;

/// One fetch, from its start to its result.
pub(crate) struct FetchJob<'a> {
    remote: &'a Remote,
    file: File<'a>,
    ttl: Ttl,
    stages: &'a watch::Sender<Stage>,
    used: &'a FlightUse,
    /// Taken before the fetch began.
    stamp: Stamp,
    /// When it began. The upstream may have changed since.
    began: Millis,
    /// What an index of the upstream says of it.
    indexed: IndexedFile,
}

impl<'a> FetchJob<'a> {
    pub(crate) fn new(
        remote: &'a Remote,
        file: File<'a>,
        stages: &'a watch::Sender<Stage>,
        used: &'a FlightUse,
        indexed: IndexedFile,
    ) -> Self {
        let (ttl, stamp) = (Ttl::of(&remote.repository, &file), remote.stamp(&file));
        Self { remote, file, ttl, stages, used, stamp, began: remote.now(), indexed }
    }

    /// Renews the cached file, or fetches it. `looked`: what the cache is known to have of it.
    pub(crate) async fn fly(&self, looked: Option<Looked>, event: &mut Event) -> Result<FetchResult, Trouble> {
        let now = self.remote.now();
        let before = event.runs_so_far();
        let found = match looked {
            Some(looked) => looked.found,
            None => self.remote.recall(&self.file, event).await?,
        };
        let had = match found {
            Some(Remembered::MissingUntil(until))
                if self.remote.repository.counts_as_missing(&self.file, until, now) =>
            {
                return Ok(FetchResult::Missing(until));
            }
            // A cached file that is proven to differ needs no conditional request.
            Some(Remembered::File(file)) if self.is_refuted(&file.known) => None,
            Some(Remembered::File(file)) if self.indexed.placed.is_some() => {
                return Ok(FetchResult::File(file, ArrivedBy::Kept));
            }
            Some(Remembered::File(file)) => {
                let state = self.remote.ttl_state(&self.file, Proof::Age, &file.known, now);
                let behind = self.remote.is_behind_counterpart(&self.file, &file.known, event).await?;
                if matches!(state, TtlState::Fresh(_)) && !behind {
                    return Ok(FetchResult::File(file, ArrivedBy::Kept));
                }
                Some(file)
            }
            _ => None,
        };
        if had.is_none() {
            event.was_vain_since(&before);
        }
        let upstream = self.remote.upstream(event).await?;
        let known = had.as_ref().map(|had| &had.known);
        let conditions = Conditions {
            etag: known.and_then(|known| known.validator.clone()),
            modified: known.and_then(|known| known.modified.clone()),
            first_byte: None,
            has_answer: had.is_some(),
        };
        self.used.calls(upstream.first_host());
        let placed = self.indexed.placed.as_deref();
        let path = placed.map_or(self.file.path, |placed| placed.path.as_str());
        let call = upstream.get(path, &conditions, event);
        let answer = self.remote.while_followed(self.file.path, self.stages, call).await?;
        self.used.show(event);
        self.remote.pin(&upstream, event).await?;
        let answer = answer?;
        match (answer.status(), had) {
            // The index has the file, so the 404 is not believed.
            (404 | 410, _) if placed.is_some() => Err(Failure::misplaced(&answer).into()),
            (200, _) if placed.is_some() && answer.is_of_folder() => Err(Failure::misplaced(&answer).into()),
            (200, had) if answer.is_of_folder() && !self.file.facts().may_be_folder => self.miss(had, event).await,
            (200, had) => self.take(&upstream, answer, had, event).await,
            (304, Some(had)) => self.confirm(had, event).await,
            // An index lists the file, so the cached bytes stay, and the 404 is not believed.
            (404 | 410, _) if self.file.facts().is_listed => Err(Failure::listed(&answer).into()),
            (404 | 410, had) => self.miss(had, event).await,
            (status, _) => {
                if status == 401 {
                    self.remote.read_again().await;
                }
                Err(Failure::said(&answer, self.file.facts().passes_refusal).into())
            }
        }
    }

    /// Whether cached bytes are proven to differ from the upstream's.
    fn is_refuted(&self, known: &CachedFile) -> bool {
        let policy = ChecksumPolicy::of(self.remote.repository.record.remote.as_deref());
        let is_strict = policy == ChecksumPolicy::Strict;
        let differs = self.indexed.digests.check(&known.hashes).is_err();
        differs || self.indexed.placed.as_ref().is_some_and(|placed| placed.refutes(is_strict, known))
    }

    /// Handles a 304: the cached bytes are unchanged.
    async fn confirm(&self, had: KeptFile, event: &mut Event) -> Result<FetchResult, Trouble> {
        let checked = self.began;
        let (store, of) = (&self.remote.remotes.store, self.remote.repository.origin);
        store.confirm_cached(of, self.file.path, checked, event).await?;
        let known = Arc::new(CachedFile { checked, ..(*had.known).clone() });
        let kept = KeptFile { known, held: had.held };
        self.remote.leave_open(&self.file, &kept, self.stamp);
        Ok(FetchResult::File(kept, ArrivedBy::Confirmed))
    }

    /// Handles a 404 or 410: the upstream has proven that there is no such file.
    async fn miss(&self, had: Option<KeptFile>, event: &mut Event) -> Result<FetchResult, Trouble> {
        let now = self.remote.now();
        let until = self.ttl.missing_until(now);
        let (store, repository) = (&self.remote.remotes.store, &self.remote.repository);
        store.record_missing(repository.origin, self.file.path, now, until, event).await?;
        if had.is_some() {
            store.upstream_changed(repository.id, self.file.folder);
        }
        Ok(FetchResult::Missing(until))
    }

    /// Handles a 200: receives the file.
    async fn take(
        &self,
        upstream: &Arc<Upstream>,
        mut answer: Arriving,
        had: Option<KeptFile>,
        event: &mut Event,
    ) -> Result<FetchResult, Trouble> {
        let html = answer.header("content-type").is_some_and(|kind| kind.contains("html"));
        if html && !self.file.may_be_html() {
            return Err(Failure::page().into());
        }
        let name = answer.header("content-encoding").unwrap_or_default();
        let Some(coding) = ContentCoding::read(self.file.facts().without_query, name) else {
            let text = format!("the upstream answered with a coding that was not asked for: {}", Event::text(name));
            return Err(Failure::new(Reason::UpstreamInvalid, text).into());
        };
        let now = self.remote.now();
        let policy = ChecksumPolicy::of(self.remote.repository.record.remote.as_deref());
        let asked = policy != ChecksumPolicy::Ignore;
        let placed = self.indexed.placed.as_deref();
        if let (Some(placed), Some(length), ContentCoding::Identity) = (placed, answer.length(), coding)
            && policy == ChecksumPolicy::Strict
        {
            placed.check_size(length)?;
        }
        let claims = match placed {
            Some(placed) if asked => placed.digests.clone(),
            None if asked && !self.file.is_metadata() => DeclaredDigests::of(&answer),
            Some(_) | None => DeclaredDigests::default(),
        };
        let more = claims.more().and(self.indexed.more);
        let expected = if asked && claims.is_empty() && self.file.has_checksum_beside() {
            ExpectedDigests::ask(upstream.clone(), self.remote, self.file.path)
        } else {
            ExpectedDigests::said(claims)
        };
        let text = |name| answer.header(name).map(str::to_owned);
        let (etag, modified) = (text("etag"), text("last-modified"));
        let (len, moment) = (answer.length(), modified.as_deref().and_then(client::moment));
        let show = |file, grown, promised| {
            // A client that was promised a digest that is not certain would refuse a file that we accept.
            let promised = if policy == ChecksumPolicy::Strict { promised } else { Arc::default() };
            let shown = Shown { file, len, grown, promised, modified: moment, first_seen: now };
            self.stages.send_replace(Stage::Arriving(shown));
        };
        let store = &self.remote.remotes.store;
        let followers = Followers::new(self.remote, self.file.path, self.stages);
        // Bytes that are to be decoded are nobody's file.
        let show = (coding != ContentCoding::Gzip).then_some(show);
        // A body that has no length, and no end either, is not received whole to find that its size is another one.
        let is_sized = policy == ChecksumPolicy::Strict && coding == ContentCoding::Identity;
        let placed_bytes = placed.filter(|_| is_sized).map_or(u64::MAX, |placed| placed.size_bytes);
        let longest = self.file.longest().min(placed_bytes);
        let (file, pieces) = (&self.file, Pieces::new(&mut answer, longest, &self.remote.remotes.pieces));
        let incoming = Incoming { file, pieces, expected: &expected, more, show, followers };
        let download = expected.beside(incoming.take(store, event)).await?;
        let (claims, unknown) = match expected.sure(event).await {
            Ok(claims) => (claims, None),
            Err(failure) if policy == ChecksumPolicy::Warn => (DeclaredDigests::default(), Some(failure)),
            Err(failure) => return Err(failure.into()),
        };
        let known = [&self.indexed.digests, &claims];
        let download = self.remote.decode(&self.file, coding, download, &known, event).await?;
        self.indexed.digests.check(&download.hashes).map_err(|differs| Failure::differs(&differs))?;
        if let Some(Readable { longest, check }) = self.file.readable() {
            let read = download.document(longest);
            self.look_inside(check, download.hashes.size_bytes, read, event).await?;
        }
        let checked = match placed.filter(|_| asked) {
            Some(placed) => placed.check(&download.hashes),
            None => claims.check(&download.hashes).map_err(|differs| Failure::differs(&differs)),
        };
        let unverified = match checked {
            Err(failure) if policy == ChecksumPolicy::Warn => Some((Reason::ChecksumDiffers, failure.detail())),
            Err(failure) => return Err(failure.into()),
            Ok(()) if claims.is_empty() => {
                Some((Reason::Unverified, unknown.map_or_else(String::new, |failure| failure.detail())))
            }
            Ok(()) => None,
        };
        let has_checksum = placed.is_some() || self.file.has_checksum_beside();
        let verified = has_checksum.then_some(unverified.is_none());
        // A missing checksum is not worth recording if checksums are ignored, or if clients publish none for such
        // files.
        let news = |(reason, _): &(Reason, String)| *reason != Reason::Unverified || (asked && verified == Some(false));
        if let Some((reason, detail)) = unverified.filter(news) {
            (event.reason, event.detail) = (Some(reason), detail);
        }
        let hashes = download.hashes.clone();
        let etag = placed.map_or(etag, |placed| placed.check(&hashes).is_err().then(|| placed.mark()));
        // New bytes have their own age, whatever was at the path before.
        let same = had.as_ref().filter(|had| had.known.hashes.sha256 == hashes.sha256);
        let first_seen = same.map_or(now, |had| had.known.first_seen);
        let known = Arc::new(CachedFile {
            hashes,
            validator: etag,
            modified,
            first_seen,
            fetched: now,
            checked: self.began,
            verified,
        });
        self.keep(had, known, download, event).await
    }

    /// Refuses metadata that clients cannot parse.
    async fn look_inside(
        &self,
        check: impl Fn(&[u8]) -> Result<(), String> + Send + 'static,
        size_bytes: u64,
        read: impl FnOnce() -> io::Result<Bytes> + Send + 'static,
        event: &mut Event,
    ) -> Result<(), Trouble> {
        let look = move || read().map_err(|why| why.to_string()).and_then(|bytes| check(&bytes));
        let looked = match size_bytes {
            ..=SMALL => event.time(Op::PackageRead, look),
            _ => {
                let look = |_: &mut ()| look();
                self.remote.remotes.workers.run(Lane::Index, Op::PackageRead, event, look).await?
            }
        };
        let unreadable = |why| Failure::new(Reason::UpstreamInvalid, format!("the upstream's metadata: {why}"));
        Ok(looked.map_err(unreadable)?)
    }

    /// Stores a verified file. If storing fails, the file is still the answer, and the next request fetches it again.
    async fn keep(
        &self,
        had: Option<KeptFile>,
        known: Arc<CachedFile>,
        download: Download,
        event: &mut Event,
    ) -> Result<FetchResult, Trouble> {
        let Remote { remotes, repository, .. } = self.remote;
        let max_bytes = repository.record.remote.as_ref().and_then(|remote| remote.max_bytes);
        let folder = self.file.folder;
        // This is the first file of a folder that lacked others. Groups may have answered with the files of other
        // members.
        let lacked = remotes.store.peek_folder_presence(folder);
        let first =
            lacked.is_some_and(|lacked| lacked.upstream(repository.origin).is_some_and(|upstream| !upstream.has));
        let Download { held, arrival, growth, .. } = download;
        let (path, cached) = (self.file.path, (*known).clone());
        let written = remotes.store.keep_cached(repository.origin, path, cached, arrival, max_bytes, event).await;
        let kept = KeptFile { known, held };
        match written {
            Ok(true) => self.remote.leave_open(&self.file, &kept, self.stamp),
            Ok(false) => {}
            Err(error) => (event.reason, event.detail) = (Some(crate::error::store_reason(&error)), error.to_string()),
        }
        let hashes = &kept.known.hashes;
        let differs = had.is_some_and(|had| had.known.hashes.sha256 != hashes.sha256);
        if first || differs || self.file.counterpart().is_some() {
            remotes.store.upstream_changed(repository.id, folder);
        }
        if let Some(growth) = growth {
            growth.whole(hashes.size_bytes);
        }
        Ok(FetchResult::File(kept, ArrivedBy::Fetched))
    }
}
