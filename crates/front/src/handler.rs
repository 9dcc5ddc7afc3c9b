//! What answers requests: the program behind the front.

use crate::pages::PreparedPage;
use crate::reply::Reply;
use crate::request::Request;
use telemetry::{Event, Millis};

/// What answers requests. One for all cores; each request's future stays on its core, so it need not be `Send`.
pub trait Handler: Send + Sync + 'static {
    /// Answers. Notes what it did into `event`; may set its outcome, reason, layer and subject. When the client leaves
    /// the future is dropped wherever it waits.
    fn answer(&self, request: &mut Request, event: &mut Event) -> impl Future<Output = Reply>;

    /// Whether a request is answered also where there is no room for others: probes, and what operators look at.
    fn is_vital(&self, request: &Request) -> bool {
        let _ = request;
        false
    }

    /// The page for a plain question ([`Pages::prepared`](crate::Pages::prepared)), asked before all else.
    fn prepared(&self, path: &str, query: Option<&str>, gzip: &dyn Fn() -> bool, now: Millis) -> Option<PreparedPage> {
        let _ = (path, query, gzip, now);
        None
    }
}
