//! The only place that binds: one socket, accepted by every core.

pub(crate) mod reserved_connections;
pub(crate) mod stop;
pub(crate) mod tls;

use crate::body::buffer_pool::Buffers;
use crate::body::file_reader::Means;
use crate::clients::proxies::Proxies;
use crate::clients::{self, Clients};
use crate::connection;
use crate::error::Error;
use crate::event_loop::heartbeat;
use crate::event_loop::timed;
use crate::exchange::Handler;
use crate::http1;
use crate::limits::Limits;
use crate::listen::reserved_connections::Reserve;
use crate::listen::stop::Stop;
use crate::listen::tls::Tls;
use hyper::server::conn::http1::Builder;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::thread::{Builder as Thread, ScopedJoinHandle};
use std::time::Duration;
use telemetry::{Bound, BoundName, Counter, Event, Full, Outcome, Pulse, Reason, Recorder, Slot, Tick};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder as Runtime, LocalOptions};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

/// Connections that the kernel completes while every core is busy.
const BACKLOG: i32 = 4096;
/// Threads of a core that read files.
const BLOCKING: usize = 4;
/// Connections that have a turn on a core before it looks for what has come and which timers are due. Each may send a part of a file,
/// which takes a tenth of a millisecond.
const TURNS: u32 = 16;
/// How long a core rests after an accept that failed for want of descriptors or memory: they do not come back sooner.
const REST: Duration = Duration::from_millis(100);

/// A bound socket. Clients that connect wait in its backlog until [`run`] accepts them.
#[derive(Debug)]
pub struct Listener(std::net::TcpListener);

impl Listener {
    /// Binds `address`; port 0 chooses a free one.
    pub fn bind(address: SocketAddr) -> Result<Self, Error> {
        let bind = || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
            // A restart must not wait for connections of the process before it.
            socket.set_reuse_address(true)?;
            socket.set_nonblocking(true)?;
            socket.bind(&address.into())?;
            socket.listen(BACKLOG)?;
            Ok(Self(socket.into()))
        };
        bind().map_err(|source| Error::Listen { address, source })
    }

    /// A socket that another process bound and passed on, perhaps with connections that wait in it; `None` where `passed`
    /// is no socket that listens.
    pub fn inherited(passed: BorrowedFd<'_>) -> Result<Option<Self>, Error> {
        let socket = SockRef::from(&passed);
        let listens = socket.is_listener().unwrap_or(false);
        if !listens || !socket.local_addr().is_ok_and(|address| address.as_socket().is_some()) {
            return Ok(None);
        }
        let own = || {
            socket.set_nonblocking(true)?;
            Ok(Some(Self(passed.try_clone_to_owned()?.into())))
        };
        own().map_err(Error::Inherit)
    }

    /// The same socket once more: it listens until all of them are dropped.
    pub fn try_clone(&self) -> Result<Self, Error> {
        self.0.try_clone().map(Self).map_err(Error::Inherit)
    }

    /// Where it listens, with the port that was chosen.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.0.local_addr().map_err(Error::Core)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// To pass it on to another process.
impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.0.into()
    }
}

/// How [`run`] serves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that accept and serve.
    pub cores: usize,
    /// What clients may do.
    pub limits: Limits,
    /// Who is believed about the clients behind it.
    pub proxies: Proxies,
    /// TLS on every connection; without it, none.
    pub tls: Option<Arc<Tls>>,
    /// How long requests under way may take after [`Stop::now`].
    pub patience: Duration,
    /// Whether the kernel sends large files where it can; else they pass through buffers.
    pub sendfile: bool,
}

/// What the connections of one core share.
pub(crate) struct Core<H> {
    pub(crate) handler: Arc<H>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) recorder: Arc<Recorder>,
    /// What all cores read files with.
    pub(crate) means: Means,
    pub(crate) builder: Builder,
    /// Connections of all cores, and what is under way beyond one request each.
    pub(crate) connections: Arc<Bound>,
    /// The same, by client.
    pub(crate) clients: Arc<Clients>,
    pub(crate) proxies: Arc<Proxies>,
    pub(crate) tls: Option<Arc<Tls>>,
    /// Set when the connections of this core are to finish: how long idle ones may stay.
    pub(crate) farewell: Cell<Option<Duration>>,
    /// Told once, when that becomes so.
    pub(crate) stopping: Notify,
    open: Cell<usize>,
    emptied: Notify,
}

/// Why a connection has not come to its first request.
pub(crate) enum Late {
    /// The client took too long.
    Slow,
    /// The server stops, and waited for as long as it does for idle connections.
    Stopping,
}

/// Serves until `stop`, then finishes the requests under way. Blocks the calling thread.
pub fn run<H: Handler>(
    listener: Listener,
    options: Options,
    handler: Arc<H>,
    recorder: Arc<Recorder>,
    stop: Stop,
) -> Result<(), Error> {
    let limits = Arc::new(options.limits);
    let connections = Bound::new(BoundName::Connections, "", limits.connections);
    recorder.register(connections.clone());
    let (proxies, tls) = (Arc::new(options.proxies), options.tls);
    let clients = Clients::new(limits.client_connections);
    recorder.register(clients.bound().clone());
    let cores = options.cores.max(1);
    let reserve = Reserve::new(&recorder);
    let threads = Bound::new(BoundName::FileThreads, "", (cores * BLOCKING) as u64);
    recorder.register(threads.clone());
    let buffers = Buffers::new(limits.file_buffers);
    recorder.register(buffers.bound());
    let means = Means { buffers, threads, sendfile: options.sendfile };
    let sockets = (0..cores).map(|_| listener.0.try_clone()).collect::<io::Result<Vec<_>>>().map_err(Error::Core)?;
    // The cores hold all that is left of the socket here, so that connecting fails as soon as they have stopped.
    drop(listener);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(cores);
        for (number, socket) in sockets.into_iter().enumerate() {
            let core = Core {
                builder: http1::builder(&limits),
                handler: handler.clone(),
                limits: limits.clone(),
                recorder: recorder.clone(),
                means: means.clone(),
                connections: connections.clone(),
                clients: clients.clone(),
                proxies: proxies.clone(),
                tls: tls.clone(),
                farewell: Cell::new(None),
                stopping: Notify::new(),
                open: Cell::new(0),
                emptied: Notify::new(),
            };
            let (stop, name) = (&stop, format!("core-{number}"));
            let heart = recorder.pulse(&name);
            let reserve = reserve.clone();
            let work = move || serve(core, socket, &reserve, heart, stop, options.patience).inspect_err(|_| stop.now());
            threads.push(Thread::new().name(name).spawn_scoped(scope, work).inspect_err(|_| stop.now()));
        }
        let ended = |thread: io::Result<ScopedJoinHandle<'_, io::Result<()>>>| {
            thread?.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(ended).fold(Ok(()), Result::and).map_err(Error::Core)
    })
}

/// One core: accepts until it is told to stop, and then finishes.
fn serve<H: Handler>(
    core: Core<H>,
    socket: std::net::TcpListener,
    reserve: &Reserve,
    heart: Arc<Pulse>,
    stop: &Stop,
    patience: Duration,
) -> io::Result<()> {
    let mut runtime = Runtime::new_current_thread();
    runtime.enable_all().max_blocking_threads(BLOCKING).event_interval(TURNS);
    let runtime = runtime.build_local(LocalOptions::default())?;
    let core = Rc::new(core);
    let served = runtime.block_on(async {
        let socket = TcpListener::from_std(socket)?;
        tokio::task::spawn_local(heartbeat(heart));
        core.farewell.set(Some(timed(|| accept(&core, reserve, socket, stop)).await));
        core.stopping.notify_waiters();
        finish(&core, patience).await;
        Ok(())
    });
    // What is still open after the patience is closed here, and its events are released.
    runtime.shutdown_background();
    served
}

/// Accepts until it is told to stop. Returns how long idle connections may stay.
async fn accept<H: Handler>(core: &Rc<Core<H>>, reserve: &Reserve, socket: TcpListener, stop: &Stop) -> Duration {
    let mut asked = pin!(stop.asked());
    loop {
        let accepted = poll_fn(|cx| match asked.as_mut().poll(cx) {
            Poll::Ready(farewell) => Poll::Ready(Err(farewell)),
            Poll::Pending => socket.poll_accept(cx).map(Ok),
        });
        match accepted.await {
            Err(farewell) => return farewell,
            Ok(Ok((stream, peer))) => {
                core.recorder.count(Counter::Connections);
                let client = peer.ip().to_canonical();
                match (core.connections.enter(), core.enter(client)) {
                    (Ok(slot), Ok(place)) => open(core, stream, client, (slot, place)),
                    (full, _) => {
                        let why = if full.is_err() { Reason::TooManyConnections } else { Reason::TooManyOfClient };
                        drop(full);
                        reserve.let_in(core, stream, client, why);
                        // Those inside have their turn before the next may push one out.
                        yield_now().await;
                    }
                }
            }
            // The client has left already; the next one is there at once.
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Ok(Err(_)) => sleep(REST).await,
        }
    }
}

impl<H> Core<H> {
    /// The same core for connections that are answered by another handler, may be open for so long, and count in this bound.
    pub(crate) fn with<V>(&self, handler: Arc<V>, open_for: Duration, connections: Arc<Bound>) -> Core<V> {
        let stays =
            Limits { head_time: open_for, keep_alive: open_for, write_stall: open_for, ..(*self.limits).clone() };
        Core {
            handler,
            builder: http1::builder(&stays),
            limits: Arc::new(stays),
            recorder: self.recorder.clone(),
            means: self.means.clone(),
            connections,
            clients: Clients::new(u64::MAX),
            proxies: self.proxies.clone(),
            tls: self.tls.clone(),
            farewell: Cell::new(None),
            stopping: Notify::new(),
            open: Cell::new(0),
            emptied: Notify::new(),
        }
    }

    /// One more connection of `client`. A trusted proxy has those of many clients, and is not counted.
    pub(crate) fn enter(&self, client: IpAddr) -> Result<Option<clients::Place>, Full> {
        if self.proxies.trust(client) { Ok(None) } else { self.clients.enter(client).map(Some) }
    }

    /// Waits for what comes before a connection's first request or after its last, for as long as a head may take.
    pub(crate) async fn in_time<T>(&self, opening: impl Future<Output = T>) -> Result<T, Late> {
        let mut opening = pin!(timeout(self.limits.head_time, opening));
        let mut stopping = pin!(async {
            if self.farewell.get().is_none() {
                self.stopping.notified().await;
            }
            sleep(self.farewell.get().unwrap_or_default()).await;
        });
        poll_fn(|cx| match opening.as_mut().poll(cx) {
            Poll::Ready(opened) => Poll::Ready(opened.map_err(|_| Late::Slow)),
            Poll::Pending => stopping.as_mut().poll(cx).map(|()| Err(Late::Stopping)),
        })
        .await
    }
}

fn open<H: Handler>(core: &Rc<Core<H>>, stream: TcpStream, client: IpAddr, counted: (Slot, Option<clients::Place>)) {
    // Replies leave when they are written; a failure means that the client has gone.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let place = Place { core: core.clone(), _counted: counted };
    core.open.set(core.open.get() + 1);
    tokio::task::spawn_local(async move { timed(|| connection::serve(place.core.clone(), stream, client)).await });
}

/// A connection's place on its core, given back when it ends in whatever way.
struct Place<H> {
    core: Rc<Core<H>>,
    _counted: (Slot, Option<clients::Place>),
}

impl<H> Drop for Place<H> {
    fn drop(&mut self) {
        self.core.open.set(self.core.open.get() - 1);
        self.core.emptied.notify_one();
    }
}

async fn finish<H>(core: &Core<H>, patience: Duration) {
    let _ = timeout(patience, async {
        while core.open.get() > 0 {
            core.emptied.notified().await;
        }
    })
    .await;
}

pub(crate) fn turn_away(recorder: &Recorder, client: IpAddr, reason: Reason) {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), Tick::now());
    event.client = client.to_string().into();
    event.outcome = Some(Outcome::TurnedAway);
    event.reason = Some(reason);
    recorder.release(event);
}
