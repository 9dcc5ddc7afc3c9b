//! Lanes as requests meet them.

use super::*;
use crate::options::LaneOptions;
use proptest::prelude::*;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use telemetry::{BoundName, Clock, Millis, Op};

fn lane(paths: &[&str], slots: usize) -> LaneOptions {
    LaneOptions { paths: paths.iter().map(|path| (*path).to_owned()).collect(), slots }
}

fn options(slots: usize, lanes: Vec<LaneOptions>) -> AppOptions {
    AppOptions { slots, lanes, ..AppOptions::of("shop") }
}

fn lanes(slots: usize, lanes: Vec<LaneOptions>) -> Lanes {
    Lanes::new(&options(slots, lanes), &Recorder::silent(Clock::default())).unwrap()
}

fn event() -> Box<Event> {
    Event::job("test", Millis(1))
}

/// Polls once. No wait of these tests needs a timer to end.
fn once<T>(work: impl Future<Output = T>) -> Poll<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    pin!(work).poll(&mut Context::from_waker(Waker::noop()))
}

fn entered(lanes: &Lanes, lane: LaneId) -> LaneSlot {
    match once(lanes.enter(lane, &mut event())) {
        Poll::Ready(Ok(slot)) => slot,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_lane_with_a_glob_for_the_path_gets_the_request() {
    let lanes = lanes(10, vec![lane(&["/reports/quick", "/a/*"], 1), lane(&["/reports/**"], 2)]);
    for (path, lane) in
        [("/reports/quick", 0), ("/a/1", 0), ("/reports/1", 1), ("/reports", 1), ("/", 2), ("/a/1/2", 2)]
    {
        assert_eq!(lanes.of(path), LaneId(lane), "{path}");
    }
    let slots: Vec<(usize, usize)> = lanes.view().iter().map(|view| (view.paths.len(), view.slots)).collect();
    assert_eq!(slots, [(2, 1), (1, 2), (0, 7)]);
}

#[test]
fn a_full_lane_holds_up_no_other_one() {
    let lanes = lanes(2, vec![lane(&["/slow"], 1)]);
    let slow = entered(&lanes, lanes.of("/slow"));
    assert!(once(lanes.enter(lanes.of("/slow"), &mut event())).is_pending());
    let quick = entered(&lanes, lanes.of("/quick"));
    assert!(once(lanes.enter(lanes.of("/quick"), &mut event())).is_pending());
    drop((slow, quick));
    let _again = (entered(&lanes, lanes.of("/slow")), entered(&lanes, lanes.of("/quick")));
    assert_eq!(lanes.view().iter().map(|view| view.busy).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn requests_get_slots_in_the_order_in_which_they_came() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    let lanes = lanes(1, Vec::new());
    let mut cx = Context::from_waker(Waker::noop());
    let slot = entered(&lanes, LaneId(0));
    let (mut one, mut two) = (event(), event());
    let (mut first, mut second) =
        (Box::pin(lanes.enter(LaneId(0), &mut one)), Box::pin(lanes.enter(LaneId(0), &mut two)));
    assert!(first.as_mut().poll(&mut cx).is_pending() && second.as_mut().poll(&mut cx).is_pending());
    assert_eq!(lanes.view()[0].waiting, 2);
    drop(slot);
    // The slot belongs to the first one, though it has not been polled since.
    assert!(once(lanes.enter(LaneId(0), &mut event())).is_pending() && second.as_mut().poll(&mut cx).is_pending());
    let slot = runtime.block_on(first).unwrap();
    assert!(second.as_mut().poll(&mut cx).is_pending());
    drop(slot);
    drop(runtime.block_on(second).unwrap());
    let aheads = [one, two]
        .map(|event| (event.more.as_ref().unwrap().app.as_ref().unwrap().ahead, event.tally(Op::AppWait).count));
    assert_eq!(aheads, [(0, 1), (1, 1)]);
    assert_eq!((lanes.view()[0].waiting, lanes.view()[0].busy), (0, 0));
}

#[test]
fn a_request_that_is_given_up_while_it_waits_takes_no_slot() {
    let lanes = lanes(1, Vec::new());
    let slot = entered(&lanes, LaneId(0));
    assert!(once(lanes.enter(LaneId(0), &mut event())).is_pending());
    drop(slot);
    drop(entered(&lanes, LaneId(0)));
}

#[test]
fn a_queue_that_is_full_rejects_and_the_figures_tell() {
    let recorder = Recorder::silent(Clock::default());
    let lanes = Lanes::new(&options(2, vec![lane(&["/slow"], 1)]), &recorder).unwrap();
    let slow = lanes.of("/slow");
    let _slot = entered(&lanes, slow);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    let mut cx = Context::from_waker(Waker::noop());
    let mut waiting: Vec<_> = (0..4096)
        .map(|_| {
            let lanes = &lanes;
            Box::pin(async move { lanes.enter(slow, &mut event()).await.map(drop) })
        })
        .collect();
    assert!(waiting.iter_mut().all(|wait| wait.as_mut().poll(&mut cx).is_pending()));
    let Poll::Ready(Err(full)) = once(lanes.enter(slow, &mut event())) else { panic!("it is full") };
    assert!(full.retry_after >= Duration::from_secs(1));
    let bound =
        recorder.bounds().into_iter().find(|bound| bound.name() == BoundName::AppSlots && bound.which() == "shop/slow");
    let bound = bound.unwrap();
    assert_eq!((bound.used(), bound.capacity(), bound.waiters(), bound.rejected()), (1, 1, 4096, 1));
    drop(waiting);
    assert_eq!((bound.waiters(), bound.waits().count()), (0, 4097), "the first one waited for nothing");
    assert!(recorder.bounds().iter().any(|bound| bound.which() == "shop" && bound.capacity() == 1));
}

#[test]
fn lanes_that_contradict_their_application_are_refused_with_a_hint() {
    let refused = |slots: usize, lanes: Vec<LaneOptions>| {
        let error = Lanes::new(&options(slots, lanes), &Recorder::silent(Clock::default())).unwrap_err();
        assert!(!error.hint.is_empty() && error.app == "shop");
        error.what
    };
    assert!(refused(0, Vec::new()).contains("0 slots"));
    assert!(refused(1_000_000, Vec::new()).contains("1000000 slots"));
    assert!(refused(4, vec![lane(&[], 1)]).contains("0 paths"));
    assert!(refused(4, vec![lane(&["/a"], 0)]).contains("`/a` has 0 slots"));
    assert!(refused(4, vec![lane(&["/a"], 4)]).contains("4 of the 4 are left"));
    assert!(refused(4, vec![lane(&["/a"], 2), lane(&["/b"], 2)]).contains("`/b` has 2 slots, and 2 of the 4"));
    assert!(refused(4, vec![lane(&["a"], 1)]).contains("`a` is not a glob"));
    assert!(refused(4, vec![lane(&["/a"], 1), lane(&["/b", "/a/"], 1)]).contains("`/a/` twice"));
    assert!(refused(99, (0..65).map(|at| lane(&[&format!("/{at}")], 1)).collect()).contains("more than 64"));
}

/// A way to write a segment: each byte as it is or encoded, and perhaps parameters.
fn written(segment: &str, how: &[(bool, bool)], more: usize) -> String {
    let mut text: String = segment
        .bytes()
        .zip(how.iter().cycle())
        .map(|(byte, (encoded, upper))| match (encoded, upper) {
            (false, _) => char::from(byte).to_string(),
            (true, false) => format!("%{byte:02x}"),
            (true, true) => format!("%{byte:02X}"),
        })
        .collect();
    text.push_str(["", "", ";v=1", ";"][more % 4]);
    text
}

proptest! {
    #[test]
    fn no_way_to_write_a_path_changes_its_lane(
        path in prop::collection::vec("reports|quick|[a-z]{1,6}|\\.\\.\\.|[0-9]{1,3}\\.csv", 0..5),
        how in prop::collection::vec((any::<bool>(), any::<bool>()), 1..20),
        between in prop::collection::vec(0usize..10, 6),
    ) {
        let lanes = lanes(10, vec![lane(&["/quick/*", "/**/*.csv"], 1), lane(&["/reports/**"], 2)]);
        let plain = format!("/{}", path.join("/"));
        let mut other = String::new();
        for (segment, more) in path.iter().zip(&between) {
            let by = ["/", "//", "/./", "/x/../", "/%2e/", "/x/%2E%2e/", "/x/.%2e//", "%2F", "/;a/", "/x/..;a/"][*more];
            // In parameters, an encoded slash is a part of them.
            let in_parameters = other.rsplit('/').next().is_some_and(|segment| segment.contains(';'));
            other.push_str(if by == "%2F" && in_parameters { "/" } else { by });
            other.push_str(&written(segment, &how, between[5] + more));
        }
        prop_assert_eq!(lanes.of(&other), lanes.of(&plain), "{} {}", other, plain);
    }
}
