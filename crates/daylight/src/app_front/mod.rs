//! `daylight front`: a server in front of applications. It starts the command that is one of them, and ends with it; it is replaced by its
//! next program without the command noticing.

mod addresses;
mod command;
mod live;
mod passed_on;
pub(crate) mod served_apps;

pub(crate) use passed_on::PassedOn;

use crate::config::{Loaded, Settings};
use crate::instance::{StartOptions, sinks};
use crate::serve::certificate::Certificate;
use crate::serve::program::{Program, checks_front};
use crate::serve::running::{Running, start_with};
use crate::serve::signals::Signals;
use crate::serve::supervisor::Supervisor;
use crate::serve::{print, token_lines};
use addresses::Addresses;
use apps::Apps;
use command::AppCommand;
use live::Live;
use passed_on::PassedCommand;
use rustix::fs::Mode;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;
use telemetry::{Clock, Log, Recorder};

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

/// Checks that applications with these settings could be served, and starts nothing.
pub(crate) fn check(settings: &Settings) -> anyhow::Result<()> {
    Certificate::of_server(settings)?;
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
    let options = StartOptions {
        clock,
        sinks: sinks::events(&settings),
        without_repositories: true,
        settings: loaded.facts(),
        warnings: loaded.warnings.clone(),
        ..StartOptions::default()
    };
    let (running, wanted) = match open(&settings, port, passed, options, &log) {
        Ok(opened) => opened,
        Err(error) => {
            former.iter().for_each(PassedCommand::terminate);
            return Err(error);
        }
    };
    running.instance.app.recorder.register(lines.bound().clone());
    // This comes before the announcement: until here a signal to stop ends the process at once.
    let mut signals = Signals::listen(running.runtime())?;
    if !command.is_empty() {
        signals = signals.with_own(running.runtime())?;
    }
    // A new admin token is shown even if the command cannot be run.
    announce(&running, json);
    let started = match &former {
        Some(former) => AppCommand::adopt(former.process, former.port, running.runtime()).map(Some),
        None => port.map(|port| AppCommand::start(&command, port, umask, running.runtime())).transpose(),
    };
    let command = match started {
        Ok(command) => command,
        Err(error) => {
            former.iter().for_each(PassedCommand::terminate);
            running.stop()?;
            return Err(error);
        }
    };
    supervisor.ready(running.instance.app.urls.configured());
    if let Some(every) = supervisor.watchdog() {
        let (supervisor, recorder) = (supervisor.clone(), running.instance.app.recorder.clone());
        let watch = move |job| supervisor.clone().watch(every, recorder.clone(), job);
        running.jobs().start("service-manager", every, watch);
    }
    log_start(&running, command.as_ref(), &settings, &log);
    let live =
        Live { running, command, supervisor, log, lines, program, wanted, bound: Vec::new(), declared: settings.apps };
    live.run(signals, &loaded, read_again)
}

/// Takes or binds the sockets, opens the data folder, and starts to serve. Returns the addresses of the settings, too: that of the admin
/// side, and those of applications.
fn open(
    settings: &Settings,
    port: Option<u16>,
    mut passed: PassedOn,
    options: StartOptions,
    log: &Log,
) -> anyhow::Result<(Running, Vec<SocketAddr>)> {
    let options = StartOptions { listener: passed.listener(settings.server.listen), ..options };
    let addresses = Addresses::bind(settings, port, &mut passed)?;
    // Those of addresses that are in the settings no more are closed.
    drop(passed);
    let wanted = addresses::wanted(settings);
    let running = start_with(settings, log.clone(), options, |instance, _| addresses.open(instance, settings))?;
    Ok((running, wanted))
}

/// Prints the addresses, and a new admin token, on standard output.
fn announce(running: &Running, json: bool) {
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
}

fn log_start(running: &Running, command: Option<&AppCommand>, settings: &Settings, log: &Log) {
    let (data, urls) = (settings.store.data.display().to_string(), running.instance.apps().urls().join(" "));
    log.info("serving", &[("address", &urls), ("admin", &running.address), ("data", &data)]);
    if let Some(command) = command {
        log.info("the command runs", &[("process", &command.process()), ("port", &command.port())]);
    }
}
