//! Connections in reserve for health checks and metrics when all others are taken. Each is open for one request: a
//! health check or metrics are answered, any other request gets 503 with Retry-After. A connection stays in the reserve
//! for at most seconds, and when the reserve is full the oldest one is closed, so no client can block it.

use crate::connection;
use crate::connection::without_request::turn_away;
use crate::event_loop::timed;
use crate::handler::{Answering, Handler};
use crate::listen::core_context::CoreContext;
use crate::reply::Reply;
use crate::request::Request;
use http::{HeaderValue, StatusCode, header};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Bound, BoundName, Event, Outcome, Reason, Recorder, lock};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Reserved connections of all cores together. A health check is answered within a few turns, so it is closed early
/// only if this many connections arrive in between.
pub const RESERVED: usize = 64;
/// How long one may stay. A health check sends its request at once and reads the reply.
const STAY: Duration = Duration::from_secs(2);

/// The reserved connections of all cores, the oldest first.
pub(crate) struct ReservedConnections {
    inside: Mutex<VecDeque<AbortHandle>>,
    bound: Arc<Bound>,
}

impl ReservedConnections {
    /// An empty reserve.
    pub(crate) fn new(recorder: &Recorder) -> Arc<Self> {
        let bound = Bound::new(BoundName::ReservedConnections, "", RESERVED as u64);
        recorder.register(bound.clone());
        Arc::new(Self { inside: Mutex::default(), bound })
    }

    /// Accepts a connection that would otherwise be rejected for this reason.
    pub(crate) fn accept(&self, core: &Rc<CoreContext>, stream: TcpStream, client: IpAddr, why: Reason) {
        let mut inside = lock(&self.inside);
        inside.retain(|one| !one.is_finished());
        if inside.len() >= RESERVED
            && let Some(oldest) = inside.pop_front()
        {
            self.bound.reject();
            oldest.abort();
        }
        let probes = Arc::new(ProbeHandler { handler: core.handler.clone(), why, had_request: AtomicBool::new(false) });
        let connection = ReservedConnection { recorder: core.recorder.clone(), probes: probes.clone(), client };
        let core = Rc::new(core.with(probes, STAY, self.bound.clone()));
        // A connection that was closed keeps its slot until its task ends.
        let slot = self.bound.enter().ok();
        let serve = async move {
            let _left = (connection, slot);
            let _ = timed(|| timeout(STAY, connection::serve(core, stream, client))).await;
        };
        inside.push_back(tokio::task::spawn_local(serve).abort_handle());
    }
}

/// Answers health checks and metrics, and rejects all other requests.
pub(crate) struct ProbeHandler {
    handler: Arc<dyn Handler>,
    why: Reason,
    /// Whether there was a request.
    had_request: AtomicBool,
}

/// It has no pages: a request that is not vital must be rejected.
impl Handler for ProbeHandler {
    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(self.probe(request, event))
    }
}

impl ProbeHandler {
    async fn probe(&self, request: &mut Request, event: &mut Event) -> Reply {
        self.had_request.store(true, Relaxed);
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

/// One reserved connection. If it ends without a request, it counts as rejected.
struct ReservedConnection {
    recorder: Arc<Recorder>,
    probes: Arc<ProbeHandler>,
    client: IpAddr,
}

impl Drop for ReservedConnection {
    fn drop(&mut self) {
        if !self.probes.had_request.load(Relaxed) {
            turn_away(&self.recorder, self.client, self.probes.why);
        }
    }
}
