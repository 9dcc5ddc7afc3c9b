//! Clients that publish and remove until the server is killed, and what must be there afterwards.

use super::random;
use crate::world::{Answer, Connection, FIRST, Gem, Index, Person, TIMEOUT, World, hex};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

/// The names of gems.
const NAMES: u64 = 7;
/// The repository of files, if there is one.
pub(super) const FILES: &str = "files";
/// The files of each client.
const PATHS: u64 = 16;
/// The pause before a request that was refused is sent again.
const PAUSE: Duration = Duration::from_millis(20);

/// How long nothing happens before a wait counts as idle.
const IDLE: Duration = Duration::from_millis(100);

/// What must be true after the server was killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// It was published and acknowledged, so it exists.
    There,
    /// A request was sent and not acknowledged, so it may exist.
    Open,
    /// Its removal was acknowledged, so it does not exist.
    Gone,
}

/// A repository, and a name published there: `NAME-VERSION` of a gem, or a path.
type Key = (&'static str, String);
/// A new fact: the expected state, and the SHA-256 of the bytes.
type News = (Key, (Fate, String));

/// What must be there.
#[derive(Default)]
pub(super) struct Fates(BTreeMap<Key, (Fate, String)>);

/// The clients of a round.
#[derive(Clone, Copy)]
pub(super) struct Clients {
    pub(super) round: usize,
    /// How many push gems.
    pub(super) gems: usize,
    /// How many publish files, which they delete and publish again with the same bytes.
    pub(super) files: usize,
    /// A request that was refused with 503 is repeated.
    pub(super) repeat: bool,
    /// The server outlives the round, so every connection does.
    pub(super) outlive: bool,
}

/// One of them.
struct Client<'a> {
    of: Clients,
    number: usize,
    person: Person,
    news: Sender<News>,
    over: &'a AtomicBool,
}

/// The clients at work.
pub(super) struct Working<'a> {
    news: Receiver<News>,
    fates: &'a mut Fates,
}

impl Clients {
    /// Lets them work until `strike` returns.
    pub(super) fn load(self, person: &Person, fates: &mut Fates, strike: impl FnOnce(&mut Working<'_>)) {
        let (sender, news) = mpsc::channel();
        let over = &AtomicBool::new(false);
        thread::scope(|scope| {
            for number in 0..self.gems + self.files {
                let client = Client { of: self, number, person: person.clone(), news: sender.clone(), over };
                scope.spawn(move || if number < self.gems { client.push_gems() } else { client.put_files() });
            }
            drop(sender);
            let mut working = Working { news, fates };
            strike(&mut working);
            over.store(true, SeqCst);
            while let Ok((key, fate)) = working.news.recv() {
                working.fates.0.insert(key, fate);
            }
        });
    }
}

impl Working<'_> {
    /// Waits for a number of acknowledgements. Calls `idle` while nothing happens.
    #[track_caller]
    pub(super) fn wait_for(&mut self, mut count: u64, idle: &dyn Fn()) {
        let mut began = Instant::now();
        while count > 0 {
            match self.news.recv_timeout(IDLE) {
                Ok((key, fate)) => {
                    (count, began) = (count - u64::from(fate.0 == Fate::There), Instant::now());
                    self.fates.0.insert(key, fate);
                }
                Err(_) => idle(),
            }
            assert!(began.elapsed() < TIMEOUT, "{count} acknowledgements did not come");
        }
    }

    /// Waits for a random moment within `longest`.
    pub(super) fn wait_within(&mut self, longest: Duration) {
        let end = Instant::now() + Duration::from_micros(random(longest.as_micros() as u64));
        loop {
            match self.news.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok((key, fate)) => drop(self.fates.0.insert(key, fate)),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("all clients have ended"),
            }
        }
    }

    /// Waits for a random number of acknowledgements, and then for a moment between two of them.
    pub(super) fn wait_for_some(&mut self, idle: &dyn Fn()) {
        self.wait_for(random(40), idle);
        self.wait_within(Duration::from_millis(5));
    }
}

impl Client<'_> {
    fn push_gems(&self) {
        let Some(mut connection) = self.reach(self.person.connect()) else { return };
        for count in 0.. {
            let version = format!("{}.{}.{count}", self.of.round, self.number);
            let gem = Gem::new(&format!("lamp{}", random(NAMES)), &version);
            let gem = gem.payload(&vec![count as u8; random(50_000) as usize]);
            if self.over.load(SeqCst) || self.push_gem(&mut connection, &gem, count % 5 == 4).is_none() {
                return;
            }
        }
    }

    /// A push, and sometimes its yank. Returns nothing if no reply arrived.
    fn push_gem(&self, connection: &mut Connection, gem: &Gem, yank: bool) -> Option<()> {
        let bytes = gem.bytes();
        let tell = self.about(FIRST, format!("{}-{}", gem.name, gem.version), &bytes);
        tell(Fate::Open);
        self.answered(|| self.person.push_on(connection, FIRST, &bytes))?.0.expect(200);
        tell(Fate::There);
        if yank {
            tell(Fate::Open);
            let yank = || self.person.yank_on(connection, FIRST, &gem.name, &gem.version);
            self.removed(self.answered(yank)?, 200);
            tell(Fate::Gone);
        }
        Some(())
    }

    fn put_files(&self) {
        let Some(mut connection) = self.reach(self.person.connect()) else { return };
        while !self.over.load(SeqCst) && self.put_file(&mut connection, random(PATHS)).is_some() {}
    }

    /// Publishes a file, and sometimes deletes it. Files of the same number have the same bytes.
    fn put_file(&self, connection: &mut Connection, number: u64) -> Option<()> {
        let path = format!("{}/{number}.bin", self.number);
        let url = format!("/repository/{FILES}/{path}");
        let bytes = vec![number as u8; 1 + 3_000 * number as usize];
        let tell = self.about(FILES, path, &bytes);
        tell(Fate::Open);
        let put = self.answered(|| self.person.on(connection, "PUT", &url, &[], &bytes))?.0;
        assert!([200, 201].contains(&put.status), "{put:?}");
        tell(Fate::There);
        if random(2) == 0 {
            tell(Fate::Open);
            let delete = self.answered(|| self.person.on(connection, "DELETE", &url, &[], b""))?;
            self.removed(delete, 204);
            tell(Fate::Gone);
        }
        Some(())
    }

    /// Something was removed, now or by a request before that was answered with 503.
    fn removed(&self, (answer, repeated): (Answer, bool), status: u16) {
        if !(repeated && answer.status == 404) {
            answer.expect(status);
        }
    }

    /// Tells facts about something with these bytes.
    fn about(&self, repository: &'static str, what: String, bytes: &[u8]) -> impl Fn(Fate) {
        let sum = hex(&Sha256::digest(bytes));
        move |fate| self.news.send(((repository, what.clone()), (fate, sum.clone()))).unwrap()
    }

    /// The answer to a call, and whether it was repeated. Nothing if the connection broke, or the round is over.
    fn answered(&self, mut call: impl FnMut() -> io::Result<Answer>) -> Option<(Answer, bool)> {
        let mut repeated = false;
        loop {
            let answer = self.reach(call())?;
            if answer.status != 503 || !self.of.repeat {
                return Some((answer, repeated));
            }
            assert!(answer.text().contains("hint") && answer.header("retry-after").is_some(), "{answer:?}");
            if self.over.load(SeqCst) {
                return None;
            }
            repeated = true;
            thread::park_timeout(PAUSE);
        }
    }

    fn reach<T>(&self, done: io::Result<T>) -> Option<T> {
        assert!(done.is_ok() || !self.of.outlive, "{:?}", done.err());
        done.ok()
    }
}

impl Fates {
    /// Checks that the server offers exactly what must or may exist, with the right bytes; `all`: of every gem, not of some.
    pub(super) fn verify(&self, world: &World, all: bool) {
        let anon = world.anon();
        let mut index = Index::read(&anon, FIRST);
        let named = |(name, version): &(String, String)| format!("{name}-{version}");
        let offered: BTreeMap<_, _> = index.offered.iter().map(|(key, sum)| (named(key), sum)).collect();
        for ((_, gem), (fate, sum)) in self.of(FIRST) {
            let there = offered.get(gem);
            assert!(fits(*fate, there.is_some()), "{gem} is {fate:?}, and offered: {}", there.is_some());
            assert!(there.is_none_or(|there| *there == sum), "{gem} is not what was pushed");
        }
        for gem in offered.keys() {
            assert!(self.0.contains_key(&(FIRST, gem.clone())), "{gem} was never pushed");
        }
        for ((_, path), (fate, sum)) in self.of(FILES) {
            let got = world.admin().file(FILES, path);
            assert!(fits(*fate, got.status == 200), "{path} is {fate:?}: {got:?}");
            match got.status {
                200 => assert_eq!(hex(&Sha256::digest(&got.body)), *sum, "{path}"),
                _ => drop(got.expect(404)),
            }
        }
        if !all {
            let many = index.offered.len() as u64;
            index.offered.retain(|_, _| random(many) < 5);
        }
        index.download(&anon, FIRST);
    }

    fn of(&self, repository: &'static str) -> impl Iterator<Item = (&Key, &(Fate, String))> {
        self.0.iter().filter(move |((of, _), _)| *of == repository)
    }
}

fn fits(fate: Fate, there: bool) -> bool {
    fate == Fate::Open || there == (fate == Fate::There)
}

impl fmt::Display for Fates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.0.values().filter(|(fate, _)| *fate == Fate::There).count();
        let gone = self.0.values().filter(|(fate, _)| *fate == Fate::Gone).count();
        write!(f, "{} packages tried, {there} acknowledged and all there, {gone} removed and all gone", self.0.len())
    }
}
