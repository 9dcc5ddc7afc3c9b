//! The process is killed while it fetches, caches, evicts and removes files of an upstream, most of them small. The cache opens again,
//! no file is served with other bytes, and no bytes are left without a row. Torture kills it twice as often as the other test.

use super::{kills, random};
use crate::world::{Person, Upstream, World, hex};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

const CLIENTS: usize = 3;
/// The files of the upstream. The cache has room for about half of them.
const FILES: usize = 48;
const ROOM: u64 = 16 << 20;

fn name(number: usize) -> String {
    format!("lamps/{}/{number}.bin", number % 5)
}

/// Every fourth file is too large for the database.
fn content(number: usize) -> Vec<u8> {
    let len = if number.is_multiple_of(4) { 1_200_000 + 200_000 * (number / 4) } else { 1 + 1_300 * number };
    (0..len).map(|at| (at * (number + 1) / 7) as u8).collect()
}

/// A GET of a file, which must have the right bytes. Returns nothing if the connection broke.
fn get(person: &Person, number: usize) -> Option<()> {
    let path = format!("/repository/lamps/{}", name(number));
    let answer = person.on(&mut person.connect().ok()?, "GET", &path, &[], b"").ok()?;
    let bytes = answer.expect(200).body;
    assert!(bytes == content(number), "{} has {} other bytes", name(number), bytes.len());
    Some(())
}

/// Requests files and removes some of them from the cache, until the connection breaks.
fn load(anon: &Person, admin: &Person, over: &AtomicBool) {
    while !over.load(SeqCst) {
        let number = random(FILES as u64) as usize;
        if get(anon, number).is_none() {
            return;
        }
        if number % 8 == 1 {
            let path = format!("/api/v1/repositories/lamps/contents/{}", name(random(FILES as u64) as usize));
            let Ok(mut connection) = admin.connect() else { return };
            if admin.on(&mut connection, "DELETE", &path, &[], b"").is_err() {
                return;
            }
        }
    }
}

fn load_and_kill(world: &mut World) {
    let over = &AtomicBool::new(false);
    let (anon, admin) = (world.anon(), world.admin());
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| load(&anon, &admin, over));
        }
        // Batches are written ten times a second.
        let end = Instant::now() + Duration::from_micros(random(250_000));
        while Instant::now() < end {
            std::thread::yield_now();
        }
        world.kill();
        over.store(true, SeqCst);
    });
}

/// The digests of all rows, of the small files in the database, and of the files outside of it.
fn stored(world: &World) -> [BTreeSet<String>; 3] {
    let database = rusqlite::Connection::open(world.data().join("cache.sqlite")).unwrap();
    let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let digests = |sql| -> BTreeSet<String> {
        let mut statement = database.prepare(sql).unwrap();
        let digests = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        digests.map(|digest| hex(&digest.unwrap())).collect()
    };
    let files = world.files().into_iter().filter(|file| file.starts_with(world.data().join("cached")));
    let files = files.map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
    [digests("SELECT sha256 FROM file"), digests("SELECT sha256 FROM small"), files.collect()]
}

#[test]
fn a_cache_that_is_killed_in_the_middle_opens_again_and_has_neither_wrong_bytes_nor_bytes_without_a_row() {
    let kills = 2 * kills(4);
    let upstream = Upstream::start();
    (0..FILES).for_each(|number| upstream.file(&format!("/{}", name(number)), content(number)));
    let mut world = World::start();
    let remote = json!({ "urls": [upstream.url()], "max_bytes": ROOM });
    let wanted = json!({ "name": "lamps", "format": "raw", "kind": "remote", "private": false, "remote": remote });
    world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
    for round in 1..=kills {
        load_and_kill(&mut world);
        let [rows, small, files] = stored(&world);
        assert!(small.is_subset(&rows), "{round}: {:?}", small.difference(&rows));
        assert!(files.is_subset(&rows), "{round}: {:?}", files.difference(&rows));
        world.resume();
        let anon = world.anon();
        (0..3).for_each(|_| get(&anon, random(FILES as u64) as usize).unwrap());
    }
    (0..FILES).for_each(|number| get(&world.anon(), number).unwrap());
    assert!(!world.log().contains("the cache cannot be read"), "{}", world.log());
    world.stop();
    let said = world.run("check");
    assert!(said.status.success(), "{said:?}");
    let [rows, small, files] = stored(&world);
    let known: BTreeSet<_> = (0..FILES).map(|number| hex(&Sha256::digest(content(number)))).collect();
    assert!(rows.is_subset(&known) && small.is_subset(&rows) && files.is_subset(&rows));
    assert!(small.len() + files.len() > FILES / 4, "{} and {}", small.len(), files.len());
    println!("{kills} kills, {} files of upstreams cached", rows.len());
}
