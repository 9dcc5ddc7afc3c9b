//! Sends blobs to object storage and fetches them. Bytes are proven in both directions: before they are sent, and before they get
//! their place on the disk.

use crate::blobs::digest::{Digest, MoreDigests};
use crate::blobs::holds::Hold;
use crate::blobs::{Blobs, TemporaryBlob};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::objects::calls::{ObjectCalls, Piece};
use crate::pool::Pool;
use crate::pool::lane::Lane;
use crate::truth::catalog::Catalog;
use bytes::Bytes;
use object_store::MultipartUpload;
use object_store::path::Path as Key;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex};
use telemetry::{Event, Job, Op, Reason, Recorder, lock};
use tokio::sync::watch;

/// A blob up to this size is sent in one request. Servers take up to 5 GiB, but a request that fails is sent again from its start.
const WHOLE_BYTES: u64 = 64 << 20;
/// The size of the parts of larger ones, and of the pieces in which blobs are fetched.
pub(crate) const PART_BYTES: u64 = 16 << 20;
/// The most parts of an object that servers take.
const PARTS_MAX: u64 = 10_000;

/// A blob that a row names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedBlob {
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
    pub(crate) generation: Seq,
}

impl NamedBlob {
    /// A blob, if a row names it. The collector deletes others.
    pub(crate) fn find(truth: &mut dyn Catalog, digest: &Digest) -> Result<Option<Self>> {
        let Some(size_bytes) = truth.blob_size(digest)? else { return Ok(None) };
        Ok(Some(Self { digest: *digest, size_bytes, generation: truth.generation(digest)? }))
    }
}

type Fetched = Option<Result<Hold>>;

/// The way of blobs between the disk and object storage.
#[derive(Debug)]
pub(crate) struct ObjectBlobs {
    pub(crate) calls: ObjectCalls,
    threads: Arc<Pool<Arc<Blobs>>>,
    recorder: Arc<Recorder>,
    /// The blobs that are being fetched. All that need one wait for the same fetch.
    flights: Mutex<HashMap<Digest, Arc<watch::Sender<Fetched>>>>,
}

/// A fetch under way. When it ends, another may begin.
struct Flight {
    of: Arc<ObjectBlobs>,
    digest: Digest,
}

impl Drop for Flight {
    fn drop(&mut self) {
        lock(&self.of.flights).remove(&self.digest);
    }
}

impl ObjectBlobs {
    pub(crate) fn new(calls: ObjectCalls, threads: Arc<Pool<Arc<Blobs>>>, recorder: Arc<Recorder>) -> Self {
        Self { calls, threads, recorder, flights: Mutex::default() }
    }

    /// Whether object storage has a blob with this size.
    pub(crate) async fn has(&self, blob: &NamedBlob, event: &mut Event) -> Result<bool> {
        let key = self.calls.objects.blob(&blob.digest, blob.generation);
        Ok(event.waited(Op::ObjectLook, self.calls.look(key)).await? == Some(blob.size_bytes))
    }

    /// Sends a blob from the disk. An object of this name is replaced by one with the same bytes.
    pub(crate) async fn send(&self, blob: &NamedBlob, event: &mut Event) -> Result<()> {
        let NamedBlob { digest, size_bytes, generation } = *blob;
        let key = self.calls.objects.blob(&digest, generation);
        if size_bytes > WHOLE_BYTES {
            return self.send_parts(key, digest, size_bytes, event).await;
        }
        let _memory = event.waited(Op::ObjectWait, self.calls.memory.take(size_bytes)).await;
        let read = move |blobs: &mut Arc<Blobs>| {
            let mut sending = Sending::open(digest, blobs)?;
            let bytes = sending.read(0, size_bytes, blobs)?;
            sending.prove(blobs).map(|()| bytes)
        };
        let bytes = self.threads.run(Lane::Change, Op::BlobRead, event, read).await??;
        event.waited(Op::ObjectPut, self.calls.put(key, bytes)).await
    }

    async fn send_parts(&self, key: Key, digest: Digest, size_bytes: u64, event: &mut Event) -> Result<()> {
        let open = move |blobs: &mut Arc<Blobs>| Sending::open(digest, blobs);
        let sending = self.threads.run(Lane::Change, Op::BlobOpen, event, open).await??;
        let mut parts = event.waited(Op::ObjectPut, self.calls.begin_parts(key)).await?;
        match self.send_each(&mut parts, sending, size_bytes, event).await {
            Ok(()) => event.waited(Op::ObjectPut, self.calls.end_parts(parts)).await,
            Err(error) => {
                event.waited(Op::ObjectDelete, self.calls.give_up_parts(parts)).await;
                Err(error)
            }
        }
    }

    async fn send_each(
        &self,
        parts: &mut Box<dyn MultipartUpload>,
        mut sending: Sending,
        size_bytes: u64,
        event: &mut Event,
    ) -> Result<()> {
        let part_bytes = PART_BYTES.max(size_bytes.div_ceil(PARTS_MAX));
        let _memory = event.waited(Op::ObjectWait, self.calls.memory.take(part_bytes)).await;
        let mut at = 0;
        while at < size_bytes {
            let length = part_bytes.min(size_bytes - at);
            let read = move |blobs: &mut Arc<Blobs>| sending.read(at, length, blobs).map(|bytes| (bytes, sending));
            let (bytes, same) = self.threads.run(Lane::Change, Op::BlobRead, event, read).await??;
            sending = same;
            event.waited(Op::ObjectPut, self.calls.put_part(parts, bytes)).await?;
            at += length;
        }
        self.threads.run(Lane::Change, Op::BlobRead, event, move |blobs| sending.prove(blobs)).await?
    }

    /// Fetches a blob to the disk, or waits for a fetch under way. It stays there at least until the returned value is dropped.
    pub(crate) async fn fetch(self: &Arc<Self>, blob: NamedBlob, event: &mut Event) -> Result<Hold> {
        let mut flight = self.flight(blob);
        let landed = event.waited(Op::ObjectGet, flight.wait_for(Option::is_some)).await;
        landed.ok().and_then(|landed| landed.clone()).unwrap_or(Err(Error::Closed))
    }

    /// The number of callers that wait for a blob.
    #[cfg(test)]
    pub(crate) fn waiting(&self, digest: &Digest) -> usize {
        lock(&self.flights).get(digest).map_or(0, |flight| flight.receiver_count())
    }

    fn flight(self: &Arc<Self>, blob: NamedBlob) -> watch::Receiver<Fetched> {
        let mut flights = lock(&self.flights);
        if let Some(flight) = flights.get(&blob.digest) {
            return flight.subscribe();
        }
        let (landed, waiting) = watch::channel(None);
        let landed = Arc::new(landed);
        flights.insert(blob.digest, landed.clone());
        let flight = Flight { of: self.clone(), digest: blob.digest };
        self.calls.objects.runtime.spawn(async move {
            let mut job = Job::begin(&flight.of.recorder, "object.fetch");
            let mut fetched = flight.of.get(&blob, &mut job).await;
            if matches!(fetched, Err(Error::ObjectDamaged { .. })) {
                fetched = flight.of.get(&blob, &mut job).await;
            }
            if let Err(error) = &fetched {
                job.reason = Some(Reason::Io);
                job.detail = error.to_string();
            }
            job.end_as(&fetched);
            // A caller that comes now finds the file, or begins another fetch.
            drop(flight);
            landed.send_replace(Some(fetched));
        });
        waiting
    }

    async fn get(&self, blob: &NamedBlob, event: &mut Event) -> Result<Hold> {
        let stage = |blobs: &mut Arc<Blobs>| blobs.stage(MoreDigests::default());
        let staged = self.threads.run(Lane::Change, Op::BlobWrite, event, stage).await??;
        let mut staged = Some(staged);
        let got = self.get_into(&mut staged, blob, event).await;
        if let Some(rest) = staged {
            self.threads.dispose(Lane::Change, rest);
        }
        got
    }

    /// Fetches the bytes into a temporary file, and gives that its place if they are the right ones.
    async fn get_into(&self, staged: &mut Option<TemporaryBlob>, blob: &NamedBlob, event: &mut Event) -> Result<Hold> {
        let NamedBlob { digest, size_bytes, generation } = *blob;
        let (objects, state) = (&self.calls.objects, &self.calls.state);
        let key = objects.blob(&digest, generation);
        let damaged = || state.is_damaged(&digest, key.as_ref());
        let _memory = event.waited(Op::ObjectWait, self.calls.memory.take(size_bytes.min(PART_BYTES))).await;
        let mut at = 0;
        loop {
            let length = PART_BYTES.min(size_bytes - at);
            // An empty object has no range.
            let range = (length < size_bytes).then_some(at..at + length);
            let got = event.waited(Op::ObjectGet, self.calls.get(key.clone(), range, length)).await?;
            let Some(Piece { bytes, whole_bytes }) = got else { return Err(state.is_missing(&digest, key.as_ref())) };
            if whole_bytes != size_bytes || bytes.len() as u64 != length {
                return Err(damaged());
            }
            let mut writing = staged.take().ok_or(Error::GivenUp)?;
            let write = move |_: &mut Arc<Blobs>| (writing.write(&bytes), writing);
            let (written, same) = self.threads.run(Lane::Change, Op::BlobWrite, event, write).await?;
            *staged = Some(same);
            written?;
            at += length;
            if at >= size_bytes {
                break;
            }
        }
        let Some(whole) = staged.take_if(|whole| whole.sha256() == digest) else { return Err(damaged()) };
        Ok(self.threads.run(Lane::Change, Op::BlobSync, event, |_| whole.keep()).await??.hold)
    }
}

/// A blob that is read to be sent.
struct Sending {
    file: File,
    digest: Digest,
    hash: Sha256,
}

impl Sending {
    fn open(digest: Digest, blobs: &Blobs) -> Result<Self> {
        blobs.open_blob(&digest).map(|(file, _)| Self { file, digest, hash: Sha256::new() })
    }

    /// Reads the bytes that follow the last ones.
    fn read(&mut self, at: u64, length: u64, blobs: &Blobs) -> Result<Bytes> {
        let path = blobs.layout().blob(&self.digest).file;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        self.file.read_exact_at(&mut bytes, at).map_err(Error::io("read", &path))?;
        self.hash.update(&bytes);
        Ok(bytes.into())
    }

    /// An error if the bytes are not those of the blob: the disk is failing.
    fn prove(self, blobs: &Blobs) -> Result<()> {
        if Digest(self.hash.finalize().into()) == self.digest {
            return Ok(());
        }
        let path = blobs.layout().blob(&self.digest).file;
        let other =
            std::io::Error::new(std::io::ErrorKind::InvalidData, "its bytes do not have the digest in its name");
        Err(Error::io("send", &path)(other))
    }
}
