//! A server on PostgreSQL and object storage. One of the three is killed or suspended under load, the server with its data folder, too.
//! Of seven rounds five strike the server. `DAYLIGHT_TORTURE` sets the number of kills of the server.

use super::clients::{Clients, FILES, Fates, Working};
use super::{kill_at_start, kills, random};
use crate::cluster::{VARIABLES, journal, settings};
use crate::world::{ObjectProduct, ObjectServer, Postgres, World};
use std::cell::Cell;
use std::fs;
use std::time::Duration;

/// Deleted bytes are collected within two or three hours.
const COLLECTED_SOON: &str = "undo = \"1h\"\nhorizon = \"1h\"\ncollect_after = \"1h\"\nlocal_bytes = 16777216\n";
/// How long a server is suspended at most: less than the server of packages waits for it.
const SUSPENDED: Duration = Duration::from_secs(3);

/// The process that is struck in a round.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Victim {
    Server,
    Database,
    Storage,
}

struct Pair {
    world: World,
    database: Postgres,
    storage: ObjectServer,
    /// The clock of the server, in seconds since 2050.
    now: Cell<i64>,
}

impl Pair {
    fn start() -> Self {
        let (database, storage) = (Postgres::start(), ObjectServer::start(ObjectProduct::SeaweedFs));
        let settings = settings(&database) + &storage.settings("kills", &storage.url()) + COLLECTED_SOON;
        let world = World::start_in_conformance_with_file(&settings, VARIABLES);
        let pair = Self { world, database, storage, now: Cell::new(0) };
        pair.pass(0);
        pair.world.tree(FILES, "raw");
        pair
    }

    /// Sets the clock of the server, which stands still otherwise. The circuit of object storage closes after seconds.
    fn pass(&self, seconds: i64) {
        self.now.set(self.now.get() + seconds);
        let moment = jiff::Timestamp::from_second(2_524_608_000 + self.now.get()).unwrap();
        self.world.set_time(&moment.to_string());
    }

    fn round(&mut self, round: usize, victim: Victim, fates: &mut Fates) {
        // In each hour the collector works.
        self.pass(3_600);
        let clients = Clients { round, gems: 2, files: 2, repeat: true, outlive: victim != Victim::Server };
        clients.load(&self.world.admin(), fates, |working| {
            working.wait_for_some(&|| self.pass(1));
            match victim {
                Victim::Server => self.world.kill(),
                Victim::Database => self.strike_database(round, working),
                Victim::Storage => self.strike_storage(round, working),
            }
            if victim != Victim::Server {
                // Each client goes on.
                working.wait_for(20 + random(20), &|| self.pass(1));
            }
        });
        if victim == Victim::Server {
            self.start_again(round);
        }
        fates.verify(&self.world, false);
    }

    fn strike_database(&mut self, round: usize, working: &mut Working<'_>) {
        if round.is_multiple_of(2) {
            self.database.suspend();
            working.wait_within(SUSPENDED);
            return self.database.run_on();
        }
        self.database.kill();
        working.wait_within(Duration::from_millis(300));
        self.database.resume();
    }

    fn strike_storage(&mut self, round: usize, working: &mut Working<'_>) {
        if round.is_multiple_of(2) {
            self.storage.suspend();
            working.wait_within(SUSPENDED);
            return self.storage.run_on();
        }
        self.storage.kill();
        working.wait_within(Duration::from_millis(300));
        self.storage.resume();
    }

    /// Sometimes PostgreSQL is killed with the server, and sometimes the machine is lost.
    fn start_again(&mut self, round: usize) {
        if round.is_multiple_of(5) {
            self.database.kill();
            self.database.resume();
        }
        if round.is_multiple_of(4) {
            kill_at_start(&self.world);
        }
        if round.is_multiple_of(6) {
            fs::remove_dir_all(self.world.data()).unwrap();
        }
        self.world.resume();
        self.pass(0);
    }

    /// Stops the server, and reads each object and each row.
    fn check(&mut self) {
        self.world.stop();
        let said = self.world.offline(&["check", "--verify"]).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        journal(&self.database);
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_postgresql_or_object_storage_is_killed_under_load() {
    let (mut pair, mut fates) = (Pair::start(), Fates::default());
    let (mut struck, rounds) = ([0; 3], kills(5).div_ceil(5) * 7);
    for round in 1..=rounds {
        let victim = [Victim::Server, Victim::Database, Victim::Server, Victim::Storage]
            .get(round % 7)
            .copied()
            .unwrap_or(Victim::Server);
        pair.round(round, victim, &mut fates);
        struck[victim as usize] += 1;
        if round.is_multiple_of(100) {
            pair.check();
            pair.world.resume();
            pair.pass(0);
        }
    }
    fates.verify(&pair.world, true);
    pair.check();
    let [server, database, storage] = struck;
    let rows = journal(&pair.database).len();
    println!(
        "{server} kills of the server, {database} of PostgreSQL, {storage} of object storage: {fates}, {rows} changes"
    );
}
