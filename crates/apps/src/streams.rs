//! The open WebSockets and event streams of an application. They hold no slot, and a restart ends them.

use crate::options::AppOptions;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use telemetry::{Bound, BoundName, Full, Recorder, Slot};
use tokio::sync::watch;

/// The most streams of an application. The front has no more connections by default.
const STREAMS: u64 = 10_000;

/// The open streams of an application.
#[derive(Debug)]
pub(crate) struct Streams {
    bound: Arc<Bound>,
    ended: watch::Sender<bool>,
}

/// An open stream, until it is dropped.
pub(crate) struct OpenStream {
    _slot: Slot,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Streams {
    pub(crate) fn new(options: &AppOptions, recorder: &Recorder) -> Self {
        let bound = Bound::new(BoundName::AppStreams, &options.name, STREAMS);
        recorder.register(bound.clone());
        Self { bound, ended: watch::Sender::new(false) }
    }

    /// Its figures.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Opens a stream.
    pub(crate) fn open(&self) -> Result<OpenStream, Full> {
        let (slot, mut ended) = (self.bound.enter()?, self.ended.subscribe());
        let ended = Box::pin(async move {
            let _ = ended.wait_for(|ended| *ended).await;
        });
        Ok(OpenStream { _slot: slot, ended })
    }

    /// Ends all streams, those of later requests too.
    pub(crate) fn end(&self) {
        self.ended.send_replace(true);
    }
}

impl OpenStream {
    /// Ready when the stream is to end.
    pub(crate) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.ended.as_mut().poll(cx)
    }
}

impl fmt::Debug for OpenStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenStream").finish_non_exhaustive()
    }
}
