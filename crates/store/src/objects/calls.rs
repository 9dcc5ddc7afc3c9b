//! Operations on object storage. Each has a place in a bound, a limit of time, and an error of ours.
//!
//! The client repeats requests that fail for a while, so nothing is repeated here. A client that leaves ends its operation.

use crate::error::{Error, Result};
use crate::journal::segments::{Segment, TEXT_BYTES};
use crate::objects::Objects;
use crate::objects::memory::Memory;
use crate::objects::state::ObjectsState;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, MultipartUpload, ObjectMeta, ObjectStoreExt as _, PutOptions};
use std::ops::Range;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use telemetry::{Bound, BoundName, Clock, Log};
use tokio::task::JoinHandle;

/// The operations that may run at once. One more is refused with [`Error::Busy`].
const CALLS_MAX: u64 = 1024;
/// The longest text of a cause, in characters. Clients append what the server said, which may be a page.
const CAUSE_MAX: usize = 400;

type Answer<T> = object_store::Result<T>;

/// A part of an object.
pub(crate) struct Piece {
    pub(crate) bytes: Bytes,
    /// The size of the whole object.
    pub(crate) whole_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct ObjectCalls {
    pub(crate) objects: Objects,
    pub(crate) state: Arc<ObjectsState>,
    pub(crate) memory: Memory,
    bound: Arc<Bound>,
}

/// A task that ends when its caller leaves.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ObjectCalls {
    /// For commands that work without a server.
    pub(crate) fn silent(objects: &Objects) -> Arc<Self> {
        let state = ObjectsState::new(objects.url.clone(), Clock::default(), Log::silent(), Arc::default());
        Arc::new(Self::new(objects.clone(), Arc::new(state)))
    }

    pub(crate) fn new(objects: Objects, state: Arc<ObjectsState>) -> Self {
        Self { objects, state, memory: Memory::new(), bound: Bound::new(BoundName::ObjectCalls, "", CALLS_MAX) }
    }

    pub(crate) fn bounds(&self) -> [&Arc<Bound>; 2] {
        [&self.bound, self.memory.bound()]
    }

    /// Writes an object, replacing one of the same key, which has the same bytes.
    pub(crate) async fn put(&self, key: Key, bytes: Bytes) -> Result<()> {
        let (store, size_bytes) = (self.objects.store.clone(), bytes.len() as u64);
        let put = async move { store.put_opts(&key, bytes.into(), PutOptions::default()).await.map(drop) };
        self.call(true, size_bytes, put).await.map(drop)
    }

    /// Begins an object that is sent in parts.
    pub(crate) async fn begin_parts(&self, key: Key) -> Result<Box<dyn MultipartUpload>> {
        let store = self.objects.store.clone();
        let begun = self.call(true, 0, async move { store.put_multipart_opts(&key, Default::default()).await }).await?;
        begun.ok_or(Error::Closed)
    }

    /// Sends a part.
    pub(crate) async fn put_part(&self, parts: &mut Box<dyn MultipartUpload>, bytes: Bytes) -> Result<()> {
        let size_bytes = bytes.len() as u64;
        self.call(true, size_bytes, parts.put_part(bytes.into())).await.map(drop)
    }

    /// Makes an object of its parts.
    pub(crate) async fn end_parts(&self, mut parts: Box<dyn MultipartUpload>) -> Result<()> {
        self.call(true, 0, async move { parts.complete().await.map(drop) }).await.map(drop)
    }

    /// Removes the parts that were sent. If that fails, a rule of the server has to.
    pub(crate) async fn give_up_parts(&self, mut parts: Box<dyn MultipartUpload>) {
        let _ = self.call(false, 0, async move { parts.abort().await }).await;
    }

    /// Reads an object of at most `max_bytes`, or a range of one. `None`: there is none of this key.
    pub(crate) async fn get(&self, key: Key, range: Option<Range<u64>>, max_bytes: u64) -> Result<Option<Piece>> {
        let store = self.objects.store.clone();
        let get = async move {
            let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
            let got = store.get_opts(&key, options).await?;
            let (whole_bytes, size_bytes) = (got.meta.size, got.range.end.saturating_sub(got.range.start));
            // The bytes of a larger one are not read. The caller sees that it has another size.
            let bytes = if size_bytes > max_bytes { Bytes::new() } else { got.bytes().await? };
            Ok(Piece { bytes, whole_bytes })
        };
        self.call(false, max_bytes, get).await
    }

    /// The text of a segment, whose hash is checked.
    pub(crate) async fn segment(&self, of: &Segment) -> Result<String> {
        let got = self.get(self.objects.segment(&of.name()), None, TEXT_BYTES).await?;
        of.text_of(got.map(|piece| piece.bytes.to_vec()).unwrap_or_default())
    }

    /// The size of an object. `None`: there is none of this key.
    pub(crate) async fn look(&self, key: Key) -> Result<Option<u64>> {
        let store = self.objects.store.clone();
        self.call(false, 0, async move { store.head(&key).await.map(|meta| meta.size) }).await
    }

    /// Deletes an object, or nothing if there is none.
    pub(crate) async fn delete(&self, key: Key) -> Result<()> {
        let store = self.objects.store.clone();
        self.call(false, 0, async move { store.delete(&key).await }).await.map(drop)
    }

    /// The objects whose keys begin with `prefix`, a whole number of segments of a key, in no order.
    pub(crate) async fn list(&self, prefix: Key) -> Result<Vec<ObjectMeta>> {
        let store = self.objects.store.clone();
        let listed = self.call(false, 0, async move { store.list(Some(&prefix)).try_collect().await }).await?;
        Ok(listed.unwrap_or_default())
    }

    /// The same, if they are at most so many.
    pub(crate) async fn list_few(&self, prefix: Key, max: u64) -> Result<Option<Vec<ObjectMeta>>> {
        let store = self.objects.store.clone();
        let most = usize::try_from(max).unwrap_or(usize::MAX);
        let some = async move { store.list(Some(&prefix)).take(most.saturating_add(1)).try_collect().await };
        let listed: Vec<ObjectMeta> = self.call(false, 0, some).await?.unwrap_or_default();
        Ok((listed.len() <= most).then_some(listed))
    }

    /// Waits for operations where no runtime is, on a thread that may block.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        operations: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (send, sent) = mpsc::channel();
        self.objects.runtime.spawn(async move { drop(send.send(operations.await)) });
        sent.recv().map_err(|_| Error::Closed)?
    }

    /// Runs an operation on so many bytes on the runtime of the client. `None`: there is no such object.
    async fn call<T: Send + 'static>(
        &self,
        writes: bool,
        size_bytes: u64,
        operation: impl Future<Output = Answer<T>> + Send + 'static,
    ) -> Result<Option<T>> {
        let _place = self.bound.enter()?;
        let limit = self.objects.patience + Duration::from_secs(size_bytes >> 20);
        let timed = async move { tokio::time::timeout(limit, operation).await };
        let answer = (&mut Task(self.objects.runtime.spawn(timed)).0).await;
        let done = match answer {
            // Its runtime ends.
            Err(_) => return Err(Error::Closed),
            Ok(Err(_)) => Err(self.away(format!("no answer within {} seconds", limit.as_secs_f32()))),
            // A write needs no object, but a bucket.
            Ok(Ok(Err(object_store::Error::NotFound { .. }))) if writes => {
                Err(self.refused("there is no such bucket".to_owned()))
            }
            Ok(Ok(Err(object_store::Error::NotFound { .. }))) => Ok(None),
            Ok(Ok(Err(error))) => Err(self.failed(&error)),
            Ok(Ok(Ok(done))) => Ok(Some(done)),
        };
        self.state.note(&done, writes);
        done
    }

    fn failed(&self, error: &object_store::Error) -> Error {
        use object_store::Error as E;
        // Clients get this, too. Documents of the server are left out: they may contain names of keys.
        let text = error.to_string();
        let text = text.split('<').next().unwrap_or_default();
        let cause = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(CAUSE_MAX).collect();
        match error {
            E::Generic { .. } | E::JoinError { .. } => self.away(cause),
            _ => self.refused(cause),
        }
    }

    fn away(&self, cause: String) -> Error {
        Error::ObjectsAway { url: self.objects.url.clone(), cause }
    }

    fn refused(&self, cause: String) -> Error {
        Error::ObjectsRefuse { url: self.objects.url.clone(), cause }
    }
}
