//! The watch over a connection's deadlines: one timer for all of them.

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
    /// The machine saw its end, good or bad.
    Closed(Result<(), ProtocolError>),
    /// A deadline passed.
    TimedOut,
}

/// Has a machine work until it ends or a deadline passes.
pub(super) async fn watch<H>(
    core: &CoreContext<H>,
    state: &ConnectionState,
    mut machine: impl Protocol,
) -> ConnectionEnd {
    let mut stopping = pin!(core.stopping.notified());
    let mut listening = false;
    // One timer for all deadlines. It is moved only when a deadline comes nearer than it stands; when it fires early,
    // it is set again. A busy connection touches neither it nor the clock.
    let mut timer = pin!(sleep(core.limits.head_time));
    let mut set_to = Tick(u64::MAX);
    std::future::poll_fn(|cx| {
        state.turn();
        let mut rested = false;
        loop {
            if !listening {
                listening = true;
                // What it tells is looked up in `idle_grace`: a connection accepted just before the stop listens too late.
                let _ = stopping.as_mut().poll(cx);
            }
            if let Some(idle_grace) = core.idle_grace.get()
                && !state.closing()
            {
                state.begin_closing(idle_grace);
            }
            if let Poll::Ready(end) = machine.poll(cx) {
                return Poll::Ready(ConnectionEnd::Closed(end));
            }
            if machine.may_rest() && state.idle() {
                machine.rest();
                if std::mem::replace(&mut rested, true) {
                    // It had its turn: a client that does not wait for replies has sent more than one machine takes at once.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
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

/// Has a timer wake whoever polls it, also one that has had its turn: a timer tells such a one to come again, and wakes nobody else.
/// It is not polled then, as it is not due.
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
            // As a connection looks for it.
            if timer.is_elapsed() { Poll::Ready(()) } else { Poll::Pending }
        });
        timeout(STUCK, kept).await.expect("it never fires");
    }
}
