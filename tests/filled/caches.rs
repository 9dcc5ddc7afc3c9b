//! The caches of hosted repositories.

use super::Figures;
use crate::world::{FIRST, Gem, Upstream, World};
use telemetry::{BoundName, CacheName};

/// A server with little memory for each cache, a hosted gem repository and a hosted raw repository `files`.
fn world(settings: &str) -> World {
    let world = World::start_with_file(&format!("[server]\ncores = 1\n{settings}"));
    world.tree("files", "raw");
    world
}

fn body(number: usize, size: usize) -> Vec<u8> {
    format!("{number} ").repeat(size).into_bytes()[..size].to_vec()
}

#[test]
fn pages_are_evicted_admitted_at_their_second_request_and_removed_when_they_change() {
    let world = world("pages_bytes = 262_144\n");
    let (admin, anon, upstream) = (world.admin(), world.anon(), Upstream::start());
    world.remote_of("raw", "far", &upstream.url());
    let names = || (0..200).map(|number| format!("a/{number}"));
    names().for_each(|name| upstream.file(&format!("/{name}"), body(7, 600)));
    // While there is room a page is made at the first request for a cached file, after that at the second.
    names().chain(names()).chain(names()).for_each(|name| drop(anon.file("far", &name).expect(200)));
    (0..3).for_each(|_| drop(anon.file("far", "a/199").expect(200)));
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    for version in ["1.0.1", "1.0.2"] {
        (0..3).for_each(|_| drop(anon.get(&format!("/repository/{FIRST}/info/lamp")).expect(200)));
        admin.push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    anon.get(&format!("/repository/{FIRST}/info/lamp")).expect(200);
    let figures = Figures::of(&world);
    let pages = figures.cache(CacheName::Pages);
    assert!(pages.hits >= 3.0 && pages.inserts > 60.0 && pages.evictions > 0.0, "{pages:?}");
    assert!(pages.absent >= 200.0 && pages.refused > 0.0 && pages.stale >= 2.0, "{pages:?}");
    let found = figures.governed(BoundName::Pages, "found", "server.pages_bytes").bound(BoundName::Pages, "found");
    assert!(found.used > found.limit / 2.0 && found.peak <= found.limit, "{found:?}");
    let asked = figures.value("requests_total{format=\"raw\",layer=\"page\",protocol=\"HTTP/1.1\",status=\"200\"}");
    let gems = figures.value("requests_total{format=\"gem\",layer=\"page\",protocol=\"HTTP/1.1\",status=\"200\"}");
    assert_eq!(pages.hits, asked + gems, "a hit is a request of that layer");
}

#[test]
fn open_files_are_closed_for_others_and_when_they_change() {
    let world = world("open_files = 8\n");
    let (admin, anon) = (world.admin(), world.anon());
    for number in 0..12 {
        admin.put("files", &format!("a/{number}"), &body(number, 70_000)).expect(201);
        (0..2).for_each(|_| drop(anon.file("files", &format!("a/{number}")).expect(200)));
    }
    admin.delete("files", "a/11").expect(204);
    anon.file("files", "a/11").expect(404);
    let figures = Figures::of(&world);
    let open = figures.cache(CacheName::OpenFiles);
    assert!(open.hits >= 12.0 && open.evictions > 0.0 && open.absent >= 12.0 && open.stale >= 1.0, "{open:?}");
    let bound = figures
        .governed(BoundName::OpenFiles, "published", "server.open_files")
        .bound(BoundName::OpenFiles, "published");
    assert!(bound.peak <= bound.limit && bound.used >= bound.limit / 2.0, "{bound:?}");
}

#[test]
fn rows_of_gems_views_and_states_of_pushed_gems_are_evicted() {
    let world = world("dependencies_bytes = 65_536\nviews_bytes = 65_536\npushed_gems_bytes = 8_192\n");
    let (admin, anon) = (world.admin(), world.anon());
    for version in ["1.0.0", "1.0.1"] {
        admin.push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    let ask = |repository: &str, names: &str| {
        anon.get(&format!("/repository/{repository}/api/v1/dependencies?gems={names}")).expect(200);
    };
    let then = format!("{FIRST}@seq-{}", Figures::of(&world).value("journal_seq"));
    for part in 0..10 {
        let names: Vec<String> = (0..50).map(|number| format!("gem-{part}-{number}")).collect();
        ask(FIRST, &names.join(","));
        ask(&then, &names.join(","));
    }
    for repository in [FIRST, &*then] {
        ask(repository, "lamp");
        ask(repository, "lamp,other");
    }
    for number in 0..60 {
        admin.push(FIRST, &Gem::new(&format!("wick{number}"), "1.0.0")).expect(200);
    }
    admin.push(FIRST, &Gem::new("wick59", "1.0.1")).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.0.2")).expect(200);
    ask(FIRST, "lamp,another");
    let page = |name: &str| anon.get(&format!("/packages/{FIRST}/{name}")).expect(200);
    (0..60).for_each(|number| drop(page(&format!("wick{number}"))));
    (0..2).for_each(|_| drop(page("wick59")));
    let figures = Figures::of(&world);
    for (cache, setting) in [
        (CacheName::Dependencies, "server.dependencies_bytes"),
        (CacheName::Views, "server.views_bytes"),
        (CacheName::Packages, "server.views_bytes"),
        (CacheName::Heads, "server.pushed_gems_bytes"),
    ] {
        let lookups = figures.cache(cache);
        assert!(lookups.hits >= 1.0 && lookups.absent >= 60.0 && lookups.evictions > 0.0, "{cache:?}: {lookups:?}");
        let bound = figures.governed(cache.bound(), "", setting).bound(cache.bound(), "");
        assert!(bound.used > bound.limit / 2.0 && bound.peak <= bound.limit, "{cache:?}: {bound:?}");
    }
    assert!(figures.cache(CacheName::Dependencies).stale >= 1.0);
}

#[test]
fn an_index_that_does_not_fit_is_refused() {
    let world = world("pages_bytes = 0\nindexes_bytes = 4_096\n");
    let (admin, anon) = (world.admin(), world.anon());
    let read = || anon.get(&format!("/repository/{FIRST}/versions")).expect(200);
    let mut pushed = 0;
    while Figures::of(&world).cache(CacheName::Indexes).evictions == 0.0 {
        assert!(pushed < 100, "the index always fits");
        admin.push(FIRST, &Gem::new(&format!("{}{pushed}", "a-long-name-for-a-gem-".repeat(4)), "1.0.0")).expect(200);
        (0..2).for_each(|_| drop(read()));
        pushed += 1;
    }
    read();
    let figures = Figures::of(&world);
    let indexes = figures.cache(CacheName::Indexes);
    assert!(
        indexes.hits >= 1.0 && indexes.absent >= 1.0 && indexes.stale >= 1.0 && indexes.refused >= 1.0,
        "{indexes:?}"
    );
    let bound = figures.governed(BoundName::Indexes, "", "server.indexes_bytes").bound(BoundName::Indexes, "");
    assert!(bound.rejected >= 1.0 && bound.peak > 0.0, "{bound:?}");
}

#[test]
fn names_of_files_are_evicted_and_read_again_when_a_folder_changes() {
    let world = world("folders_bytes = 16_384\n");
    let (admin, anon) = (world.admin(), world.anon());
    for number in 0..100 {
        anon.file("files", &format!("folder-{number}/missing")).expect(404);
    }
    anon.file("files", "folder-99/other").expect(404);
    admin.put("files", "folder-99/there", b"bytes").expect(201);
    anon.file("files", "folder-99/another").expect(404);
    let figures = Figures::of(&world);
    let folders = figures.cache(CacheName::Folders);
    assert!(
        folders.hits >= 1.0 && folders.absent >= 100.0 && folders.stale >= 1.0 && folders.evictions > 0.0,
        "{folders:?}"
    );
    let bound = figures.governed(BoundName::Folders, "", "server.folders_bytes").bound(BoundName::Folders, "");
    assert!(bound.used > bound.limit / 2.0 && bound.peak <= bound.limit, "{bound:?}");
}
