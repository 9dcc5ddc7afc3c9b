//! A question to an upstream that is sent with `POST`, and that changes nothing there.

use bytes::Bytes;

/// A question. It is sent again if an idle connection turns out to be closed, so the upstream must not change by it.
#[derive(Debug, Clone)]
pub struct Post {
    /// The question.
    pub body: Bytes,
    /// Its media type.
    pub content_type: &'static str,
    /// How many times longer than usual the head of the response may take: some servers compute the whole answer first.
    pub patience: u32,
}
