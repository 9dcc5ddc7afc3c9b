//! Calls to one server on a timetable that does not wait for answers, as clients do that know nothing of each other (an open loop).
//!
//! A slow answer delays no other call while a connection is free, and how long a call took is counted from its moment in the timetable. So a
//! server that stands still for a second costs each call of that second, as it would have cost its clients.

use client::{CallTimes, ClientOptions, Connection, Request, Response};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::Poll;
use std::thread;
use std::time::Duration;
use telemetry::Tick;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{JoinSet, LocalSet};

/// Calls whose moment has come and that no connection has taken. The timetable itself says how late they are.
const DUE: usize = 1024;

/// A call of a timetable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    /// When it begins, from the beginning of the timetable.
    pub(super) at: Duration,
    /// Whether it makes a connection of its own, which is not used again.
    pub(super) alone: bool,
}

/// A call that has ended.
#[derive(Debug)]
pub(super) struct Made {
    /// Its place in the timetable.
    pub(super) place: usize,
    /// How late it began, in nanoseconds.
    pub(super) late: u64,
    /// From its moment in the timetable to its last byte, in nanoseconds.
    pub(super) latency: u64,
    pub(super) times: CallTimes,
    pub(super) answer: Result<Response, client::Error>,
}

/// The connections of a timetable.
pub(super) struct OpenLoop {
    options: ClientOptions,
    /// The most connections.
    most: usize,
    /// The one that was used last is used next, so there are no more than are needed.
    idle: Vec<Connection>,
    opened: usize,
    /// Calls that had to wait for a connection.
    waited: u64,
}

/// A task that has ended.
struct Ended {
    made: Made,
    /// `None`: its connection was its own.
    connection: Option<Connection>,
}

enum Step {
    /// The moment of this place has come.
    Due(usize),
    Ended(Box<Result<Ended, tokio::task::JoinError>>),
    AllMade,
    Stop,
}

impl OpenLoop {
    /// At most so many connections, each call with these limits.
    pub(super) fn new(options: ClientOptions, most: usize) -> Self {
        Self { options, most: most.max(1), idle: Vec::new(), opened: 0, waited: 0 }
    }

    /// The connections that were kept for several calls, at the same time.
    pub(super) fn opened(&self) -> usize {
        self.opened
    }

    /// Calls that began late because all connections were in use.
    pub(super) fn waited(&self) -> u64 {
        self.waited
    }

    /// Makes the calls of a timetable, which is in the order of its moments. `request` makes the request of a place, and `take` gets each call
    /// when it has ended; `false` ends it all. Returns whether all calls were made: `stop` ends it, too.
    pub(super) fn run(
        &mut self,
        runtime: &Runtime,
        timetable: &[Planned],
        request: &dyn Fn(usize) -> Request,
        take: &mut dyn FnMut(Made) -> bool,
        stop: Pin<&mut (dyn Future<Output = ()> + '_)>,
    ) -> anyhow::Result<bool> {
        let (sender, receiver) = channel(DUE);
        let (began, ended) = (Tick::now(), &AtomicBool::new(false));
        thread::scope(|scope| {
            let clock = scope.spawn(move || tell(timetable, began, ended, &sender));
            let calls = Calls { timetable, began, due: receiver, all_due: false, tasks: JoinSet::new() };
            let done = LocalSet::new().block_on(runtime, self.call(calls, request, take, stop));
            ended.store(true, Relaxed);
            clock.thread().unpark();
            done
        })
    }

    async fn call(
        &mut self,
        mut calls: Calls<'_>,
        request: &dyn Fn(usize) -> Request,
        take: &mut dyn FnMut(Made) -> bool,
        mut stop: Pin<&mut (dyn Future<Output = ()> + '_)>,
    ) -> anyhow::Result<bool> {
        loop {
            let has_room = calls.tasks.len() < self.most;
            match calls.step(has_room, stop.as_mut()).await {
                Step::Stop => return Ok(false),
                Step::AllMade => return Ok(true),
                Step::Due(place) => {
                    let planned = calls.timetable[place];
                    let connection = self.connection(planned.alone);
                    let due = calls.began.plus(planned.at);
                    let call = Box::pin(make(connection, request(place), place, due, planned.alone));
                    calls.tasks.spawn_local(call);
                }
                Step::Ended(ended) => {
                    let Ended { made, connection } = (*ended)?;
                    self.waited += u64::from(!has_room && !calls.due.is_empty());
                    self.idle.extend(connection);
                    if !take(made) {
                        return Ok(false);
                    }
                }
            }
        }
    }

    fn connection(&mut self, alone: bool) -> Connection {
        let kept = if alone { None } else { self.idle.pop() };
        kept.unwrap_or_else(|| {
            self.opened += usize::from(!alone);
            Connection::new(self.options.clone())
        })
    }
}

/// The calls under way.
struct Calls<'a> {
    timetable: &'a [Planned],
    began: Tick,
    due: Receiver<usize>,
    all_due: bool,
    tasks: JoinSet<Ended>,
}

impl Calls<'_> {
    /// The next thing that happens. A call that has ended comes before one that begins, because it frees a connection.
    async fn step(&mut self, has_room: bool, mut stop: Pin<&mut (dyn Future<Output = ()> + '_)>) -> Step {
        poll_fn(|cx| {
            if let Poll::Ready(Some(ended)) = self.tasks.poll_join_next(cx) {
                return Poll::Ready(Step::Ended(Box::new(ended)));
            }
            if stop.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Step::Stop);
            }
            if has_room && !self.all_due {
                match self.due.poll_recv(cx) {
                    Poll::Ready(Some(place)) => return Poll::Ready(Step::Due(place)),
                    Poll::Ready(None) => self.all_due = true,
                    Poll::Pending => {}
                }
            }
            let all_made = self.all_due && self.tasks.is_empty();
            if all_made { Poll::Ready(Step::AllMade) } else { Poll::Pending }
        })
        .await
    }
}

/// Tells each place of the timetable when its moment has come. A thread that sleeps is more exact than the timer of the runtime, which knows
/// whole milliseconds.
fn tell(timetable: &[Planned], began: Tick, ended: &AtomicBool, due: &Sender<usize>) {
    for (place, planned) in timetable.iter().enumerate() {
        loop {
            if ended.load(Relaxed) {
                return;
            }
            let left = began.plus(planned.at).since(Tick::now());
            if left == 0 {
                break;
            }
            thread::park_timeout(Duration::from_nanos(left));
        }
        if due.blocking_send(place).is_err() {
            return;
        }
    }
}

async fn make(mut connection: Connection, request: Request, place: usize, due: Tick, alone: bool) -> Ended {
    let late = Tick::now().since(due);
    // The bytes are counted, and not needed.
    let answer = connection.call_into(request, &mut |_| Ok(())).await;
    let latency = Tick::now().since(due);
    let made = Made { place, late, latency, times: connection.times(), answer };
    Ended { made, connection: (!alone).then_some(connection) }
}
