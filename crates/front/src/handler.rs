//! What stands behind the front and answers what no page does.

use crate::pages::Pages;
use crate::reply::Reply;
use crate::request::Request;
use telemetry::Event;

/// Answers requests. One for all cores; each request's future stays on its core, so it need not be `Send`.
pub trait Handler: Send + Sync + 'static {
    /// The stamps of its pages. `()` where it keeps none.
    type Stamp: Clone + Send + Sync + 'static;

    /// Its pages. The front answers from them and calls [`Handler::answer`] where they hold no answer.
    fn pages(&self) -> Option<&Pages<Self::Stamp>> {
        None
    }

    /// Answers a request. Notes what it did into `event`; may set its outcome, reason, layer and subject. When the
    /// client leaves, the future is dropped wherever it waits.
    fn answer(&self, request: &mut Request, event: &mut Event) -> impl Future<Output = Reply>;

    /// Whether the request is also answered on a reserved connection: health checks, and metrics.
    fn is_vital(&self, request: &Request) -> bool {
        let _ = request;
        false
    }
}
