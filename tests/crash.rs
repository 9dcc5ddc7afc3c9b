//! The process is killed (SIGKILL) at random moments under load. Nothing that was acknowledged is lost, and nothing
//! incomplete is served. `DAYLIGHT_TORTURE` sets the number of kills; the default is 20.

mod cached;

use crate::world::{Connection, FIRST, Gem, Index, Person, World, hex};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

const PUSHERS: usize = 3;
const NAMES: usize = 7;

/// The expected state of a version after the server was killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// Its push was acknowledged, so it exists.
    There,
    /// Its push or its yank was sent and no reply arrived, so it may exist.
    Open,
    /// Its yank was acknowledged, so it does not exist.
    Gone,
}

/// By name and version: the expected state, and the SHA-256 of the bytes.
type Fates = BTreeMap<(String, String), (Fate, String)>;

/// A new fact about a version.
type News = ((String, String), (Fate, String));

/// How often the process is killed: `usual` times, if nothing else is set.
fn kills(usual: usize) -> usize {
    std::env::var("DAYLIGHT_TORTURE").map_or(usual, |count| count.parse().unwrap())
}

/// A random number below `limit`.
fn random(limit: u64) -> u64 {
    RandomState::new().hash_one(0) % limit
}

/// Pushes and yanks until the connection breaks. Reports the facts before and after each request.
fn load(person: &Person, round: usize, pusher: usize, news: &Sender<News>, over: &AtomicBool) {
    let Ok(mut connection) = person.connect() else { return };
    for count in 0.. {
        let gem = Gem::new(&format!("lamp{}", random(NAMES as u64)), &format!("{round}.{pusher}.{count}"))
            .payload(&vec![count as u8; random(50_000) as usize]);
        if over.load(SeqCst) || one(person, &mut connection, &gem, count % 5 == 4, news).is_none() {
            return;
        }
    }
}

/// A push, and sometimes its yank. Returns nothing if no reply arrived.
fn one(person: &Person, connection: &mut Connection, gem: &Gem, yank: bool, news: &Sender<News>) -> Option<()> {
    let bytes = gem.bytes();
    let sum = hex(&Sha256::digest(&bytes));
    let tell = |fate| news.send(((gem.name.clone(), gem.version.clone()), (fate, sum.clone()))).unwrap();
    tell(Fate::Open);
    person.push_on(connection, FIRST, &bytes).ok()?.expect(200);
    tell(Fate::There);
    if yank {
        tell(Fate::Open);
        person.yank_on(connection, FIRST, &gem.name, &gem.version).ok()?.expect(200);
        tell(Fate::Gone);
    }
    Some(())
}

/// Puts load on the server and kills it at a random moment.
fn load_and_kill(world: &mut World, round: usize, fates: &mut Fates) {
    let (sender, news) = mpsc::channel();
    let over = &AtomicBool::new(false);
    let person = world.admin();
    std::thread::scope(|scope| {
        for pusher in 0..PUSHERS {
            let (sender, person) = (sender.clone(), person.clone());
            scope.spawn(move || load(&person, round, pusher, &sender, over));
        }
        drop(sender);
        // After a number of acknowledgements, and then between two of them.
        let mut learn = |(key, fate)| fates.insert(key, fate);
        let mut wanted = random(40);
        while wanted > 0 {
            let (key, fate) = news.recv().unwrap();
            wanted -= u64::from(fate.0 == Fate::There);
            learn((key, fate));
        }
        let end = Instant::now() + Duration::from_micros(random(5_000));
        while let Ok(one) = news.recv_timeout(end.saturating_duration_since(Instant::now())) {
            learn(one);
        }
        world.kill();
        over.store(true, SeqCst);
        for one in news {
            learn(one);
        }
    });
}

/// Checks that the server offers exactly the versions that must or may exist.
fn verify(world: &World, fates: &Fates, bytes_too: bool) {
    let anon = world.anon();
    let index = Index::read(&anon, FIRST);
    for (key, (fate, _)) in fates {
        let there = index.offered.contains_key(key);
        assert!(*fate == Fate::Open || there == (*fate == Fate::There), "{key:?} is {fate:?}, and offered: {there}");
    }
    for (key, sum) in &index.offered {
        assert_eq!(fates.get(key).map(|(_, sum)| sum), Some(sum), "{key:?} is not what was pushed");
    }
    if bytes_too {
        index.download(&anon, FIRST);
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed_under_load() {
    kill_under_load(World::start(), kills(20));
}

/// Kills a server so often under load, and checks it after each time.
pub(crate) fn kill_under_load(mut world: World, kills: usize) {
    let mut fates = Fates::new();
    for round in 1..=kills {
        load_and_kill(&mut world, round, &mut fates);
        if round % 4 == 0 {
            // The server is also killed while it starts and repairs what the last kill left.
            let starting = world.begin();
            let end = Instant::now() + Duration::from_micros(random(60_000));
            while Instant::now() < end {
                std::thread::yield_now();
            }
            starting.kill();
        }
        world.resume();
        verify(&world, &fates, round % 20 == 0 || round == kills);
    }
    world.stop();
    let said = world.run("check");
    assert!(said.status.success(), "{said:?}");
    let there = fates.values().filter(|(fate, _)| *fate == Fate::There).count();
    println!("{kills} kills, {} versions tried, {there} acknowledged and all there", fates.len());
}
