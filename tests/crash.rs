//! The process is killed (SIGKILL) at random moments under load. Nothing that was acknowledged is lost, and nothing
//! incomplete is served. `DAYLIGHT_TORTURE` sets the number of kills; the default is 20.

mod cached;
mod clients;
mod pair;

use crate::world::World;
use clients::{Clients, Fates};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// How often the process is killed: `usual` times, if nothing else is set.
pub(crate) fn kills(usual: usize) -> usize {
    std::env::var("DAYLIGHT_TORTURE").map_or(usual, |count| count.parse().unwrap())
}

/// A random number below `limit`.
pub(crate) fn random(limit: u64) -> u64 {
    RandomState::new().hash_one(0) % limit
}

/// The server is also killed while it starts and repairs what the last kill left.
fn kill_at_start(world: &World) {
    let starting = world.begin();
    let end = Instant::now() + Duration::from_micros(random(60_000));
    while Instant::now() < end {
        std::thread::yield_now();
    }
    starting.kill();
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed_under_load() {
    let (mut world, mut fates, kills) = (World::start(), Fates::default(), kills(20));
    for round in 1..=kills {
        Clients { round, gems: 3, files: 0, repeat: false, outlive: false }.load(
            &world.admin(),
            &mut fates,
            |clients| {
                clients.wait_for_some(&|| ());
                world.kill();
            },
        );
        if round % 4 == 0 {
            kill_at_start(&world);
        }
        world.resume();
        fates.verify(&world, round % 20 == 0 || round == kills);
    }
    world.stop();
    let said = world.run("check");
    assert!(said.status.success(), "{said:?}");
    println!("{kills} kills, {fates}");
}
