//! The servers that keep the pages of an application. Each core has a connection of its own to each of them, on which the reads of all its
//! requests are pipelined: one write for all reads of a turn, one wake of a request for all its answers.

mod asked;
mod driver;
mod host;
mod link;
mod links;
mod ring;

use crate::options::{BadApp, PagesOptions};
use crate::view::PageServerView;
use asked::{Call, Kind};
use bytes::Bytes;
use client::{PageProtocol, PageServer};
use host::Host;
use ring::Ring;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use telemetry::{Recorder, Text, Tick};

/// The most servers of an application.
const SERVERS_MAX: usize = 64;
/// The longest key of memcached, in bytes (`KEY_MAX_LENGTH`).
const KEY_MAX_BYTES: usize = 250;

/// The version of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// The process of the server that told it. After a restart memcached counts from 1 again, and each server counts for itself.
    pub(crate) instance: u64,
    /// memcached's CAS.
    pub(crate) cas: u64,
}

/// A read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The whole key, with its namespace.
    pub(crate) key: Bytes,
    /// The version of a copy in memory. If it is still the present one, its bytes are not read again.
    pub(crate) known: Option<Version>,
    /// Asks for the right to write the item again (memcached: `R`, answered by `W`): in how many seconds it expires at most if the right is
    /// to be given.
    pub(crate) early_s: Option<u32>,
}

impl Ask {
    /// A read of an item of which no copy is in memory.
    pub(crate) fn item(key: Bytes) -> Self {
        Self { key, known: None, early_s: None }
    }
}

/// Who has the right to write an item again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// This server.
    Ours,
    /// This server, for the item that another one has written meanwhile.
    OursLater,
    /// Another server, or nobody.
    Others,
}

/// The answer to a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// There is no item.
    Missing,
    /// The copy with the version `known` is still the present one.
    Unchanged {
        /// This reader is to write it again, and nobody else gets this answer.
        won: bool,
        /// It was marked as stale (memcached: `X`, after `md KEY I`).
        stale: bool,
    },
    /// The item.
    Item(Item),
    /// It is longer than the limit. Its bytes were not kept.
    TooLarge { version: Option<Version> },
    /// There is no answer.
    Failed(Trouble),
}

/// An item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) value: Bytes,
    /// The flags of memcached; 0 in Redis.
    pub(crate) flags: u32,
    /// Its version (memcached: the CAS). `None`: the store has none (Redis).
    pub(crate) version: Option<Version>,
    /// This reader is to write it again.
    pub(crate) won: bool,
    /// It was marked as stale (memcached: `X`, after `md KEY I`).
    pub(crate) stale: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It did not come in time.
    Timeout,
    /// The server cannot be reached, or was not a moment ago; or all are down.
    Unreachable,
    /// The server refused: credentials, an error of its own.
    Refused,
    /// Its answer cannot be understood. The connection was closed.
    Invalid,
    /// Too many reads are in progress.
    Busy,
}

/// The servers of one application.
#[derive(Debug)]
pub(crate) struct Servers {
    hosts: Vec<Arc<Host>>,
    ring: Ring,
    is_memcached: bool,
}

impl Servers {
    /// Servers with these settings. Their bounds are registered at `recorder`. Fails where a URL is none, where protocols are mixed, where
    /// there are several servers that are not memcached, or none.
    pub(crate) fn new(app: &Text, options: &PagesOptions, recorder: &Arc<Recorder>) -> Result<Arc<Self>, BadApp> {
        let bad = |what: String, hint| BadApp { app: app.to_string(), what, hint };
        let mut servers: Vec<PageServer> = Vec::new();
        for url in &options.servers {
            let hint = "a server is `memcached://HOST:PORT`, `redis://HOST:PORT/N` or `rediss://HOST:PORT/N`";
            let server = PageServer::new(url).map_err(|error| bad(error.to_string(), hint))?;
            if servers.iter().any(|other| other.authority() == server.authority()) {
                return Err(bad(format!("it has the server `{url}` twice"), "name each server of pages once"));
            }
            servers.push(server);
        }
        let is_of_memcached = |server: &PageServer| server.protocol() == PageProtocol::Memcached;
        let is_memcached = servers.iter().all(is_of_memcached);
        if servers.is_empty() {
            return Err(bad("it has no server of pages".to_owned(), "name one with `servers`"));
        }
        if servers.len() > SERVERS_MAX {
            return Err(bad(format!("it has more than {SERVERS_MAX} servers of pages"), "name fewer"));
        }
        if servers.len() > 1 && !is_memcached {
            let what = "it has several servers of pages that are not all memcached".to_owned();
            return Err(bad(
                what,
                "only the keys of memcached are spread over several servers; of Redis or Valkey name one",
            ));
        }
        if let Some(secret) = &options.credentials {
            let secret = secret.expose();
            if secret.contains(|letter: char| letter.is_control()) {
                return Err(bad(
                    "its credentials for the servers of pages have a line break or another control character"
                        .to_owned(),
                    "look for a line break at the end of the variable",
                ));
            }
            if is_memcached && secret.split_once(':').is_none_or(|(user, _)| user.is_empty()) {
                return Err(bad(
                    "its credentials for memcached have no user".to_owned(),
                    "memcached needs `USER:PASSWORD`",
                ));
            }
        }
        let points: Vec<_> = servers.iter().map(|server| (server.authority(), server.weight())).collect();
        let ring = Ring::new(&points);
        let hosts = servers.into_iter().enumerate();
        let hosts = hosts.map(|(at, server)| Host::new(server, app, at + 1, options, recorder)).collect();
        Ok(Arc::new(Self { hosts, ring, is_memcached }))
    }

    /// Reads items, in one round trip to each server, and a second one for items whose `known` version is not the present one. The answers
    /// are in the order of the asks. Takes at most the timeout of the settings; three times that if a server turns out to be dead, whose keys
    /// are then looked for on the next server of the ring, as Dalli does within a call. Dropping the future gives the reads up. Must be called
    /// on a core.
    pub(crate) async fn read(&self, asks: &[Ask]) -> Vec<Answer> {
        let kind = |ask: &Ask| Kind::Read { known: ask.known, early_s: ask.early_s };
        let mut answers = self.begin(asks.iter().map(|ask| (&ask.key, kind(ask)))).await;
        // A broken connection is made again first, and then the server is known to be dead.
        for _ in 0..if self.hosts.len() > 1 { 2 } else { 0 } {
            let is_lost = |at: &usize| answers[*at] == Answer::Failed(Trouble::Unreachable);
            let lost: Vec<usize> = (0..asks.len()).filter(is_lost).collect();
            if lost.is_empty() {
                break;
            }
            let others = self.begin(lost.iter().map(|at| (&asks[*at].key, kind(&asks[*at])))).await;
            lost.into_iter().zip(others).for_each(|(at, answer)| answers[at] = answer);
        }
        answers
    }

    /// Asks for the right to write an item again, which memcached gives once (`W`), for the version `known` of an item that expires in so many
    /// seconds at most. Redis has a lock for it (`SET KEY:l 1 NX PX 10000`).
    pub(crate) async fn right(&self, key: &Bytes, known: Option<Version>, expires_s: u32) -> Right {
        if !self.is_memcached {
            let answers = self.begin([(key, Kind::Lock)].into_iter()).await;
            let is_taken = answers == [Answer::Unchanged { won: true, stale: false }];
            return if is_taken { Right::Ours } else { Right::Others };
        }
        match self.read(&[Ask { key: key.clone(), known, early_s: Some(expires_s) }]).await.pop() {
            Some(Answer::Unchanged { won: true, .. }) => Right::Ours,
            Some(Answer::Item(item)) if item.won && item.version == known => Right::Ours,
            Some(Answer::Item(item)) if item.won => Right::OursLater,
            _ => Right::Others,
        }
    }

    /// The state of each.
    pub(crate) fn view(&self) -> Vec<PageServerView> {
        self.hosts.iter().map(|host| host.view()).collect()
    }

    fn begin<'a>(&self, asks: impl ExactSizeIterator<Item = (&'a Bytes, Kind)>) -> Reading<'_> {
        let now = Tick::now();
        let mut reading =
            Reading { servers: self, call: Call::new(asks.len()), looked: 0, unusable: Vec::new(), entered: 0 };
        for (at, (key, kind)) in asks.enumerate() {
            if self.is_memcached && !is_key(key) {
                reading.call.answer(at, Answer::Missing);
                continue;
            }
            // A server that is slow, or refuses, still has its keys: an older item of the same key may be on the next one.
            let server = self.ring.server(key, |server| reading.can_use(server, now) != Err(Trouble::Unreachable));
            let pushed = server.ok_or(Trouble::Unreachable).and_then(|server| {
                reading.can_use(server, now)?;
                reading.enter(server)?;
                links::push(&self.hosts[server], &reading.call, at, key, kind, now)
            });
            if let Err(trouble) = pushed {
                reading.call.answer(at, Answer::Failed(trouble));
            }
        }
        reading
    }
}

/// Whether memcached can have an item with this key.
fn is_key(key: &[u8]) -> bool {
    (1..=KEY_MAX_BYTES).contains(&key.len()) && key.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
}

/// Reads in progress.
#[derive(Debug)]
struct Reading<'a> {
    servers: &'a Servers,
    call: Rc<Call>,
    /// The servers that were looked at, as bits, and of these the ones that may not be asked now. One that is down is tried by one call at
    /// a time.
    looked: u64,
    unusable: Vec<(usize, Trouble)>,
    /// The servers in whose bounds this call has a place.
    entered: u64,
}

impl Reading<'_> {
    fn can_use(&mut self, server: usize, now: Tick) -> Result<(), Trouble> {
        let bit = 1 << server;
        if self.looked & bit == 0 {
            self.looked |= bit;
            if let Err(trouble) = self.servers.hosts[server].can_use(now) {
                self.unusable.push((server, trouble));
            }
        }
        match self.unusable.iter().find(|(unusable, _)| *unusable == server) {
            Some((_, trouble)) => Err(*trouble),
            None => Ok(()),
        }
    }

    /// Takes a place among the reads of a server.
    fn enter(&mut self, server: usize) -> Result<(), Trouble> {
        let bit = 1 << server;
        if self.entered & bit == 0 {
            self.servers.hosts[server].reads().take(1).map_err(|_| Trouble::Busy)?;
            self.entered |= bit;
        }
        Ok(())
    }
}

impl Future for Reading<'_> {
    type Output = Vec<Answer>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Vec<Answer>> {
        self.call.poll(cx)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.call.give_up();
        let mut entered = self.entered;
        while entered != 0 {
            let server = entered.trailing_zeros() as usize;
            self.servers.hosts[server].reads().give(1);
            entered &= entered - 1;
        }
    }
}

#[cfg(test)]
mod tests;
