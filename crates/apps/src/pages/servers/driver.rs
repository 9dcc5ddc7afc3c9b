//! The task that drives a connection: it writes all reads that were asked for in a turn of the runtime together, and hands out the replies.

use super::asked::{Asked, Kind};
use super::host::Host;
use super::link::Driven;
use super::{Answer, Item, Trouble, Version};
use client::{Error, PageCommand, PageConnection, PageReply, PageWant};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use telemetry::{Slot, Tick};
use tokio::time::{Instant, Sleep, sleep};

/// How long connecting may take. Reads do not wait so long, but the next ones can use the connection.
const CONNECT_MAX: Duration = Duration::from_secs(1);
/// How long replies that nobody waits for any more may be overdue. It is shorter than the time for which the server is not asked, so the
/// read that tries it then has a new connection.
const SILENT_MAX: Duration = Duration::from_millis(900);
/// How long a connection is kept without a read. Firewalls drop idle connections without telling either side.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// Drives a connection from its making until it breaks, or is idle for long.
pub(super) async fn drive(host: Arc<Host>, link: Driven, _place: Slot) {
    let began = Tick::now();
    let driver = Driver {
        host: &host,
        link: &link,
        alarm: Alarm::new(),
        silent_since: None,
        instance: None,
        used: began,
        is_used: false,
    };
    let mut driver = pin!(driver);
    let mut connecting = Box::pin(host.server().connect(host.credentials()));
    let connected = std::future::poll_fn(|cx| match connecting.as_mut().poll(cx) {
        Poll::Ready(connected) => Poll::Ready(Some(connected)),
        Poll::Pending => driver.as_mut().poll_waiting(began.plus(CONNECT_MAX), cx).map(|()| None),
    })
    .await;
    drop(connecting);
    let mut connection = match connected {
        Some(Ok(connection)) => connection,
        Some(Err(error)) => {
            host.failed(trouble(&error), in_words(&error));
            return link.fail(trouble(&error));
        }
        None => {
            host.failed(Trouble::Unreachable, format!("no connection within {} ms", CONNECT_MAX.as_millis()));
            return link.fail(Trouble::Timeout);
        }
    };
    host.works();
    driver.silent_since = None;
    driver.instance = connection.instance().map(|told| host.instance(told));
    let error = std::future::poll_fn(|cx| driver.as_mut().poll(&mut connection, cx)).await;
    let Some(error) = error else { return };
    // Servers may close idle connections.
    let is_idle = link.sent.borrow().is_empty() && link.waiting.borrow().is_empty();
    if !is_idle || !matches!(error, Error::PageServerBroke { .. }) {
        host.noted(in_words(&error));
    }
    link.fail(trouble(&error));
}

struct Driver<'a> {
    host: &'a Arc<Host>,
    link: &'a Driven,
    alarm: Alarm,
    /// Since when no reply has come, although one was due.
    silent_since: Option<Tick>,
    /// The process of the server.
    instance: Option<u64>,
    /// When the last read was sent.
    used: Tick,
    /// A read was sent since `used` was set.
    is_used: bool,
}

impl Driver<'_> {
    /// Lets reads expire while the connection is made. Ready at `until`.
    fn poll_waiting(mut self: Pin<&mut Self>, until: Tick, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.link.driver.replace(Some(cx.waker().clone()));
            let next = self.link.next_deadline().map_or(until, |next| next.min(until));
            if self.alarm.poll(next, cx).is_pending() {
                return Poll::Pending;
            }
            let now = Tick::now();
            if self.link.expire(now) && self.silent_since.is_none() {
                self.silent_since = Some(now);
                self.host
                    .failed(Trouble::Timeout, format!("no connection within {} ms", self.host.timeout().as_millis()));
            }
            if now >= until {
                return Poll::Ready(());
            }
        }
    }

    /// Sends and receives. Ready when the connection has ended; `None`: it was idle.
    fn poll(mut self: Pin<&mut Self>, connection: &mut PageConnection, cx: &mut Context<'_>) -> Poll<Option<Error>> {
        // Before anything is sent, so that a read that is pushed from here on wakes this task.
        self.link.driver.replace(Some(cx.waker().clone()));
        loop {
            self.push(connection);
            if let Poll::Ready(Err(error)) = connection.poll_send(cx) {
                return Poll::Ready(Some(error));
            }
            loop {
                let want = self.want();
                match connection.poll_reply(want, cx) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(reply)) => {
                        if let Err(error) = self.take(reply) {
                            return Poll::Ready(Some(error));
                        }
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Some(error)),
                }
            }
            if self.link.waiting.borrow().is_empty() {
                break;
            }
        }
        self.poll_alarm(cx)
    }

    /// Writes the reads that wait.
    fn push(&mut self, connection: &mut PageConnection) {
        let mut waiting = self.link.waiting.borrow_mut();
        if waiting.is_empty() {
            return;
        }
        self.is_used = true;
        let mut sent = self.link.sent.borrow_mut();
        for mut asked in waiting.drain(..).filter(Asked::is_awaited) {
            if let Kind::Read { known, .. } = &mut asked.kind {
                *known = known.filter(|known| Some(known.instance) == self.instance);
            }
            let key = &asked.key[..];
            connection.push(match asked.kind {
                Kind::Read { known: Some(_), early_s } => PageCommand::Version { key, early_s },
                Kind::Read { known: None, early_s } => PageCommand::Read { key, early_s },
                Kind::Changed { .. } => PageCommand::Read { key, early_s: None },
                Kind::Lock => PageCommand::Lock { key },
            });
            sent.push_back(asked);
        }
    }

    /// The wanted parts of the next reply.
    fn want(&self) -> PageWant {
        match self.link.sent.borrow().front().filter(|asked| asked.is_awaited()) {
            Some(Asked { kind: Kind::Read { known, .. }, .. }) => {
                PageWant { limit_bytes: self.host.value_bytes(), known: known.map(|known| known.cas) }
            }
            Some(_) => PageWant { limit_bytes: self.host.value_bytes(), known: None },
            None => PageWant { limit_bytes: 0, known: None },
        }
    }

    /// Hands out a reply.
    fn take(&mut self, reply: PageReply) -> Result<(), Error> {
        let host = || self.host.server().name().to_owned();
        let Some(mut asked) = self.link.sent.borrow_mut().pop_front() else {
            return Err(Error::BadResponse { host: host(), why: "it sends what nobody asked for" });
        };
        self.silent_since = None;
        // A late reply says that the server is slow.
        if asked.is_awaited() {
            self.host.works();
        }
        match reply {
            PageReply::Missing => asked.answer(Answer::Missing),
            PageReply::TooLarge { version } => {
                let version = self.instance.zip(version).map(|(instance, cas)| Version { instance, cas });
                asked.answer(Answer::TooLarge { version });
            }
            PageReply::Done => asked.answer(Answer::Unchanged { won: true, stale: false }),
            PageReply::Present { version, won, stale } => match asked.kind {
                Kind::Read { known: Some(known), .. } if version == Some(known.cas) => {
                    asked.answer(Answer::Unchanged { won, stale });
                }
                Kind::Read { known: Some(_), .. } if asked.is_awaited() => {
                    asked.kind = Kind::Changed { won };
                    self.link.waiting.borrow_mut().push(asked);
                }
                // Nobody waits, or the server did not send the value that it was asked for.
                _ if !asked.is_awaited() => {}
                _ => return Err(Error::BadResponse { host: host(), why: "it sends no value" }),
            },
            PageReply::Item { value, flags, version, won, stale } => {
                let won = won || asked.kind == Kind::Changed { won: true };
                let version = self.instance.zip(version).map(|(instance, cas)| Version { instance, cas });
                asked.answer(Answer::Item(Item { value, flags, version, won, stale }));
            }
            PageReply::Refused { why, ends } => {
                asked.answer(Answer::Failed(Trouble::Refused));
                if ends {
                    return Err(Error::PageServerRefuses { host: host(), why });
                }
                self.host.noted(format!("it refuses: {why}"));
            }
        }
        Ok(())
    }

    /// Lets reads expire, and ends a connection that is silent or idle for long.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<Option<Error>> {
        loop {
            let next = match self.silent_since {
                Some(since) => Some(since.plus(SILENT_MAX)),
                None if self.is_used => None,
                None => Some(self.used.plus(IDLE_MAX)),
            };
            // An alarm that is set is not later than the deadlines that there were then, and those of new reads are later.
            let first = match self.alarm.at {
                Some(_) => {
                    let sent = self.link.sent.borrow();
                    sent.iter().find(|asked| asked.call.is_some()).map(|asked| asked.deadline)
                }
                None => self.link.next_deadline(),
            };
            let next = next.into_iter().chain(first).min().unwrap_or_else(|| self.used.plus(IDLE_MAX));
            if self.alarm.poll(next, cx).is_pending() {
                return Poll::Pending;
            }
            let now = Tick::now();
            if self.link.expire(now) && self.silent_since.is_none() {
                self.silent_since = Some(now);
                self.host.failed(Trouble::Timeout, format!("no reply within {} ms", self.host.timeout().as_millis()));
            }
            if self.silent_since.is_some_and(|since| now >= since.plus(SILENT_MAX)) {
                let waited_ms = u64::try_from(SILENT_MAX.as_millis()).unwrap_or(u64::MAX);
                return Poll::Ready(Some(Error::Silent { host: self.host.server().name().to_owned(), waited_ms }));
            }
            if std::mem::take(&mut self.is_used) {
                self.used = now;
            }
            if self.link.sent.borrow().is_empty() && now >= self.used.plus(IDLE_MAX) {
                return Poll::Ready(None);
            }
        }
    }
}

/// One timer for all reads. It is set again only where it would be late: most reads are answered long before, and cost it nothing.
struct Alarm {
    sleep: Pin<Box<Sleep>>,
    at: Option<Tick>,
}

impl Alarm {
    fn new() -> Self {
        Self { sleep: Box::pin(sleep(Duration::ZERO)), at: None }
    }

    /// Ready at `next`, or before.
    fn poll(&mut self, next: Tick, cx: &mut Context<'_>) -> Poll<()> {
        if self.at.is_none_or(|at| next < at) {
            let now = Tick::now();
            self.sleep.as_mut().reset(Instant::now() + Duration::from_nanos(next.since(now)));
            self.at = Some(next);
        }
        let polled = self.sleep.as_mut().poll(cx);
        if polled.is_ready() {
            self.at = None;
        }
        polled
    }
}

/// The answer for reads that an error ends.
fn trouble(error: &Error) -> Trouble {
    match error {
        Error::PageServerRefuses { .. } => Trouble::Refused,
        Error::BadResponse { .. } => Trouble::Invalid,
        Error::Silent { .. } => Trouble::Timeout,
        _ => Trouble::Unreachable,
    }
}

/// An error with the error of the system behind it.
fn in_words(error: &Error) -> String {
    match (error, std::error::Error::source(error)) {
        (Error::PageServerBroke { .. }, _) | (_, None) => error.to_string(),
        (_, Some(source)) => format!("{error}: {source}"),
    }
}
