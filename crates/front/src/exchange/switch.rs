//! Replies with a status of 1xx. Only a 101 with its tunnel is a reply, and only to a request that may change the protocol.

use crate::reply::{Body, Reply};
use http::StatusCode;
use telemetry::{Event, Outcome, Reason};

/// The reply, or a 502 in the place of one that cannot be sent. `may_switch`: the request asks for another protocol and may get it
/// (RFC 9110, 7.8).
pub(super) fn checked(reply: Reply, may_switch: bool, event: &mut Event) -> Reply {
    let is_tunnel = matches!(reply.body, Body::Tunnel(_));
    if !is_tunnel && !reply.status.is_informational() {
        return reply;
    }
    if is_tunnel && may_switch && reply.status == StatusCode::SWITCHING_PROTOCOLS {
        return reply;
    }
    (event.outcome, event.reason) = (Some(Outcome::Failed), Some(Reason::AppInvalid));
    event.detail = format!("a reply with status {} was not asked for", reply.status.as_u16());
    Reply::text(StatusCode::BAD_GATEWAY, "the application changed the protocol, which was not asked for\n")
}
