//! A server that answers requests: it begins with its sockets, and ends with the requests under way.

use crate::acme::{self, Acme};
use crate::alerts::{self, Alerts, Receiver, Teller};
use crate::app::App;
use crate::config::Settings;
use crate::findings::gather;
use crate::health::metrics;
use crate::instance::{Instance, StartOptions};
use crate::route::public_url;
use crate::serve::certificate::{Certificate, OWN};
use crate::serve::door::Door;
use crate::serve::jobs::Jobs;
use crate::serve::signals::{SignalAction, Signals};
use crate::serve::supervisor::Supervisor;
use crate::serve::{acme_options, certificate, descriptors, http_door, maintenance};
use crate::{conformance, hooks, otlp, statsd};
use client::Probe;
use front::{Listener, Site, Stop};
use insight::{AskSelf, WatchOptions};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use telemetry::{Log, Probes, Recorder};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// How long a stop waits for requests under way, and for the lines of the log.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// Uploads for applications that are slower than this for long are broken off, in bytes a second.
const APP_UPLOAD_RATE: u64 = 256;
/// How long a connection must be idle before a restart closes it. An active client sends its next request much earlier.
const RESTART_IDLE: Duration = Duration::from_secs(1);

/// A server that answers requests.
#[derive(Debug)]
pub struct Running {
    /// The first address on which it listens.
    pub address: SocketAddr,
    /// The other addresses.
    pub(crate) others: Vec<SocketAddr>,
    /// The address of plain HTTP beside TLS.
    pub(crate) http: Option<SocketAddr>,
    /// Whether they speak TLS.
    is_tls: bool,
    /// The instance behind the socket.
    pub instance: Instance,
    /// Keep the sockets open until the next program has them: first its own, then those of the doors.
    listeners: Vec<Listener>,
    stop: Stop,
    front: Front,
}

type Front = std::thread::JoinHandle<Result<(), front::Error>>;

/// Binds the socket, opens the data folder, and starts to serve. A port that is in use is reported before anything else is done.
pub fn start(settings: &Settings, log: Log, mut options: StartOptions) -> anyhow::Result<Running> {
    let http = http_door::listener(settings, options.http_listener.take())?;
    let http_address = http.as_ref().map(Listener::local_addr).transpose()?;
    let running = start_with(settings, log, options, |instance, address| {
        http.into_iter().map(|listener| http_door::open(listener, &instance.app, settings, address)).collect()
    })?;
    Ok(Running { http: http_address, ..running })
}

/// The same with further doors, which are made once the instance is open; the server itself listens at the address that they get.
pub(crate) fn start_with(
    settings: &Settings,
    log: Log,
    mut options: StartOptions,
    doors: impl FnOnce(&Instance, SocketAddr) -> anyhow::Result<Vec<Door>>,
) -> anyhow::Result<Running> {
    let listener = options.listener.take().map_or_else(|| Listener::bind(settings.server.listen), Ok)?;
    descriptors::reserve(&listener, settings.server.max_connections.saturating_add(front::RESERVED as u64));
    conformance::allow(settings, listener.local_addr()?)?;
    let (certificate, acme) = (Certificate::of_server(settings)?, acme_options::of(settings)?);
    let (address, is_tls) = (listener.local_addr()?, settings.speaks_tls());
    let receivers = Alerts::receivers(settings)?;
    options.url = url(address, is_tls);
    public_url::warn(settings, address, &log);
    let instance = Instance::open(settings, log.clone(), options)?;
    let opened = begin_acme(&instance, acme, &log).and_then(|acme| Ok((acme, doors(&instance, address)?)));
    let (certificate, doors) = match opened {
        Ok((of_authority, doors)) => (of_authority.or(certificate), doors),
        Err(error) => {
            instance.close();
            return Err(error);
        }
    };
    instance.app.recorder.machine().watch(settings.store.data.clone());
    let own = Door { listener, certificate, handler: instance.app.clone() };
    let (mut sites, mut listeners, mut certificates) = (Vec::new(), Vec::new(), Vec::new());
    for Door { listener, certificate, handler } in std::iter::once(own).chain(doors) {
        watch_queues(&instance.app.recorder, &listener)?;
        let tls = certificate.as_ref().map(|certificate| certificate.tls());
        sites.push(Site { listener: listener.try_clone()?, handler, tls });
        listeners.push(listener);
        certificates.extend(certificate);
    }
    if !certificates.is_empty() {
        certificate::show_in_metrics(&certificates, &instance.app.recorder);
    }
    begin_alerts(&instance, receivers, settings);
    start_jobs(&instance, &certificates, &log);
    drop(instance.app.certificates.set(certificates));
    let stop = Stop::default();
    let front_options = front::Options {
        cores: settings.server.cores,
        file_threads: settings.server.file_threads,
        limits: limits(settings),
        proxies: public_url::proxies(&settings.server),
        shutdown_timeout: STOP_TIMEOUT,
        sendfile: settings.server.sendfile,
    };
    let (recorder, stop_front) = (instance.app.recorder.clone(), stop.clone());
    let front = std::thread::Builder::new()
        .name("daylight-front".into())
        .spawn(move || front::run(sites, front_options, recorder, stop_front))?;
    watch(&instance, settings, address, is_tls, &log);
    let others = listeners.first().map(Listener::local_addrs).transpose()?.unwrap_or_default().split_off(1);
    Ok(Running { address, others, http: None, is_tls, instance, listeners, stop, front })
}

/// Opens the folder of the certificate that the server gets by itself. Returns the certificate to show.
fn begin_acme(
    instance: &Instance,
    options: Option<acme::Options>,
    log: &Log,
) -> anyhow::Result<Option<Arc<Certificate>>> {
    let Some(options) = options else { return Ok(None) };
    let acme = Acme::open(options, OWN.to_owned(), &instance.app.store, log)?;
    let certificate = acme.certificate();
    drop(instance.app.acme.set(acme));
    Ok(Some(certificate))
}

/// Makes the receivers of alerts known to the instance.
fn begin_alerts(instance: &Instance, receivers: Vec<Arc<Receiver>>, settings: &Settings) {
    let (app, cluster) = (&instance.app, &settings.cluster);
    let node = cluster.database.0.is_some().then(|| cluster.node.0.clone());
    let context = alerts::Context {
        findings: app.findings.clone(),
        recorder: app.recorder.clone(),
        clock: app.clock.clone(),
        log: app.log.clone(),
        teller: Teller { server: app.urls.configured().to_owned(), node: node.unwrap_or_default() },
        leases: app.store.leases().clone(),
    };
    drop(app.alerts.set(Alerts::new(receivers, context, instance.back.handle().clone())));
}

/// Starts the jobs that last as long as the server.
fn start_jobs(instance: &Instance, certificates: &[Arc<Certificate>], log: &Log) {
    let (app, jobs) = (&instance.app, Jobs { runtime: &instance.back, recorder: &instance.app.recorder, log });
    if !certificates.is_empty() {
        let (certificates, log, clock) = (certificates.to_vec(), log.clone(), app.clock.clone());
        jobs.start("certificates", certificate::EVERY, move |job| {
            certificate::watch(certificates.clone(), log.clone(), clock.clone(), job)
        });
    }
    if let Some(acme) = app.acme.get() {
        acme.start(&jobs, &app.recorder, log, &app.clock);
    }
    let of_job = app.clone();
    jobs.start("maintenance", maintenance::STEP, move |job| maintenance::run(of_job.clone(), job));
    let of_job = app.clone();
    jobs.start("hooks", hooks::watch::LONGEST, move |job| hooks::watch::run(of_job.clone(), job));
    if let Some(alerts) = app.alerts.get().filter(|alerts| !alerts.is_empty()).cloned() {
        jobs.start("alerts", alerts::EVERY, move |job| alerts::run(alerts.clone(), job));
    }
    if let Some(otlp) = &app.otlp {
        let of_job = app.clone();
        otlp::start(otlp, &jobs, &app.recorder, move || metrics::whole_view(of_job.clone()));
    }
    if let Some(statsd) = &app.statsd {
        statsd::start(statsd, &jobs);
    }
    let of_job = app.clone();
    jobs.start("findings-facts", gather::EVERY, move |job| gather::run(of_job.clone(), job));
}

/// Starts the watch, which asks the server through its first address.
fn watch(instance: &Instance, settings: &Settings, address: SocketAddr, is_tls: bool, log: &Log) {
    let app = &instance.app;
    let proxies = public_url::proxies(&settings.server);
    let mark = Some((Probes::HEADER, app.recorder.probes().mark()));
    let probe = Probe::new(address, Probes::PATH, mark, is_tls, |peer| proxies.announces(peer));
    let ask = probe.map(|probe| Box::new(move |limit| probe.ask(limit)) as AskSelf);
    let findings = app.findings.clone();
    app.watch.begin(WatchOptions {
        recorder: app.recorder.clone(),
        tells: Box::new(move |seen| findings.watched(seen)),
        clock: app.clock.clone(),
        log: log.clone(),
        ask: ask.inspect_err(|error| log.warn("the server cannot ask itself", &[("cause", error)])).ok(),
        words: Some(store::Layout::new(&settings.store.data).last_words()),
    });
}

/// The URL of an address.
pub(crate) fn url(address: SocketAddr, is_tls: bool) -> String {
    format!("{}://{address}", if is_tls { "https" } else { "http" })
}

fn limits(settings: &Settings) -> front::Limits {
    let (server, usual) = (&settings.server, front::Limits::default());
    // An upload for an application holds no worker, and may come from a phone.
    let upload_rate = if settings.apps.is_empty() { usual.upload_rate } else { APP_UPLOAD_RATE };
    front::Limits {
        upload_rate,
        upload: server.max_upload_bytes,
        connections: server.max_connections,
        client_connections: server.max_connections_per_client,
        head_time: Duration::from_secs(server.head_timeout_s),
        keep_alive: Duration::from_secs(server.idle_timeout_s),
        upload_idle: Duration::from_secs(server.upload_idle_timeout_s),
        write_stall: Duration::from_secs(server.write_timeout_s),
        file_buffers: server.file_buffers,
        ..usual
    }
}

/// Watches the accept queues.
fn watch_queues(recorder: &Recorder, listener: &Listener) -> anyhow::Result<()> {
    for socket in listener.sockets() {
        let queue = recorder.machine().listens(socket, socket.local_addr()?);
        queue.into_iter().for_each(|queue| recorder.register(queue));
    }
    Ok(())
}

impl Running {
    /// The URL of one of the first addresses.
    pub(crate) fn url_of(&self, address: SocketAddr) -> String {
        url(address, self.is_tls)
    }

    /// Tells load balancers that this node ends, and answers everything for so long, or until another signal to stop or to restart comes.
    /// Returns whether that was one to stop. Without another living node, nobody could answer in its place: it does nothing.
    pub(crate) fn drain(&self, limit: Duration, supervisor: &Supervisor, signals: &mut Signals, log: &Log) -> bool {
        let store = &self.instance.app.store;
        if limit.is_zero() || store.living() < 2 {
            return false;
        }
        store.drain();
        supervisor.draining(limit);
        log.info("draining: `/health/ready` is 503", &[("seconds", &limit.as_secs())]);
        let mut stopped = pin!(self.stop.asked());
        let ends = poll_fn(|cx| {
            loop {
                match ready!(self.poll_action(signals, stopped.as_mut(), cx)) {
                    SignalAction::Stop(_) => return Poll::Ready(true),
                    SignalAction::Restart => return Poll::Ready(false),
                    SignalAction::Reload | SignalAction::Own => {}
                }
            }
        });
        self.runtime().block_on(async { timeout(limit, ends).await }).unwrap_or(false)
    }

    /// Finishes the requests under way, then closes. New connections are refused.
    pub fn stop(self) -> anyhow::Result<()> {
        let (instance, served) = self.finish();
        instance.close();
        served
    }

    /// Finishes the requests under way. New connections are refused. The instance is still open, for what ends after the requests.
    pub(crate) fn finish(self) -> (Instance, anyhow::Result<()>) {
        let Self { instance, listeners, stop, front, .. } = self;
        instance.app.watch.stopping();
        // Clients of a node that is about to stop may still have connections.
        let idle = if instance.app.store.is_draining() { RESTART_IDLE } else { Duration::ZERO };
        instance.app.store.drain();
        drop(listeners);
        instance.app.tail.close();
        stop.after(idle);
        (instance, ended(front))
    }

    /// Finishes the requests under way, and closes. New connections wait in the backlogs of the sockets for the next program.
    pub(crate) fn hand_over(self) -> anyhow::Result<Vec<Listener>> {
        self.instance.app.watch.stopping();
        self.instance.app.store.drain();
        self.instance.app.tail.close();
        self.stop.after(RESTART_IDLE);
        let served = ended(self.front);
        self.instance.close();
        served.map(|()| self.listeners)
    }

    /// Reads the certificates again, and the repositories that the file declares. Gets a certificate at once, if one is wanted.
    pub(crate) fn reload(&self, file: Option<&Path>, log: &Log) {
        self.reload_certificates(log);
        self.instance.app.acme.get().into_iter().for_each(|acme| acme.try_now());
        let Some(file) = file else { return };
        match self.instance.apply_declared(file, log) {
            Ok(()) => log.info("the repositories of the configuration file are in force", &[("file", &file.display())]),
            Err(error) => log.warn(
                "the repositories of the configuration file are not in force",
                &[("cause", &format!("{error:#}"))],
            ),
        }
    }

    /// Reads the certificates again.
    pub(crate) fn reload_certificates(&self, log: &Log) {
        let App { certificates, clock, .. } = &*self.instance.app;
        certificates.get().into_iter().flatten().for_each(|certificate| certificate.refresh(log, clock.now()));
    }

    /// Waits for a signal, or for the front to end by itself.
    pub(crate) fn wait(&self, signals: &mut Signals) -> SignalAction {
        let mut stopped = pin!(self.stop.asked());
        self.runtime().block_on(poll_fn(|cx| self.poll_action(signals, stopped.as_mut(), cx)))
    }

    /// The next signal, or that the front has ended by itself, as the future of [`Running::stopped`] tells.
    pub(crate) fn poll_action(
        &self,
        signals: &mut Signals,
        stopped: std::pin::Pin<&mut impl Future<Output = Duration>>,
        cx: &mut Context<'_>,
    ) -> Poll<SignalAction> {
        match signals.poll(cx) {
            Poll::Pending => stopped.poll(cx).map(|_| SignalAction::Stop(rustix::process::Signal::TERM)),
            action => action,
        }
    }

    /// Waits until the front is to stop.
    pub(crate) fn stopped(&self) -> impl Future<Output = Duration> {
        self.stop.asked()
    }

    /// Starts jobs that last as long as the server.
    pub(crate) fn jobs(&self) -> Jobs<'_> {
        let App { recorder, log, .. } = &*self.instance.app;
        Jobs { runtime: &self.instance.back, recorder, log }
    }

    /// The runtime of work that no client waits for.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.instance.back
    }
}

/// Waits for the end of the front.
fn ended(front: Front) -> anyhow::Result<()> {
    Ok(front.join().map_err(|_| anyhow::anyhow!("the front panicked"))??)
}
