//! One connection from its first byte to its last: hyper's machine, with a watch over every deadline.

use crate::exchange::{Connection, Handler, exchange};
use crate::ledger::Ledger;
use crate::listen::{Core, Late, turn_away};
use crate::proxies::announced::{self, Unannounced};
use crate::wire::{Stream, Wire};
use crate::{Limits, Tls};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use std::cell::RefCell;
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Event, Outcome, Reason, Recorder, Tick};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::server::TlsStream;

/// hyper takes no smaller one.
const SMALLEST_BUFFER: usize = 8192;

/// The header lines that hyper takes when it is told nothing.
const HYPERS_HEADERS: usize = 100;

/// Why a connection ended.
enum End {
    /// hyper saw its end, good or bad.
    Closed(hyper::Result<()>),
    /// A deadline passed.
    TimedOut,
}

pub(crate) fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    if limits.headers != HYPERS_HEADERS {
        // Told a number, hyper clears tables of that size for each head, which costs more than a page's lookup.
        builder.max_headers(limits.headers);
    }
    builder
        .max_header_size(limits.head)
        // Also what hyper queues of a body before it insists on a flush: one piece, where its default takes several.
        .max_buf_size(limits.head.max(SMALLEST_BUFFER))
        // hyper's own timer would start anew for each head and count idle time with it; ours tells them apart.
        .header_read_timeout(None);
    builder
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
    let (stream, ledger) = (Rc::new(stream), Ledger::new(core.recorder.clone()));
    ledger.handshake.set(core.tls.is_some().then(|| Tick::now().since(began)));
    let end = drive(&core, &stream, client, &ledger).await;
    ledger.close();
    let malformed = account(&ledger, client, end);
    if malformed || ledger.unread.get() {
        let _ = timeout(core.limits.linger, stream.linger()).await;
    }
}

/// Who a trusted proxy says its client is, before the client's first byte. `None`: it does not say so properly, and the
/// connection ends.
async fn announced<H>(core: &Core<H>, stream: &mut TcpStream, peer: IpAddr) -> Option<IpAddr> {
    let began = Tick::now();
    let (outcome, reason, detail) = match core.in_time(announced::read(stream)).await {
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

async fn drive<H: Handler>(core: &Rc<Core<H>>, stream: &Rc<Stream>, client: IpAddr, ledger: &Rc<Ledger>) -> End {
    let state = Rc::new(Connection {
        handler: core.handler.clone(),
        limits: core.limits.clone(),
        means: core.means.clone(),
        sendfile: core.means.sendfile && stream.sends_files(),
        proxies: core.proxies.clone(),
        client,
        client_text: client.to_string(),
        ledger: ledger.clone(),
    });
    let service = service_fn(move |request| exchange(state.clone(), request));
    let wire = Wire::new(stream.clone(), ledger.clone());
    let mut machine = pin!(core.builder.serve_connection(wire, service));
    let mut stopping = pin!(core.stopping.notified());
    // One timer for all deadlines. It is moved only when a deadline comes nearer than it stands; when it fires early,
    // it is set again. A busy connection never touches it.
    let mut timer = pin!(sleep(core.limits.head_time));
    std::future::poll_fn(|cx| {
        // A connection accepted just before the stop begins to listen for it too late: hence the flag.
        if !ledger.parting()
            && (stopping.as_mut().poll(cx).is_ready() || core.farewell.get().is_some())
            && let Some(farewell) = core.farewell.get()
        {
            ledger.part(farewell);
        }
        if let Poll::Ready(end) = machine.as_mut().poll(cx) {
            return Poll::Ready(End::Closed(end));
        }
        loop {
            let patience = ledger.patience(&core.limits);
            if patience == Some(0) {
                return Poll::Ready(End::TimedOut);
            }
            let wanted = patience.map(|nanos| Instant::now() + Duration::from_nanos(nanos));
            if let Some(wanted) = wanted
                && (wanted < timer.deadline() || timer.is_elapsed())
            {
                timer.as_mut().reset(wanted);
            }
            if timer.as_mut().poll(cx).is_pending() || wanted.is_none() {
                return Poll::Pending;
            }
        }
    })
    .await
}

/// Counts what ended before it became a request. Whatever did become one is released by its exchange or the ledger.
/// Returns whether the client sent something that hyper refused to read on from.
fn account(ledger: &Ledger, client: IpAddr, end: End) -> bool {
    let head = ledger.abandoned_head();
    let (status, outcome, reason, detail) = match (end, head) {
        (End::Closed(Err(error)), _) if error.is_parse_too_large() => {
            (431, Outcome::Malformed, Some(Reason::TooLarge), error.to_string())
        }
        (End::Closed(Err(error)), _) if error.is_parse() => {
            (400, Outcome::Malformed, Some(Reason::InputInvalid), error.to_string())
        }
        (End::TimedOut, Some(_)) => (0, Outcome::TurnedAway, Some(Reason::HeadTooSlow), String::new()),
        (End::Closed(Err(error)), Some(_)) => (0, Outcome::ClientGone, None, error.to_string()),
        _ => return false,
    };
    release(ledger.recorder(), client, head.unwrap_or_else(Tick::now), (status, outcome, reason, detail));
    outcome == Outcome::Malformed
}

/// Records what never became a request.
fn release(recorder: &Recorder, client: IpAddr, began: Tick, end: (u16, Outcome, Option<Reason>, String)) {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), began);
    event.client = client.to_string();
    event.status = end.0;
    event.outcome = Some(end.1);
    event.reason = end.2;
    event.detail = end.3;
    event.duration = Tick::now().since(event.began);
    recorder.release(event);
}
