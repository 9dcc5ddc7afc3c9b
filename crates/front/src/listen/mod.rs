//! Accepts connections on every core from the sockets of all sites, serves them, and finishes when the server stops.

pub(crate) mod challenge;
pub(crate) mod core_context;
pub(crate) mod free_port;
pub(crate) mod handshake;
pub(crate) mod listener;
pub(crate) mod reserved_connections;
pub(crate) mod runtime_work;
pub(crate) mod stop;
pub(crate) mod tls;

use crate::body::buffer_pool::BufferPool;
use crate::body::file_reader::FileAccess;
use crate::body::file_threads::FileThreads;
use crate::clients::proxies::Proxies;
use crate::clients::{self, ClientConnections};
use crate::connection;
use crate::error::Error;
use crate::event_loop::{heartbeat, timed};
use crate::handler::Handler;
use crate::http1::builder::builder;
use crate::limits::Limits;
use core_context::CoreContext;
use listener::Listener;
use reserved_connections::ReservedConnections;
use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::thread::{Builder as Thread, ScopedJoinHandle};
use std::time::Duration;
use stop::Stop;
use telemetry::{Bound, BoundName, Counter, LoopMonitor, PoolName, PoolThreads, Reason, Recorder, Slot};
use tls::Tls;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder as Runtime, LocalOptions, LocalRuntime};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

/// Turns of connections before a core looks for new events and due timers. Each turn may send a part of a file, which
/// takes a tenth of a millisecond.
const TURNS: u32 = 16;
/// How long a core waits after an accept that failed for lack of descriptors or memory. They are not available sooner.
const REST: Duration = Duration::from_millis(100);

/// The options of [`run`].
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that accept and serve.
    pub cores: usize,
    /// Threads of each of them that read files.
    pub file_threads: usize,
    /// The limits for clients.
    pub limits: Limits,
    /// The proxies that are trusted.
    pub proxies: Proxies,
    /// How long requests in progress may take after [`Stop::now`].
    pub shutdown_timeout: Duration,
    /// Whether the kernel sends large files where it can. Otherwise buffers are used.
    pub sendfile: bool,
}

/// Addresses that are served together, by one handler.
pub struct Site {
    /// Where it listens.
    pub listener: Listener,
    /// Answers its requests.
    pub handler: Arc<dyn Handler>,
    /// TLS on every connection; `None`: on none.
    pub tls: Option<Arc<Tls>>,
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("listener", &self.listener).field("tls", &self.tls).finish_non_exhaustive()
    }
}

/// Serves `sites` until `stop`, then finishes the requests in progress. Blocks the calling thread. Every core serves all of
/// them, and the limits are for all of them together.
pub fn run(sites: Vec<Site>, options: Options, recorder: Arc<Recorder>, stop: Stop) -> Result<(), Error> {
    let limits = Arc::new(options.limits);
    let connections = Bound::new(BoundName::Connections, "", limits.connections);
    recorder.register(connections.clone());
    let proxies = Arc::new(options.proxies);
    let clients = ClientConnections::new(limits.client_connections);
    recorder.register(clients.bound().clone());
    let cores = options.cores.max(1);
    let reserved = ReservedConnections::new(&recorder);
    let file_threads = options.file_threads.max(1);
    let threads = FileThreads::new((cores * file_threads) as u64, &recorder);
    let core_threads = recorder.pool(PoolName::Cores, cores as u64);
    let buffers = BufferPool::new(limits.file_buffers);
    recorder.register(buffers.bound());
    let file_access = FileAccess { buffers, threads, sendfile: options.sendfile };
    let on_core = |site: &Site| {
        let core = CoreContext {
            builder: builder(&limits),
            handler: site.handler.clone(),
            limits: limits.clone(),
            recorder: recorder.clone(),
            file_access: file_access.clone(),
            connections: connections.clone(),
            clients: clients.clone(),
            proxies: proxies.clone(),
            tls: site.tls.clone(),
            idle_grace: Cell::new(None),
            stopping: Notify::new(),
            open: Cell::new(0),
            emptied: Notify::new(),
        };
        Ok((core, site.listener.try_clone()?))
    };
    let on_cores = (0..cores).map(|_| sites.iter().map(on_core).collect()).collect::<Result<Vec<Vec<_>>, _>>()?;
    // Only the cores hold the sockets from here, so connecting fails as soon as they have stopped.
    drop(sites);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(cores);
        for (number, sites) in on_cores.into_iter().enumerate() {
            let (stop, name) = (&stop, format!("core-{number}"));
            let heart = recorder.loop_monitor(&name);
            let (reserved, core_threads) = (reserved.clone(), core_threads.clone());
            let work = move || {
                let runtime = runtime(file_threads, &core_threads)?;
                serve(sites, &reserved, heart, stop, options.shutdown_timeout, runtime).inspect_err(|_| stop.now())
            };
            threads.push(Thread::new().name(name).spawn_scoped(scope, work).inspect_err(|_| stop.now()));
        }
        let ended = |thread: io::Result<ScopedJoinHandle<'_, io::Result<()>>>| {
            thread?.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(ended).fold(Ok(()), Result::and).map_err(Error::Core)
    })
}

/// The runtime of one core, whose work counts in `pool`.
fn runtime(file_threads: usize, pool: &PoolThreads) -> io::Result<LocalRuntime> {
    let mut runtime = Runtime::new_current_thread();
    runtime.enable_all().max_blocking_threads(file_threads).thread_name("file-reader").event_interval(TURNS);
    let runtime = runtime.build_local(LocalOptions::default())?;
    runtime_work::count_work(runtime.handle(), pool);
    Ok(runtime)
}

/// One core: accepts until the server stops, then finishes.
fn serve(
    sites: Vec<(CoreContext, Listener)>,
    reserved: &ReservedConnections,
    heart: Arc<LoopMonitor>,
    stop: &Stop,
    shutdown_timeout: Duration,
    runtime: LocalRuntime,
) -> io::Result<()> {
    let served = runtime.block_on(async {
        let mut listening = Vec::new();
        for (core, listener) in sites {
            let core = Rc::new(core);
            for socket in listener.sockets() {
                listening.push((core.clone(), TcpListener::from_std(socket.try_clone()?)?));
            }
        }
        let mut cores: Vec<_> = listening.iter().map(|(core, _)| core.clone()).collect();
        cores.dedup_by(|one, other| Rc::ptr_eq(one, other));
        tokio::task::spawn_local(heartbeat(heart));
        // `accept` drops its sockets when it returns, so new clients are refused while open requests are finished.
        let idle_grace = timed(|| accept(listening, reserved, stop)).await;
        for core in &cores {
            core.idle_grace.set(Some(idle_grace));
            core.stopping.notify_waiters();
        }
        finish(&cores, shutdown_timeout).await;
        Ok(())
    });
    // Connections that are still open are closed here, which releases their events.
    runtime.shutdown_background();
    served
}

/// Accepts until the server stops. Returns how long idle connections may stay.
async fn accept(sockets: Vec<(Rc<CoreContext>, TcpListener)>, reserved: &ReservedConnections, stop: &Stop) -> Duration {
    let mut asked = pin!(stop.asked());
    let mut turn = 0_usize;
    loop {
        // Each socket is the first in its turn, so that a busy one does not keep the others waiting.
        turn = turn.wrapping_add(1);
        let accepted = poll_fn(|cx| match asked.as_mut().poll(cx) {
            Poll::Ready(idle_grace) => Poll::Ready(Err(idle_grace)),
            Poll::Pending => {
                let (before, after) = sockets.split_at(turn % sockets.len().max(1));
                let mut all = after.iter().chain(before);
                let accepted = all.find_map(|(core, socket)| match socket.poll_accept(cx) {
                    Poll::Ready(accepted) => Some(accepted.map(|(stream, peer)| (core, stream, peer))),
                    Poll::Pending => None,
                });
                accepted.map_or(Poll::Pending, |accepted| Poll::Ready(Ok(accepted)))
            }
        });
        match accepted.await {
            Err(idle_grace) => return idle_grace,
            Ok(Ok((core, stream, peer))) => {
                core.recorder.count(Counter::Connections);
                let client = peer.ip().to_canonical();
                match (core.connections.enter(), core.enter(client)) {
                    (Ok(slot), Ok(client_slot)) => open(core, stream, client, slot, client_slot),
                    (full, _) => {
                        let why = if full.is_err() { Reason::TooManyConnections } else { Reason::TooManyOfClient };
                        drop(full);
                        reserved.accept(core, stream, client, why);
                        // The reserved connections run before the next one may evict one of them.
                        yield_now().await;
                    }
                }
            }
            // The client has already disconnected; the next one is accepted at once.
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Ok(Err(_)) => sleep(REST).await,
        }
    }
}

fn open(
    core: &Rc<CoreContext>,
    stream: TcpStream,
    client: IpAddr,
    slot: Slot,
    client_slot: Option<clients::ClientSlot>,
) {
    // Replies are sent as soon as they are written. A failure means that the client has disconnected.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let connection = ConnectionSlot { core: core.clone(), _slot: slot, _client_slot: client_slot };
    core.open.set(core.open.get() + 1);
    tokio::task::spawn_local(async move { timed(|| connection::serve(connection.core.clone(), stream, client)).await });
}

/// A connection that is open on its core, until it is dropped.
struct ConnectionSlot {
    core: Rc<CoreContext>,
    _slot: Slot,
    _client_slot: Option<clients::ClientSlot>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.core.open.set(self.core.open.get() - 1);
        self.core.emptied.notify_one();
    }
}

async fn finish(cores: &[Rc<CoreContext>], shutdown_timeout: Duration) {
    let _ = timeout(shutdown_timeout, async {
        for core in cores {
            while core.open.get() > 0 {
                core.emptied.notified().await;
            }
        }
    })
    .await;
}
