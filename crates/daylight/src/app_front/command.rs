//! The command of `daylight front`: the process of an application that is started with a port, gets signals, and gives its exit code.
//!
//! It has a process group of its own: a Ctrl-C in a terminal reaches Daylight alone, which finishes the requests under way and then passes
//! it on, so both stop once and in order. It is known by its pidfd: after a restart of Daylight in the same process it is still its child.

use crate::cli::failure::Failure;
use crate::serve::signals::SignalAction;
use anyhow::Context as _;
use rustix::fs::Mode;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, umask, waitid};
use std::ffi::OsString;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal as Child, SignalKind, signal};
use tokio::time::timeout;

/// How often a command is asked to end before it is killed.
const TIMES: u32 = 12;
/// A process that was ended by a signal has the exit code 128 and the number of the signal, as shells have it.
const BY_SIGNAL: i32 = 128;
/// The exit codes of shells for a command that is not there, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;
/// The exit code where the kernel does not tell it.
const UNKNOWN: u8 = 1;

/// A process that runs.
#[derive(Debug)]
pub(super) struct AppCommand {
    process: u32,
    port: u16,
    pidfd: OwnedFd,
    /// SIGCHLD: some child of this process has ended.
    children: Child,
}

impl AppCommand {
    /// Starts a command, which gets `PORT`, the mask for new files that this process was started with, and no standard input.
    pub(super) fn start(
        command: &[OsString],
        port: u16,
        mask: Option<Mode>,
        runtime: &Runtime,
    ) -> anyhow::Result<Self> {
        let (name, arguments) = command.split_first().context("the command is empty")?;
        // The mask belongs to the process, and the new one inherits it. Files that another thread creates meanwhile are in folders that
        // only their owner may enter.
        let own = mask.map(umask);
        let started = Command::new(name)
            .args(arguments)
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .process_group(0)
            .spawn();
        own.map(umask);
        let started = started.map_err(|error| not_run(name, &error))?;
        Self::adopt(started.id(), port, runtime)
    }

    /// A child of this process that runs already.
    pub(super) fn adopt(process: u32, port: u16, runtime: &Runtime) -> anyhow::Result<Self> {
        let id = i32::try_from(process).ok().and_then(Pid::from_raw).context("the command has no process id")?;
        let pidfd = pidfd_open(id, PidfdFlags::empty()).context("cannot watch the command")?;
        let _within = runtime.enter();
        Ok(Self { process, port, pidfd, children: signal(SignalKind::child())? })
    }

    pub(super) fn process(&self) -> u32 {
        self.process
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Sends a signal. A command that has ended gets none.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Sends the signal that asks for this. SIGUSR2 is Daylight's own.
    pub(super) fn signals(&self, action: SignalAction) {
        match action {
            SignalAction::Stop(signal) => self.signal(signal),
            SignalAction::Reload => self.signal(Signal::HUP),
            SignalAction::Own => self.signal(Signal::USR1),
            SignalAction::Restart => {}
        }
    }

    /// The exit code, once the command has ended. Not to be called again then.
    pub(super) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<u8> {
        loop {
            if let Some(code) = self.ended(WaitIdOptions::NOHANG) {
                return Poll::Ready(code);
            }
            // A child that ends after the look above makes this ready.
            if self.children.poll_recv(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Sends a signal, again after each time of `again`, and waits for the end; `meanwhile` sends others. puma 5.6.5 loses a SIGTERM that
    /// comes while it boots. A command that has not ended after [`TIMES`] signals is killed. Returns the exit code.
    pub(super) async fn end_by(
        &mut self,
        signal: Signal,
        again: Duration,
        mut meanwhile: impl FnMut(&Self, &mut Context<'_>),
    ) -> u8 {
        let mut times = 0;
        loop {
            self.signal(if times < TIMES { signal } else { Signal::KILL });
            times += 1;
            let ended = poll_fn(|cx| {
                meanwhile(self, cx);
                self.poll_ended(cx)
            });
            if let Ok(code) = timeout(again, ended).await {
                return code;
            }
        }
    }

    /// Sends a signal, and waits for the end without a runtime. Returns the exit code.
    pub(super) fn end(self, signal: Signal) -> u8 {
        self.signal(signal);
        self.ended(WaitIdOptions::empty()).unwrap_or(UNKNOWN)
    }

    /// The exit code, if the command has ended. An error of the kernel means that there is no such child.
    fn ended(&self, how: WaitIdOptions) -> Option<u8> {
        match waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED | how) {
            Err(rustix::io::Errno::INTR) => self.ended(how),
            Err(_) => Some(UNKNOWN),
            Ok(None) => None,
            Ok(Some(status)) => {
                let by_signal = || status.terminating_signal().map(|signal| BY_SIGNAL + signal);
                let code = status.exit_status().or_else(by_signal).and_then(|code| u8::try_from(code).ok());
                Some(code.unwrap_or(UNKNOWN))
            }
        }
    }
}

fn not_run(name: &OsString, error: &io::Error) -> Failure {
    let (code, hint) = match error.kind() {
        io::ErrorKind::NotFound => {
            (NOT_FOUND, "is it installed, and in a folder of PATH? A line for a shell needs one: `-- sh -c 'LINE'`")
        }
        io::ErrorKind::PermissionDenied => (NOT_RUN, "is it a program, and may this user run it?"),
        _ => (NOT_RUN, "does it run without `daylight front`?"),
    };
    let text = format!("cannot run the command `{}`: {error}", name.display());
    Failure::new(text, Some(hint.to_owned())).with_code(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    fn shell(line: &str) -> Vec<OsString> {
        ["sh", "-c", line].map(OsString::from).to_vec()
    }

    /// A line of a shell that has stopped itself.
    fn stopped(line: &str, runtime: &Runtime) -> AppCommand {
        let command = AppCommand::start(&shell(line), 1, None, runtime).unwrap();
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", command.process())).unwrap();
        while !stat().contains(") T ") {
            std::thread::yield_now();
        }
        command
    }

    #[test]
    fn the_exit_code_of_a_command_is_its_own_or_tells_the_signal() {
        let runtime = runtime();
        let code = |line: &str| {
            let mut command = AppCommand::start(&shell(line), 9, None, &runtime).unwrap();
            runtime.block_on(poll_fn(|cx| command.poll_ended(cx)))
        };
        assert_eq!(["exit 0", "exit 3", "exit $PORT", "kill -9 $$"].map(code), [0, 3, 9, 137]);
    }

    #[test]
    fn a_signal_reaches_the_command_and_it_may_be_watched_again() {
        let runtime = runtime();
        let line = "trap 'exit 7' USR1; kill -STOP $$; while :; do :; done";
        let command = stopped(line, &runtime);
        let again = AppCommand::adopt(command.process(), command.port(), &runtime).unwrap();
        again.signal(Signal::USR1);
        again.signal(Signal::CONT);
        assert_eq!(again.end(Signal::CONT), 7);
    }

    #[test]
    fn a_command_that_loses_the_first_signal_gets_it_again_and_one_that_ignores_all_is_killed() {
        let runtime = runtime();
        let code = |trap: &str| {
            let mut command = stopped(&format!("{trap}; kill -STOP $$; while :; do :; done"), &runtime);
            let go_on = |command: &AppCommand, _: &mut Context<'_>| command.signal(Signal::CONT);
            runtime.block_on(command.end_by(Signal::TERM, Duration::from_millis(50), go_on))
        };
        assert_eq!(code("trap 'trap \"exit 7\" TERM' TERM"), 7);
        assert_eq!(code("trap '' TERM"), 137);
    }

    #[test]
    fn a_command_that_cannot_be_run_is_reported_with_the_codes_of_shells() {
        let runtime = runtime();
        let refused = |name: &str| AppCommand::start(&[name.into()], 1, None, &runtime).unwrap_err().to_string();
        assert!(refused("/nowhere/at-all").starts_with("cannot run the command `/nowhere/at-all`: "));
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(refused(file.path().to_str().unwrap()).contains("ermission denied"));
    }
}
