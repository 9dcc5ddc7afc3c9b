//! Any order of pushes, yanks, replacements, compactions, delays and failures of an upstream, of rules, of moments, and of clients: a
//! remote repository never says what its clients could not believe, shows nothing that is hidden, and in the end has what the upstream
//! has. The same for groups (`groups`).
//!
//! Each run tries the same orders, unless `DAYLIGHT_SEQUENCES` says how many others are tried, or `DAYLIGHT_SEED` which: what
//! failed tells its seed.

mod agreement;
mod bundler;
mod checked;
mod groups;
mod pool;
mod remote;
mod rules;
mod steps;
mod truth;

use crate::world::{Answer, Connection, World};
use jiff::Timestamp;
use pool::NAMES;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::hash::{BuildHasher as _, RandomState};

/// Number of sequences on one server.
const ROUND: usize = 100;
/// The beginning of the year 2030, in seconds since 1970.
const BEGINS: i64 = 1_893_456_000;
const HOUR: u64 = 3_600;
/// Seconds after the upstream's recovery during which its circuit may still be open and its files in doubt.
const LATER: u64 = 130;

/// A server, its clock in seconds since the beginning of that year, and the connection of its clients.
struct Stage {
    world: World,
    now: u64,
    connection: Option<Connection>,
}

/// The answers of a repository so far.
#[derive(Default)]
struct Seen {
    log: Vec<u8>,
    /// The gems in it.
    listed: BTreeSet<usize>,
    /// The MD5s of all `/info` files, and why the last one did not match the index.
    infos: [BTreeSet<String>; NAMES.len()],
    stale: [Option<String>; NAMES.len()],
    /// The SHA-256 of the last answered packages.
    packages: HashMap<(usize, usize), String>,
}

impl Stage {
    fn new() -> Self {
        let world = World::start_in_conformance(&[("DAYLIGHT_UPSTREAM_WAIT_FOR_RETRY", "0s")]);
        let stage = Self { world, now: 0, connection: None };
        stage.set_time();
        stage
    }

    fn set_time(&self) {
        let moment = Timestamp::from_second(BEGINS + i64::try_from(self.now).unwrap()).unwrap();
        self.world.set_time(&moment.to_string());
    }

    /// The answer for a path below `/repository`.
    fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Answer {
        for _ in 0..2 {
            let mut connection = self.connection.take().unwrap_or_else(|| self.world.anon().connect().unwrap());
            if let Ok(answer) = connection.call("GET", &format!("/repository/{path}"), headers, b"") {
                self.connection = Some(connection).filter(|_| answer.header("connection") != Some("close"));
                return answer;
            }
        }
        panic!("{path} breaks off");
    }

    /// Starts the server again, after it was ended in this way.
    fn restart(&mut self, end: impl FnOnce(&mut World)) {
        self.connection = None;
        end(&mut self.world);
        self.world.resume();
        self.set_time();
    }
}

/// Tries this number of sequences, with the number and the seed of the environment if they are set.
fn tries<S: Debug>(sequences: u32, steps: impl Strategy<Value = Vec<S>>, trial: impl Fn(&mut Stage, usize, Vec<S>)) {
    let number = |name: &str| std::env::var(name).ok().map(|number| number.parse::<u64>().unwrap());
    let asked = number("DAYLIGHT_SEQUENCES");
    let cases = asked.map_or(sequences, |cases| u32::try_from(cases).unwrap());
    let seed = number("DAYLIGHT_SEED").unwrap_or_else(|| asked.map_or(0, |_| RandomState::new().hash_one(0)));
    let rng_seed = RngSeed::Fixed(seed);
    let config = Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let (stage, count) = (RefCell::new(Stage::new()), Cell::new(0));
    let tried = TestRunner::new(config).run(&steps, |sequence| {
        count.set(count.get() + 1);
        if count.get() % ROUND == 0 {
            stage.replace(Stage::new());
        }
        trial(&mut stage.borrow_mut(), count.get(), sequence);
        Ok(())
    });
    assert!(tried.is_ok(), "DAYLIGHT_SEED={seed}, {} tried: {}", count.get(), tried.unwrap_err());
}
