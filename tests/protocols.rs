//! An index protocol is switched off and on while clients use it, from one answer to the next.

use crate::accounts::{settled, sum};
use crate::world::{FIRST, Gem, World};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

const SWITCHES: usize = 10;
const READERS: usize = 4;

fn switch(world: &World, on: bool) {
    let path = format!("/api/v1/repositories/{FIRST}");
    let mut shown =
        world.admin().patch_json(&path, &json!({ "protocols": { "compact_index": on } })).expect(200).json();
    shown.as_object_mut().unwrap().remove("difference");
    assert_eq!(shown["protocols"]["compact_index"], json!(on));
    assert_eq!(shown["protocols"]["full_index"], json!(true));
    assert_eq!(world.admin().get(&path).expect(200).json(), shown);
}

#[test]
fn the_index_is_switched_off_and_on_under_load_from_one_answer_to_the_next() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let path = |what: &str| format!("/repository/{FIRST}/{what}");
    let (done, off) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for what in ["versions", "info/lamp", "names"].into_iter().cycle().take(READERS) {
            let (anon, done, off, path) = (&anon, &done, &off, path(what));
            scope.spawn(move || {
                let connection = &mut anon.connect().unwrap();
                while !done.load(SeqCst) {
                    let answer = anon.on(connection, "GET", &path, &[], b"").unwrap();
                    if answer.status != 200 {
                        assert!(answer.expect(404).text().contains("switched off"));
                        off.fetch_add(1, SeqCst);
                    }
                }
            });
        }
        for round in 0..SWITCHES {
            switch(&world, false);
            for what in ["versions", "info/lamp", "names"] {
                let refused = anon.get(&path(what)).expect(404);
                assert!(refused.text().starts_with("the index protocol `compact_index` is switched off here\n"));
            }
            // Everything else is served as before.
            anon.get(&path("")).expect(200);
            anon.get(&path("gems/lamp-1.0.0.gem")).expect(200);
            anon.get(&path("quick/Marshal.4.8/lamp-1.0.0.gemspec.rz")).expect(200);
            admin.push(FIRST, &Gem::new("oil", &format!("1.0.{round}"))).expect(200);
            let seen = off.load(SeqCst);
            while off.load(SeqCst) == seen {}
            switch(&world, true);
            for what in ["versions", "info/oil", "names"] {
                anon.get(&path(what)).expect(200);
            }
        }
        done.store(true, SeqCst);
    });
    settled(&world);
    let metrics = admin.get("/metrics").expect(200);
    let refused = off.load(SeqCst) + 3 * SWITCHES;
    assert_eq!(sum(metrics.text(), "daylight_reasons_total{reason=\"protocol_off\"}"), refused as u64);
    assert_eq!(sum(metrics.text(), "daylight_outcomes_total{outcome=\"failed\"}"), 0);
}

#[test]
fn a_switch_lasts_and_one_that_does_not_exist_is_refused() {
    let mut world = World::start();
    let path = format!("/api/v1/repositories/{FIRST}");
    let versions = format!("/repository/{FIRST}/versions");
    for body in [json!({ "protocols": { "legacy": false } }), json!({ "kind": "remote" }), json!("off")] {
        world.admin().patch_json(&path, &body).expect(400);
    }
    world.admin().patch_json("/api/v1/repositories/nothing", &json!({})).expect(404);
    world.anon().patch_json(&path, &json!({ "protocols": { "compact_index": false } })).expect(401);
    world.anon().get(&versions).expect(200);
    switch(&world, false);
    switch(&world, false);
    world.stop();
    world.resume();
    world.anon().get(&versions).expect(404);
    switch(&world, true);
    world.anon().get(&versions).expect(200);
}

#[test]
fn gemspecs_are_answered_while_any_index_is() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let path = |what: &str| format!("/repository/{FIRST}/{what}");
    let gemspec = || world.anon().get(&path("quick/Marshal.4.8/lamp-1.0.0.gemspec.rz"));
    let set = |protocol: &str, on: bool| {
        world.change(FIRST, &json!({ "protocols": { protocol: on } }));
    };
    set("full_index", false);
    world.anon().get(&path("specs.4.8.gz")).expect(404);
    gemspec().expect(200);
    set("compact_index", false);
    gemspec().expect(200);
    set("dependencies", false);
    assert!(gemspec().expect(404).text().starts_with("the index protocol `full_index` is switched off here\n"));
    set("full_index", true);
    gemspec().expect(200);
}
