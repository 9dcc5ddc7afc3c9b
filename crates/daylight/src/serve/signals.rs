//! The signals that control a running server.

use std::io;
use std::task::{Context, Poll, Waker};
use tokio::runtime::Runtime;
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

    /// The signal with which a stop was requested meanwhile.
    pub(crate) fn stop_requested(&mut self) -> Option<rustix::process::Signal> {
        match self.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(SignalAction::Stop(signal)) => Some(signal),
            _ => None,
        }
    }
}
