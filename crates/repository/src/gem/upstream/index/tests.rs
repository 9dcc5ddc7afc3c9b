//! Tests of when an index is looked at, and of names that are held back.

use super::*;

#[test]
fn an_index_that_nobody_asks_for_is_due_so_long_after_the_start_and_after_each_time_that_it_was() {
    let (index, due) = (FollowedIndex::default(), |index: &FollowedIndex, at| index.is_idle_look_due(Millis(at), 30));
    assert!(!due(&index, 1_000) && !due(&index, 1_029) && due(&index, 1_030));
    assert!(!due(&index, 1_059) && due(&index, 1_060));
    assert!(!due(&index, 500), "the clock was set back");
    assert!(!due(&index, 529) && due(&index, 530));
}

#[test]
fn few_names_that_lack_for_an_hour_do_not_have_far_more_go_at_once() {
    let (start, late, hour) = (Millis(0), Millis(HELD_BACK_MS - 1), Millis(HELD_BACK_MS));
    let held = HeldBack::again(None, 10, start);
    assert!(held.covers(10, hour) && held.covers(20, hour) && !held.covers(10, late) && !held.covers(21, hour));
    // Reserves a little more each time, because the log of an active upstream grows steadily.
    let more = HeldBack::again(Some(HeldBack::again(Some(held), 15, late)), 20, late);
    assert_eq!((more.since, more.names, more.names_then), (start, 20, 10));
    let most = HeldBack::again(Some(more), 1_000, late);
    assert_eq!((most.since, most.names, most.names_then), (late, 1_000, 1_000));
    assert!(!most.covers(1_000, hour) && most.covers(1_000, Millis(late.0 + HELD_BACK_MS)));
    let accepted = HeldBack { accepted: true, ..most };
    assert!(accepted.covers(1_000, late) && !accepted.covers(1_001, late));
}
