//! A request that no page answered, while its handler works. If it outlasts its turn, it is in the table of open requests.

use crate::request::Request;
use http::uri::PathAndQuery;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use telemetry::{Event, OpenRequest, OpenRequestFacts, OpenRequests, OpsUnderWay, WorkUnderWay, arrive};

/// A request whose handler works.
pub(super) struct Working<'a> {
    table: &'a Arc<OpenRequests>,
    facts: OpenRequestFacts<'static>,
    /// The URL: the handler owns the request meanwhile.
    url: Option<PathAndQuery>,
    /// The bytes of an upload that have arrived.
    received: Option<Arc<AtomicU64>>,
    ops: OpsUnderWay,
    work: WorkUnderWay,
    /// Its place in the table, once it has outlasted its turn.
    open: &'a mut Option<OpenRequest>,
}

impl<'a> Working<'a> {
    /// The handler begins. The event records the load of the core.
    pub(super) fn begin(
        table: &'a Arc<OpenRequests>,
        event: &mut Event,
        request: &Request,
        open: &'a mut Option<OpenRequest>,
    ) -> Self {
        event.more_mut().arrival = Some(arrive(event.began));
        let facts = OpenRequestFacts::of(event).with_path("");
        let (url, received) = (request.target(), request.upload.progress());
        let work = WorkUnderWay::default().of_request();
        Self { table, facts, url, received, ops: OpsUnderWay::default(), work, open }
    }

    /// Polls the handler until its answer.
    pub(super) async fn until<T>(mut self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
        poll_fn(|cx| {
            let Self { work, ops, .. } = &mut self;
            let polled = work.during(|| ops.during(|| poll(cx)));
            if polled.is_pending() {
                self.show();
            }
            polled
        })
        .await
    }

    /// Shows the table what the request waits for.
    fn show(&mut self) {
        let open = self.open.get_or_insert_with(|| {
            let path = self.url.as_ref().map_or("", PathAndQuery::path);
            self.table.open(&self.facts.with_path(path))
        });
        open.waits(self.ops);
        if let Some(received) = &self.received {
            open.received(received.load(Relaxed));
        }
    }
}
