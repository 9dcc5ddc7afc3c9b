//! Runs the server until a signal stops or restarts it.

pub(crate) mod certificate;
pub(crate) mod changed_settings;
pub(crate) mod descriptors;
mod handler;
pub(crate) mod handover;
pub(crate) mod jobs;
mod maintenance;
pub(crate) mod program;
pub(crate) mod running;
pub(crate) mod signals;
pub(crate) mod supervisor;

pub use running::{Running, start};

use crate::config::{Loaded, Settings};
use crate::instance::StartOptions;
use crate::instance::sinks;
use crate::serve::handover::warn_of_listen;
use crate::serve::program::{Program, shows_settings};
use crate::serve::running::STOP_TIMEOUT;
use crate::serve::signals::{SignalAction, Signals};
use crate::serve::supervisor::Supervisor;
use front::Listener;
use std::net::SocketAddr;
use telemetry::{Clock, Lines, Log};

/// Serves until a signal stops or restarts it. Uses `listener`, if there is one. `read_again` reads the settings again. `json`: prints the address and
/// the admin token as JSON.
pub(crate) fn run(
    settings: Settings,
    loaded: Loaded,
    listener: Option<Listener>,
    supervisor: Supervisor,
    read_again: &dyn Fn() -> anyhow::Result<(Settings, Loaded)>,
    json: bool,
) -> anyhow::Result<()> {
    let listen_now = &|| Ok(read_again()?.0.server.listen);
    let program = Program::here(shows_settings);
    let clock = Clock::default();
    let (log, lines) = sinks::log(&settings, &clock);
    log.take_panics();
    for warning in &loaded.warnings {
        log.warn(warning, &[]);
    }
    let sinks = sinks::events(&settings);
    let running = start(
        &settings,
        log.clone(),
        StartOptions {
            clock,
            sinks,
            listener,
            settings: loaded.facts(),
            warnings: loaded.warnings.clone(),
            ..StartOptions::default()
        },
    )?;
    running.instance.app.recorder.register(lines.bound().clone());
    // This comes before the announcement: until here a signal to stop ends the process at once.
    let mut signals = Signals::listen(&running.instance.back)?;
    announce(&running, json);
    supervisor.ready(running.instance.app.urls.configured());
    if let Some(every) = supervisor.watchdog() {
        let (supervisor, recorder) = (supervisor.clone(), running.instance.app.recorder.clone());
        let watch = move |job| supervisor.clone().watch(every, recorder.clone(), job);
        running.jobs().start("service-manager", every, watch);
    }
    let data = settings.store.data.display().to_string();
    log.info(
        "serving",
        &[("address", &running.address), ("url", &running.instance.app.urls.configured()), ("data", &data)],
    );
    loop {
        match running.wait(&mut signals) {
            SignalAction::Stop(_) => break,
            SignalAction::Reload => {
                supervisor.reloading();
                warn_of_listen(running.address, settings.server.listen, listen_now, &log);
                if let Ok((_, now)) = read_again() {
                    changed_settings::warn(&loaded.entries, &now.entries, &["server.listen"], &log);
                }
                running.reload(loaded.file.as_deref(), &log);
                supervisor.ready(running.instance.app.urls.configured());
            }
            SignalAction::Own => {}
            SignalAction::Restart => match program.check() {
                Ok(()) => {
                    warn_of_listen(running.address, settings.server.listen, listen_now, &log);
                    supervisor.reloading();
                    return restart(running, &program, signals, &log, &lines);
                }
                Err(error) => log.error("not restarting", &[("cause", &format!("{error:#}"))]),
            },
        }
    }
    log.info("stopping", &[]);
    supervisor.stopping();
    let stopped = running.stop();
    log.info("stopped", &[]);
    lines.flush(STOP_TIMEOUT);
    stopped
}

/// Stops, keeps the socket, and replaces the process with the program. A signal to stop meanwhile has priority.
fn restart(running: Running, program: &Program, mut signals: Signals, log: &Log, lines: &Lines) -> anyhow::Result<()> {
    log.info("restarting", &[]);
    let listeners = running.hand_over();
    let stop = listeners.is_err() || signals.stop_requested().is_some();
    log.info(if stop { "stopped" } else { "stopped for the restart" }, &[]);
    lines.flush(STOP_TIMEOUT);
    let Some(listener) = listeners?.into_iter().next().filter(|_| !stop) else { return Ok(()) };
    Err(program.replace(handover::input(listener)))
}

/// Prints the address, and a new admin token, on standard output.
fn announce(running: &Running, json: bool) {
    let secret = running.instance.first.admin_token.as_ref().map(crate::config::Secret::expose);
    let url = |address: &SocketAddr| running.url_of(*address);
    let text = match json {
        true => format!("{:#}\n", serde_json::json!({ "listening": url(&running.address), "admin_token": secret })),
        false => {
            let all = std::iter::once(&running.address).chain(&running.others);
            let lines: String = all.map(|address| format!("listening on {}\n", url(address))).collect();
            secret.map(token_lines).unwrap_or_default() + &lines
        }
    };
    print(&text);
}

/// The lines that show a new admin token.
pub(crate) fn token_lines(secret: &str) -> String {
    format!("admin token: {secret}\nit is shown only once; the server keeps its hash\n")
}

/// Writes to standard output. A closed one is no reason to stop.
pub(crate) fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
