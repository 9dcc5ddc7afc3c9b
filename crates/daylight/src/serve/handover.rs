//! Hands the listening socket over to the next program, so that a restart refuses no connection: new clients wait in the backlog of
//! the socket meanwhile.
//!
//! A restart keeps the process and replaces its program (execve). Supervisors do not notice it, and the lock of the data folder
//! is free for the new program. The socket becomes the standard input of the new program, as this is the only descriptor with
//! a fixed meaning. Others may pass a socket in the same way (systemd: `StandardInput=socket`), or several from descriptor 3 on
//! (sd_listen_fds(3)).

use crate::config::Environment;
use anyhow::{Context, bail};
use front::Listener;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;
use telemetry::Log;

/// The first descriptor that systemd passes.
const FIRST_PASSED: i32 = 3;
/// Most sockets that are taken.
const PASSED_MAX: u32 = 64;

/// The socket that was passed to this process, if there is one.
pub(crate) fn socket(environment: &Environment) -> anyhow::Result<Option<Listener>> {
    if let Some(listener) = Listener::inherited(std::io::stdin().as_fd())? {
        // Otherwise it would stay open as standard input, in this process and its children.
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        return Ok(Some(listener));
    }
    let count = environment.passed_sockets(std::process::id());
    if count > PASSED_MAX {
        bail!("`LISTEN_FDS` announces {count} sockets, but the server takes at most {PASSED_MAX}");
    }
    let mut all: Option<Listener> = None;
    for number in (FIRST_PASSED..).take(count as usize) {
        let passed = pidfd_open(getpid(), PidfdFlags::empty())
            // A copy, as no value in this program owns the descriptor.
            .and_then(|myself| pidfd_getfd(myself, number, PidfdGetfdFlags::empty()))
            .with_context(|| format!("cannot take the socket {number} that `LISTEN_FDS` announces"))?;
        let listener = Listener::inherited(passed.as_fd())?.with_context(|| {
            format!("descriptor {number} that `LISTEN_FDS` announces is not a listening TCP socket")
        })?;
        all = Some(match all {
            Some(others) => others.and(listener),
            None => listener,
        });
    }
    Ok(all)
}

/// Warns if the address in the settings has changed since this process began: a reload and a restart keep the socket.
pub(crate) fn warn_of_listen(
    serving: SocketAddr,
    began_with: SocketAddr,
    now: &dyn Fn() -> anyhow::Result<SocketAddr>,
    log: &Log,
) {
    // A mistake in the settings is reported elsewhere.
    let Ok(now) = now() else { return };
    let same = now.ip() == serving.ip() && [0, serving.port()].contains(&now.port());
    if now != began_with && !same {
        let message = "`server.listen` has changed: stop and start the server to listen there";
        log.warn(message, &[("listening", &serving), ("wanted", &now)]);
    }
}

/// The standard input with which the next program takes the socket over. Several sockets can only be systemd's, whose descriptors and
/// variables stay.
pub(crate) fn input(listener: Listener) -> Stdio {
    if listener.is_several() { Stdio::null() } else { OwnedFd::from(listener).into() }
}
