//! Having the application write a page again in the background, while the one that it wrote is sent: by one request at a time, of all
//! servers that read from the same store.

use crate::app::App;
use crate::cache::rules::validation::without_conditions;
use crate::pages::claims::Claim;
use crate::pages::{Refill, Right};
use crate::pass::{DAYLIGHT_REFILL, Outgoing, Passed, PassedBody};
use format::page::coding::Coding;
use http::{HeaderValue, Method, header};
use std::sync::Arc;
use telemetry::{Job, Layer, Op, Outcome, Reason, Tick};
use tokio::task::spawn_local;

/// The name of the job in events.
const JOB: &str = "app.refill";
/// The most bytes of a response that is received to its end. The application has written its page before it sends the first of them, or
/// when it has sent the last one.
const RECEIVED_MAX: usize = 16 << 20;

impl App {
    /// Begins to have a page written again, if the store gives this server the right to. `outgoing`: the request of a client for it.
    pub(super) fn refill(self: &Arc<Self>, claim: Claim, refill: Refill, outgoing: &Outgoing) {
        let (Some(mut outgoing), Ok(place)) = (outgoing.again(), self.background.enter()) else { return };
        prepare(&mut outgoing, &refill);
        let app = self.clone();
        spawn_local(async move {
            let (Some(pages), _place) = (&app.pages, place) else { return };
            let right = if claim.mine { Right::Ours } else { pages.right(&refill).await };
            match right {
                Right::Ours => {}
                Right::OursLater => return claim.rests(Tick::now()),
                Right::Others => return claim.lost(Tick::now()),
            }
            let mut job = Job::begin(&app.recorder, JOB);
            job.asked(outgoing.target.path());
            job.layer = Layer::App;
            job.subject.repository = app.name.clone();
            let written = match app.pass(outgoing, &mut job).await {
                Ok(passed) if passed.status.is_server_error() => Err(Reason::UpstreamFailed),
                Ok(passed) => received(passed, &mut job).await,
                Err(error) => Err(error.reason()),
            };
            match written {
                Ok(()) => job.end(Outcome::Done),
                Err(reason) => {
                    job.reason = Some(reason);
                    job.end(Outcome::Failed);
                    claim.failed(Tick::now());
                }
            }
        });
    }
}

/// Makes the request for the page of everybody from that of one client.
fn prepare(outgoing: &mut Outgoing, refill: &Refill) {
    let headers = &mut outgoing.headers;
    let selects = |name: &str| refill.selected_by.iter().any(|known| known.eq_ignore_ascii_case(name));
    without_conditions(headers);
    // The application would not write the page of one user.
    if !selects("cookie") {
        headers.remove(header::COOKIE);
    }
    // The page keeps its coding, whatever this client accepts.
    let coding = match refill.coding {
        Coding::Identity => None,
        Coding::Gzip => Some("gzip"),
        Coding::Brotli => Some("br, gzip"),
    };
    if let Some(coding) = coding.filter(|_| !selects("accept-encoding")) {
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(coding));
    }
    headers.insert(DAYLIGHT_REFILL, HeaderValue::from_static("1"));
    outgoing.method = Method::GET;
}

/// Receives a response to its end.
async fn received(passed: Passed, job: &mut Job) -> Result<(), Reason> {
    match passed.body {
        PassedBody::Spooled(body) => {
            let whole = job.during(Op::AppBody, body.copy(RECEIVED_MAX)).await;
            whole.map(drop).ok_or(Reason::AppCut)
        }
        PassedBody::Bytes(_) | PassedBody::Endless(_) | PassedBody::Tunnel(_) | PassedBody::File(_) => Ok(()),
    }
}
