//! Fetching a stale response again in the background, while it is used (RFC 5861, 3): once for each response at a time.

use super::fetch::{Came, Fetch};
use super::visit::Visit;
use crate::app::App;
use crate::cache::Cache;
use crate::cache::flights::End;
use crate::cache::rules::validation::without_conditions;
use crate::cache::status::Forwarded;
use crate::cache::stored::Stored;
use crate::pass::Outgoing;
use http::Method;
use std::sync::Arc;
use telemetry::{Job, Layer, Outcome};
use tokio::task::spawn_local;

/// The name of the job in events.
const JOB: &str = "app.refresh";

impl App {
    /// Begins a refresh, unless there is one.
    pub(super) fn refresh(self: &Arc<Self>, visit: &Visit, stored: &Arc<Stored>, outgoing: &Outgoing) {
        let flight = Cache::flight(&visit.key(), Some(stored), &outgoing.headers);
        let Some(leading) = self.cache.flights.begin(flight) else { return };
        let Ok(place) = self.background.enter() else { return leading.end(End::Left) };
        if visit.fresh(&self.cache, &outgoing.headers, self.recorder.clock().now()).is_some() {
            return leading.end(End::Stored);
        }
        let Some(mut outgoing) = outgoing.again() else { return };
        without_conditions(&mut outgoing.headers);
        outgoing.method = Method::GET;
        let mut fetch = Fetch {
            app: self.clone(),
            visit: visit.in_background(),
            stored: Some(stored.clone()),
            leading: Some(leading),
            forwarded: Forwarded::Stale,
            collapsed: false,
        };
        let app = self.clone();
        spawn_local(async move {
            let _place = place;
            let mut job = Job::begin(&app.recorder, JOB);
            job.asked(outgoing.target.path());
            job.layer = Layer::App;
            job.subject.repository = app.name.clone();
            let outcome = match fetch.ask(outgoing, &mut job).await {
                Ok(Came::Validated(..)) => Outcome::Done,
                Ok(Came::Passed(passed, ..)) if !passed.status.is_server_error() => Outcome::Done,
                Ok(Came::Hidden(_, reason)) => {
                    job.reason = Some(reason);
                    Outcome::Failed
                }
                Ok(Came::Passed(..)) => Outcome::Failed,
                Err(error) => {
                    job.reason = Some(error.reason());
                    Outcome::Failed
                }
            };
            job.end(outcome);
        });
    }
}
