//! One connection from its first byte to its last.

pub(crate) mod deadlines;
pub(crate) mod interims;
pub(crate) mod pending_reply;
pub(crate) mod protocol;
pub(crate) mod protocol_detect;
pub(crate) mod reply_stream;
pub(crate) mod running_tunnel;
pub(crate) mod socket;
pub(crate) mod state;
pub(crate) mod stream_slots;
pub(crate) mod transport;
pub(crate) mod tunnel;
pub(crate) mod without_request;

use crate::clients::proxy_protocol::{self, ProxyHeaderError};
use crate::exchange::context::ConnectionContext;
use crate::http1;
use crate::http2::Http2;
use crate::listen::core_context::{CoreContext, WaitError};
use crate::listen::tls::{Accepted, Tls};
use deadlines::{ConnectionEnd, watch};
use protocol::ProtocolError;
use protocol_detect::DetectedProtocol;
use socket::Socket;
use state::ConnectionState;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{Event, Outcome, Reason, Tick};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use transport::Transport;
use without_request::{Ending, release, turn_away};

/// Serves a connection until either side ends it.
pub(crate) async fn serve(core: Rc<CoreContext>, mut stream: TcpStream, peer: IpAddr) {
    let client = if core.proxies.announces(peer) { announced(&core, &mut stream, peer).await } else { Some(peer) };
    let Some(client) = client else { return };
    let _counted = match core.proxies.announces(peer).then(|| core.enter(client)) {
        Some(Err(_)) => return turn_away(&core.recorder, client, Reason::TooManyOfClient),
        counted => counted,
    };
    let began = Tick::now();
    let transport = match &core.tls {
        None => Transport::Plain(stream),
        Some(tls) => match secured(&core, tls, stream, client).await {
            Some(stream) => Transport::Tls(RefCell::new(stream)),
            None => return,
        },
    };
    let handshake = core.tls.is_some().then(|| Tick::now().since(began));
    let state = ConnectionState::new(core.recorder.clone());
    state.handshake.set(handshake);
    let Some(protocol) = detected(&core, &transport, client, &state).await else { return };
    let state = Rc::new(if protocol.http2 { state.multiplexed() } else { state });
    let transport = Rc::new(transport);
    let http2 = protocol.http2;
    let end = drive(&core, &transport, client, &state, protocol).await;
    let is_stopped = http2 && state.closing();
    state.close();
    let malformed = account(&state, client, end);
    if state.breaks.get() {
        transport.reset_at_close();
    } else if malformed || state.unread.get() {
        let _ = core.in_time(transport.linger(core.limits.linger)).await;
    } else if is_stopped {
        // The client may still be sending frames, such as more room for data. A reset would take from it what it has not read yet:
        // the end of its last stream (RFC 9113, 9.1). The server stops, and waits no longer than this.
        let _ = timeout(core.limits.linger, transport.linger(core.limits.linger)).await;
    }
}

/// The protocol that the client speaks. `None`: it sends nothing or disconnects, and the connection ends.
async fn detected(
    core: &CoreContext,
    transport: &Transport,
    client: IpAddr,
    state: &ConnectionState,
) -> Option<DetectedProtocol> {
    if core.tls.is_some() {
        return Some(DetectedProtocol::agreed(transport.agreed().as_deref()));
    }
    match core.in_time(DetectedProtocol::read(transport, state)).await {
        Ok(protocol) => protocol.ok(),
        Err(late) => {
            if let (WaitError::Slow, Some(began)) = (late, state.abandoned_head()) {
                release(&core.recorder, client, began, Ending::turned_away(Reason::HeadTooSlow, String::new()));
            }
            None
        }
    }
}

/// The client that a trusted proxy names before the client's first byte. `None`: the header is invalid, and the
/// connection ends.
async fn announced(core: &CoreContext, stream: &mut TcpStream, peer: IpAddr) -> Option<IpAddr> {
    let began = Tick::now();
    let ending = match core.in_time(proxy_protocol::read(stream)).await {
        Ok(Ok(client)) => return Some(client.unwrap_or(peer)),
        Ok(Err(ProxyHeaderError::Silent)) => return None,
        Ok(Err(error @ ProxyHeaderError::Broken(_))) => Ending::client_gone(error.to_string()),
        Ok(Err(error @ ProxyHeaderError::Invalid(_))) => Ending::malformed(0, Reason::InputInvalid, error.to_string()),
        Err(WaitError::Slow) => Ending::turned_away(Reason::HeadTooSlow, "no PROXY header came in time".to_owned()),
        Err(WaitError::Stopping) => return None,
    };
    release(&core.recorder, peer, began, ending);
    None
}

/// Performs the TLS handshake. `None`: the connection ends, because the handshake failed, or was all that an authority wanted.
async fn secured(core: &CoreContext, tls: &Tls, tcp: TcpStream, client: IpAddr) -> Option<Box<TlsStream<TcpStream>>> {
    let began = Tick::now();
    let handshake = async {
        // A peer that closes without a byte only checks whether the port is open.
        if tcp.peek(&mut [0]).await? == 0 { Ok(None) } else { tls.accept(tcp).await.map(Some) }
    };
    let ending = match core.in_time(handshake).await {
        Ok(Ok(Some(Accepted::Client(stream)))) => return Some(stream),
        Ok(Ok(None | Some(Accepted::Authority))) => return None,
        Ok(Err(error)) => Ending::turned_away(Reason::TlsFailed, Event::text(&error.to_string())),
        Err(WaitError::Slow) => Ending::turned_away(Reason::HeadTooSlow, "no TLS handshake came in time".to_owned()),
        Err(WaitError::Stopping) => return None,
    };
    release(&core.recorder, client, began, ending);
    None
}

async fn drive(
    core: &Rc<CoreContext>,
    transport: &Rc<Transport>,
    client: IpAddr,
    state: &Rc<ConnectionState>,
    protocol: DetectedProtocol,
) -> ConnectionEnd {
    let context = Rc::new(ConnectionContext {
        handler: core.handler.clone(),
        limits: core.limits.clone(),
        file_access: core.file_access.clone(),
        sendfile: core.file_access.sendfile && transport.sends_files(),
        proxies: core.proxies.clone(),
        client,
        // Of any other peer nobody asks for them.
        ends: if client.is_loopback() { transport.ends() } else { None },
        tls: core.tls.is_some(),
        client_text: core.recorder.client_addresses().text(client),
        agent: RefCell::default(),
        state: state.clone(),
    });
    let socket = Socket::new(transport.clone(), state.clone(), protocol.read_ahead);
    if protocol.http2 {
        watch(core, state, Http2::new(core, socket, context, state)).await
    } else {
        watch(core, state, http1::protocol(&core.builder, socket, context)).await
    }
}

/// Records a connection that ended outside of a request. Events of requests are released by their exchange or by the
/// state. Returns whether the client sent bytes that were not read to their end, and may get a reply that says so.
fn account(state: &ConnectionState, client: IpAddr, end: ConnectionEnd) -> bool {
    let head = state.abandoned_head();
    let ending = match (end, head) {
        (ConnectionEnd::Closed(Err(ProtocolError { malformed: Some((status, reason)), detail })), _) => {
            Ending::malformed(status, reason, detail)
        }
        (ConnectionEnd::TimedOut, Some(_)) => Ending::turned_away(Reason::HeadTooSlow, String::new()),
        (ConnectionEnd::Closed(Err(error)), Some(_)) => Ending::client_gone(error.detail),
        _ => return false,
    };
    // A client that floods gets no further reply, and nothing more is read from it.
    let may_be_told = ending.outcome == Outcome::Malformed && ending.reason != Some(Reason::Flooded);
    release(state.recorder(), client, head.unwrap_or_else(Tick::now), ending);
    may_be_told
}
