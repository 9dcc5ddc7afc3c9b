//! The listening socket from one process to the next, so that a restart refuses no connection: clients that come
//! meanwhile wait in its backlog.
//!
//! A restart keeps the process and replaces the program in it (execve): supervisors see nothing, and the lock of the
//! data folder, which is closed on the way, is free for the new program. The socket becomes its standard input,
//! the one descriptor that may be passed and taken without trusting a number. A socket may come from
//! elsewhere in the same way (systemd: `StandardInput=socket`), or as systemd's descriptor 3 (sd_listen_fds(3)).

use crate::config::Environment;
use anyhow::{Context, bail};
use front::Listener;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use telemetry::Log;

/// The first descriptor that systemd passes.
const FIRST_PASSED: i32 = 3;

/// The socket that this process was given, if any.
pub(crate) fn socket(environment: &Environment) -> anyhow::Result<Option<Listener>> {
    if let Some(listener) = Listener::inherited(std::io::stdin().as_fd())? {
        // As standard input it would stay open, here and in every child.
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        return Ok(Some(listener));
    }
    match environment.passed_sockets(std::process::id()) {
        0 => Ok(None),
        1 => {
            let passed = pidfd_open(getpid(), PidfdFlags::empty())
                // A copy, as nothing in this program owns the number 3.
                .and_then(|myself| pidfd_getfd(myself, FIRST_PASSED, PidfdGetfdFlags::empty()))
                .context("cannot take the socket that `LISTEN_FDS` announces")?;
            let listener = Listener::inherited(passed.as_fd())?;
            Ok(Some(listener.context("what `LISTEN_FDS` announces is no TCP socket that listens")?))
        }
        many => bail!("`LISTEN_FDS` announces {many} sockets, and one is served"),
    }
}

/// Warns where the settings want another address `now` than they did when this process began: the socket stays through a reload
/// and a restart in place.
pub(crate) fn warn_of_listen(
    serving: SocketAddr,
    began_with: SocketAddr,
    now: &dyn Fn() -> anyhow::Result<SocketAddr>,
    log: &Log,
) {
    // Settings that cannot be read are told of by what reads them.
    let Ok(now) = now() else { return };
    let same = now.ip() == serving.ip() && [0, serving.port()].contains(&now.port());
    if now != began_with && !same {
        let message = "`server.listen` has changed: only a stop and a start make the server listen there";
        log.warn(message, &[("listening", &serving), ("wanted", &now)]);
    }
}

/// How this program was started, to be started so again.
#[derive(Debug)]
pub(crate) struct Program {
    name: OsString,
    arguments: Vec<OsString>,
}

impl Program {
    /// This process's. The name is looked up again at the restart: there may be a newer file by then.
    pub(crate) fn here() -> Self {
        let mut all = std::env::args_os();
        Self { name: all.next().unwrap_or_default(), arguments: all.collect() }
    }

    /// Whether the program that is there now can be run and likes its settings: what cannot start must not end what
    /// serves.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let mut command = Command::new(&self.name);
        for argument in &self.arguments {
            if argument == OsStr::new("serve") {
                command.args(["config", "show"])
            } else {
                command.arg(argument)
            };
        }
        let shown = command.stdin(Stdio::null()).output().context("the program cannot be run")?;
        if !shown.status.success() {
            bail!("it would not start: {}", String::from_utf8_lossy(&shown.stderr).trim_end());
        }
        Ok(())
    }

    /// Becomes that program, with this socket. Returns only if that fails.
    pub(crate) fn replace(self, listener: Listener) -> anyhow::Error {
        let error = Command::new(&self.name).args(&self.arguments).stdin(OwnedFd::from(listener)).exec();
        anyhow::Error::new(error).context("the program cannot be run")
    }
}
