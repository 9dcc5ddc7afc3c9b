//! Start and stop, in mirror order: telemetry, store, repositories and access, sockets; and back.

use crate::access::Access;
use crate::app::App;
use crate::certificate::Certificate;
use crate::class::Classes;
use crate::config::{self, Loaded, Settings};
use crate::first_start::{self, FirstContent};
use crate::handover::{Program, warn_of_listen};
use crate::recent_paths::RecentPaths;
use crate::signals::{Signals, Told};
use crate::{conformance, declared, descriptors, route, sinks, upkeep, upstreams};
use anyhow::Context;
use client::Hosts;
use front::{Listener, PageHooks, Pages, Proxies, Stop};
use repository::{MemoryLimits, Repositories, WaitersLimits, Workers};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use store::{Lane, Stamp, Store, StoreOptions, Threads};
use telemetry::{Bound, BoundName, Clock, Event, Lines, Log, Outcome, Recent, Recorder, RecorderOptions, Sink};
use tokio::runtime::Runtime;

/// Threads of the back runtime: signals, start and stop, and what no client waits for.
const BACK_THREADS: usize = 2;
/// Places in the queues of the store beyond those of the cost classes, for work of our own and what is being put away.
const SPARE: u64 = 64;
/// How long a stop waits for requests under way, and then for the sinks.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection stays idle before a restart closes it. A client at work sends its next request long before.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a server is given besides its settings.
#[derive(Default)]
pub struct Extra {
    /// The time of day.
    pub clock: Clock,
    /// Where events go.
    pub sinks: Vec<Box<dyn Sink>>,
    /// A socket that listens already, in place of the one that the settings ask for.
    pub listener: Option<Listener>,
    /// Where clients reach the server, without a slash at the end.
    pub url: String,
}

/// A data folder that is open and ready to answer, without a socket.
#[derive(Debug)]
pub struct Opened {
    /// What its requests share.
    pub app: Arc<App>,
    /// What was made because the folder was new.
    pub first: FirstContent,
    back: Runtime,
}

impl Opened {
    /// Opens the folder and reads what it holds.
    pub fn open(settings: &Settings, log: Log, extra: Extra) -> anyhow::Result<Self> {
        let Extra { clock, mut sinks, url, .. } = extra;
        let back = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(BACK_THREADS)
            .thread_name("daylight-back")
            .enable_all()
            .build()
            .context("cannot start the back runtime")?;
        // From here a signal to restart, sent again too soon, does not end the process.
        Signals::listen_to_restart(&back)?;
        let options = RecorderOptions {
            clock: clock.clone(),
            shards: settings.server.cores + BACK_THREADS,
            buffered_events: usize::try_from(settings.telemetry.events_buffered).unwrap_or(usize::MAX),
        };
        let recent = Recent::new(settings.telemetry.events_recent_bytes);
        if settings.telemetry.events_recent_bytes > 0 {
            sinks.push(recent.sink());
        }
        let recent_paths = RecentPaths::new(clock.clone());
        sinks.push(recent_paths.sink());
        let recorder = Recorder::start(options, sinks);
        recorder.register(recent_paths.bound().clone());
        recorder.register(recent.bound().clone());
        recorder.report_to(log.clone());
        back.spawn(front::heartbeat(recorder.pulse("back")));
        let classes = Classes::new(&settings.server, &recorder);
        // Each request reads one thing at a time, so whoever has a place in its class, or has waited for an upstream, finds one in
        // the queues behind.
        let waiting = classes.places() + settings.server.max_waiting + SPARE;
        let store = Store::open(StoreOptions {
            readers: settings.store.readers,
            reads_max: waiting,
            commits_max: waiting,
            blob_operations_max: waiting,
            cached_max_bytes: settings.store.cached_bytes,
            first_seen_max_bytes: settings.upstream.first_seen_bytes,
            floor_bytes: settings.store.free_space_floor_bytes,
            log: log.clone(),
            ..StoreOptions::new(&settings.store.data, clock.clone(), recorder.clone())
        })?;
        let threads = vec![(); settings.server.cores + Lane::COUNT - 1];
        let workers =
            Workers::start(Threads::Working("worker"), (BoundName::WorkThreads, waiting), &recorder, threads)?;
        let (repositories, access, first) = back.block_on(known(settings, &store, workers, &clock, &recorder, &log))?;
        let access = Arc::new(access);
        let app = Arc::new(App {
            pages: pages(settings, &store, &access, &recorder),
            access,
            repositories,
            store,
            recorder,
            recent,
            recent_paths,
            log,
            clock,
            classes,
            references: settings.references.clone(),
            url,
            conformance: settings.conformance,
            max_upload_bytes: settings.server.max_upload_bytes,
            form_time: Duration::from_secs(settings.server.head_timeout_s),
        });
        Ok(Self { app, first, back })
    }

    /// Puts into force what a configuration file declares of repositories now.
    fn declare(&self, file: &Path, log: &Log) -> anyhow::Result<()> {
        let declared = config::repositories(file)?;
        let info_format = conformance::info_format(self.app.conformance);
        self.app.recorder.attempt();
        let mut event = Event::job("reload", self.app.clock.now());
        let put = declared::put(&declared, &self.app.repositories, info_format, log, &mut event);
        let put = self.back.block_on(put);
        event.outcome = Some(if put.is_ok() { Outcome::Done } else { Outcome::Failed });
        self.app.recorder.release(event);
        Ok(put?)
    }

    /// Ships what is journaled and hands on what is recorded.
    pub fn close(self) {
        self.back.block_on(self.app.repositories.close());
        self.app.store.close();
        self.app.recorder.stop(PATIENCE);
        self.back.shutdown_timeout(PATIENCE);
    }
}

/// How many requests may wait for upstreams: a repository has half of all, so that an upstream that hangs leaves room for others,
/// and a client half of that.
fn waiters(server: &config::Server) -> WaitersLimits {
    let all = server.max_waiting;
    WaitersLimits { all, each_repository: all.div_ceil(2), each_client: all.div_ceil(4) }
}

/// Which repositories and tokens there are; a new folder gets its first.
async fn known(
    settings: &Settings,
    store: &Arc<Store>,
    workers: Workers,
    clock: &Clock,
    recorder: &Arc<Recorder>,
    log: &Log,
) -> anyhow::Result<(Repositories, Access, FirstContent)> {
    recorder.attempt();
    let mut event = Event::job("start", clock.now());
    let read = async {
        let indexes = Bound::new(BoundName::Indexes, "", settings.server.indexes_bytes);
        recorder.register(indexes.clone());
        let repositories = Repositories::open(
            store.clone(),
            workers,
            recorder.clone(),
            MemoryLimits {
                indexes,
                dependencies_bytes: settings.server.dependencies_bytes,
                views_bytes: settings.server.views_bytes,
                open_files: settings.server.open_files,
                waiters: waiters(&settings.server),
            },
            Arc::new(settings.references.clone()),
            Hosts::new(recorder.clone(), upstreams::hosts(&settings.upstream)),
            &mut event,
        )
        .await?;
        let access = Access::open(store.clone(), clock.clone(), &mut event).await?;
        let info_format = conformance::info_format(settings.conformance);
        let (admin_token, upstream) = (settings.admin_token.as_ref(), &settings.upstream);
        let first =
            first_start::prepare(store, admin_token, info_format, upstream, &repositories, &access, &mut event).await?;
        declared::point(&settings.upstream, &repositories, log, &mut event).await?;
        declared::put(&settings.repositories, &repositories, info_format, log, &mut event).await?;
        conformance::prepare(settings, &access, &repositories, &mut event).await?;
        anyhow::Ok((repositories, access, first))
    }
    .await;
    event.outcome = Some(if read.is_ok() { Outcome::Done } else { Outcome::Failed });
    recorder.release(event);
    read
}

fn pages(settings: &Settings, store: &Store, access: &Arc<Access>, recorder: &Arc<Recorder>) -> Pages<Stamp> {
    let (revisions, access) = (store.revisions().clone(), access.clone());
    let hooks = PageHooks {
        canon: route::canon,
        class: Box::new(move |headers| access.class(headers)),
        holds: Box::new(move |stamp, now| revisions.holds(stamp, now)),
    };
    // Through TLS and through buffers nothing is sent without a copy.
    let kernel_sends = settings.server.sendfile && settings.server.tls_certificate.as_os_str().is_empty();
    let files = if kernel_sends { settings.server.page_files } else { 0 };
    Pages::new(settings.server.pages_bytes, files, hooks, recorder)
}

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

/// A server that answers.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    certificate: Option<Arc<Certificate>>,
    /// What it serves from.
    pub opened: Opened,
    /// Keeps the socket listening until the next program has it.
    listener: Listener,
    stop: Stop,
    front: Front,
}

type Front = std::thread::JoinHandle<Result<(), front::Error>>;

/// Binds the socket, opens the folder and begins to serve. A taken port is told before anything is touched.
pub fn start(settings: &Settings, log: Log, mut extra: Extra) -> anyhow::Result<Running> {
    let listener = extra.listener.take().map_or_else(|| Listener::bind(settings.server.listen), Ok)?;
    descriptors::make_room(&listener, settings.server.max_connections.saturating_add(front::RESERVED as u64));
    conformance::allow(settings, listener.local_addr()?)?;
    let certificate = Certificate::open(settings)?;
    let (address, accepting) = (listener.local_addr()?, listener.try_clone()?);
    let scheme = if certificate.is_some() { "https" } else { "http" };
    extra.url = settings.server.public_url.0.clone().unwrap_or_else(|| format!("{scheme}://{address}"));
    let opened = Opened::open(settings, log.clone(), extra)?;
    if let Some(certificate) = &certificate {
        opened.back.spawn(certificate.clone().watch(log, opened.app.clock.clone()));
    }
    opened.back.spawn(upkeep::run(opened.app.clone()));
    let stop = Stop::default();
    let options = front::Options {
        cores: settings.server.cores,
        limits: limits(settings),
        proxies: Proxies {
            trusted: settings.server.trusted_proxies.0.clone(),
            client_from: settings.server.client_from,
        },
        tls: certificate.as_ref().map(|certificate| certificate.tls()),
        shutdown_timeout: PATIENCE,
        sendfile: settings.server.sendfile,
    };
    let (handler, recorder, asked) = (opened.app.clone(), opened.app.recorder.clone(), stop.clone());
    let front = std::thread::Builder::new()
        .name("daylight-front".into())
        .spawn(move || front::run(accepting, options, handler, recorder, asked))?;
    Ok(Running { address, certificate, opened, listener, stop, front })
}

impl Running {
    /// Finishes what is under way, then closes. Who connects from now on is refused.
    pub fn stop(self) -> anyhow::Result<()> {
        let Self { opened, listener, stop, front, .. } = self;
        drop(listener);
        stop.now();
        end(front, opened)
    }

    /// The same, but who connects from now on waits for whoever accepts from the socket next.
    fn hand_over(self) -> anyhow::Result<Listener> {
        self.stop.after(FAREWELL);
        end(self.front, self.opened)?;
        Ok(self.listener)
    }

    /// Reads again what is read while running: the certificate, and the repositories that the file declares.
    fn reload(&self, file: Option<&Path>, log: &Log) {
        self.certificate.iter().for_each(|certificate| certificate.refresh(log));
        let Some(file) = file else { return };
        match self.opened.declare(file, log) {
            Ok(()) => log.info("repositories are as the file declares them", &[("file", &file.display())]),
            Err(error) => log.warn("keeping the repositories", &[("cause", &format!("{error:#}"))]),
        }
    }

    /// Waits until a signal comes, or the front ends by itself.
    fn wait(&self, signals: &mut Signals) -> Told {
        self.opened.back.block_on(async {
            let mut stopped = pin!(self.stop.asked());
            poll_fn(|cx| match signals.poll(cx) {
                Poll::Pending => stopped.as_mut().poll(cx).map(|_| Told::Stop),
                told => told,
            })
            .await
        })
    }
}

fn end(front: Front, opened: Opened) -> anyhow::Result<()> {
    let served = front.join().map_err(|_| anyhow::anyhow!("the front panicked"))?;
    opened.close();
    Ok(served?)
}

/// Serves until it is told to stop, or to begin again. Uses `listener`, if there is one. `listen_now` reads again where the
/// settings want it to listen.
pub fn run(
    settings: Settings,
    loaded: Loaded,
    listener: Option<Listener>,
    listen_now: &dyn Fn() -> anyhow::Result<SocketAddr>,
) -> anyhow::Result<()> {
    let program = Program::here();
    let clock = Clock::default();
    let (log, lines) = sinks::log(&settings, &clock);
    log.take_panics();
    for warning in &loaded.warnings {
        log.warn(warning, &[]);
    }
    let sinks = sinks::events(&settings);
    let running = start(&settings, log.clone(), Extra { clock, sinks, listener, ..Extra::default() })?;
    running.opened.app.recorder.register(lines.bound().clone());
    // Before anybody is told that we serve: until then a signal to stop ends the process where it stands.
    let mut signals = Signals::listen(&running.opened.back)?;
    announce(&running);
    let data = settings.store.data.display().to_string();
    log.info("serving", &[("address", &running.address), ("url", &running.opened.app.url), ("data", &data)]);
    loop {
        match running.wait(&mut signals) {
            Told::Stop => break,
            Told::Reload => {
                warn_of_listen(running.address, settings.server.listen, listen_now, &log);
                running.reload(loaded.file.as_deref(), &log);
            }
            Told::Restart => match program.check() {
                Ok(()) => {
                    warn_of_listen(running.address, settings.server.listen, listen_now, &log);
                    return restart(running, program, signals, &log, &lines);
                }
                Err(error) => log.error("not restarting", &[("cause", &format!("{error:#}"))]),
            },
        }
    }
    log.info("stopping", &[]);
    let stopped = running.stop();
    log.info("stopped", &[]);
    lines.flush(PATIENCE);
    stopped
}

/// Ends as a stop does, but keeps the socket, and becomes the program anew. A stop that is told meanwhile wins.
fn restart(running: Running, program: Program, mut signals: Signals, log: &Log, lines: &Lines) -> anyhow::Result<()> {
    log.info("restarting", &[]);
    let listener = running.hand_over();
    let stop = listener.is_err() || signals.stop_told();
    log.info(if stop { "stopped" } else { "stopped, and beginning again" }, &[]);
    lines.flush(PATIENCE);
    let listener = listener?;
    if stop { Ok(()) } else { Err(program.replace(listener)) }
}

/// What whoever started it needs to know, on standard output. Nobody there to read it is no reason to end.
fn announce(running: &Running) {
    use std::io::Write;
    let mut lines = String::new();
    if let Some(secret) = &running.opened.first.admin_token {
        lines = format!("admin token: {}\nit is shown this once; only its hash is kept\n", secret.expose());
    }
    let scheme = if running.certificate.is_some() { "https" } else { "http" };
    lines.push_str(&format!("listening on {scheme}://{}\n", running.address));
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
}
