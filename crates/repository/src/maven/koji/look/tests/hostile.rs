//! Looks at hubs that lie, that were restored, or that have more than fits.

use crate::maven::koji::look::memory::Memory;
use crate::maven::koji::look::tests::followed_hub::World;
use crate::maven::koji::look::tests::hub_model::Act;
use crate::maven::koji::look::{HELD_MAX, Look, ROWS_MAX, Step, TAGS_MAX};
use crate::maven::koji::map::KojiMap;
use format::koji::answer::{Answer, Fault};
use format::koji::model::{EventId, KojiEvent, Tag, TagId};
use format::koji::question::Question;
use telemetry::Millis;

/// A look that has asked its first questions.
fn begun() -> (Look, KojiMap) {
    let map = KojiMap::default();
    let mut look = Look::new(World::new(false).record, Memory::default(), Millis(0));
    assert!(matches!(look.next(&map, Vec::new()), Step::Ask(_)));
    (look, map)
}

/// The answers to these, with one tag.
fn one_tag() -> Vec<Result<Answer, Fault>> {
    let event = KojiEvent { id: EventId(9), at_ms: 1 };
    let tag = Tag { id: TagId(1), name: "rel-1".into() };
    vec![Ok(Answer::LastEvent(event)), Ok(Answer::Tags(vec![tag])), Ok(Answer::Tags(Vec::new()))]
}

#[test]
fn after_a_hub_was_restored_its_lower_events_are_followed() {
    let mut world = World::new(false);
    let tag = world.hub.tag("rel-1");
    let build = world.hub.build("lamp", &[("lamp", "1")]);
    world.hub.act(Act::Tag(tag, build));
    world.look();
    // The hub had more events than it has now.
    (world.memory.settled, world.memory.last) = (Some(EventId(1_000_000)), EventId(1_000_000));
    for version in ["2", "3"] {
        let build = world.hub.build("lamp", &[("lamp", version)]);
        world.hub.act(Act::Tag(tag, build));
        world.look();
        world.compare(version);
        world.minutes(11);
    }
    assert!(world.memory.settled.is_some_and(|settled| settled < EventId(1_000_000)));
}

#[test]
fn a_look_that_would_hold_too_much_fails() {
    let (mut look, map) = begun();
    look.taken.held = HELD_MAX - 100;
    assert!(matches!(look.next(&map, one_tag()), Step::Failed(text) if text.contains("more builds and files")));
}

#[test]
fn tags_that_inherit_from_too_many_fail_the_look() {
    let (mut look, _) = begun();
    let mut learn = |tag: u32, parents: std::ops::Range<u32>| {
        let question = Question::Inheritance { tag: TagId(tag), event: None };
        look.take(question, Ok(Answer::Inheritance(parents.map(TagId).collect())))
    };
    let most = TAGS_MAX as u32;
    assert_eq!((learn(1, 0..most), learn(2, 0..most)), (Ok(()), Ok(())));
    assert!(learn(3, most..most + 1).is_err());
}

#[test]
fn a_first_look_without_the_list_of_a_tag_makes_no_map() {
    let (mut look, map) = begun();
    let Step::Ask(questions) = look.next(&map, one_tag()) else { panic!() };
    let faults = questions.iter().map(|_| Err(Fault { code: 1000, text: "a bug".into() })).collect();
    let mut step = look.next(&map, faults);
    while let Step::Ask(questions) = step {
        let faults = questions.iter().map(|_| Err(Fault { code: 1000, text: "a bug".into() })).collect();
        step = look.next(&map, faults);
    }
    assert!(matches!(&step, Step::Failed(text) if text.contains("a bug")), "{step:?}");
}

#[test]
fn a_former_build_with_a_name_that_leads_elsewhere_is_left_out() {
    let mut world = World::new(false);
    let tag = world.hub.tag("rel-1");
    for package in ["..", "lamp"] {
        let build = world.hub.build(package, &[("lamp", "1")]);
        world.hub.act(Act::Tag(tag, build));
        world.hub.delete(build);
    }
    for _ in 0..3 {
        world.minutes(30);
        world.look();
    }
    let names: Vec<&str> = world.map.builds.values().map(|build| build.nvr.name.as_str()).collect();
    assert_eq!(names, ["lamp"]);
}

#[test]
fn the_history_that_is_remembered_does_not_grow_with_what_a_hub_says() {
    let mut world = World::new(false);
    let tag = world.hub.tag("rel-1");
    let build = world.hub.build("lamp", &[("lamp", "1")]);
    world.hub.act(Act::Tag(tag, build));
    world.look();
    let known = world.memory.tags.get_mut(&TagId(tag)).unwrap();
    known.rows.extend((0..2 * ROWS_MAX as u64).map(|hash| (hash, EventId(1_000_000))));
    world.look();
    assert!(world.memory.tags[&TagId(tag)].rows.len() <= ROWS_MAX);
    world.look();
    world.compare("after");
}
