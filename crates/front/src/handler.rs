//! The interface of the program behind the front. It answers requests that no page answers.

use crate::pages::Pages;
use crate::reply::Reply;
use crate::request::Request;
use std::pin::Pin;
use telemetry::Event;

/// The answer to a request, under way. Boxed, so that the front is compiled once, in its own crate, for any handler.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Reply> + 'a>>;

/// Answers requests. All cores share one handler. The future of a request stays on its core, so it need not be
/// `Send`.
pub trait Handler: Send + Sync + 'static {
    /// The pages of this handler. The front answers from them, and calls [`Handler::answer`] when no page matches.
    fn pages(&self) -> Option<&Pages> {
        None
    }

    /// Answers a request. Records its work in `event`, and may set its outcome, reason, layer and subject. When the
    /// client disconnects, the future is dropped at its current await.
    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a>;

    /// Whether this request is also answered on a reserved connection: health checks and metrics are.
    fn is_vital(&self, request: &Request) -> bool {
        let _ = request;
        false
    }
}
