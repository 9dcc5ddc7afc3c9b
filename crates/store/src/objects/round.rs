//! The copying of blobs that object storage lacks, once after each start: they were published without it, or lost there.

use crate::blobs::digest::Digest;
use crate::blobs::files::{files_in, names};
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::objects::bell::Bell;
use crate::objects::blobs::{NamedBlob, ObjectBlobs};
use crate::objects::keys::ObjectBlob;
use crate::objects::local_copies::LocalCopies;
use crate::truth::catalog::Catalog;
use futures_util::{StreamExt as _, stream};
use std::collections::{BTreeMap, BTreeSet};
use telemetry::{Event, Log, Millis, Op};
use tokio::sync::watch;

/// The most blobs that are sent at a time, so that segments do not wait for long.
const SENT_MAX: usize = 128;
/// Once they have this many bytes, the turn ends, too.
const SENT_BYTES: u64 = 128 << 20;
/// How many of them at once: each waits for a round trip.
const AT_ONCE: usize = 16;
/// The number of rows of blobs that are read at a time.
const PAGE: usize = 1024;

/// The state of the copying, and the blobs that it sends next.
#[derive(Debug, Default)]
pub(crate) struct Round {
    state: watch::Sender<RoundState>,
    /// The first byte that is sent now; `None`: it was not compared yet.
    part: Option<Part>,
}

/// The blobs of one first byte that object storage lacks.
#[derive(Debug, Default)]
struct Part {
    /// Those of the disk, which were not sent yet.
    unsent: Vec<NamedBlob>,
    missing: u64,
}

/// What takes part in the copying.
pub(super) struct Copying<'a> {
    pub(super) truth: &'a mut dyn Catalog,
    pub(super) objects: &'a ObjectBlobs,
    pub(super) disk: &'a dyn Disk,
    pub(super) layout: &'a Layout,
    pub(super) local: &'a LocalCopies,
    pub(super) log: &'a Log,
    pub(super) bell: &'a Bell,
    pub(super) now: Millis,
}

/// Where the copying stands.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundState {
    /// The first bytes of digests whose blobs are all in object storage.
    pub(super) done: u16,
    pub(super) copied: u64,
    /// The blobs that object storage lacks, and that the disk has not either, or with other bytes.
    pub(super) missing: u64,
    /// Why the last turn failed, if it did.
    pub(super) failed: Option<Error>,
}

impl RoundState {
    /// The first bytes of a round.
    pub(super) const ALL: u16 = 1 << 8;
}

impl Round {
    pub(super) fn subscribe(&self) -> watch::Receiver<RoundState> {
        self.state.subscribe()
    }

    /// Whether object storage was compared with all blobs.
    pub(super) fn is_done(&self) -> bool {
        self.state.borrow().done == RoundState::ALL
    }

    /// A turn has ended, with an error or without.
    pub(super) fn ended_turn(&self, failed: Option<&Error>) {
        self.state.send_if_modified(|state| {
            state.failed = failed.cloned();
            state.failed.is_some()
        });
    }
}

impl Copying<'_> {
    /// Compares the blobs of one first byte after the other with object storage, and sends some that it lacks. Ends when some were sent, or
    /// when other work waits. Returns whether the round goes on.
    pub(super) async fn send_some(&mut self, round: &mut Round, event: &mut Event) -> Result<bool> {
        let before = round.state.borrow().copied;
        loop {
            let goes_on = self.send_of_one(round, event).await?;
            if !goes_on || round.state.borrow().copied > before || self.bell.is_rung() {
                return Ok(goes_on);
            }
        }
    }

    /// Sends some blobs of one first byte that object storage lacks. Returns whether the round goes on.
    async fn send_of_one(&mut self, round: &mut Round, event: &mut Event) -> Result<bool> {
        let Ok(first) = u8::try_from(round.state.borrow().done) else { return Ok(false) };
        let mut part = match round.part.take() {
            Some(part) => part,
            None => self.compare(first, event).await?,
        };
        let mut bytes = 0;
        let in_turn = |blob: &&NamedBlob| {
            let before = bytes;
            bytes += blob.size_bytes;
            before < SENT_BYTES
        };
        let many = part.unsent.iter().take(SENT_MAX).take_while(in_turn).count();
        let rest = part.unsent.split_off(many);
        let (sent, missing) = self.send_all(part.unsent, event).await?;
        round.state.send_modify(|state| state.copied += sent);
        part.missing += missing;
        if !rest.is_empty() || self.bell.is_stopped() {
            round.part = Some(Part { unsent: rest, ..part });
            return Ok(true);
        }
        round.state.send_modify(|state| {
            state.done += 1;
            state.missing += part.missing;
        });
        let RoundState { done, copied, .. } = *round.state.borrow();
        if done == RoundState::ALL && copied > 0 {
            self.log.info("all blobs of this disk are in object storage", &[("copied", &copied)]);
        }
        Ok(done < RoundState::ALL)
    }

    /// Sends these blobs until the store closes. Returns how many were sent, and how many the disk does not have as it should.
    async fn send_all(&mut self, blobs: Vec<NamedBlob>, event: &mut Event) -> Result<(u64, u64)> {
        let (objects, bell, now) = (self.objects, self.bell, self.now);
        let open = stream::iter(blobs.into_iter().take_while(|_| !bell.is_stopped()));
        let each = open.map(|blob| async move {
            let mut sending = Event::job("objects.keep", now);
            let sent = objects.send(&blob, &mut sending).await;
            (blob, sent)
        });
        let done: Vec<_> = event.waited(Op::ObjectPut, each.buffer_unordered(AT_ONCE).collect()).await;
        let (mut sent, mut missing) = (0, 0);
        for (blob, done) in done {
            match done {
                Ok(()) => sent += 1,
                // The disk has other bytes, or cannot read them. The other blobs are copied nevertheless.
                Err(error @ Error::Io { .. }) => {
                    if NamedBlob::find(self.truth, &blob.digest)? == Some(blob) {
                        self.log.error("a blob of the disk cannot be copied to object storage", &[("error", &error)]);
                        missing += 1;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok((sent, missing))
    }

    /// Compares the blobs whose digests start with this byte with object storage.
    async fn compare(&mut self, first: u8, event: &mut Event) -> Result<Part> {
        let here = self.on_disk(first)?;
        // Read before the list: their objects were written before their rows.
        let mut lacking = self.all_named(first)?;
        let calls = &self.objects.calls;
        let listed = event.waited(Op::ObjectList, calls.list(calls.objects.blobs(first))).await?;
        let there: BTreeSet<_> = listed
            .iter()
            .filter_map(|meta| calls.objects.read_blob(meta))
            .map(|ObjectBlob { digest, generation, size_bytes }| (digest, generation.0, size_bytes))
            .collect();
        lacking.retain(|blob| !there.contains(&(blob.digest, blob.generation.0, blob.size_bytes)));
        let (unsent, nowhere): (Vec<_>, Vec<_>) = lacking.into_iter().partition(|blob| here.contains(&blob.digest));
        let mut missing = 0;
        for blob in nowhere {
            if NamedBlob::find(self.truth, &blob.digest)? == Some(blob) {
                let key = calls.objects.blob(&blob.digest, blob.generation);
                calls.state.is_missing(&blob.digest, key.as_ref());
                missing += 1;
            }
        }
        Ok(Part { unsent, missing })
    }

    /// The blobs on the disk whose digests start with this byte.
    fn on_disk(&self, first: u8) -> Result<BTreeSet<Digest>> {
        let root = self.layout.blobs_by_digest();
        let outer = format!("{first:02x}");
        let mut found = BTreeSet::new();
        if !names(self.disk, &root)?.contains(&outer) {
            return Ok(found);
        }
        for (digest, file) in files_in(self.disk, &root.join(outer))? {
            let size_bytes = self.disk.size(&file).map_err(Error::io("look at", &file))?;
            if let (Some(digest), Some(size_bytes)) = (digest, size_bytes) {
                found.insert(digest);
                self.local.found(digest, size_bytes);
            }
        }
        Ok(found)
    }

    fn all_named(&mut self, first: u8) -> Result<Vec<NamedBlob>> {
        let (from, through) = Digest::beginning_with(first);
        let generations: BTreeMap<_, _> = self.truth.generations(&from, &through)?.into_iter().collect();
        let (mut all, mut after) = (Vec::new(), from.before());
        loop {
            let page = self.truth.blobs(after, PAGE)?;
            let within = page.iter().take_while(|(digest, _)| *digest <= through);
            let before = all.len();
            all.extend(within.map(|(digest, size_bytes)| NamedBlob {
                digest: *digest,
                size_bytes: *size_bytes,
                generation: generations.get(digest).copied().unwrap_or_default(),
            }));
            if page.len() < PAGE || all.len() - before < page.len() {
                return Ok(all);
            }
            after = all.last().map(|blob| blob.digest);
        }
    }
}
