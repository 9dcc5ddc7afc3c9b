//! Runs the server until a signal stops or restarts it.

mod acme_options;
pub(crate) mod certificate;
pub(crate) mod changed_settings;
pub(crate) mod descriptor_message;
pub(crate) mod descriptors;
pub(crate) mod door;
mod handler;
pub(crate) mod handover;
pub(crate) mod http_door;
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
use crate::serve::handover::{Sockets, warn_of_listen};
use crate::serve::program::{Program, shows_settings};
use crate::serve::running::STOP_TIMEOUT;
use crate::serve::signals::{SignalAction, Signals};
use crate::serve::supervisor::Supervisor;
use anyhow::Context;
use front::Listener;
use std::net::SocketAddr;
use std::time::Duration;
use telemetry::{Clock, Lines, Log};

/// Serves until a signal stops or restarts it. Uses the sockets that were passed to it. `read_again` reads the settings again. `json`: prints the address and
/// the admin token as JSON.
pub(crate) fn run(
    settings: Settings,
    loaded: Loaded,
    sockets: Sockets,
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
            listener: sockets.own,
            http_listener: sockets.http,
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
    let drain = Duration::from_secs(settings.cluster.drain_s);
    loop {
        match running.wait(&mut signals) {
            SignalAction::Stop(_) => {
                supervisor.stopping();
                running.drain(drain, &supervisor, &mut signals, &log);
                break;
            }
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
            SignalAction::Restart => match program.check().and_then(|()| next_http(&settings, read_again)) {
                Ok(http) => {
                    warn_of_listen(running.address, settings.server.listen, listen_now, &log);
                    supervisor.reloading();
                    if running.drain(drain, &supervisor, &mut signals, &log) {
                        supervisor.stopping();
                        break;
                    }
                    return restart(running, http, &program, signals, &log, &lines);
                }
                Err(error) => log.error("not restarting", &[("cause", &format!("{error:#}"))]),
            },
        }
    }
    log.info("stopping", &[]);
    let stopped = running.stop();
    log.info("stopped", &[]);
    lines.flush(STOP_TIMEOUT);
    stopped
}

/// The socket for plain HTTP of the next program.
enum NextHttp {
    /// That of this program, if it has one.
    Same,
    /// Its settings have none.
    None,
    /// That of another address.
    New(Listener),
}

/// Binds the address of the present settings for plain HTTP, if it is another: a failure now ends no working server.
fn next_http(
    began_with: &Settings,
    read_again: &dyn Fn() -> anyhow::Result<(Settings, Loaded)>,
) -> anyhow::Result<NextHttp> {
    let now = read_again()?.0.server.http_listen;
    Ok(match now.0 {
        _ if now == began_with.server.http_listen => NextHttp::Same,
        None => NextHttp::None,
        Some(address) => NextHttp::New(Listener::bind(address).context("`server.http_listen` has changed")?),
    })
}

/// Stops, keeps the sockets, and replaces the process with the program. A signal to stop meanwhile has priority.
fn restart(
    running: Running,
    http: NextHttp,
    program: &Program,
    mut signals: Signals,
    log: &Log,
    lines: &Lines,
) -> anyhow::Result<()> {
    log.info("restarting", &[]);
    let listeners = running.hand_over();
    let stop = listeners.is_err() || signals.stop_requested().is_some();
    log.info(if stop { "stopped" } else { "stopped for the restart" }, &[]);
    lines.flush(STOP_TIMEOUT);
    let mut listeners = listeners?.into_iter();
    // The lines may have waited for a slow reader.
    if stop || signals.stop_requested().is_some() {
        return Ok(());
    }
    let (own, former) = (listeners.next(), listeners.next());
    let http = match http {
        NextHttp::Same => former,
        NextHttp::None => None,
        NextHttp::New(listener) => Some(listener),
    };
    Err(program.replace(Sockets { own, http, ..Sockets::default() }.input()?))
}

/// Prints the address, and a new admin token, on standard output.
fn announce(running: &Running, json: bool) {
    let secret = running.instance.first.admin_token.as_ref().map(crate::config::Secret::expose);
    let url = |address: &SocketAddr| running.url_of(*address);
    let text = match json {
        true => {
            let (listening, http) = (url(&running.address), running.http.map(|address| format!("http://{address}")));
            let object = serde_json::json!({ "listening": listening, "http": http, "admin_token": secret });
            format!("{object:#}\n")
        }
        false => {
            let http = running.http.map(|address| format!("plain HTTP on http://{address}\n"));
            let all = std::iter::once(&running.address).chain(&running.others);
            let lines: String = all.map(|address| format!("listening on {}\n", url(address))).collect();
            secret.map(token_lines).unwrap_or_default() + &http.unwrap_or_default() + &lines
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
