//! One connection from its first byte to its last: the machine of its protocol, with a watch over every deadline.

pub(crate) mod deadlines;
pub(crate) mod pending_reply;
pub(crate) mod protocol;
pub(crate) mod protocol_detect;
pub(crate) mod reply_stream;
pub(crate) mod socket;
pub(crate) mod state;
pub(crate) mod stream_slots;
pub(crate) mod transport;
pub(crate) mod without_request;

use crate::clients::proxy_protocol::{self, Unannounced};
use crate::exchange::context::Connection;
use crate::handler::Handler;
use crate::http1;
use crate::http2::Http2;
use crate::listen::core_context::{Core, Late};
use crate::listen::tls::Tls;
use deadlines::{End, watch};
use protocol::Fault;
use protocol_detect::Opening;
use socket::Wire;
use state::Ledger;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{Event, Outcome, Reason, Tick};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use transport::Stream;
use without_request::{release, turn_away};

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
