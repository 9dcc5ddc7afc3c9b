//! Looks at a hub in memory: whatever happens there, the map has what the hub lists.

use crate::maven::koji::change::{Change, Gone};
use crate::maven::koji::look::memory::{FULL_EVERY_MS, Memory};
use crate::maven::koji::look::tests::followed_hub::World;
use crate::maven::koji::look::tests::hub_model::{Act, Hub};
use crate::maven::koji::look::{Look, Step, TAGS_MAX};
use format::koji::model::BuildState;
use telemetry::Millis;

/// Numbers that look random, the same for the same seed.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }

    fn one_in(&mut self, most: usize) -> bool {
        self.below(most) == 0
    }

    fn of<T: Copy>(&mut self, from: impl Iterator<Item = T>) -> Option<T> {
        let all: Vec<T> = from.collect();
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }
}

/// A random change of a hub.
fn change(hub: &mut Hub, dice: &mut Dice) {
    let tag = dice.of(hub.tags.keys().copied()).unwrap();
    let complete = hub.builds.iter().filter(|(_, build)| build.state == BuildState::Complete).map(|(id, _)| *id);
    let build = dice.of(complete);
    let package = format!("p{}", dice.below(4));
    let act = match (dice.below(20), build) {
        (0..4, _) | (_, None) => {
            let version = format!("1.{}", dice.below(9));
            let build = hub.build(&package, &[("lamp", version.as_str()), ("wick", "2.0")][..1 + dice.below(2)]);
            Act::Tag(tag, build)
        }
        (4..8, Some(build)) => Act::Tag(tag, build),
        (8..11, Some(build)) => Act::Untag(tag, build),
        (11, _) => Act::Block(tag, package),
        (12 | 13, _) => Act::Unblock(tag, package),
        (14, Some(build)) => {
            let volume = ["DEFAULT", "fast", "slow"][dice.below(3)].to_owned();
            // A late one is found by the daily look.
            hub.act(Act::Move(build, volume));
            return;
        }
        (15, _) => Act::Inherit(tag, dice.of(hub.tags.keys().copied()).unwrap()),
        (16, _) => Act::Disinherit(tag, dice.of(hub.tags.keys().copied()).unwrap()),
        (17, Some(build)) if dice.one_in(3) && !is_open(hub, build) => return hub.delete(build),
        (18, _) if dice.one_in(3) => {
            let name = format!("{}-{}", ["rel", "dev", "REL"][dice.below(3)], dice.0 % 1_000);
            return drop(hub.tags.insert(tag, name));
        }
        _ => Act::Untag(tag, build.unwrap_or_default()),
    };
    let _number = match dice.one_in(4) {
        true => hub.begin(act),
        false => hub.act(act),
    };
}

/// Whether an open change is about a build, whose row it locks.
fn is_open(hub: &Hub, build: u32) -> bool {
    let is = |act: &Act| matches!(act, Act::Tag(_, of) | Act::Untag(_, of) if *of == build);
    hub.open.iter().any(|(_, act)| is(act))
}

/// Random changes and looks; returns how many changes were made.
fn history(seed: u64, changes: usize, inherit: bool) {
    let (mut world, mut dice, mut made) = (World::new(inherit), Dice(seed), 0);
    for name in ["rel-1", "rel-2", "dev-1", "extra"] {
        world.hub.tag(name);
    }
    world.hub.is_old = dice.one_in(2);
    while made < changes {
        let mut minutes = dice.below(5) as i64;
        if dice.one_in(20) {
            minutes += 30;
        }
        // A change is open for less than ten minutes.
        for at in (0..world.hub.open.len()).rev() {
            if world.hub.is_old_at(at, minutes) || dice.one_in(3) {
                world.hub.commit(at);
            }
        }
        world.minutes(minutes);
        if dice.one_in(40) {
            world.hub.slow_by += 7 * 60_000;
        }
        for _ in 0..dice.below(4) {
            made += 1;
            change(&mut world.hub, &mut dice);
        }
        if dice.one_in(30) {
            world.memory = Memory::default();
        }
        world.most = if dice.one_in(10) { 1 } else { usize::MAX };
        let fails = dice.one_in(10);
        let looked = world.look_while(|hub| {
            if dice.one_in(25) {
                made += 1;
                change(hub, &mut dice);
            }
            !(fails && dice.one_in(8))
        });
        if looked.is_none() {
            continue;
        }
        if dice.one_in(25) {
            let of = dice.of(world.hub.builds.keys().copied());
            of.iter().for_each(|build| world.hub.file(*build, "lamp", "9", "jar"));
            world.hub.open.clear();
            world.hub.now += FULL_EVERY_MS;
        }
        let of = format!("seed {seed}, change {made}");
        world.look();
        world.compare(&of);
        let idle = world.look();
        assert!(
            idle.changes
                .iter()
                .all(|change| matches!(change, Change::Build(_) | Change::Past { .. } | Change::Settled { .. })),
            "{of}: {idle:?}"
        );
        if !inherit && world.memory.past.is_empty() && idle.changes.is_empty() {
            assert_eq!(idle.rounds, 1, "{of}");
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that increases the number for `make torture`")]
fn after_each_look_the_map_has_what_the_hub_lists_whatever_happened() {
    let changes = std::env::var("DAYLIGHT_KOJI_CHANGES").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let seed = std::env::var("DAYLIGHT_KOJI_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for (at, inherit) in [false, true, false, true].into_iter().enumerate() {
        history(seed * 7_919 + at as u64, changes / 4, inherit);
    }
}

#[test]
fn a_first_look_makes_a_call_for_each_tag_and_an_idle_one_makes_one() {
    let mut world = World::new(false);
    for (at, name) in ["rel-1", "rel-2", "REL-3", "extra"].into_iter().enumerate() {
        let tag = world.hub.tag(name);
        let build = world.hub.build("lamp", &[("lamp", &format!("1.{at}")), ("wick", "1")]);
        world.hub.act(Act::Tag(tag, build));
    }
    assert_eq!(world.look().rounds, 1 + 3, "the hub ignores case, and the settings do not");
    world.compare("first");
    for minutes in [0, 1, 11, 30] {
        world.minutes(minutes);
        assert_eq!(world.look().rounds, 1, "{minutes}");
    }
    let build = world.hub.build("lamp", &[("lamp", "2")]);
    world.hub.act(Act::Tag(1, build));
    assert_eq!(world.look().rounds, 3);
    world.compare("a new build");
    for minutes in [1, 5, 11, 30] {
        world.minutes(minutes);
        assert_eq!(world.look().rounds, 1, "{minutes}");
    }
    world.hub.act(Act::Untag(1, build));
    let gone = world.look();
    assert_eq!(gone.rounds, 2);
    assert!(
        matches!(&gone.changes[0], Change::Gone { why: Gone::Untagged, by: Some(by), event: Some(_), .. } if by == "bob"),
        "{gone:?}"
    );
}

#[test]
fn a_change_whose_number_is_older_than_the_last_event_that_was_seen_is_found() {
    let mut world = World::new(false);
    let tag = world.hub.tag("rel-1");
    let (early, late) = (world.hub.build("lamp", &[("lamp", "1")]), world.hub.build("wick", &[("wick", "1")]));
    world.look();
    world.minutes(20);
    world.look();
    world.hub.begin(Act::Tag(tag, late));
    world.hub.act(Act::Tag(tag, early));
    world.look();
    world.minutes(9);
    assert_eq!(world.look().changes, []);
    world.hub.commit(0);
    let looked = world.look();
    assert_eq!(looked.rounds, 3);
    world.compare("late");
}

#[test]
fn a_tag_that_is_gone_keeps_its_builds_and_one_with_another_name_does_not() {
    let mut world = World::new(false);
    let (deleted, renamed) = (world.hub.tag("rel-1"), world.hub.tag("rel-2"));
    for tag in [deleted, renamed] {
        let build = world.hub.build("lamp", &[("lamp", &format!("1.{tag}"))]);
        world.hub.act(Act::Tag(tag, build));
    }
    world.look();
    world.hub.tags.remove(&deleted);
    world.hub.tags.insert(renamed, "old".into());
    for again in [false, true] {
        let looked = world.look();
        assert_eq!(looked.trouble.len(), 1, "{looked:?}");
        assert_eq!(world.map.taggings.keys().map(|(_, tag)| tag.0).collect::<Vec<_>>(), [deleted]);
        assert_eq!(looked.rounds, if again { 1 } else { 2 });
        let left = matches!(looked.changes[..], [Change::Gone { why: Gone::TagLeft, .. }]);
        assert_eq!(left, !again, "{looked:?}");
    }
    // After a start, too.
    world.memory = Memory::default();
    assert_eq!(world.look().trouble.len(), 1);
    assert_eq!(world.map.taggings.len(), 1);
    world.hub.tags.insert(renamed, "rel-3".into());
    world.look();
    assert_eq!(world.map.taggings.len(), 2);
}

#[test]
fn after_a_start_an_idle_hub_is_asked_once_and_a_changed_tag_is_listed_once() {
    for inherit in [false, true] {
        let mut world = World::new(inherit);
        for at in 0..3 {
            let tag = world.hub.tag(&format!("rel-{at}"));
            let build = world.hub.build("lamp", &[("lamp", &format!("1.{at}"))]);
            world.hub.act(Act::Tag(tag, build));
        }
        world.look();
        for minutes in [1, 700, 3] {
            world.minutes(minutes);
            world.memory = Memory::default();
            assert_eq!(world.look().rounds, if inherit { 2 } else { 1 }, "{minutes}");
            world.minutes(20);
            assert_eq!(world.look().rounds, 1);
        }
        let build = world.hub.build("lamp", &[("lamp", "2")]);
        world.hub.act(Act::Tag(2, build));
        world.hub.act(Act::Move(1, "fast".to_owned()));
        world.memory = Memory::default();
        assert_eq!(world.look().rounds, 3);
        world.compare("changed while it was stopped");
        // What the last look found itself is no change.
        world.memory = Memory::default();
        assert_eq!(world.look().rounds, if inherit { 2 } else { 1 });
        world.hub.act(Act::Block(3, "lamp".to_owned()));
        world.memory = Memory::default();
        assert!(world.look().rounds <= 3);
        world.compare("blocked while it was stopped");
    }
}

#[test]
fn a_tag_without_builds_leaves_with_its_name_and_one_with_builds_when_it_is_named_no_more() {
    let mut world = World::new(false);
    let (full, empty) = (world.hub.tag("rel-1"), world.hub.tag("rel-2"));
    let build = world.hub.build("lamp", &[("lamp", "1")]);
    world.hub.act(Act::Tag(full, build));
    world.look();
    world.hub.tags.remove(&empty);
    for again in [false, true] {
        world.memory = if again { Memory::default() } else { world.memory.clone() };
        assert_eq!(world.look().trouble, [""; 0], "nothing of it is kept");
    }
    world.hub.tags.remove(&full);
    assert_eq!(world.look().trouble.len(), 1);
    world.record.tags = vec!["extra".to_owned()];
    let left = world.look();
    assert!(matches!(left.changes[..], [Change::Gone { why: Gone::TagLeft, .. }]), "{left:?}");
    assert_eq!((world.look().trouble.len(), world.map.taggings.len()), (0, 0));
}

#[test]
fn more_tags_than_a_repository_may_have_fail_the_look_and_it_says_how_many() {
    let mut world = World::new(false);
    for at in 0..=TAGS_MAX {
        world.hub.tag(&format!("rel-{at}"));
    }
    let mut look = Look::new(world.record.clone(), Memory::default(), Millis(0));
    let Step::Ask(questions) = look.next(&world.koji, Vec::new()) else { panic!() };
    let answers = questions.iter().map(|question| world.hub.answer(question)).collect();
    let Step::Failed(text) = look.next(&world.koji, answers) else { panic!() };
    assert_eq!(text, "501 tags match the patterns, and 500 are the most");
}

#[test]
fn files_that_are_too_much_for_an_answer_are_asked_for_in_smaller_parts_and_those_of_the_past_in_the_end_not() {
    let mut world = World::new(false);
    let tag = world.hub.tag("rel-1");
    for at in 0..80 {
        let build = world.hub.build("lamp", &[("lamp", &format!("1.{at}"))]);
        world.hub.act(Act::Tag(tag, build));
        if at >= 40 {
            world.hub.delete(build);
        }
    }
    (world.most, world.most_asked) = (1, 10);
    let first = world.look();
    // Tags, the list that is too much, the one that is not, 40, 25 and 12 builds that are too much, and seven of six.
    assert_eq!((first.rounds, world.map.taggings.len()), (3 + 3 + 7, 40), "{first:?}");
    world.compare("in parts");
    world.most_asked = 0;
    for rounds in [2, 2, 2, 1, 1] {
        world.minutes(1);
        assert_eq!(world.look().rounds, rounds);
    }
    assert_eq!(world.map.past.len(), 0);
}

#[test]
fn listings_that_ended_before_the_first_look_are_read_when_nothing_else_is_to_do() {
    let mut world = World::new(false);
    let tag = world.hub.tag("rel-1");
    for at in 0..60 {
        let build = world.hub.build("lamp", &[("lamp", &format!("1.{at}"))]);
        world.hub.act(Act::Tag(tag, build));
        if at > 0 {
            world.hub.delete(build);
        }
    }
    world.minutes(30);
    assert_eq!(world.look().rounds, 2);
    assert_eq!(world.map.past.len(), 0);
    for rounds in [2, 1, 1, 1] {
        world.minutes(1);
        assert_eq!(world.look().rounds, rounds);
    }
    assert_eq!(world.map.past.len(), 59);
    assert!(world.map.builds.values().filter(|build| build.deleted).all(|build| build.files.len() == 1));
}
