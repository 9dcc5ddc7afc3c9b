//! `Server-Timing`: where the time before the reply went (W3C Server Timing). Browsers show it beside the request.
//!
//! The header is added after the reply may have become a page, so no page has it: a page is for other requests too.

use crate::app::App;
use crate::config::ServerTiming;
use front::{Reply, Request};
use http::header::{self, HeaderName, HeaderValue};
use repository::Scope;
use std::fmt::Write as _;
use telemetry::{Event, Op, OpPlace, Tick};

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
/// The number of operations in the header.
const OPS: usize = 5;

/// Adds the header, if the setting allows it for this caller.
pub(crate) async fn add(app: &App, request: &Request, reply: &mut Reply, event: &mut Event) {
    match app.server_timing {
        ServerTiming::Off => return,
        ServerTiming::Observe if !may_observe(app, request, event).await => return,
        ServerTiming::Observe => {
            // Not for the other clients of a cache on the way.
            reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        }
        ServerTiming::On => {}
    }
    let total = Tick::now().since(event.began);
    let value = value(event.tallies().map(|(op, tally)| (op, tally.nanos)), total);
    if let Ok(value) = HeaderValue::try_from(value) {
        reply.headers.insert(SERVER_TIMING, value);
    }
}

/// Whether the caller may see how the server works.
async fn may_observe(app: &App, request: &Request, event: &mut Event) -> bool {
    let token = app.access.token(request, event).await;
    token.is_ok_and(|token| token.is_some_and(|token| token.allows(Scope::Observe, None)))
}

/// The longest operations on the line of the request, and the whole time: `truth.read;dur=1.204, total;dur=1.31`, in milliseconds. Names of
/// operations are tokens of HTTP.
fn value(ops: impl Iterator<Item = (Op, u64)>, total: u64) -> String {
    let mut ops: Vec<(Op, u64)> = ops.filter(|(op, _)| op.place() == OpPlace::Line).collect();
    ops.sort_by_key(|(_, nanos)| std::cmp::Reverse(*nanos));
    ops.truncate(OPS);
    let mut value = String::new();
    for (op, nanos) in ops {
        let _ = write!(value, "{};dur={}, ", op.as_str(), millis(nanos));
    }
    value + "total;dur=" + &millis(total).to_string()
}

/// Milliseconds, rounded to a microsecond.
fn millis(nanos: u64) -> f64 {
    (nanos as f64 / 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_operations_on_the_line_come_first_and_the_total_last() {
        let ops = [
            (Op::Route, 900),
            (Op::TokenCheck, 5_000),
            (Op::TruthRead, 1_204_400),
            (Op::BodyRead, 99_000_000),
            (Op::BlobOpen, 40_000),
            (Op::ReplyMake, 7_000),
            (Op::FlightWait, 30_000_000),
        ];
        let expected = "flight.wait;dur=30, truth.read;dur=1.204, blob.open;dur=0.04, reply.make;dur=0.007, token.check;dur=0.005, \
                        total;dur=31.5";
        assert_eq!(value(ops.into_iter(), 31_500_000), expected);
        assert_eq!(value(std::iter::empty(), 0), "total;dur=0");
    }

    #[test]
    fn each_operation_is_a_token_of_http() {
        for op in Op::ALL {
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            assert!(op.as_str().bytes().all(token), "{}", op.as_str());
        }
    }
}
