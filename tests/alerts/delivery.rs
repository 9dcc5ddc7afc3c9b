//! Nothing is told twice after a restart in order, at most once more after a crash, and a receiver that hangs delays nothing.

use super::{FAULTY, ID, OTHER, at, await_told, mute, opens, quiet, receivers, taker, told, unmute, webhook};
use crate::world::{Says, Upstream, await_true};
use std::collections::BTreeSet;

#[test]
fn after_a_restart_in_order_nothing_is_told_twice_and_what_ended_meanwhile_is_told() {
    let hook = taker();
    let table = webhook("chat", &hook);
    let mut world = quiet(&table, &[]);
    opens(&world);
    await_told(&hook, 2);
    world.stop();
    world.resume();
    at(&world, "12:10:00");
    mute(&world, ID);
    let all = await_told(&hook, 3);
    assert_eq!(all[2], format!("-{ID}"), "the restart told nothing: {all:?}");
    // The settings are repaired, and the finding closes.
    world.stop();
    world.configure(&format!("{}\n{table}", super::SOUND));
    world.resume();
    at(&world, "12:20:00");
    at(&world, "12:27:00");
    let all = await_told(&hook, 4);
    assert_eq!(all[3..], [format!("-{OTHER}")], "{all:?}");
    assert_eq!(told(&hook).len(), 4);
}

#[test]
fn after_a_kill_an_alert_is_told_at_most_once_more_with_the_same_key_and_ends_once() {
    let hook = taker();
    let mut world = quiet(&webhook("chat", &hook), &[]);
    opens(&world);
    hook.await_count("/hook", 1);
    world.kill();
    world.resume();
    at(&world, "12:10:00");
    opens_again(&world);
    mute(&world, ID);
    mute(&world, OTHER);
    await_true("both ends are told", || told(&hook).iter().filter(|told| told.starts_with('-')).count() == 2);
    let all = told(&hook);
    for id in [ID, OTHER] {
        let of: Vec<_> = all.iter().filter(|told| told[1..] == *id).map(|told| &told[..1]).collect();
        assert!(of == ["+", "-"] || of == ["+", "+", "-"], "{all:?}");
    }
}

#[test]
fn an_alert_that_a_receiver_read_and_never_answered_has_an_end() {
    let hook = Upstream::start();
    hook.says_otherwise(Says::status(202).silent());
    let world = quiet(&webhook("chat", &hook), &[]);
    opens(&world);
    hook.await_count("/hook", 1);
    let read = told(&hook);
    assert!(!read.is_empty() && read.iter().all(|told| told.starts_with('+')), "{read:?}");
    mute(&world, ID);
    mute(&world, OTHER);
    hook.unplug();
    await_true("the answer was lost", || receivers(&world)[0]["takes"] == false);
    hook.says_otherwise(Says::status(202));
    hook.plug();
    let ends: Vec<String> = read.iter().map(|told| told.replacen('+', "-", 1)).collect();
    await_true("each end is told", || ends.iter().all(|end| told(&hook).contains(end)));
    assert_eq!(receivers(&world)[0]["open"], 0);
}

fn opens_again(world: &crate::world::World) {
    at(world, "12:17:00");
    await_true("both findings are open", || {
        let open: BTreeSet<String> = world.open_findings().into_iter().collect();
        open.contains(ID) && open.contains(OTHER)
    });
}

#[test]
fn a_receiver_that_hangs_delays_neither_others_nor_requests_and_one_that_was_away_gets_the_open_findings() {
    let (hangs, gone, good) = (Upstream::start(), Upstream::start(), taker());
    hangs.says_otherwise(Says::status(202).silent());
    gone.unplug();
    let tables = webhook("hangs", &hangs) + &webhook("gone", &gone) + &webhook("good", &good);
    assert!(!tables.contains(FAULTY));
    let world = quiet(&tables, &[]);
    opens(&world);
    hangs.await_count("/hook", 1);
    await_told(&good, 2);
    mute(&world, ID);
    await_told(&good, 3);
    world.anon().get("/health/ready").expect(200);
    world.anon().get("/repository/gems-private/versions").expect(200);
    await_true("the one that is gone is told of", || receivers(&world)[1]["takes"] == false);
    let log = world.log();
    let of_it = |line: &&str| line.contains("a receiver does not take alerts") && line.contains("receiver=gone");
    assert_eq!(log.lines().filter(of_it).count(), 1, "once: {log}");
    // It comes back, and gets the finding that is open now: not the one that opened and closed meanwhile.
    gone.says_otherwise(Says::status(202));
    gone.plug();
    assert_eq!(await_told(&gone, 1), [format!("+{OTHER}")]);
    unmute(&world, ID);
    await_told(&gone, 2);
    world.await_log("a receiver takes alerts again");
}
