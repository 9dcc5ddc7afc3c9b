//! The thread that keeps a connection to the database, connects again when it ends, beats, and notices what others write.
//!
//! A notification is only a bell, because it is lost when nobody listens: each beat tells the number of the last row, and rows are
//! read by their numbers. A beat without an answer shows a database that has stopped to answer.

use super::dial::dial;
use super::member::{Member, Next};
use super::nodes::NodeState;
use super::options::{DatabaseOptions, DatabaseStream};
use super::rhythm::BEAT;
use super::session::{ANSWER, Session, Unusable, random, told};
use super::state::DatabaseState;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Job, Log, Op, Recorder, Tick, lock};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{AsyncMessage, Connection};

/// How long a start waits until it is known whether this node has its name, and then until its answers may be called fresh.
const JOIN: Duration = Duration::from_secs(3);
/// How long a stop waits for the database.
const LEAVE: Duration = Duration::from_millis(300);
/// The pause after a failed attempt to connect. It doubles up to the second one.
const PAUSE: Duration = Duration::from_millis(20);
/// After the database has come back, the others write nothing for a second in which each node connects ([`TABLES`](super::schema::TABLES)).
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long an append waits before it is sent again, where another node has to write first.
const TURN: Duration = Duration::from_millis(20);
/// How often a start looks whether its answers may be called fresh.
const STEP: Duration = Duration::from_millis(1);
/// How often dues are looked for when there are none.
const IDLE: Duration = Duration::from_secs(60);

type Bell = Arc<dyn Fn() + Send + Sync>;

/// The handle of the thread.
pub(crate) struct Link {
    shared: Arc<Shared>,
    runtime: Handle,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    options: DatabaseOptions,
    state: Arc<DatabaseState>,
    member: Arc<Member>,
    recorder: Arc<Recorder>,
    /// The connection, or why somebody has to act; `None`: there is none now.
    session: watch::Sender<Option<Result<Arc<Session>>>>,
    /// Since when there is none.
    outage: Mutex<Option<Instant>>,
    wake: Arc<Notify>,
    stop: Notify,
    /// The number of the last row that this node knows, or is about to write.
    known: AtomicU64,
    bell: OnceLock<Bell>,
}

impl Link {
    /// Starts the thread.
    pub(super) fn start(
        options: DatabaseOptions,
        folder: u128,
        state: Arc<DatabaseState>,
        log: Log,
        recorder: Arc<Recorder>,
    ) -> Result<Self> {
        let wake = Arc::<Notify>::default();
        let member = Arc::new(Member::new(options.clone(), folder, random()?, log, wake.clone()));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::thread)?;
        let handle = runtime.handle().clone();
        member.register(&recorder);
        let shared = Arc::new(Shared {
            options,
            state,
            member,
            recorder,
            session: watch::Sender::new(None),
            outage: Mutex::new(Some(Instant::now())),
            wake,
            stop: Notify::new(),
            known: AtomicU64::new(0),
            bell: OnceLock::new(),
        });
        let run = {
            let shared = shared.clone();
            move || {
                runtime.block_on(async {
                    let task = tokio::spawn(shared.clone().keep_connected());
                    tokio::select! {
                        () = shared.stop.notified() => {}
                        () = shared.end_overdue() => {}
                    }
                    task.abort();
                });
            }
        };
        let thread = std::thread::Builder::new().name("database".into()).spawn(run).map_err(Error::thread)?;
        Ok(Self { shared, runtime: handle, thread: Mutex::new(Some(thread)) })
    }

    /// Whether the database answers.
    pub(crate) fn state(&self) -> &Arc<DatabaseState> {
        &self.shared.state
    }

    /// This node among the others.
    pub(crate) fn member(&self) -> &Arc<Member> {
        &self.shared.member
    }

    pub(super) fn options(&self) -> &DatabaseOptions {
        &self.shared.options
    }

    pub(super) fn recorder(&self) -> &Arc<Recorder> {
        &self.shared.recorder
    }

    /// Calls `bell` whenever others may have written, and after each connection.
    pub(crate) fn ring(&self, bell: Bell) {
        bell();
        let _ = self.shared.bell.set(bell);
    }

    /// The bell does not ring for rows up to this one.
    pub(super) fn knows(&self, seq: u64) {
        self.shared.known.store(seq, Ordering::Release);
    }

    /// An error if another living node has the name of this one. Nothing is known while the database is away.
    pub(crate) fn take_name(&self) -> Result<()> {
        if self.shared.state.is_away() {
            return Ok(());
        }
        let named = self.shared.member.clone().named();
        self.run(async move { timeout(JOIN, named).await.unwrap_or(Ok(())) })?
    }

    /// This node answers from now on. Waits until it may call its answers fresh, as long as the database is there.
    pub(crate) fn begin_serving(&self) {
        let member = self.shared.member.clone();
        member.is_now(NodeState::Serving);
        let until = Instant::now() + JOIN;
        let waits = || !self.shared.state.is_away() && self.shared.state.unfollowed().is_none();
        while !member.freshness.is_fresh() && waits() && Instant::now() < until {
            let _ = self.run(async { sleep(STEP).await });
        }
    }

    /// Until when a change may wait: an outage is waited for once, however many changes come meanwhile.
    pub(super) fn deadline(&self) -> Instant {
        lock(&self.shared.outage).unwrap_or_else(Instant::now) + self.shared.options.patience
    }

    /// The connection, once there is one.
    pub(super) fn session(&self, until: Instant) -> Result<Arc<Session>> {
        let usable = |session: &Option<Result<Arc<Session>>>| match session {
            Some(Ok(session)) => session.broken().is_none(),
            Some(Err(_)) => true,
            None => false,
        };
        let present = Some(self.shared.session.borrow().clone()).filter(usable).flatten();
        if let Some(session) = present {
            return session;
        }
        let mut sessions = self.shared.session.subscribe();
        let found = self.run(async move {
            let found = timeout_at(until, sessions.wait_for(usable)).await;
            found.ok().and_then(Result::ok).and_then(|session| session.clone())
        });
        found?.unwrap_or_else(|| Err(self.away(None)))
    }

    /// The connection, or why the first attempt to connect failed.
    pub(super) fn first_session(&self) -> Result<Arc<Session>> {
        let mut sessions = self.shared.session.subscribe();
        if sessions.borrow().is_none() && !self.shared.state.is_away() {
            let until = Instant::now() + self.shared.options.patience.min(ANSWER);
            self.run(async move { drop(timeout_at(until, sessions.changed()).await) })?;
        }
        self.session(Instant::now())
    }

    /// Waits for work on the thread's runtime. The caller may be a thread of another runtime.
    fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.runtime.spawn(async move { answer.send(work.await) });
        answered.recv().map_err(|_| Error::Closed)
    }

    /// Another node has to write first.
    pub(super) fn let_write(&self) -> Result<()> {
        // The timer belongs to the runtime of the thread.
        self.run(async { sleep(TURN).await })
    }

    /// Asks the database over a connection.
    pub(super) fn ask<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, String>> + Send + 'static,
    {
        self.run(work)?.map_err(|cause| self.away(Some(cause)))
    }

    fn away(&self, cause: Option<String>) -> Error {
        let known = || self.shared.state.away().map(|away| away.cause);
        let cause = cause.or_else(known).unwrap_or_else(|| "it does not answer".to_owned());
        Error::DatabaseAway { url: self.shared.options.url.clone(), cause }
    }

    /// Ends the thread and the connection. The others need not wait for this node any more.
    pub(super) fn close(&self) {
        if let Some(thread) = lock(&self.thread).take() {
            let session = self.shared.session.borrow().clone();
            if let Some(Ok(session)) = session {
                let by = self.shared.member.by.clone();
                let _ = self.run(async move { timeout(LEAVE, session.leave(&by)).await.is_ok() });
            }
            self.shared.stop.notify_one();
            let _ = thread.join();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn ring(&self) {
        if let Some(bell) = self.bell.get() {
            bell();
        }
    }

    async fn keep_connected(self: Arc<Self>) {
        let (mut pause, mut number) = (PAUSE, 0);
        loop {
            number += 1;
            let mut job = Job::begin(&self.recorder, "database.connect");
            let began = job.running(Op::DatabaseConnect);
            let connected = timeout(self.options.patience.max(ANSWER), self.connect(number)).await;
            drop(began);
            let connected = connected.unwrap_or_else(|_| Err(Unusable::silent()));
            job.end_as(&connected);
            match connected {
                Ok((session, driver)) => {
                    pause = PAUSE;
                    let cause = self.attend(Arc::new(session)).await;
                    drop(driver);
                    self.state.went_away(&cause);
                    self.lose(None);
                }
                Err(Unusable::Away(cause)) => {
                    self.state.went_away(&cause);
                    self.lose(None);
                }
                Err(unusable @ Unusable::Refused(..)) => {
                    let error = unusable.told(&self.options.url);
                    self.state.went_away(&error.to_string());
                    self.lose(Some(Err(error)));
                }
                Err(unusable @ Unusable::Other(_)) => {
                    let error = unusable.told(&self.options.url);
                    self.state.is_other(&error);
                    self.lose(Some(Err(error)));
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// There is no connection.
    fn lose(&self, instead: Option<Result<Arc<Session>>>) {
        lock(&self.outage).get_or_insert_with(Instant::now);
        self.session.send_replace(instead);
    }

    /// Looks after a connection until it cannot be used any more. Returns why.
    async fn attend(&self, session: Arc<Session>) -> String {
        self.state.counts.connects.fetch_add(1, Ordering::Relaxed);
        *lock(&self.outage) = None;
        self.state.is_back();
        let mut course = self.member.begin();
        self.session.send_replace(Some(Ok(session.clone())));
        self.member.freshness.forget_beats();
        self.ring();
        loop {
            self.state.counts.beats.fetch_add(1, Ordering::Relaxed);
            let next = match self.member.beat(&session, &mut course).await {
                Ok(next) => next,
                // The database answers, and cannot write.
                Err(_) if session.broken().is_none() => Next::Wait,
                Err(cause) => return cause,
            };
            if self.member.counter().0 != self.known.load(Ordering::Acquire) {
                self.ring();
            }
            if next == Next::Wait {
                let _ = timeout(BEAT, self.wake.notified()).await;
            }
            if let Some(cause) = session.broken() {
                return cause;
            }
            if self.state.is_refusing() {
                // If the connection ends, the next beat tells.
                let _ = session.try_to_write().await;
            }
        }
    }

    /// Ends what was waited for long enough, also while there is no connection.
    async fn end_overdue(&self) {
        loop {
            let dues = [self.member.everywhere.end_overdue(), self.member.freshness.end_overdue()];
            let now = Tick::now();
            let next = dues.into_iter().flatten().map(|due| Duration::from_nanos(due.since(now))).min();
            let _ = timeout(next.unwrap_or(IDLE), self.member.due.notified()).await;
        }
    }

    /// Connects. The connection ends with the second value, also if this takes too long and is given up.
    async fn connect(self: &Arc<Self>, number: u64) -> Result<(Session, JoinSet<()>), Unusable> {
        let (client, connection) = dial(&self.options).await?;
        let mut driver = JoinSet::new();
        driver.spawn(self.clone().drive(connection, number));
        let session = Session::set_up(client, number, self.wake.clone(), self.state.clone()).await?;
        Ok((session, driver))
    }

    /// A notification: the number of the last row, or what another node has seen.
    fn hear(&self, told: &str) {
        let known = self.known.load(Ordering::Acquire);
        let seen = told.strip_prefix("seen ").and_then(|seen| seen.split_once(' '));
        match (seen, told.parse::<u64>()) {
            (Some((seq, instance)), _) => {
                seq.parse().into_iter().for_each(|seq| self.member.everywhere.has(instance, Seq(seq)));
            }
            (None, Ok(number)) if number > known => self.ring(),
            (None, _) => {}
        }
    }

    /// Moves the messages of a connection until it ends.
    async fn drive(self: Arc<Self>, mut connection: Connection<Box<dyn DatabaseStream>, NoTlsStream>, number: u64) {
        let cause = loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(told))) => {
                    self.hear(told.payload());
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => break told(&error),
                None => break "the connection was closed".to_owned(),
            }
        };
        if let Some(Ok(session)) = self.session.borrow().as_ref()
            && session.number == number
        {
            session.give_up(&cause);
        }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("options", &self.shared.options).finish_non_exhaustive()
    }
}
