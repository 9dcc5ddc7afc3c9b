//! The interface of the program behind the front. It answers requests that no page answers.

use crate::pages::Pages;
use crate::reply::Reply;
use crate::request::Request;
use crate::stored::{Confirming, PlainHead, StoredReply};
use std::pin::Pin;
use telemetry::{Event, Millis};

/// The answer to a request, under way. Boxed, so that the front is compiled once, in its own crate, for any handler.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Reply> + 'a>>;

/// Answers requests. All cores share one handler. The future of a request stays on its core, so it need not be
/// `Send`.
pub trait Handler: Send + Sync + 'static {
    /// The pages of this handler. The front answers from them, and calls [`Handler::answer`] when no page matches.
    fn pages(&self) -> Option<&Pages> {
        None
    }

    /// A stored reply to a plain request (GET or HEAD over HTTP/1.1, without a body, a range or a condition) that can be sent as it is.
    /// Called for each such request before [`Handler::answer`], so it must neither wait nor take a contended lock.
    fn stored(&self, head: &PlainHead<'_>, now: Millis) -> Option<StoredReply> {
        let _ = (head, now);
        None
    }

    /// The same of a reply that has to be confirmed first, such as by the store that it was read from. It is polled on its core, for at
    /// most a few round trips: the request is not in the table of open requests meanwhile.
    fn confirmed(&self, head: &PlainHead<'_>) -> Option<Confirming> {
        let _ = head;
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
