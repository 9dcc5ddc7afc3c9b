//! Object storage in memory that fails, forgets and lies where a test says so.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::lock;
use tokio::sync::{Notify, Semaphore};

/// Its fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    #[default]
    None,
    /// It answers with an error.
    Fails,
    /// It never answers.
    Hangs,
    /// It refuses the credentials.
    Refuses,
    /// It answers a PUT with success and forgets the object.
    Forgets,
    /// It writes an object and answers with an error.
    WritesAndFails,
    /// It sends other bytes of the same number.
    OtherBytes,
    /// It sends fewer bytes, and says that this is all of the object.
    Truncates,
}

/// The store, and what was asked of it.
#[derive(Debug, Default)]
pub(crate) struct Lying {
    pub(crate) inner: InMemory,
    fault: Mutex<Fault>,
    asked: Mutex<Vec<String>>,
    /// Whether deletions fail, and nothing else.
    deletes_fail: AtomicBool,
    /// GETs wait until a test lets them go on, if it holds them.
    gets: Mutex<Option<Arc<Semaphore>>>,
    /// A look at this key waits once it knows its answer, until a test lets it go on.
    held: Mutex<Option<Key>>,
    arrived: Notify,
    released: Notify,
}

impl fmt::Display for Lying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lying")
    }
}

impl Lying {
    pub(crate) fn set(&self, fault: Fault) {
        *lock(&self.fault) = fault;
    }

    /// Holds all GETs from now on until the returned value gets permits.
    pub(crate) fn hold_gets(&self) -> Arc<Semaphore> {
        lock(&self.gets).insert(Arc::new(Semaphore::new(0))).clone()
    }

    /// Lets deletions fail.
    pub(crate) fn fail_deletes(&self, fail: bool) {
        self.deletes_fail.store(fail, Ordering::Relaxed);
    }

    /// Holds the next look at this key, once it knows its answer.
    pub(crate) fn hold_look(&self, key: &Key) {
        *lock(&self.held) = Some(key.clone());
    }

    /// Waits until that look knows its answer.
    pub(crate) async fn look_arrived(&self) {
        self.arrived.notified().await;
    }

    /// Lets that look be answered.
    pub(crate) fn release_look(&self) {
        self.released.notify_one();
    }

    /// The requests so far whose names begin with this, such as `PUT`.
    pub(crate) fn asked(&self, what: &str) -> Vec<String> {
        lock(&self.asked).iter().filter(|asked| asked.starts_with(what)).cloned().collect()
    }

    async fn begin(&self, what: &str, key: &Key) -> Result<Fault> {
        lock(&self.asked).push(format!("{what} {key}"));
        let fault = *lock(&self.fault);
        match fault {
            Fault::Fails => Err(failure()),
            Fault::Hangs => std::future::pending().await,
            Fault::Refuses => Err(Error::PermissionDenied { path: key.to_string(), source: "403".into() }),
            fault => Ok(fault),
        }
    }
}

fn failure() -> Error {
    Error::Generic { store: "lying", source: "500 Internal Server Error".into() }
}

#[async_trait]
impl ObjectStore for Lying {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        match self.begin("PUT", key).await? {
            Fault::Forgets => Ok(PutResult { e_tag: None, version: None, extensions: Default::default() }),
            Fault::WritesAndFails => {
                self.inner.put_opts(key, payload, options).await?;
                Err(failure())
            }
            _ => self.inner.put_opts(key, payload, options).await,
        }
    }

    async fn put_multipart_opts(&self, key: &Key, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.begin("PARTS", key).await?;
        self.inner.put_multipart_opts(key, options).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        let fault = self.begin(if options.head { "HEAD" } else { "GET" }, key).await?;
        let held = lock(&self.gets).clone();
        if let Some(held) = held.filter(|_| !options.head) {
            drop(held.acquire().await);
        }
        let (head, got) = (options.head, self.inner.get_opts(key, options).await);
        if head && lock(&self.held).take_if(|held| held == key).is_some() {
            self.arrived.notify_one();
            self.released.notified().await;
        }
        let mut got = got?;
        let lies = matches!(fault, Fault::OtherBytes | Fault::Truncates) && !head;
        if !lies {
            return Ok(got);
        }
        let GetResult { meta, range, attributes, extensions, .. } = &got;
        let (mut meta, mut range) = (meta.clone(), range.clone());
        let (attributes, extensions) = (attributes.clone(), extensions.clone());
        if fault == Fault::Truncates {
            range.end -= 1;
            meta.size -= 1;
        }
        let bytes = Bytes::from(vec![b'?'; (range.end - range.start) as usize]);
        let payload = GetResultPayload::Stream(futures_util::stream::once(async move { Ok(bytes) }).boxed());
        got = GetResult { payload, meta, range, attributes, extensions };
        Ok(got)
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Key>>) -> BoxStream<'static, Result<Key>> {
        if *lock(&self.fault) == Fault::Fails || self.deletes_fail.load(Ordering::Relaxed) {
            return futures_util::stream::once(async { Err(failure()) }).boxed();
        }
        self.inner.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        lock(&self.asked).push(format!("LIST {}", prefix.cloned().unwrap_or_default()));
        match *lock(&self.fault) {
            Fault::Fails => futures_util::stream::once(async { Err(failure()) }).boxed(),
            Fault::Hangs => futures_util::stream::pending().boxed(),
            _ => self.inner.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
