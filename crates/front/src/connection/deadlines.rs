//! Watches the deadlines of a connection, with one timer for all of them.

use crate::connection::protocol::{Protocol, ProtocolError};
use crate::connection::state::ConnectionState;
use crate::listen::core_context::CoreContext;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use telemetry::Tick;
use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep};

/// Why a connection ended.
pub(super) enum ConnectionEnd {
    /// The protocol ended, well or not.
    Closed(Result<(), ProtocolError>),
    /// A deadline passed.
    TimedOut,
}

/// Runs a protocol until it ends or a deadline passes.
pub(super) async fn watch(core: &CoreContext, state: &ConnectionState, mut protocol: impl Protocol) -> ConnectionEnd {
    let mut stopping = pin!(core.stopping.notified());
    let mut listening = false;
    // One timer for all deadlines. It is reset only when a deadline comes nearer than its time. When it fires early,
    // it is set again. A busy connection touches neither the timer nor the clock.
    let mut timer = pin!(sleep(core.limits.head_time));
    let mut set_to = Tick(u64::MAX);
    std::future::poll_fn(|cx| {
        state.begin_turn();
        let mut went_idle = false;
        loop {
            if !listening {
                listening = true;
                // The notification only wakes the task; the decision is in `idle_grace`. A connection accepted just
                // before the stop would miss the notification.
                let _ = stopping.as_mut().poll(cx);
            }
            if let Some(idle_grace) = core.idle_grace.get()
                && !state.closing()
            {
                state.begin_closing(idle_grace);
            }
            if let Poll::Ready(end) = protocol.poll(cx) {
                return Poll::Ready(ConnectionEnd::Closed(end));
            }
            if protocol.may_go_idle() && state.idle() {
                protocol.go_idle();
                if std::mem::replace(&mut went_idle, true) {
                    // This connection has had its turn. A client that pipelines has sent more than one turn handles.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            state.end_turn();
            let Some(due) = state.due(&core.limits) else { return Poll::Pending };
            if set_to <= due && !timer.is_elapsed() {
                return Poll::Pending;
            }
            let now = Tick::now();
            if due <= now {
                if state.survives_deadline(&core.limits) {
                    continue;
                }
                return Poll::Ready(ConnectionEnd::TimedOut);
            }
            set_to = due;
            timer.as_mut().reset(Instant::now() + Duration::from_nanos(due.since(now)));
            if armed(timer.as_mut(), cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await
}

/// Has a timer wake the task that polls it, even at the end of a long turn. A timer that is polled with no budget left
/// asks to be polled again and does not set its alarm, so it is polled without a budget. It is not due, so it is not
/// ready.
fn armed(timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
    pin!(unconstrained(timer)).poll(cx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::task::coop::{consume_budget, has_budget_remaining};
    use tokio::time::{sleep_until, timeout};

    /// Much longer than the timer.
    const STUCK: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_deadline_that_is_set_at_the_end_of_a_long_turn_is_kept() {
        let mut timer = pin!(sleep_until(Instant::now() + Duration::from_millis(1)));
        let mut begun = false;
        let kept = poll_fn(|cx| {
            if !std::mem::replace(&mut begun, true) {
                while has_budget_remaining() {
                    let _ = pin!(consume_budget()).poll(cx);
                }
                return armed(timer.as_mut(), cx);
            }
            // This is how a connection checks it.
            if timer.is_elapsed() { Poll::Ready(()) } else { Poll::Pending }
        });
        timeout(STUCK, kept).await.expect("the timer never fires");
    }
}
