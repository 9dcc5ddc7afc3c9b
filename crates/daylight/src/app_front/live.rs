//! The life of a front that answers requests: what each signal does, and how it ends.

use super::addresses;
use super::command::AppCommand;
use super::passed_on::{self, PassedCommand};
use super::served_apps::ServedApps;
use crate::cli::failure::CommandEnded;
use crate::config::{AppSettings, Loaded, Settings};
use crate::instance::Instance;
use crate::serve::changed_settings;
use crate::serve::program::Program;
use crate::serve::running::{Running, STOP_TIMEOUT};
use crate::serve::signals::{SignalAction, Signals};
use crate::serve::supervisor::Supervisor;
use front::Listener;
use rustix::process::Signal;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use telemetry::{Lines, Log, Tick};
use tokio::time::interval;

/// After this time a command that should end is asked again. Within a minute it is killed.
const AGAIN: Duration = Duration::from_secs(5);
/// How long a restart waits for WebSockets and event streams before it ends them.
const STREAMS_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it looks whether they have ended.
const STREAMS_LOOK: Duration = Duration::from_millis(50);
/// Why the loop of [`Live::serve`] ends.
enum End {
    /// A signal, or the front ended by itself.
    Stop(Signal),
    /// The command has ended, with this exit code.
    Command(u8),
    Restart,
}

/// A front that answers requests.
pub(super) struct Live {
    pub(super) running: Running,
    pub(super) command: Option<AppCommand>,
    pub(super) supervisor: Supervisor,
    pub(super) log: Log,
    pub(super) lines: Lines,
    pub(super) program: Program,
    /// The addresses of the settings: that of the admin side, and those of applications.
    pub(super) wanted: Vec<SocketAddr>,
    /// Sockets of addresses that are new in the settings, for the next program.
    pub(super) bound: Vec<(SocketAddr, Listener)>,
    /// The applications of the settings.
    pub(super) declared: Vec<AppSettings>,
}

impl Live {
    /// Serves until a signal or the command stops it, or a signal restarts it.
    pub(super) fn run(
        mut self,
        mut signals: Signals,
        loaded: &Loaded,
        read_again: &dyn Fn() -> anyhow::Result<(Settings, Loaded)>,
    ) -> anyhow::Result<()> {
        match self.serve(&mut signals, loaded, read_again) {
            End::Restart => self.restart(signals),
            End::Stop(signal) => self.stop(signals, Some(signal), None),
            End::Command(code) => self.stop(signals, None, Some(code)),
        }
    }

    fn apps(&self) -> &ServedApps {
        self.running.instance.apps()
    }

    /// Answers requests, and does what signals ask for.
    fn serve(
        &mut self,
        signals: &mut Signals,
        loaded: &Loaded,
        read_again: &dyn Fn() -> anyhow::Result<(Settings, Loaded)>,
    ) -> End {
        // Since when a restart waits for streams.
        let mut restarts: Option<Tick> = None;
        loop {
            match self.next(signals, restarts.is_some()) {
                Next::Signal(SignalAction::Stop(signal)) => return End::Stop(signal),
                Next::Ended(code) => return End::Command(code),
                Next::Signal(SignalAction::Own) => self.pass_on(SignalAction::Own),
                Next::Signal(SignalAction::Reload) => {
                    self.supervisor.reloading();
                    if let Ok((settings, now)) = read_again() {
                        changed_settings::warn(&loaded.entries, &now.entries, &[], &self.log);
                        self.warn_of_apps(&settings);
                    }
                    self.running.reload_certificates(&self.log);
                    self.pass_on(SignalAction::Reload);
                    self.supervisor.ready(self.running.instance.app.urls.configured());
                }
                Next::Signal(SignalAction::Restart) if restarts.is_some() => {}
                Next::Signal(SignalAction::Restart) => match self.prepare_restart(read_again) {
                    Ok(()) => {
                        self.supervisor.reloading();
                        let streams = self.apps().streams();
                        if streams > 0 {
                            let message = "restarting once the WebSockets and event streams have ended, within 30 s";
                            self.log.info(message, &[("streams", &streams)]);
                        }
                        restarts = Some(Tick::now());
                    }
                    Err(error) => self.log.error("not restarting", &[("cause", &format!("{error:#}"))]),
                },
                Next::Look => {}
            }
            let waited = restarts.map(|since| Duration::from_nanos(Tick::now().since(since)));
            if waited.is_some_and(|waited| self.apps().streams() == 0 || waited >= STREAMS_TIMEOUT) {
                return End::Restart;
            }
        }
    }

    /// Checks the next program and its settings, and binds addresses that are new in them: what fails now ends no working server.
    fn prepare_restart(&mut self, read_again: &dyn Fn() -> anyhow::Result<(Settings, Loaded)>) -> anyhow::Result<()> {
        self.program.check()?;
        let (settings, _) = read_again()?;
        let mut missing = addresses::wanted(&settings);
        for address in self.wanted.iter().chain(self.bound.iter().map(|(address, _)| address)) {
            if let Some(at) = missing.iter().position(|missing| missing == address) {
                missing.remove(at);
            }
        }
        let bound = missing.into_iter().map(|address| Ok((address, Listener::bind(address)?)));
        self.bound.extend(bound.collect::<Result<Vec<_>, front::Error>>()?);
        Ok(())
    }

    /// Warns if the applications of the settings have changed.
    fn warn_of_apps(&self, settings: &Settings) {
        let same = settings.apps.len() == self.declared.len()
            && settings.apps.iter().zip(&self.declared).all(|(now, before)| now.is_as(before));
        if !same {
            self.log
                .warn("the applications of the settings have changed: restart the front with SIGUSR2 to apply it", &[]);
        }
    }

    /// Waits for a signal, for the end of the command or, while a restart waits, for a moment.
    fn next(&mut self, signals: &mut Signals, looks: bool) -> Next {
        let mut stopped = pin!(self.running.stopped());
        self.running.runtime().block_on(async {
            let mut look = interval(STREAMS_LOOK);
            look.reset();
            poll_fn(|cx| {
                if let Poll::Ready(action) = self.running.poll_action(signals, stopped.as_mut(), cx) {
                    return Poll::Ready(Next::Signal(action));
                }
                if let Some(Poll::Ready(code)) = self.command.as_mut().map(|command| command.poll_ended(cx)) {
                    return Poll::Ready(Next::Ended(code));
                }
                if looks { look.poll_tick(cx).map(|_| Next::Look) } else { Poll::Pending }
            })
            .await
        })
    }

    fn pass_on(&self, action: SignalAction) {
        self.command.iter().for_each(|command| command.signals(action));
    }

    /// Finishes the requests under way, then ends the command with the signal and takes its exit code over.
    fn stop(self, signals: Signals, signal: Option<Signal>, code: Option<u8>) -> anyhow::Result<()> {
        match code {
            Some(code) => self.log.warn("the command has ended, so the front stops", &[("code", &code)]),
            None => self.log.info("stopping", &[]),
        }
        self.supervisor.stopping();
        self.apps().end_streams();
        let Self { running, mut command, log, lines, .. } = self;
        let (instance, served) = running.finish();
        let code = match (code, &mut command) {
            (None, Some(command)) => Some(end_command(&instance, command, signal.unwrap_or(Signal::TERM), signals)),
            (code, _) => code,
        };
        instance.close();
        log.info("stopped", &[]);
        lines.flush(STOP_TIMEOUT);
        served?;
        code.map_or(Ok(()), |code| Ok(CommandEnded::of(code)?))
    }

    /// Stops, keeps the sockets and the command, and replaces the process with the program. A signal to stop meanwhile has priority.
    fn restart(self, mut signals: Signals) -> anyhow::Result<()> {
        self.log.info("restarting", &[]);
        self.apps().end_streams();
        let Self { running, command, log, lines, program, wanted, bound, .. } = self;
        let listeners = running.hand_over();
        let stop = pass_on_all(&mut signals, command.as_ref()).or_else(|| listeners.is_err().then_some(Signal::TERM));
        log.info(if stop.is_some() { "stopped" } else { "stopped for the restart" }, &[]);
        lines.flush(STOP_TIMEOUT);
        let failed = match (listeners, stop) {
            (Ok(listeners), None) => {
                let sockets = wanted.into_iter().zip(listeners).chain(bound).collect();
                let left =
                    command.as_ref().map(|command| PassedCommand { process: command.process(), port: command.port() });
                match passed_on::input(sockets, left) {
                    Ok(input) => program.replace(input),
                    Err(error) => error,
                }
            }
            (Ok(_), Some(signal)) => {
                let code = command.map(|command| command.end(signal));
                return code.map_or(Ok(()), |code| Ok(CommandEnded::of(code)?));
            }
            (Err(error), _) => error,
        };
        command.iter().for_each(|command| command.signal(Signal::TERM));
        Err(failed)
    }
}

/// What [`Live::next`] waited for.
enum Next {
    Signal(SignalAction),
    Ended(u8),
    Look,
}

/// Sends the command this signal and any that comes meanwhile, and waits for its end. Returns its exit code.
fn end_command(instance: &Instance, command: &mut AppCommand, signal: Signal, mut signals: Signals) -> u8 {
    instance.back.block_on(command.end_by(signal, AGAIN, |command, cx| {
        while let Poll::Ready(action) = signals.poll(cx) {
            command.signals(action);
        }
    }))
}

/// Sends the command the signals that came while the requests were finished. Returns the signal to stop, if one came.
fn pass_on_all(signals: &mut Signals, command: Option<&AppCommand>) -> Option<Signal> {
    Signals::notice_late_ones();
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(action) = signals.poll(&mut context) {
        if let SignalAction::Stop(signal) = action {
            return Some(signal);
        }
        command.iter().for_each(|command| command.signals(action));
    }
    None
}
