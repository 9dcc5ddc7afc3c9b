//! Any order of pushes, yanks, replacements, compactions, delays and failures of an upstream, of rules, of moments, and of clients: a
//! remote repository never says what its clients could not believe, shows nothing that is hidden, and in the end has what the upstream
//! has.
//!
//! Each run tries the same orders, unless `DAYLIGHT_SEQUENCES` says how many others are tried, or `DAYLIGHT_SEED` which: what
//! failed tells its seed.

mod agreement;
mod answers;
mod bundler;
mod groups;
mod marshal;
mod pool;
mod rules;
mod steps;
mod truth;

use crate::world::{Answer, Connection, FIRST, World};
use bundler::Bundler;
use jiff::Timestamp;
use pool::NAMES;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rules::Rules;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use steps::Step;
use truth::Truth;

const SEQUENCES: u32 = 40;
/// Number of sequences on one server.
const ROUND: usize = 100;
/// The beginning of the year 2030, in seconds since 1970.
const BEGINS: i64 = 1_893_456_000;
/// Maximum number of transfers of the whole file within an hour.
const WHOLES: usize = 6;
const HOUR: u64 = 3_600;
/// Seconds after the upstream's recovery during which its circuit may still be open and its files in doubt.
const LATER: u64 = 130;

/// A server, and its clock in seconds since the beginning of that year.
struct Stage {
    world: World,
    now: u64,
}

/// The answers so far.
#[derive(Default)]
struct Seen {
    /// Whether `/versions` was ever answered, and when first.
    synced: bool,
    first: Option<u64>,
    log: Vec<u8>,
    /// The gems in it.
    listed: BTreeSet<usize>,
    /// The gems whose `/info` had a line in an answer, and the MD5s of all their files.
    kept: [bool; NAMES.len()],
    infos: [BTreeSet<String>; NAMES.len()],
    /// Why the last one did not match the index.
    stale: [Option<String>; NAMES.len()],
    /// The gems whose upstream files disagreed and have not been seen to agree since.
    doubtful: [bool; NAMES.len()],
    /// The SHA-256 of the last answered packages.
    packages: HashMap<(usize, usize), String>,
}

/// A repository, its upstream, and its clients.
struct Trial<'a> {
    stage: &'a mut Stage,
    repository: String,
    truth: Truth,
    rules: Rules,
    connection: Option<Connection>,
    seen: Seen,
    clients: [Bundler; 2],
    now: u64,
    /// Until then the upstream may be refused, and its whole file may be refused.
    trouble: u64,
    long_trouble: u64,
    /// When the upstream last changed.
    changed: u64,
    /// How many of the upstream's requests were checked, and the time spans in which it sent `/versions` as a whole.
    looked: usize,
    wholes: Vec<(u64, u64)>,
    /// The previous moment, and the gems that were forbidden for all upstreams at the last check.
    earlier: u64,
    forbidden: [bool; NAMES.len()],
    /// Whether the clock was set since.
    waited: bool,
    /// Whether the server restarted since.
    restarted: bool,
}

impl<'a> Trial<'a> {
    fn new(stage: &'a mut Stage, number: usize) -> Self {
        let (truth, now) = (Truth::new(0), stage.now);
        let repository = format!("far-{number}");
        let remote = json!({ "urls": [truth.upstream.url()] });
        stage.world.make(&json!({ "name": repository, "format": "gem", "kind": "remote", "remote": remote }));
        Self {
            stage,
            repository,
            truth,
            rules: Rules::default(),
            connection: None,
            seen: Seen::default(),
            clients: Default::default(),
            now,
            trouble: now,
            long_trouble: now,
            changed: now,
            looked: 0,
            wholes: Vec::new(),
            earlier: now,
            forbidden: Default::default(),
            waited: false,
            restarted: false,
        }
    }

    fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let path = format!("/repository/{}/{path}", self.repository);
        for _ in 0..2 {
            let connection = self.connection.take();
            let mut connection = connection.unwrap_or_else(|| self.stage.world.anon().connect().unwrap());
            if let Ok(answer) = connection.call("GET", &path, headers, b"") {
                self.connection = Some(connection).filter(|_| answer.header("connection") != Some("close"));
                return answer;
            }
        }
        panic!("{path} breaks off");
    }

    fn wait(&mut self, seconds: u64) {
        (self.earlier, self.now, self.waited) = (self.now, self.now + seconds, true);
        self.stage.now = self.now;
        self.stage.set_time();
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Upstream(change) => {
                self.truth.change(change, self.now);
                self.changed = self.now;
            }
            Step::Rule(rule) => {
                self.rules.set(rule);
                let path = format!("/api/v1/repositories/{}", self.repository);
                let policy = json!({ "policy": self.rules.setting() });
                self.stage.world.admin().patch_json(&path, &policy).expect(200);
            }
            Step::Wait(seconds) => self.wait(seconds),
            Step::Ask(ask) => self.ask(ask),
            Step::Bundle(client, name) => self.bundle(client, name),
            Step::Agree => self.agree(),
            Step::Restart => {
                self.connection = None;
                self.stage.world.stop();
                // The number of transfers is in memory only, and the last one may be recorded late.
                self.restarted = true;
                self.stage.world.resume();
                self.stage.set_time();
            }
        }
        self.note_upstream();
    }

    /// A client resolves a gem and installs its last version, as Bundler does.
    fn bundle(&mut self, client: usize, name: usize) {
        let versions = self.clients[client].versions.take();
        let versions = self.versions(versions.as_ref()).or(versions);
        self.clients[client].versions = versions;
        if self.clients[client].asks_for(name) {
            let kept = self.clients[client].infos.get(&name).cloned();
            if let Some(info) = self.info(name, kept.as_ref()) {
                self.clients[client].infos.insert(name, info);
            }
        }
        let Some(info) = self.clients[client].infos.get(&name).cloned() else { return };
        if let Some(line) = bundler::lines(info.text()).last() {
            let (token, _) = bundler::version(line);
            let token = pool::TOKENS.iter().position(|one| *one == token).unwrap();
            self.gem(name, token);
        }
    }

    /// Checks the upstream's requests, and whether the upstream is healthy.
    fn note_upstream(&mut self) {
        let asked = self.truth.upstream.asked();
        for asked in &asked[self.looked..] {
            let path = asked.path.split('?').next().unwrap();
            let name = path.strip_prefix("/info/").or_else(|| path.strip_prefix("/gems/")?.strip_suffix(".gem"));
            match name {
                Some(name) => assert!(self.truth.listed.contains(name), "{path} is asked for, and not listed"),
                None => assert_eq!(path, "/versions", "nothing else is asked for"),
            }
            let forbidden = (0..NAMES.len()).filter(|of| self.forbidden[*of] && self.rules.forbid(*of));
            forbidden.for_each(|of| assert_ne!(path, format!("/info/{}", NAMES[of]), "it is asked for, and forbidden"));
            if path == "/versions" && asked.answered == 200 && self.truth.is_index() {
                self.wholes.push((self.earlier, self.now));
            }
        }
        (self.looked, self.earlier) = (asked.len(), self.now);
        if self.restarted {
            self.wholes.clear();
        }
        for sent in self.wholes.windows(WHOLES + 1) {
            assert!(sent[WHOLES].1 - sent[0].0 >= HOUR, "sent whole too often: {sent:?}");
        }
        // A job that began before the rule may still make a request. It has ended when the clock is set the next time.
        let waited = std::mem::take(&mut self.waited);
        self.restarted &= !waited;
        self.forbidden = std::array::from_fn(|name| self.rules.forbid(name) && (waited || self.forbidden[name]));
        if !self.truth.is_well() {
            (self.trouble, self.long_trouble) = (self.now + LATER, self.now + HOUR + LATER);
        }
        for name in 0..NAMES.len() {
            self.seen.doubtful[name] |= !self.truth.is_coherent(name);
        }
    }

    fn end(self) {
        let path = format!("/api/v1/repositories/{0}?confirm={0}", self.repository);
        self.stage.world.admin().ask("DELETE", &path, &[], b"").expect(200);
    }
}

impl Stage {
    fn new() -> Self {
        let stage = Self { world: World::start_in_conformance(&[("DAYLIGHT_UPSTREAM_WAIT_FOR_RETRY", "0s")]), now: 0 };
        stage.set_time();
        stage
    }

    fn set_time(&self) {
        let moment = Timestamp::from_second(BEGINS + i64::try_from(self.now).unwrap()).unwrap().to_string();
        let path = format!("/repository/{FIRST}/set_time");
        self.world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
    }
}

/// The number of sequences and the seed, from the environment, or a fixed default.
fn trials(sequences: u32) -> (Config, u64) {
    let number = |name: &str| std::env::var(name).ok().map(|number| number.parse::<u64>().unwrap());
    let asked = number("DAYLIGHT_SEQUENCES");
    let cases = asked.map_or(sequences, |cases| u32::try_from(cases).unwrap());
    let seed = number("DAYLIGHT_SEED").unwrap_or_else(|| asked.map_or(0, |_| RandomState::new().hash_one(0)));
    let rng_seed = RngSeed::Fixed(seed);
    (Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 300, ..Config::default() }, seed)
}

#[test]
fn a_remote_repository_tells_its_clients_nothing_that_they_cannot_believe_and_in_the_end_what_the_upstream_has() {
    let (stage, count) = (RefCell::new(Stage::new()), Cell::new(0));
    let (config, seed) = trials(SEQUENCES);
    let trial = |(ruled, sequence): (bool, Vec<Step>)| {
        count.set(count.get() + 1);
        if count.get() % ROUND == 0 {
            stage.replace(Stage::new());
        }
        let mut stage = stage.borrow_mut();
        let mut trial = Trial::new(&mut stage, count.get());
        let sequence = sequence.into_iter().filter(|step| ruled || !matches!(step, Step::Rule(_)));
        sequence.for_each(|step| trial.step(step));
        trial.settle();
        trial.end();
        Ok(())
    };
    let tried = TestRunner::new(config).run(&steps::all(), trial);
    assert!(tried.is_ok(), "DAYLIGHT_SEED={seed}, {} tried: {}", count.get(), tried.unwrap_err());
}
