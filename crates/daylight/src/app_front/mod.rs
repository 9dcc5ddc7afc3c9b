//! `daylight front`: a server in front of applications. It starts the command that is one of them, and ends with it; it is replaced by its
//! next program without the command noticing.

mod addresses;
mod command;
mod passed_on;
pub(crate) mod served_apps;

pub(crate) use passed_on::PassedOn;

use crate::cli::failure::CommandEnded;
use crate::config::{Loaded, Settings};
use crate::instance::{Instance, StartOptions, sinks};
use crate::serve::program::{Program, checks_front};
use crate::serve::running::{Running, STOP_TIMEOUT, start_with};
use crate::serve::signals::{SignalAction, Signals};
use crate::serve::supervisor::Supervisor;
use crate::serve::{changed_settings, print, token_lines};
use addresses::Addresses;
use apps::Apps;
use command::AppCommand;
use passed_on::PassedCommand;
use rustix::fs::Mode;
use rustix::process::Signal;
use served_apps::ServedApps;
use std::ffi::OsString;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Clock, Lines, Log, Recorder, Tick};
use tokio::time::interval;

/// How long a restart waits for WebSockets and event streams before it ends them.
const STREAMS_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it looks whether they have ended.
const STREAMS_LOOK: Duration = Duration::from_millis(50);
/// How long requests wait for the port of the command.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// How `daylight front` was called.
pub(crate) struct Front<'a> {
    pub(crate) settings: Settings,
    pub(crate) loaded: Loaded,
    /// The command and its arguments. Empty: the applications run already.
    pub(crate) command: Vec<OsString>,
    /// The mask of new files that this process was started with, for the command.
    pub(crate) umask: Option<Mode>,
    /// What the former program of this process left.
    pub(crate) passed: PassedOn,
    pub(crate) supervisor: Supervisor,
    /// Reads the settings again.
    pub(crate) read_again: &'a dyn Fn() -> anyhow::Result<(Settings, Loaded)>,
    /// Prints the addresses and the admin token as JSON.
    pub(crate) json: bool,
}

/// Why the loop of [`serve`] ends.
enum End {
    /// A signal, or the front ended by itself.
    Stop(Signal),
    /// The command has ended, with this exit code.
    Command(u8),
    Restart,
}

/// Checks that applications with these settings could be served, and starts nothing.
pub(crate) fn check(settings: &Settings) -> anyhow::Result<()> {
    crate::serve::certificate::Certificate::of_server(settings)?;
    addresses::certificates(settings)?;
    let recorder = Recorder::silent(Clock::default());
    addresses::groups(settings, None).into_iter().try_for_each(|(_, options)| {
        Apps::new(options, &crate::route::public_url::proxies(&settings.server), &recorder)?;
        Ok(())
    })
}

/// Serves until a signal or the command stops it, or a signal restarts it.
pub(crate) fn run(front: Front<'_>) -> anyhow::Result<()> {
    let Front { settings, loaded, command, umask, mut passed, supervisor, read_again, json } = front;
    let program = Program::here(checks_front);
    let clock = Clock::default();
    let (log, lines) = sinks::log(&settings, &clock);
    log.take_panics();
    for warning in &loaded.warnings {
        log.warn(warning, &[]);
    }
    let former = passed.command.take().filter(|_| !command.is_empty());
    let port = match (&former, command.is_empty()) {
        (Some(former), _) => Some(former.port),
        (None, false) => Some(front::free_port()?),
        (None, true) => None,
    };
    let listener = passed.listener(settings.server.listen);
    let addresses = Addresses::bind(&settings, port, &mut passed)?;
    drop(passed);
    let options = StartOptions {
        clock,
        sinks: sinks::events(&settings),
        listener,
        without_repositories: true,
        ..StartOptions::default()
    };
    let wanted = [vec![settings.server.listen], addresses.wanted()].concat();
    let running = start_with(&settings, log.clone(), options, |instance| addresses.open(instance, &settings))?;
    running.instance.app.recorder.register(lines.bound().clone());
    // This comes before the announcement: until here a signal to stop ends the process at once.
    let mut signals = Signals::listen(running.runtime())?;
    if !command.is_empty() {
        signals = signals.with_own(running.runtime())?;
    }
    let started = match former {
        Some(former) => AppCommand::adopt(former.process, former.port, running.runtime()).map(Some),
        None => port.map(|port| AppCommand::start(&command, port, umask, running.runtime())).transpose(),
    };
    let command = match started {
        Ok(command) => command,
        Err(error) => {
            running.stop()?;
            return Err(error);
        }
    };
    announce(&running, json)?;
    supervisor.ready(running.instance.app.urls.configured());
    if let Some(every) = supervisor.watchdog() {
        running.runtime().spawn(supervisor.clone().watch(every, running.instance.app.recorder.clone()));
    }
    log_start(&running, command.as_ref(), &settings, &log)?;
    let mut live = Live { running, command, supervisor, log, lines, program, wanted };
    let end = live.serve(&mut signals, &loaded, read_again);
    match end {
        End::Restart => live.restart(signals),
        End::Stop(signal) => live.stop(signals, Some(signal), None),
        End::Command(code) => live.stop(signals, None, Some(code)),
    }
}

/// A front that answers requests.
struct Live {
    running: Running,
    command: Option<AppCommand>,
    supervisor: Supervisor,
    log: Log,
    lines: Lines,
    program: Program,
    /// The addresses of the settings: that of the admin side, and those of applications.
    wanted: Vec<std::net::SocketAddr>,
}

impl Live {
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
                Next::Signal(SignalAction::Own) => self.pass_on(Signal::USR1),
                Next::Signal(SignalAction::Reload) => {
                    self.supervisor.reloading();
                    if let Ok((_, now)) = read_again() {
                        changed_settings::warn(&loaded.entries, &now.entries, &self.log);
                    }
                    self.running.reload_certificates(&self.log);
                    self.pass_on(Signal::HUP);
                    self.supervisor.ready(self.running.instance.app.urls.configured());
                }
                Next::Signal(SignalAction::Restart) if restarts.is_some() => {}
                Next::Signal(SignalAction::Restart) => match self.program.check() {
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

    fn pass_on(&self, signal: Signal) {
        self.command.iter().for_each(|command| command.signal(signal));
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
        let Self { running, command, log, lines, program, wanted, .. } = self;
        let listeners = running.hand_over();
        let stop = signals.stop_requested().or(listeners.is_err().then_some(Signal::TERM));
        log.info(if stop.is_some() { "stopped" } else { "stopped for the restart" }, &[]);
        lines.flush(STOP_TIMEOUT);
        let failed = match (listeners, stop) {
            (Ok(listeners), None) => {
                let sockets = wanted.into_iter().zip(listeners).collect();
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

/// Sends the command this signal and those that come meanwhile, and waits for its end. Returns its exit code.
fn end_command(instance: &Instance, command: &mut AppCommand, signal: Signal, mut signals: Signals) -> u8 {
    command.signal(signal);
    instance.back.block_on(poll_fn(|cx| {
        while let Poll::Ready(action) = signals.poll(cx) {
            match action {
                SignalAction::Stop(signal) => command.signal(signal),
                SignalAction::Reload => command.signal(Signal::HUP),
                SignalAction::Own => command.signal(Signal::USR1),
                SignalAction::Restart => {}
            }
        }
        command.poll_ended(cx)
    }))
}

/// Prints the addresses, and a new admin token, on standard output.
fn announce(running: &Running, json: bool) -> anyhow::Result<()> {
    let token = running.instance.first.admin_token.as_ref().map(crate::config::Secret::expose);
    let (urls, admin) = (running.instance.apps().urls(), running.url_of(running.address));
    print(&match json {
        true => {
            let object = serde_json::json!({ "listening": urls, "admin": admin, "admin_token": token });
            format!("{object:#}\n")
        }
        false => {
            let lines: String = urls.iter().map(|url| format!("listening on {url}\n")).collect();
            format!("{}{lines}admin page on {admin}\n", token.map(token_lines).unwrap_or_default())
        }
    });
    Ok(())
}

fn log_start(running: &Running, command: Option<&AppCommand>, settings: &Settings, log: &Log) -> anyhow::Result<()> {
    let (data, urls) = (settings.store.data.display().to_string(), running.instance.apps().urls().join(" "));
    log.info("serving", &[("address", &urls), ("admin", &running.address), ("data", &data)]);
    if let Some(command) = command {
        log.info("the command runs", &[("process", &command.process()), ("port", &command.port())]);
    }
    Ok(())
}
