//! The head of a response, with the connection on which its body comes.

use super::error::PassError;
use super::outgoing::Outgoing;
use super::{request_head, response_head};
use crate::backends::Lease;
use crate::cache::rules::update::for_clients;
use crate::lanes::LaneSlot;
use bytes::Bytes;
use client::OnInterim;
use http::{HeaderMap, Response, StatusCode, header};
use hyper::body::{Body, Frame, Incoming};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use telemetry::{Event, Op, Tick};
use tokio::time::sleep;

/// The head of a response, with the connection on which its body comes. Dropping it closes the connection.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    /// The end-to-end headers.
    pub(super) headers: HeaderMap,
    pub(super) incoming: Incoming,
    pub(super) lease: Lease,
    pub(super) slot: LaneSlot,
    /// When the head had come.
    pub(super) at: Tick,
}

/// A request got no response.
pub(super) struct Failed {
    pub(super) error: PassError,
    /// For operators.
    pub(super) detail: String,
    /// Not one byte of the request was sent.
    pub(super) unsent: bool,
    /// The connection ended before one byte of a response.
    pub(super) unanswered: bool,
}

impl Failed {
    pub(super) fn is_silence(&self) -> bool {
        matches!(self.error, PassError::Silent { .. })
    }
}

/// Sends a request, and waits for the head of its response. The limit counts from the last piece of the upload that the backend took.
pub(super) async fn send(
    lease: &mut Lease,
    outgoing: &Outgoing,
    within: Duration,
    event: &mut Event,
) -> Result<Response<Incoming>, Failed> {
    let progress = Arc::new(AtomicU64::new(Tick::now().0));
    let request = outgoing.request(&progress);
    let mut silent = pin!(async {
        loop {
            let passed = Duration::from_nanos(Tick::now().since(Tick(progress.load(Relaxed))));
            match within.checked_sub(passed).filter(|left| !left.is_zero()) {
                Some(left) => sleep(left).await,
                None => return,
            }
        }
    });
    let mut sent = pin!(lease.connection().send(request, on_interim(outgoing)));
    let answer = poll_fn(|cx| match sent.as_mut().poll(cx) {
        Poll::Ready(sent) => Poll::Ready(Some(sent)),
        Poll::Pending => silent.as_mut().poll(cx).map(|()| None),
    });
    let failed = match event.during(Op::AppAnswer, answer).await {
        Some(Ok(response)) => return Ok(response),
        Some(Err(failed)) => failed,
        None => {
            let (error, detail) = (PassError::Silent { waited: within }, format!("no response within {within:?}"));
            return Err(Failed { error, detail, unsent: false, unanswered: false });
        }
    };
    let (unsent, unanswered, detail) = (failed.unsent.is_some(), failed.unanswered, failed.error.to_string());
    Err(Failed { error: PassError::of_call(&failed.error), detail, unsent, unanswered })
}

/// Passes interim responses on, without the fields of the connection to the backend. The front sends 100 itself.
fn on_interim(outgoing: &Outgoing) -> Option<OnInterim> {
    let interim = outgoing.interim.clone();
    interim.is_possible().then(|| -> OnInterim {
        Box::new(move |status, headers| {
            if status > StatusCode::SWITCHING_PROTOCOLS {
                let mut headers = headers.clone();
                request_head::remove_connection(&mut headers);
                headers.remove(header::CONTENT_LENGTH);
                for_clients(&mut headers);
                interim.send(status, headers);
            }
        })
    })
}

impl Answered {
    pub(super) fn new(
        response: Response<Incoming>,
        lease: Lease,
        slot: LaneSlot,
        event: &mut Event,
    ) -> Result<Self, PassError> {
        let (head, incoming) = response.into_parts();
        let (status, mut headers) = (head.status, head.headers);
        let timing = response_head::server_timing(&headers);
        event.more_mut().app.get_or_insert_default().server_timing = timing;
        // The only header of a connection that goes on: the client changes to the same protocol.
        let protocol = (status == StatusCode::SWITCHING_PROTOCOLS).then(|| headers.get(header::UPGRADE).cloned());
        response_head::clean(&mut headers);
        if let Some(protocol) = protocol.flatten() {
            headers.insert(header::UPGRADE, protocol);
            headers.insert(header::CONNECTION, http::HeaderValue::from_static("upgrade"));
        }
        Ok(Self { status, headers, incoming, lease, slot, at: Tick::now() })
    }

    /// The declared length of the body.
    pub(super) fn len(&self) -> Option<u64> {
        self.incoming.size_hint().exact()
    }

    /// The next frame of the body.
    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, client::Error>>> {
        self.lease.connection().poll_frame(&mut self.incoming, cx)
    }

    /// The body has ended, or there is none: the connection can be used for the next request.
    pub(super) fn finish(mut self) {
        // The connection learns the end of the body when it is asked for more.
        while let Poll::Ready(Some(Ok(_))) = self.poll_frame(&mut Context::from_waker(Waker::noop())) {}
        drop(self.slot);
        self.lease.give_back();
    }
}
