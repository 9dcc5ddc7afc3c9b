//! Notifies the service manager, such as systemd, when the server is ready, reloads, stops, and is alive
//! (sd_notify(3)).

use crate::config::Environment;
use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{LongJob, Recorder};

/// How long a stop may take after it has drained: `TimeoutStopSec=` of packaging/systemd/daylight.service.
const STOP: Duration = Duration::from_secs(90);

/// The connection to the service manager. Without one, all notifications are discarded.
#[derive(Debug, Clone)]
pub(crate) struct Supervisor {
    manager: Option<Arc<(UnixDatagram, SocketAddr)>>,
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// The service manager that the environment names.
    pub(crate) fn of(environment: &Environment) -> Self {
        let manager = environment.notify_socket().and_then(|name| {
            let address = match name.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name),
                None => SocketAddr::from_pathname(OsStr::from_bytes(name.as_bytes())),
            };
            let socket = UnixDatagram::unbound().and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
            Some(Arc::new((socket.ok()?, address.ok()?)))
        });
        let watchdog = environment.watchdog(std::process::id()).filter(|_| manager.is_some());
        let supervisor = Self { manager, watchdog };
        // After a restart, the time that the former program took counts.
        supervisor.alive();
        supervisor
    }

    /// Reports that requests are answered at this URL. A restart keeps the process id, and sends it again for a manager
    /// that expects another.
    pub(crate) fn ready(&self, url: &str) {
        self.tell(&format!("READY=1\nMAINPID={}\nSTATUS=serving at {url}\n", std::process::id()));
    }

    /// Reports that a reload or a restart begins. [`Supervisor::ready`] ends it.
    pub(crate) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=reloading\n"));
    }

    /// Reports that the server stops.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=finishing the open requests\n");
    }

    /// Reports that the server drains for this long before it stops, so the manager waits longer (`EXTEND_TIMEOUT_USEC=` of sd_notify(3)).
    pub(crate) fn draining(&self, drain: Duration) {
        self.tell(&format!("EXTEND_TIMEOUT_USEC={}\n", (drain + STOP).as_micros()));
    }

    /// The interval at which [`Supervisor::watch`] must report that the server is alive.
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// Reports regularly that the server is alive, as long as every event loop runs. `every`: the manager's limit.
    pub(crate) async fn watch(self, every: Duration, recorder: Arc<Recorder>, job: Arc<LongJob>) {
        let mut beats: Vec<u64> = Vec::new();
        loop {
            let now: Vec<u64> = recorder.loop_monitors().iter().map(|monitor| monitor.beats()).collect();
            let runs = now.len() != beats.len() || now.iter().zip(&beats).all(|(now, before)| now != before);
            if runs {
                self.alive();
            }
            beats = now;
            job.moved();
            tokio::time::sleep(every / 3).await;
        }
    }

    fn alive(&self) {
        if self.watchdog.is_some() {
            self.tell("WATCHDOG=1\n");
        }
    }

    /// Sends a message. If the manager does not accept it, the server continues.
    fn tell(&self, message: &str) {
        if let Some((socket, address)) = self.manager.as_deref() {
            let _ = socket.send_to_addr(message.as_bytes(), address);
        }
    }
}
