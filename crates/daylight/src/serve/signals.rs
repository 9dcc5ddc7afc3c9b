//! The signals that control a running server.

use std::io;
use std::task::{Context, Poll, Waker};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The action that a signal requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// SIGTERM or SIGINT, or the front has ended by itself: finish the requests under way, and stop.
    Stop(rustix::process::Signal),
    /// SIGUSR2: finish the requests under way, and start again with the current program and settings.
    Restart,
    /// SIGHUP: read the certificate and the declared repositories again.
    Reload,
    /// SIGUSR1, which only the command of `daylight front` understands.
    Own,
}

/// Listens for the signals.
#[derive(Debug)]
pub(crate) struct Signals {
    stop: [Signal; 2],
    restart: Signal,
    reload: Signal,
    /// SIGUSR1, if somebody understands it. Otherwise it ends the process, which is its default action.
    own: Option<Signal>,
}

impl Signals {
    /// Starts to listen; `runtime` receives the signals.
    pub(crate) fn listen(runtime: &Runtime) -> io::Result<Self> {
        let _within = runtime.enter();
        Ok(Self {
            stop: [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?],
            restart: signal(SignalKind::user_defined2())?,
            reload: signal(SignalKind::hangup())?,
            own: None,
        })
    }

    /// Starts to listen to SIGUSR1, too.
    pub(crate) fn with_own(self, runtime: &Runtime) -> io::Result<Self> {
        let _within = runtime.enter();
        Ok(Self { own: Some(signal(SignalKind::user_defined1())?), ..self })
    }

    /// Keeps SIGUSR2 from ending the process, which is its default action.
    pub(crate) fn listen_to_restart(runtime: &Runtime) -> io::Result<()> {
        let _within = runtime.enter();
        signal(SignalKind::user_defined2()).map(drop)
    }

    /// The next action. A stop has priority over a restart.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<SignalAction> {
        const STOPS: [rustix::process::Signal; 2] = [rustix::process::Signal::TERM, rustix::process::Signal::INT];
        for (signal, number) in self.stop.iter_mut().zip(STOPS) {
            if signal.poll_recv(cx).is_ready() {
                return Poll::Ready(SignalAction::Stop(number));
            }
        }
        if self.own.as_mut().is_some_and(|signal| signal.poll_recv(cx).is_ready()) {
            return Poll::Ready(SignalAction::Own);
        }
        if self.restart.poll_recv(cx).is_ready() {
            return Poll::Ready(SignalAction::Restart);
        }
        self.reload.poll_recv(cx).map(|_| SignalAction::Reload)
    }

    /// Notices the signals that came after the runtimes had ended: only a runtime that runs tells them, and the first turn of this one does.
    pub(crate) fn notice_late_ones() {
        if let Ok(runtime) = Builder::new_current_thread().enable_io().build() {
            runtime.block_on(tokio::task::yield_now());
        }
    }

    /// The signal with which a stop was requested meanwhile, also after the runtimes have ended.
    pub(crate) fn stop_requested(&mut self) -> Option<rustix::process::Signal> {
        Self::notice_late_ones();
        match self.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(SignalAction::Stop(signal)) => Some(signal),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal as Number, getpid, kill_process};
    use std::time::Duration;

    #[test]
    fn a_stop_that_is_requested_after_the_runtimes_have_ended_is_noticed() {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut signals = Signals::listen(&runtime).unwrap();
        runtime.shutdown_timeout(Duration::from_secs(30));
        assert_eq!(signals.stop_requested(), None);
        kill_process(getpid(), Number::TERM).unwrap();
        // The kernel may give it to another thread, which takes it a moment later.
        assert_eq!((0..10_000).find_map(|_| signals.stop_requested()), Some(Number::TERM));
    }
}
