//! Passing a request on to a backend, and its response back.

mod answered;
mod body;
mod endless;
mod error;
mod outgoing;
mod passed;
mod request_head;
mod response_head;

pub(crate) use error::PassError;
pub(crate) use outgoing::Outgoing;
pub(crate) use passed::{Passed, PassedBody};
pub(crate) use request_head::DAYLIGHT_REFILL;

use crate::app::App;
use crate::sendfile::SentFile;
use crate::tunnel::AppTunnel;
use answered::Answered;
use body::Received;
use bytes::Bytes;
use endless::Endless;
use http::{StatusCode, header};
use response_head::Buffering;
use std::sync::Arc;
use telemetry::{Event, MemberRecord, MemberSaid, Op, Tally, Tick};

impl App {
    /// Passes a request on: waits for a slot of its lane, takes a connection to a backend, sends the request, and waits for the head of the
    /// response.
    pub(crate) async fn pass(self: &Arc<Self>, mut outgoing: Outgoing, event: &mut Event) -> Result<Passed, PassError> {
        let mut answered = self.ask(&outgoing, event).await?;
        if let Some(named) = self.roots.named(&mut answered.headers) {
            let gone = match self.roots.open(named).await {
                Ok(file) => return Ok(file_sent(answered, file)),
                Err(gone) => gone,
            };
            drop(answered);
            // The file may have gone since the application named it: it is asked to send the bytes itself.
            let again = outgoing.declines_files();
            answered = match again {
                true => self.ask(&outgoing, event).await?,
                false => return Err(PassError::Invalid { detail: gone.to_string() }),
            };
            if self.roots.named(&mut answered.headers).is_some() {
                return Err(PassError::Invalid { detail: gone.to_string() });
            }
        }
        self.receive(answered, &outgoing, event).await
    }

    /// Takes the body of a response as its kind demands.
    async fn receive(
        self: &Arc<Self>,
        mut answered: Answered,
        outgoing: &Outgoing,
        event: &mut Event,
    ) -> Result<Passed, PassError> {
        let status = answered.status;
        let of = |headers, body| Ok(Passed { status, headers, body });
        if status == StatusCode::SWITCHING_PROTOCOLS {
            let open = self.streams.open().map_err(|_| PassError::StreamsFull)?;
            let Answered { headers, lease, .. } = answered;
            let (connection, place) = lease.into_connection();
            return of(headers, PassedBody::Tunnel(Box::new(AppTunnel::new(connection, place, open))));
        }
        let mut headers = std::mem::take(&mut answered.headers);
        let buffering = response_head::buffering(&mut headers);
        if response_head::has_no_body(&outgoing.method, status) {
            answered.finish();
            return of(headers, PassedBody::Bytes(Bytes::new()));
        }
        headers.remove(header::CONTENT_LENGTH);
        if buffering != Buffering::Spooled {
            let open = self.streams.open().map_err(|_| PassError::StreamsFull)?;
            return of(headers, PassedBody::Endless(Endless::new(answered, open, buffering)));
        }
        match body::receive(self, answered, outgoing.needs_len, event).await? {
            Received::Whole(bytes) => {
                headers.remove(header::TRAILER);
                of(headers, PassedBody::Bytes(bytes))
            }
            Received::Spooled(body) => of(headers, PassedBody::Spooled(body)),
        }
    }

    /// Sends a request to a backend, and waits for the head of the response. It is sent once more, on a new connection, where the backend
    /// closed an idle connection just then.
    async fn ask(self: &Arc<Self>, outgoing: &Outgoing, event: &mut Event) -> Result<Answered, PassError> {
        let slot = self.lanes.enter(outgoing.lane, event).await?;
        let mut fresh = false;
        loop {
            let mut lease = self.backends.lease(fresh, event).await?;
            let began = Tick::now();
            let sent = answered::send(&mut lease, outgoing, self.options.answer_within, event).await;
            let nanos = Tick::now().since(began);
            let mut record = MemberRecord::new(lease.backend().to_string(), MemberSaid::Hit, None);
            (record.nanos, record.ops) = (nanos, vec![(Op::AppAnswer, Tally { count: 1, vain: 0, nanos })]);
            event.more_mut().app.get_or_insert_default().backend = lease.name().clone();
            let failed = match sent {
                Ok(response) => {
                    record.detail = format!("status {}", response.status().as_u16());
                    event.absorb(record);
                    return Answered::new(response, lease, slot, event);
                }
                Err(failed) => failed,
            };
            let again = lease.is_reused() && (failed.unsent || (failed.unanswered && outgoing.is_safe()));
            record.said = if failed.is_silence() { MemberSaid::Timeout } else { MemberSaid::Failed };
            (record.reason, record.detail) = (Some(failed.error.reason()), failed.detail.clone());
            event.absorb(record);
            if !again || fresh {
                lease.failed(failed.error.reason());
                return Err(failed.error);
            }
            fresh = true;
        }
    }
}

/// A response whose body is a file.
fn file_sent(mut answered: Answered, file: SentFile) -> Passed {
    let (status, mut headers) = (answered.status, std::mem::take(&mut answered.headers));
    answered.finish();
    // The whole file is sent, of which the front cuts the range that the client asked for.
    let status = if status == StatusCode::PARTIAL_CONTENT { StatusCode::OK } else { status };
    headers.remove(header::CONTENT_RANGE);
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::TRAILER);
    if let Some(modified) = file.last_modified() {
        headers.entry(header::LAST_MODIFIED).or_insert(modified);
    }
    Passed { status, headers, body: PassedBody::File(file) }
}
