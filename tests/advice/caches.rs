//! Caches and memory. Their cost is real work, or a disk that waits.

use super::stage::{Stage, durations};
use super::widely;
use crate::findings::caches::load::{Load, Zipf};
use crate::findings::caches::pages;
use crate::world::{Says, Upstream, World};
use std::time::Duration;

/// The last answer was recorded.
fn ends(world: &World, path: &str) {
    let last = world.anon().get(path).expect(200);
    world.event(last.header("Daylight-Event").unwrap());
}

#[test]
fn cached_files_that_have_the_advised_space_are_not_fetched_again() {
    if !widely() {
        return;
    }
    let mut stage = Stage::new(&[("server.open_files", 2), ("store.cached_bytes", 16_777_216)]);
    let upstream = Upstream::start();
    stage.world().remote_of("raw", "far", &upstream.url());
    let paths: Vec<String> = (0..96).map(|number| format!("/repository/far/{number}")).collect();
    for number in 0..96 {
        let file = Says::file(vec![number as u8; 256 << 10]).after(Duration::from_millis(150));
        upstream.says(&format!("/{number}"), file);
    }
    Load::new(&stage.world().anon(), 16).each(&paths);
    stage.holds("cached-files-evicted-too-early@cache:cached", durations, &|world, _| {
        let load = Load::new(&world.anon(), 16);
        (0..6).for_each(|_| load.each(&paths));
        ends(world, &paths[0]);
    });
}

#[test]
fn pages_that_have_the_advised_memory_are_sent_from_it() {
    if !widely() {
        return;
    }
    let mut stage = Stage::new(&[("server.pages_bytes", 1 << 20)]);
    let paths = pages(stage.world(), 50, 20);
    stage.holds("cache-too-small@cache:pages", durations, &|world, _| {
        let load = Load::new(&world.anon(), 16);
        load.ask(&Zipf::new(&paths), 20_000);
        ends(world, &paths[0]);
    });
}

/// Files that fill several pages of the database. Returns their paths.
fn files(world: &World) -> Vec<String> {
    world.tree("files", "raw");
    let name = |number: usize| format!("{number}/{}", "a-long-name-of-a-file".repeat(8));
    (0..150).for_each(|number| drop(world.admin().put("files", &name(number), b"x").expect(201)));
    (0..150).map(|number| format!("/repository/files/{}", name(number))).collect()
}

#[test]
fn readers_with_the_advised_memory_do_not_wait_for_the_disk() {
    if !widely() {
        return;
    }
    let mut stage = Stage::new(&[("server.pages_bytes", 0), ("store.reader_cache_bytes", 65_536)]);
    let paths = files(stage.world());
    stage.holds("database-memory-too-small@pool:truth.readers", durations, &|world, _| {
        let _slow = world.delay("pread64", 30_000);
        let load = Load::new(&world.anon(), 8);
        (0..8).for_each(|_| load.each(&paths));
        ends(world, &paths[0]);
    });
}
