//! Discards the part of an upload that the handler did not read. The client may still be sending it, and must still be
//! able to read the reply.

use crate::connection::state::ConnectionState;
use crate::event_loop::timed;
use crate::limits::Limits;
use crate::request::upload::{UnreadBody, UploadSource};
use h2::RecvStream;
use http::Version;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use telemetry::lock;
use tokio::task::spawn_local;
use tokio::time::timeout;

/// Discards a small remainder, so that the connection can be used again. Returns `false` if the remainder is too large, or if the handler
/// has put the upload where it is still being read; the connection then ends with the reply.
pub(crate) fn discard(
    unread: &UnreadBody,
    version: Version,
    expects: bool,
    limits: &Limits,
    state: &Rc<ConnectionState>,
) -> bool {
    let source = lock(unread).take();
    match source {
        None if version < Version::HTTP_2 && Arc::strong_count(unread) > 1 => {
            state.unread.set(true);
            // hyper would wait for its reader.
            state.begin_closing(Duration::ZERO);
            false
        }
        Some(UploadSource::Http1(incoming)) => discard_body(incoming, expects, limits, state),
        Some(UploadSource::Http2(stream)) => {
            let (drain, linger) = (limits.drain, limits.linger);
            spawn_local(timed(move || discard_stream(stream, drain, linger)));
            true
        }
        None | Some(UploadSource::None | UploadSource::Whole(_)) => true,
    }
}

fn discard_body(mut incoming: Incoming, expects: bool, limits: &Limits, state: &Rc<ConnectionState>) -> bool {
    if expects || http_body::Body::size_hint(&incoming).lower() > limits.drain {
        // The client waits for a 100, or has too much to send. It gets no 100.
        state.unread.set(true);
        return false;
    }
    let (mut left, idle) = (limits.drain, limits.linger);
    let draining = Draining::begin(state);
    spawn_local(timed(move || async move {
        let drained = timeout(idle, async {
            while let Some(frame) = incoming.frame().await {
                let Ok(frame) = frame else { return false };
                left = match left.checked_sub(frame.data_ref().map_or(0, |data| data.len() as u64)) {
                    Some(left) => left,
                    None => return false,
                };
            }
            true
        });
        if drained.await != Ok(true) {
            draining.0.unread.set(true);
        }
    }));
    true
}

/// One body that is being discarded. A client that pipelines may have several.
struct Draining(Rc<ConnectionState>);

impl Draining {
    fn begin(state: &Rc<ConnectionState>) -> Self {
        state.draining.set(state.draining.get() + 1);
        Self(state.clone())
    }
}

impl Drop for Draining {
    fn drop(&mut self) {
        self.0.draining.set(self.0.draining.get() - 1);
    }
}

/// A stream is reset when its last reader is dropped. A client that is still sending may treat that as an error and
/// ignore the reply before it (curl 7.88), so it gets time to stop.
async fn discard_stream(mut stream: RecvStream, drain: u64, linger: Duration) {
    let mut left = usize::try_from(drain).unwrap_or(usize::MAX);
    let _ = timeout(linger, async {
        while let Some(Ok(data)) = poll_fn(|cx| stream.poll_data(cx)).await {
            match left.checked_sub(data.len()) {
                Some(less) => left = less,
                None => pending::<()>().await,
            }
            let _ = stream.flow_control().release_capacity(data.len());
        }
    })
    .await;
}
