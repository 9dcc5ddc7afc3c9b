//! A data folder that is open and ready to answer requests, without a socket.

pub(crate) mod database;
mod declared_repositories;
pub(crate) mod first_start;
pub mod init;
pub(crate) mod objects;
pub mod sinks;
mod store_options;
mod upstreams;

use crate::access::Access;
use crate::app::App;
use crate::app_front::served_apps::ServedApps;
use crate::class::Classes;
use crate::config::{self, Settings};
use crate::findings::gathered::Gathered;
use crate::instance::first_start::FirstContent;
use crate::instance::store_options::store_options;
use crate::otlp::{self, Otlp};
use crate::route::public_url::PublicUrls;
use crate::serve::signals::Signals;
use crate::statsd::{self, Statsd};
use crate::uses::last_uses::LastUses;
use crate::uses::recent_paths::RecentPaths;
use crate::uses::recording;
use crate::{conformance, route};
use anyhow::Context;
use client::Hosts;
use front::{Listener, PageHooks, Pages};
use insight::{
    FactsOf, Findings, FindingsOptions, Insight, InsightOptions, Profiler, RepositoryFacts, SettingFact, Surroundings,
    Tail, Watch,
};
use repository::{ChangeSource, Format, MemoryLimits, Repositories, WaitersLimits, Workers};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::{PoolOptions, RepositoryKind, Seq, Store, Threads};
use telemetry::{
    Bound, BoundName, Census, Clock, Event, EventId, Job, Log, Op, PoolName, RecentEvents, Recorder, RecorderOptions,
    Sink,
};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// Places in the queues of the store beyond those of the cost classes, for work of the server itself.
const SPARE_PLACES: u64 = 64;
/// How long a stop waits for the sinks.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Options of a start that are not settings.
#[derive(Default)]
pub struct StartOptions {
    /// The time of day.
    pub clock: Clock,
    /// The sinks of events.
    pub sinks: Vec<Box<dyn Sink>>,
    /// A listening socket, in place of the address in the settings.
    pub listener: Option<Listener>,
    /// The same for `server.http_listen`.
    pub http_listener: Option<Listener>,
    /// The URL of the listening socket, without a slash at the end.
    pub url: String,
    /// A new folder gets no repositories.
    pub without_repositories: bool,
    /// The settings, for findings.
    pub settings: Vec<SettingFact>,
    /// Warnings about settings that do not fit together, for findings.
    pub warnings: Vec<String>,
    /// The origin of the changes that create the first content of a new folder.
    pub from: ChangeSource,
}

/// An instance of the server on an open data folder.
#[derive(Debug)]
pub struct Instance {
    /// The state that its requests share.
    pub app: Arc<App>,
    /// The content that was made at the first start.
    pub first: FirstContent,
    /// The runtime of work that no client waits for.
    pub(crate) back: Runtime,
}

impl Instance {
    /// Opens the data folder.
    pub fn open(settings: &Settings, log: Log, options: StartOptions) -> anyhow::Result<Self> {
        let StartOptions {
            clock, mut sinks, url, from, without_repositories, settings: setting_facts, warnings, ..
        } = options;
        let back_threads = settings.server.back_threads;
        let back = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(back_threads)
            .thread_name("daylight-back")
            .enable_all()
            .build()
            .context("cannot start the back runtime")?;
        // From here on another SIGUSR2, which may come too early, does not end the process.
        Signals::listen_to_restart(&back)?;
        let recorder_options = RecorderOptions {
            clock: clock.clone(),
            shards: settings.server.cores + back_threads,
            buffered_events: usize::try_from(settings.telemetry.events_buffered).unwrap_or(usize::MAX),
            client_addresses: settings.telemetry.client_addresses,
        };
        let recent = RecentEvents::new(settings.telemetry.events_recent_bytes);
        let last_uses = LastUses::new();
        let keep = InsightOptions {
            keep_bytes: settings.telemetry.keep_bytes,
            keep_time: Duration::from_secs(settings.telemetry.keep_days * 24 * 60 * 60),
            memory_bytes: settings.telemetry.keep_memory_bytes,
            ask_memory_bytes: settings.telemetry.ask_memory_bytes,
            clock: clock.clone(),
            log: log.clone(),
        };
        let insight = Insight::new(keep);
        let each = crate::class::each(settings.server.max_asks, &settings.server);
        insight.asker().limit(settings.server.max_asks, each);
        let sampler = insight.sampler(settings.telemetry.stored_per_second.number());
        let findings = Findings::new();
        let mut censuses: Vec<Box<dyn Census>> = vec![sampler, last_uses.census(), findings.census()];
        if settings.telemetry.events_recent_bytes > 0 {
            censuses.push(recent.census());
            sinks.push(recent.sink());
        }
        if settings.telemetry.keep_bytes > 0 {
            censuses.push(insight.rollups());
            sinks.push(insight.sink());
        }
        let recent_paths = RecentPaths::new(clock.clone());
        sinks.push(recent_paths.sink());
        let (otlp, statsd) = (Otlp::of(settings)?, Statsd::of(settings)?);
        sinks.extend(otlp.iter().map(|otlp| otlp.sink()));
        censuses.extend(statsd.iter().map(|statsd| statsd.census()));
        let tail =
            Tail::new(settings.server.max_tails, crate::class::each(settings.server.max_tails, &settings.server));
        if settings.server.max_tails > 0 {
            sinks.push(tail.sink());
        }
        let recorder = Recorder::start_with_censuses(recorder_options, censuses, sinks);
        recorder.register(recent_paths.bound().clone());
        recorder.register(last_uses.bound().clone());
        tail.bounds().into_iter().for_each(|bound| recorder.register(bound));
        recorder.register(recent.bound().clone());
        otlp::show(otlp.as_ref(), &recorder);
        statsd::show(statsd.as_ref(), &recorder);
        let profiler = Profiler::default();
        recorder.register(profiler.bound().clone());
        insight.bounds().into_iter().for_each(|bound| recorder.register(bound));
        recorder.report_to(log.clone());
        front::count_work(back.handle(), &recorder.pool(PoolName::Back, back_threads as u64));
        back.spawn(front::heartbeat(recorder.loop_monitor("back")));
        let classes = Classes::new(&settings.server, &recorder);
        // A request that outlasts its turn has a connection, or on HTTP/2 a stream that counts as one.
        recorder.open_requests().limit(settings.server.max_connections);
        // A request uses one queue at a time. So every request that has a place in its class, or waited for an upstream, finds a place in
        // the queues of the store.
        let places = classes.places() + settings.server.max_waiting + SPARE_PLACES;
        let mut store_options = store_options(settings, places, &clock, &recorder, &log, back.handle())?;
        store_options.database.iter_mut().for_each(|options| options.node_url = database::address(settings, &url));
        let store = Store::open(store_options)?;
        EventId::set_node(store.node());
        if settings.conformance && store.last() == Seq(0) {
            clock.set(Some(conformance::BEGINNING));
        }
        let threads = vec![(); settings.server.workers];
        let options = PoolOptions {
            threads: Threads::Working("worker"),
            pool: PoolName::WorkThreads,
            bound: BoundName::WorkThreads,
            capacity: places,
            wait: Op::WorkWait,
        };
        let workers = Workers::start(options, &recorder, threads)?;
        let urls = PublicUrls::new(&settings.server, url, settings.telemetry.client_addresses, log.clone());
        let begin = FolderBegin { from, without_repositories };
        let (repositories, access, first) =
            back.block_on(open_repositories(settings, &store, workers, &clock, &recorder, &log, begin))?;
        let mut event = Event::job("last_uses", clock.now());
        match back.block_on(store.begin_uses(clock.now(), &mut event)) {
            Err(error) if error.is_disk_full() => last_uses.lose(),
            begun => begun?,
        }
        insight.begin(surroundings(settings, &repositories));
        findings.begin(FindingsOptions {
            // The store of events removes unknown files of its folder, and leaves folders alone.
            file: Some(store::Layout::new(&settings.store.data).events().join("findings").join("findings.json")),
            custom: settings.findings.iter().map(|declared| declared.finding.clone()).collect(),
            counts: (settings.telemetry.keep_bytes > 0).then(|| insight.counts()),
            recorder: recorder.clone(),
            clock: clock.clone(),
            log: log.clone(),
        });
        tail.set_facts(facts_of(&repositories));
        if let Some(otlp) = &otlp {
            let url = urls.configured().to_owned();
            let (node, facts) = (store.node(), facts_of(&repositories));
            otlp.identify(otlp::Identity { node, url, facts, clock: clock.clone(), log: log.clone() });
        }
        let access = Arc::new(access);
        let app = Arc::new(App {
            pages: pages(settings, &access, &repositories, &recorder),
            access,
            repositories,
            store,
            recorder,
            recent,
            insight,
            findings,
            profiler,
            watch: Watch::new(),
            settings: setting_facts,
            warnings,
            gathered: Gathered::default(),
            recent_paths,
            last_uses,
            tail,
            otlp,
            statsd,
            log,
            clock,
            classes,
            references: settings.references.clone(),
            urls,
            conformance: settings.conformance,
            time_was_set: Notify::new(),
            max_upload_bytes: settings.server.max_upload_bytes,
            server_timing: settings.telemetry.server_timing,
            form_time: Duration::from_secs(settings.server.head_timeout_s),
            acme: OnceLock::new(),
            certificates: OnceLock::new(),
            alerts: OnceLock::new(),
            apps: OnceLock::new(),
        });
        crate::lookup::served_apps::record(&app);
        Ok(Self { app, first, back })
    }

    /// The applications in front of which it stands.
    pub(crate) fn apps(&self) -> &ServedApps {
        self.app.apps.get().unwrap_or_else(|| ServedApps::none())
    }

    /// Applies the repositories that the configuration file declares now.
    pub(crate) fn apply_declared(&self, file: &Path, log: &Log) -> anyhow::Result<()> {
        let declared = config::repositories(file)?;
        let info_format = conformance::info_format(self.app.conformance);
        let mut job = Job::begin(&self.app.recorder, "reload");
        let applied = declared_repositories::apply(&declared, &self.app.repositories, info_format, log, &mut job);
        let applied = self.back.block_on(applied);
        if let Err(error) = &applied {
            job.detail = Event::text(&error.to_string());
        }
        job.end_as(&applied);
        Ok(applied?)
    }

    /// Closes the folder: ships the journal, and flushes the sinks.
    pub fn close(self) {
        self.app.alerts.get().into_iter().for_each(|alerts| alerts.close(&self.back));
        self.back.block_on(async {
            self.app.repositories.close().await;
            let mut event = Event::job("last_uses", self.app.clock.now());
            if recording::record_all(&self.app, &mut event).await.is_ok() {
                // If this fails, the recording starts again at the next start.
                let _ = self.app.store.end_uses(&mut event).await;
            }
        });
        self.app.findings.close();
        self.app.store.close();
        self.app.recorder.stop(STOP_TIMEOUT);
        // The sinks have passed on the last events.
        if let Some(statsd) = &self.app.statsd {
            self.back.block_on(statsd.close());
        }
        if let Some(otlp) = &self.app.otlp {
            self.back.block_on(otlp.close());
        }
        self.app.insight.close();
        self.app.watch.close();
        self.back.shutdown_timeout(STOP_TIMEOUT);
    }
}

/// The parts of the server that stored events need.
fn surroundings(settings: &Settings, repositories: &Repositories) -> Surroundings {
    let (facts, folder) = (facts_of(repositories), store::Layout::new(&settings.store.data).events());
    let (data, floor_bytes) = (settings.store.data.clone(), settings.store.free_space_floor_bytes);
    let above_floor = move || store::above_floor(&data, floor_bytes).is_ok();
    Surroundings { folder, facts, above_floor: Arc::new(above_floor) }
}

/// How the facts about a repository are found by its name.
fn facts_of(repositories: &Repositories) -> FactsOf {
    let facts_of = repositories.facts();
    Arc::new(move |name| {
        let facts = |(kind, format): (RepositoryKind, Format)| (kind.as_str(), format.as_str());
        let (kind, format) = facts_of(name).map(facts).unwrap_or_default();
        RepositoryFacts { kind, format }
    })
}

/// The limits on requests that wait for upstreams. A repository may have half of all, so that an upstream that hangs leaves places for
/// others, and a client half of that.
fn waiters(server: &config::Server) -> WaitersLimits {
    let all = server.max_waiting;
    WaitersLimits { all, each_repository: all.div_ceil(2), each_client: all.div_ceil(4) }
}

/// What a new folder begins with.
struct FolderBegin {
    from: ChangeSource,
    without_repositories: bool,
}

/// Opens the repositories and the tokens. Makes the first ones of a new folder, and applies the declared ones.
async fn open_repositories(
    settings: &Settings,
    store: &Arc<Store>,
    workers: Workers,
    clock: &Clock,
    recorder: &Arc<Recorder>,
    log: &Log,
    begin: FolderBegin,
) -> anyhow::Result<(Repositories, Access, FirstContent)> {
    let mut job = Job::begin(recorder, "start");
    // So that questions can tell which version of the program ran since when.
    job.subject.version = env!("CARGO_PKG_VERSION").into();
    let opened = async {
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
                open_files: settings.server.open_files.div_ceil(2),
                folders_bytes: settings.server.folders_bytes,
                pushed_gems_bytes: settings.server.pushed_gems_bytes,
                merging_bytes: settings.server.merging_bytes,
                upstreams: upstreams::limits(settings),
                waiters: waiters(&settings.server),
            },
            Arc::new(settings.references.clone()),
            Hosts::new(recorder.clone(), upstreams::hosts(&settings.upstream)),
            &mut job,
        )
        .await?
        .with_default_gems(settings.upstream.rubygems.0.as_ref().map(|url| url.0.clone()));
        let access = Access::open(store.clone(), clock.clone(), &mut job).await?;
        let info_format = conformance::info_format(settings.conformance);
        let first_repositories = match begin.without_repositories {
            true => Vec::new(),
            false => first_start::first_repositories(info_format, &settings.upstream),
        };
        let admin_token = settings.admin_token.as_ref();
        let first =
            first_start::prepare(store, admin_token, first_repositories, &repositories, &access, begin.from, &mut job)
                .await?;
        let configured = async {
            declared_repositories::set_default_upstreams(&settings.upstream, &repositories, log, &mut job).await?;
            declared_repositories::apply(&settings.repositories, &repositories, info_format, log, &mut job).await?;
            conformance::prepare(settings, &access, &repositories, &mut job).await
        };
        match (configured.await, store.read_only()) {
            (Err(error), Some(why)) => log.error(
                "the server is read-only, so the configuration is not in force",
                &[("why", &why), ("cause", &format!("{error:#}"))],
            ),
            (configured, _) => configured?,
        }
        anyhow::Ok((repositories, access, first))
    }
    .await;
    if let Err(error) = &opened {
        job.detail = Event::text(&format!("{error:#}"));
    }
    job.end_as(&opened);
    opened
}

fn pages(settings: &Settings, access: &Arc<Access>, repositories: &Repositories, recorder: &Arc<Recorder>) -> Pages {
    let (access, facts) = (access.clone(), repositories.facts());
    // A name may stand for another repository by now: then no page of the former one holds, and a request that makes a
    // page has read the table again.
    let ignores = |(kind, format): (_, Format)| kind == RepositoryKind::Hosted || !format.has_queries();
    let ignores = move |name: &str| facts(name).is_some_and(ignores);
    let hooks = PageHooks {
        canon: Box::new(move |path, query| route::canon(path, query, &ignores)),
        class: Box::new(move |headers| access.class(headers)),
    };
    // TLS and buffers need a copy, so the kernel sends pages without one only where neither is used.
    let kernel_sends = settings.server.sendfile && !settings.speaks_tls();
    let files = if kernel_sends { settings.server.page_files } else { 0 };
    Pages::new(settings.server.pages_bytes, files, settings.server.max_compressions, hooks, recorder)
}
