//! What the process is told by signals.

use std::io;
use std::task::{Context, Poll, Waker};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What somebody wants of a running server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// SIGTERM or SIGINT: finish, and end.
    Stop,
    /// SIGUSR2: finish, and begin again with the program and the settings as they are now.
    Restart,
    /// SIGHUP: read again what is read while running, which is the certificate.
    Reload,
}

/// The signals that a server listens for, from when this is made.
#[derive(Debug)]
pub(crate) struct Signals {
    stop: [Signal; 2],
    restart: Signal,
    reload: Signal,
}

impl Signals {
    /// Begins to listen; `runtime` receives them.
    pub(crate) fn listen(runtime: &Runtime) -> io::Result<Self> {
        let _within = runtime.enter();
        Ok(Self {
            stop: [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?],
            restart: signal(SignalKind::user_defined2())?,
            reload: signal(SignalKind::hangup())?,
        })
    }

    /// From now on SIGUSR2 does not end the process, which is what it does where nobody listens.
    pub(crate) fn listen_to_restart(runtime: &Runtime) -> io::Result<()> {
        let _within = runtime.enter();
        signal(SignalKind::user_defined2()).map(drop)
    }

    /// What was told last and not asked for yet. A stop goes before a restart.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Told> {
        if self.stop.iter_mut().any(|signal| signal.poll_recv(cx).is_ready()) {
            return Poll::Ready(Told::Stop);
        }
        if self.restart.poll_recv(cx).is_ready() {
            return Poll::Ready(Told::Restart);
        }
        self.reload.poll_recv(cx).map(|_| Told::Reload)
    }

    /// Whether a stop was told meanwhile.
    pub(crate) fn stop_told(&mut self) -> bool {
        self.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(Told::Stop)
    }
}
