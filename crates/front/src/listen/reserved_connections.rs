//! Room for probes and metrics when all connections are taken. Who connects then is let in for one request, and answered if it
//! is one of those; all others are told to come again. Nobody can keep this room: a connection leaves it within seconds, and where it
//! is full the oldest makes room for the next.

use crate::connection;
use crate::connection::without_request::turn_away;
use crate::event_loop::timed;
use crate::handler::Handler;
use crate::listen::core_context::CoreContext;
use crate::reply::Reply;
use crate::request::Request;
use http::{HeaderValue, StatusCode, header};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use telemetry::{Bound, BoundName, Event, Outcome, Reason, Recorder};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Connections in reserve, of all cores together. A probe is answered within a few turns, and is pushed out only by so many that
/// come meanwhile.
pub const RESERVED: usize = 64;
/// A probe sends its request at once, and reads the reply.
const STAY: Duration = Duration::from_secs(2);

/// The connections of all cores that are in reserve, the oldest first.
pub(crate) struct ReservedConnections {
    inside: Mutex<VecDeque<AbortHandle>>,
    bound: Arc<Bound>,
}

impl ReservedConnections {
    /// Nobody is in it.
    pub(crate) fn new(recorder: &Recorder) -> Arc<Self> {
        let bound = Bound::new(BoundName::ReservedConnections, "", RESERVED as u64);
        recorder.register(bound.clone());
        Arc::new(Self { inside: Mutex::default(), bound })
    }

    /// Lets in who would be turned away for this reason.
    pub(crate) fn accept<H: Handler>(&self, core: &Rc<CoreContext<H>>, stream: TcpStream, client: IpAddr, why: Reason) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.retain(|one| !one.is_finished());
        if inside.len() >= RESERVED
            && let Some(oldest) = inside.pop_front()
        {
            self.bound.reject();
            oldest.abort();
        }
        let probes = Arc::new(ProbeHandler { handler: core.handler.clone(), why, asked: AtomicBool::new(false) });
        let connection = ReservedConnection { recorder: core.recorder.clone(), probes: probes.clone(), client };
        let core = Rc::new(core.with(probes, STAY, self.bound.clone()));
        // One that was pushed out has its slot until its task ends.
        let slot = self.bound.enter().ok();
        let serve = async move {
            let _left = (connection, slot);
            let _ = timed(|| timeout(STAY, connection::serve(core, stream, client))).await;
        };
        inside.push_back(tokio::task::spawn_local(serve).abort_handle());
    }
}

/// Answers what is probes, and tells all others that there is no room.
pub(crate) struct ProbeHandler<H> {
    handler: Arc<H>,
    why: Reason,
    /// Whether there was a request.
    asked: AtomicBool,
}

impl<H: Handler> Handler for ProbeHandler<H> {
    /// It has no pages: a client without a probe is to hear that there is no room.
    type Stamp = ();

    async fn answer(&self, request: &mut Request, event: &mut Event) -> Reply {
        self.asked.store(true, Relaxed);
        let mut reply = if self.handler.is_vital(request) {
            self.handler.answer(request, event).await
        } else {
            (event.outcome, event.reason) = (Some(Outcome::TurnedAway), Some(self.why));
            let mut reply = Reply::text(StatusCode::SERVICE_UNAVAILABLE, "too many connections are open\n");
            reply.headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            reply
        };
        reply.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        reply
    }
}

/// A connection in reserve. One that ends without a request was turned away.
struct ReservedConnection<H> {
    recorder: Arc<Recorder>,
    probes: Arc<ProbeHandler<H>>,
    client: IpAddr,
}

impl<H> Drop for ReservedConnection<H> {
    fn drop(&mut self) {
        if !self.probes.asked.load(Relaxed) {
            turn_away(&self.recorder, self.client, self.probes.why);
        }
    }
}
