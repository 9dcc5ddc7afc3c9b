//! Starts, runs and stops the server.

pub(crate) mod certificate;
mod changed_settings;
pub(crate) mod descriptors;
mod handler;
pub(crate) mod handover;
mod maintenance;
pub(crate) mod signals;
pub(crate) mod supervisor;

use crate::app::App;
use crate::config::{Loaded, Settings};
use crate::instance::sinks;
use crate::instance::{Instance, StartOptions};
use crate::route::public_url;
use crate::serve::certificate::Certificate;
use crate::serve::handover::{Program, warn_of_listen};
use crate::serve::signals::{SignalAction, Signals};
use crate::serve::supervisor::Supervisor;
use crate::{conformance, hooks};
use front::{Listener, Stop};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Clock, Lines, Log, Recorder};

/// How long a stop waits for requests under way, and for the lines of the log.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection must be idle before a restart closes it. An active client sends its next request much earlier.
const RESTART_IDLE: Duration = Duration::from_secs(1);

fn limits(settings: &Settings) -> front::Limits {
    let server = &settings.server;
    front::Limits {
        upload: server.max_upload_bytes,
        connections: server.max_connections,
        client_connections: server.max_connections_per_client,
        head_time: Duration::from_secs(server.head_timeout_s),
        keep_alive: Duration::from_secs(server.idle_timeout_s),
        upload_idle: Duration::from_secs(server.upload_idle_timeout_s),
        write_stall: Duration::from_secs(server.write_timeout_s),
        file_buffers: server.file_buffers,
        ..front::Limits::default()
    }
}

/// A server that answers requests.
#[derive(Debug)]
pub struct Running {
    /// The first address on which it listens.
    pub address: SocketAddr,
    /// The other addresses.
    others: Vec<SocketAddr>,
    /// The instance behind the socket.
    pub instance: Instance,
    /// Keeps the socket open until the next program has it.
    listener: Listener,
    stop: Stop,
    front: Front,
}

type Front = std::thread::JoinHandle<Result<(), front::Error>>;

/// Binds the socket, opens the data folder, and starts to serve. A port that is in use is reported before anything else is done.
pub fn start(settings: &Settings, log: Log, mut options: StartOptions) -> anyhow::Result<Running> {
    let listener = options.listener.take().map_or_else(|| Listener::bind(settings.server.listen), Ok)?;
    descriptors::reserve(&listener, settings.server.max_connections.saturating_add(front::RESERVED as u64));
    conformance::allow(settings, listener.local_addr()?)?;
    let certificate = Certificate::open(settings)?;
    let (address, accepting) = (listener.local_addr()?, listener.try_clone()?);
    let scheme = if certificate.is_some() { "https" } else { "http" };
    options.url = format!("{scheme}://{address}");
    public_url::warn(settings, address, &log);
    let instance = Instance::open(settings, log.clone(), options)?;
    watch_machine(&instance.app.recorder, &listener, &settings.store.data)?;
    if let Some(certificate) = &certificate {
        certificate.show_in_metrics(&instance.app.recorder);
        drop(instance.app.certificate.set(certificate.clone()));
        instance.back.spawn(certificate.clone().watch(log, instance.app.clock.clone()));
    }
    instance.back.spawn(maintenance::run(instance.app.clone()));
    instance.back.spawn(hooks::watch::run(instance.app.clone()));
    let stop = Stop::default();
    let front_options = front::Options {
        cores: settings.server.cores,
        file_threads: settings.server.file_threads,
        limits: limits(settings),
        proxies: public_url::proxies(&settings.server),
        tls: certificate.as_ref().map(|certificate| certificate.tls()),
        shutdown_timeout: STOP_TIMEOUT,
        sendfile: settings.server.sendfile,
    };
    let (handler, recorder, stop_front) = (instance.app.clone(), instance.app.recorder.clone(), stop.clone());
    let front = std::thread::Builder::new()
        .name("daylight-front".into())
        .spawn(move || front::run(accepting, front_options, handler, recorder, stop_front))?;
    let others = listener.local_addrs()?.split_off(1);
    Ok(Running { address, others, instance, listener, stop, front })
}

/// Watches the accept queues, the disk of the data folder, and the limits that the machine sets.
fn watch_machine(recorder: &Recorder, listener: &Listener, data: &Path) -> anyhow::Result<()> {
    for socket in listener.sockets() {
        let queue = recorder.machine().listens(socket, socket.local_addr()?);
        queue.into_iter().for_each(|queue| recorder.register(queue));
    }
    recorder.machine().watch(data.to_owned());
    Ok(())
}

impl Running {
    /// Finishes the requests under way, then closes. New connections are refused.
    pub fn stop(self) -> anyhow::Result<()> {
        let Self { instance, listener, stop, front, .. } = self;
        drop(listener);
        instance.app.tail.close();
        stop.now();
        shut_down(front, instance)
    }

    /// The same, but new connections wait in the backlog of the socket for the next program.
    fn hand_over(self) -> anyhow::Result<Listener> {
        self.instance.app.tail.close();
        self.stop.after(RESTART_IDLE);
        shut_down(self.front, self.instance)?;
        Ok(self.listener)
    }

    /// Reads the certificate again, and the repositories that the file declares.
    fn reload(&self, file: Option<&Path>, log: &Log) {
        let App { certificate, clock, .. } = &*self.instance.app;
        certificate.get().iter().for_each(|certificate| certificate.refresh(log, clock.now()));
        let Some(file) = file else { return };
        match self.instance.apply_declared(file, log) {
            Ok(()) => log.info("the repositories of the configuration file are in force", &[("file", &file.display())]),
            Err(error) => log.warn(
                "the repositories of the configuration file are not in force",
                &[("cause", &format!("{error:#}"))],
            ),
        }
    }

    /// Waits for a signal, or for the front to end by itself.
    fn wait(&self, signals: &mut Signals) -> SignalAction {
        self.instance.back.block_on(async {
            let mut stopped = pin!(self.stop.asked());
            poll_fn(|cx| match signals.poll(cx) {
                Poll::Pending => stopped.as_mut().poll(cx).map(|_| SignalAction::Stop),
                action => action,
            })
            .await
        })
    }
}

fn shut_down(front: Front, instance: Instance) -> anyhow::Result<()> {
    let served = front.join().map_err(|_| anyhow::anyhow!("the front panicked"))?;
    instance.close();
    Ok(served?)
}

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
    let program = Program::here();
    let clock = Clock::default();
    let (log, lines) = sinks::log(&settings, &clock);
    log.take_panics();
    for warning in &loaded.warnings {
        log.warn(warning, &[]);
    }
    let sinks = sinks::events(&settings);
    let running = start(&settings, log.clone(), StartOptions { clock, sinks, listener, ..StartOptions::default() })?;
    running.instance.app.recorder.register(lines.bound().clone());
    // This comes before the announcement: until here a signal to stop ends the process at once.
    let mut signals = Signals::listen(&running.instance.back)?;
    announce(&running, json);
    supervisor.ready(running.instance.app.urls.configured());
    if let Some(every) = supervisor.watchdog() {
        running.instance.back.spawn(supervisor.clone().watch(every, running.instance.app.recorder.clone()));
    }
    let data = settings.store.data.display().to_string();
    log.info(
        "serving",
        &[("address", &running.address), ("url", &running.instance.app.urls.configured()), ("data", &data)],
    );
    loop {
        match running.wait(&mut signals) {
            SignalAction::Stop => break,
            SignalAction::Reload => {
                supervisor.reloading();
                warn_of_listen(running.address, settings.server.listen, listen_now, &log);
                if let Ok((_, now)) = read_again() {
                    changed_settings::warn(&loaded.entries, &now.entries, &log);
                }
                running.reload(loaded.file.as_deref(), &log);
                supervisor.ready(running.instance.app.urls.configured());
            }
            SignalAction::Restart => match program.check() {
                Ok(()) => {
                    warn_of_listen(running.address, settings.server.listen, listen_now, &log);
                    supervisor.reloading();
                    return restart(running, program, signals, &log, &lines);
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
fn restart(running: Running, program: Program, mut signals: Signals, log: &Log, lines: &Lines) -> anyhow::Result<()> {
    log.info("restarting", &[]);
    let listener = running.hand_over();
    let stop = listener.is_err() || signals.stop_requested();
    log.info(if stop { "stopped" } else { "stopped for the restart" }, &[]);
    lines.flush(STOP_TIMEOUT);
    let listener = listener?;
    if stop { Ok(()) } else { Err(program.replace(listener)) }
}

/// Prints the address, and a new admin token, on standard output. A closed standard output is no reason to stop.
fn announce(running: &Running, json: bool) {
    use std::io::Write;
    let secret = running.instance.first.admin_token.as_ref().map(crate::config::Secret::expose);
    let scheme = if running.instance.app.certificate.get().is_some() { "https" } else { "http" };
    let url = |address: &SocketAddr| format!("{scheme}://{address}");
    let token = |secret| format!("admin token: {secret}\nit is shown only once; the server keeps its hash\n");
    let text = match json {
        true => format!("{:#}\n", serde_json::json!({ "listening": url(&running.address), "admin_token": secret })),
        false => {
            let all = std::iter::once(&running.address).chain(&running.others);
            let lines: String = all.map(|address| format!("listening on {}\n", url(address))).collect();
            secret.map(token).unwrap_or_default() + &lines
        }
    };
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
