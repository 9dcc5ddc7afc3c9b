//! One connection from its first byte to its last: the machine of its protocol, with a watch over every deadline.

pub(crate) mod pending_reply;
pub(crate) mod protocol_detect;
pub(crate) mod socket;
pub(crate) mod state;

use crate::clients::proxy_protocol::{self, Unannounced};
use crate::connection::protocol_detect::Opening;
use crate::connection::socket::{Stream, Wire};
use crate::connection::state::Ledger;
use crate::exchange::{Connection, Handler};
use crate::http1;
use crate::http2::Http2;
use crate::listen::tls::Tls;
use crate::listen::{Core, Late, turn_away};
use std::cell::RefCell;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use telemetry::{Event, Outcome, Reason, Recorder, Tick};
use tokio::net::TcpStream;
use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::server::TlsStream;

/// Why a connection ended.
enum End {
    /// The machine saw its end, good or bad.
    Closed(Result<(), Fault>),
    /// A deadline passed.
    TimedOut,
}

/// What a machine could not go on from.
pub(crate) struct Fault {
    /// The client sent what is not to be read on from: the status it was told, if any, and why.
    pub(crate) malformed: Option<(u16, Reason)>,
    pub(crate) detail: String,
}

impl Fault {
    /// Frame after frame that asks for nothing.
    pub(crate) fn flood() -> Self {
        Self { malformed: Some((0, Reason::Flooded)), detail: String::new() }
    }
}

/// Serves a connection until either side ends it.
pub(crate) async fn serve<H: Handler>(core: Rc<Core<H>>, mut stream: TcpStream, peer: IpAddr) {
    let client = if core.proxies.announces(peer) { announced(&core, &mut stream, peer).await } else { Some(peer) };
    let Some(client) = client else { return };
    let _counted = match core.proxies.announces(peer).then(|| core.enter(client)) {
        Some(Err(_)) => return turn_away(&core.recorder, client, Reason::TooManyOfClient),
        counted => counted,
    };
    let began = Tick::now();
    let stream = match &core.tls {
        None => Stream::Plain(stream),
        Some(tls) => match secured(&core, tls, stream, client).await {
            Some(stream) => Stream::Tls(RefCell::new(Box::new(stream))),
            None => return,
        },
    };
    let handshake = core.tls.is_some().then(|| Tick::now().since(began));
    let ledger = Ledger::new(core.recorder.clone());
    ledger.handshake.set(handshake);
    let Some(opening) = opened(&core, &stream, client, &ledger).await else { return };
    let ledger = Rc::new(if opening.http2 { ledger.of_many() } else { ledger });
    let stream = Rc::new(stream);
    let end = drive(&core, &stream, client, &ledger, opening).await;
    ledger.close();
    let malformed = account(&ledger, client, end);
    if malformed || ledger.unread.get() {
        let _ = core.in_time(stream.linger(core.limits.linger)).await;
    }
}

/// What the client speaks. `None`: it says nothing, or goes, and the connection ends.
async fn opened<H>(core: &Core<H>, stream: &Stream, client: IpAddr, ledger: &Ledger) -> Option<Opening> {
    if core.tls.is_some() {
        return Some(Opening::agreed(stream.agreed().as_deref()));
    }
    match core.in_time(Opening::read(stream, ledger)).await {
        Ok(opening) => opening.ok(),
        Err(late) => {
            if let (Late::Slow, Some(began)) = (late, ledger.abandoned_head()) {
                let end = (0, Outcome::TurnedAway, Some(Reason::HeadTooSlow), String::new());
                release(&core.recorder, client, began, end);
            }
            None
        }
    }
}

/// Who a trusted proxy says its client is, before the client's first byte. `None`: it does not say so properly, and the
/// connection ends.
async fn announced<H>(core: &Core<H>, stream: &mut TcpStream, peer: IpAddr) -> Option<IpAddr> {
    let began = Tick::now();
    let (outcome, reason, detail) = match core.in_time(proxy_protocol::read(stream)).await {
        Ok(Ok(client)) => return Some(client.unwrap_or(peer)),
        Ok(Err(Unannounced::Silent)) => return None,
        Ok(Err(error @ Unannounced::Broken(_))) => (Outcome::ClientGone, None, error.to_string()),
        Ok(Err(error @ Unannounced::Invalid(_))) => (Outcome::Malformed, Some(Reason::InputInvalid), error.to_string()),
        Err(Late::Slow) => (Outcome::TurnedAway, Some(Reason::HeadTooSlow), "no PROXY header came in time".to_owned()),
        Err(Late::Stopping) => return None,
    };
    release(&core.recorder, peer, began, (0, outcome, reason, detail));
    None
}

/// Shakes hands. `None`: that failed, and the connection ends.
async fn secured<H>(core: &Core<H>, tls: &Tls, tcp: TcpStream, client: IpAddr) -> Option<TlsStream<TcpStream>> {
    let began = Tick::now();
    let opening = async {
        // Who says nothing at all only looks whether somebody listens.
        if tcp.peek(&mut [0]).await? == 0 { Ok(None) } else { tls.accept(tcp).await.map(Some) }
    };
    let (reason, detail) = match core.in_time(opening).await {
        Ok(Ok(stream)) => return stream,
        Ok(Err(error)) => (Reason::TlsFailed, Event::text(&error.to_string())),
        Err(Late::Slow) => (Reason::HeadTooSlow, "no TLS handshake came in time".to_owned()),
        Err(Late::Stopping) => return None,
    };
    release(&core.recorder, client, began, (0, Outcome::TurnedAway, Some(reason), detail));
    None
}

async fn drive<H: Handler>(
    core: &Rc<Core<H>>,
    stream: &Rc<Stream>,
    client: IpAddr,
    ledger: &Rc<Ledger>,
    opening: Opening,
) -> End {
    let state = Rc::new(Connection {
        handler: core.handler.clone(),
        limits: core.limits.clone(),
        means: core.means.clone(),
        sendfile: core.means.sendfile && stream.sends_files(),
        proxies: core.proxies.clone(),
        client,
        client_text: client.to_string().into(),
        agent: RefCell::default(),
        ledger: ledger.clone(),
    });
    let wire = Wire::new(stream.clone(), ledger.clone(), opening.ahead);
    if opening.http2 {
        watch(core, ledger, Http2::new(core, wire, state, ledger)).await
    } else {
        watch(core, ledger, http1::machine(&core.builder, wire, state)).await
    }
}

/// What does the work of a connection.
pub(crate) trait Machine {
    /// Works until the connection has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>>;

    /// Whether it holds what only a request under way needs.
    fn may_rest(&self) -> bool {
        false
    }

    /// Gives that back.
    fn rest(&mut self) {}
}

/// Has a machine work until it ends or a deadline passes.
async fn watch<H>(core: &Core<H>, ledger: &Ledger, mut machine: impl Machine) -> End {
    let mut stopping = pin!(core.stopping.notified());
    let mut listening = false;
    // One timer for all deadlines. It is moved only when a deadline comes nearer than it stands; when it fires early,
    // it is set again. A busy connection touches neither it nor the clock.
    let mut timer = pin!(sleep(core.limits.head_time));
    let mut set_to = Tick(u64::MAX);
    std::future::poll_fn(|cx| {
        ledger.turn();
        let mut rested = false;
        loop {
            if !listening {
                listening = true;
                // What it tells is looked up in `farewell`: a connection accepted just before the stop listens too late.
                let _ = stopping.as_mut().poll(cx);
            }
            if let Some(farewell) = core.farewell.get()
                && !ledger.parting()
            {
                ledger.part(farewell);
            }
            if let Poll::Ready(end) = machine.poll(cx) {
                return Poll::Ready(End::Closed(end));
            }
            if machine.may_rest() && ledger.idle() {
                machine.rest();
                if std::mem::replace(&mut rested, true) {
                    // It had its turn: a client that does not wait for replies has sent more than one machine takes at once.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            let Some(due) = ledger.due(&core.limits) else { return Poll::Pending };
            if set_to <= due && !timer.is_elapsed() {
                return Poll::Pending;
            }
            let now = Tick::now();
            if due <= now {
                if ledger.goes_on(&core.limits) {
                    continue;
                }
                return Poll::Ready(End::TimedOut);
            }
            set_to = due;
            timer.as_mut().reset(Instant::now() + Duration::from_nanos(due.since(now)));
            if armed(timer.as_mut(), cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await
}

/// Has a timer wake whoever polls it, also one that has had its turn: a timer tells such a one to come again, and wakes nobody else.
/// It is not polled then, as it is not due.
fn armed(timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
    pin!(unconstrained(timer)).poll(cx)
}

/// Counts what ended before it became a request. Whatever did become one is released by its exchange or the ledger.
/// Returns whether the client sent something that was not read to its end, and may be told so.
fn account(ledger: &Ledger, client: IpAddr, end: End) -> bool {
    let head = ledger.abandoned_head();
    let (status, outcome, reason, detail) = match (end, head) {
        (End::Closed(Err(Fault { malformed: Some((status, reason)), detail })), _) => {
            (status, Outcome::Malformed, Some(reason), detail)
        }
        (End::TimedOut, Some(_)) => (0, Outcome::TurnedAway, Some(Reason::HeadTooSlow), String::new()),
        (End::Closed(Err(fault)), Some(_)) => (0, Outcome::ClientGone, None, fault.detail),
        _ => return false,
    };
    release(ledger.recorder(), client, head.unwrap_or_else(Tick::now), (status, outcome, reason, detail));
    // Who floods is not listened to any more.
    outcome == Outcome::Malformed && reason != Some(Reason::Flooded)
}

/// Records what never became a request.
fn release(recorder: &Recorder, client: IpAddr, began: Tick, end: (u16, Outcome, Option<Reason>, String)) {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), began);
    event.client = client.to_string().into();
    event.status = end.0;
    event.outcome = Some(end.1);
    event.reason = end.2;
    event.detail = end.3;
    event.duration = Tick::now().since(event.began);
    recorder.release(event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::task::coop::{consume_budget, has_budget_remaining};
    use tokio::time::{sleep_until, timeout};

    /// Much longer than the timer.
    const STUCK: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_deadline_that_is_set_at_the_end_of_a_long_turn_is_kept() {
        let mut timer = pin!(sleep_until(Instant::now() + Duration::from_millis(1)));
        let mut begun = false;
        let kept = poll_fn(|cx| {
            if !std::mem::replace(&mut begun, true) {
                while has_budget_remaining() {
                    let _ = pin!(consume_budget()).poll(cx);
                }
                return armed(timer.as_mut(), cx);
            }
            // As a connection looks for it.
            if timer.is_elapsed() { Poll::Ready(()) } else { Poll::Pending }
        });
        timeout(STUCK, kept).await.expect("it never fires");
    }
}
