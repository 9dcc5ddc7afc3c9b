//! The caches of remote repositories and of groups.

use super::Figures;
use crate::world::{Says, Upstream, World};
use serde_json::json;
use telemetry::{BoundName, CacheName};

fn world(settings: &str) -> (World, Upstream) {
    (World::start_with_file(&format!("[server]\ncores = 1\n{settings}")), Upstream::start())
}

/// Makes a remote repository `far` of this format.
fn far(world: &World, upstream: &Upstream, format: &str) {
    world.remote_of(format, "far", &upstream.url());
}

#[test]
fn cached_files_are_evicted_and_a_file_that_is_too_large_is_refused() {
    let (world, upstream) = world("[store]\ncached_bytes = 16_777_216\n");
    far(&world, &upstream, "raw");
    let anon = world.anon();
    for (number, size) in [3, 3, 3, 3, 3, 3, 12, 12].into_iter().enumerate() {
        upstream.file(&format!("/a/{number}"), vec![number as u8; size << 20]);
        anon.file("far", &format!("a/{number}")).expect(200);
    }
    for name in ["a/5", "a/7"] {
        anon.file("far", name).expect(200);
    }
    let figures = Figures::of(&world);
    let cached = figures.cache(CacheName::Cached);
    assert!(cached.hits >= 1.0 && cached.absent >= 8.0 && cached.refused >= 1.0, "{cached:?}");
    assert!(cached.inserts >= 6.0 && cached.evictions >= 1.0, "{cached:?}");
    let bound = figures.governed(BoundName::Cached, "", "store.cached_bytes").bound(BoundName::Cached, "");
    assert!(bound.rejected >= 1.0 && bound.peak <= bound.limit * 1.25, "{bound:?}");
}

#[test]
fn facts_about_folders_are_evicted_from_memory_and_from_the_disk() {
    let (world, upstream) = world("pages_bytes = 0\n[store]\nknown_folders_bytes = 16_384\nfacts_bytes = 65_536\n");
    far(&world, &upstream, "raw");
    world.make(&json!({ "name": "all", "format": "raw", "kind": "group", "members": ["far"] }));
    let anon = world.anon();
    let ask = |path: &str| anon.file("all", path).expect(404);
    for number in 0..400 {
        drop(ask(&format!("folder-{number}/missing")));
    }
    // The first of these requests reads the changed facts into memory, and the second finds them there.
    for number in (300..400).flat_map(|number| [number; 2]) {
        drop(ask(&format!("folder-{number}/missing")));
    }
    (0..2).for_each(|_| drop(anon.file("far", "folder-399/missing").expect(404)));
    // The facts of a folder in memory change, and figures are shown once that is written.
    drop(ask("folder-399/other"));
    let _ = Figures::of(&world);
    (300..400).for_each(|number| drop(ask(&format!("folder-{number}/missing"))));
    let figures = Figures::of(&world);
    let (facts, known) = (figures.cache(CacheName::Facts), figures.cache(CacheName::KnownFolders));
    assert!(facts.hits >= 2.0 && facts.absent >= 400.0 && facts.inserts >= 400.0 && facts.evictions > 0.0, "{facts:?}");
    assert!(known.hits >= 1.0 && known.absent >= 300.0 && known.evictions > 0.0 && known.stale > 0.0, "{known:?}");
    let bound = figures.governed(BoundName::Facts, "", "store.facts_bytes").bound(BoundName::Facts, "");
    assert!(bound.used > bound.limit / 2.0 && bound.used <= bound.limit, "{bound:?}");
    let bound =
        figures.governed(BoundName::KnownFolders, "", "store.known_folders_bytes").bound(BoundName::KnownFolders, "");
    assert!(bound.used > bound.limit / 2.0 && bound.peak <= bound.limit, "{bound:?}");
}

#[test]
fn a_list_of_prefixes_that_does_not_fit_is_refused() {
    let (world, upstream) = world("[upstream]\nprefixes_bytes = 4_096\n");
    let list: String = (0..2_000).map(|number| format!("/com/near-{number}\n")).collect();
    upstream.file("/.meta/prefixes.txt", format!("## repository-prefixes/2.0\n{list}"));
    let remote = json!({ "urls": [upstream.url()], "prefixes": true });
    world.make(&json!({ "name": "far", "format": "maven", "kind": "remote", "remote": remote }));
    world.make(&json!({ "name": "all", "format": "maven", "kind": "group", "members": ["far"] }));
    let mut asked = 0;
    while Figures::of(&world).cache(CacheName::UpstreamPrefixes).refused == 0.0 {
        assert!(asked < 10_000, "the list always fits");
        let answer = world.anon().file("all", &format!("org/example/a{asked}/1/a{asked}-1.jar"));
        assert_eq!(answer.status, 404);
        asked += 1;
    }
    let prefixes = Figures::of(&world).cache(CacheName::UpstreamPrefixes);
    assert!(prefixes.absent >= 1.0, "{prefixes:?}");
    Figures::of(&world).governed(BoundName::UpstreamPrefixes, "", "upstream.prefixes_bytes");
}

#[test]
fn lines_of_an_upstream_index_that_do_not_fit_are_refused() {
    let (world, upstream) = world("[upstream]\nindexes_bytes = 65_536\n");
    let line = |number: usize| format!("gem-{number} 1.0.0 0123456789abcdef0123456789abcdef\n");
    let lines = |count: usize| (0..count).map(line).collect::<String>();
    let versions = |count| format!("created_at: 2026-11-01T00:00:00Z\n---\n{}", lines(count));
    upstream.says("/versions", Says::file(versions(2_000)));
    far(&world, &upstream, "gem");
    world.make(&json!({ "name": "small", "format": "gem", "kind": "remote", "remote": { "urls": [format!("{}small", upstream.url())] } }));
    upstream.says("/small/versions", Says::file(versions(10)));
    let get = |name: &str| world.anon().get(&format!("/repository/{name}/versions"));
    (0..2).for_each(|_| drop(get("small").expect(200)));
    (0..2).for_each(|_| assert_eq!(get("far").status, 502));
    let figures = Figures::of(&world);
    let indexes = figures.cache(CacheName::UpstreamIndexes);
    assert!(
        indexes.hits >= 1.0 && indexes.absent >= 2.0 && indexes.refused >= 1.0 && indexes.inserts >= 1.0,
        "{indexes:?}"
    );
    let bound = figures
        .governed(BoundName::UpstreamIndexes, "", "upstream.indexes_bytes")
        .bound(BoundName::UpstreamIndexes, "");
    assert!(bound.rejected >= 1.0 && bound.used > 0.0, "{bound:?}");
}
