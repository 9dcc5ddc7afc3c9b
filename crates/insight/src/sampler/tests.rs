//! Which events are stored in seconds that a settable clock makes, and how many each stands for.

use super::*;
use crate::row::RepositoryFacts;
use proptest::prelude::*;
use std::collections::HashMap;
use std::time::Duration;
use telemetry::{Event, Figures, Layer, MemberRecord, MemberSaid, Millis, Tick, Trace};

const SECOND: Duration = Duration::from_secs(1);

fn rate(goal: Goal) -> (Sampler, Clock) {
    let clock = Clock::at(Millis(1_000_000));
    let facts = |name: &str| RepositoryFacts {
        kind: if name.starts_with('g') { "group" } else { "hosted" },
        ..RepositoryFacts::default()
    };
    (Sampler::new(clock.clone(), goal, facts), clock)
}

fn hit(repository: &str) -> Event {
    let mut event = *Event::request(Millis(1), Tick(0));
    event.subject.repository = repository.into();
    (event.layer, event.status, event.outcome) = (Layer::Page, 200, Some(Outcome::Answered));
    event
}

/// The event with a change.
fn but(event: &Event, change: impl FnOnce(&mut Event)) -> Event {
    let mut event = event.clone();
    change(&mut event);
    event
}

fn with(outcome: Outcome, status: u16) -> Event {
    but(&hit("a"), |event| (event.outcome, event.status) = (Some(outcome), status))
}

fn see(rate: &mut Sampler, event: &Event) -> SamplingDecision {
    rate.see(&Glance::of(event, &Figures::of(event)))
}

/// Shows the event so many times. Returns how many were stored, and for how many they stand.
fn see_all(rate: &mut Sampler, event: &Event, count: u32) -> (u32, u32) {
    let weights: Vec<u32> = (0..count).map(|_| see(rate, event).weight).collect();
    (weights.iter().filter(|weight| **weight > 0).count() as u32, weights.iter().sum())
}

fn next_second(rate: &mut Sampler, clock: &Clock) {
    rate.pause();
    clock.set(Some(clock.now().plus(SECOND)));
}

#[test]
fn each_event_has_the_first_reason_that_holds_for_it() {
    let (mut rate, _) = rate(Goal::Number(100));
    let mut said = |event: &Event| see(&mut rate, event).because;
    for (outcome, status, because) in [
        (Outcome::Answered, 200, Because::Sample),
        (Outcome::NotFound, 404, Because::Sample),
        (Outcome::Refused, 401, Because::Sample),
        (Outcome::Failed, 502, Because::Failed),
        (Outcome::ClientGone, 500, Because::Failed),
        (Outcome::Shed, 503, Because::Failed),
        (Outcome::TurnedAway, 0, Because::Failed),
    ] {
        assert_eq!(said(&with(outcome, status)), because, "{outcome:?} {status}");
    }
    let mut event = but(&hit("a"), |event| event.kind = Kind::Job);
    assert_eq!(said(&event), Because::Job);
    event.more_mut().trace = Some(Trace { id: 1, parent: 1 });
    assert_eq!(said(&event), Because::Traced);
    event.first_byte = 2_000_000_000;
    assert_eq!(said(&event), Because::Slow);
    event.absorb(MemberRecord::new("b", MemberSaid::Timeout, None));
    assert_eq!(said(&event), Because::Member);
    event.outcome = Some(Outcome::Failed);
    assert_eq!(said(&event), Because::Failed);
}

#[test]
fn failures_are_stored_whole_up_to_two_hundred_a_second_and_weighted_beyond() {
    let (mut rate, clock) = rate(Goal::Number(50));
    let failed = with(Outcome::Failed, 500);
    for _ in 0..20 {
        let weights: Vec<SamplingDecision> = (0..5_000).map(|_| see(&mut rate, &failed)).collect();
        assert!(weights[..200].iter().all(|kept| *kept == SamplingDecision::store(1, Because::Failed)));
        let stored = weights[200..].iter().filter(|kept| kept.weight > 0).count();
        assert!((5..400).contains(&stored), "{stored}");
        // Another failure is not crowded out.
        let mut rare = with(Outcome::Failed, 502);
        rare.class = Some(Class::Uploads);
        assert_eq!(see_all(&mut rate, &rare, 2), (2, 2));
        next_second(&mut rate, &clock);
    }
}

#[test]
fn a_request_that_is_slow_for_its_class_is_stored_whole() {
    let (mut rate, clock) = rate(Goal::Number(10));
    let quick = but(&hit("a"), |event| (event.class, event.first_byte) = (Some(Class::Downloads), 3_000_000));
    for _ in 0..20 {
        see_all(&mut rate, &quick, 1_000);
        next_second(&mut rate, &clock);
    }
    let slow = but(&quick, |event| event.first_byte = 30_000_000);
    assert_eq!(see(&mut rate, &slow), SamplingDecision::store(1, Because::Slow));
    let upload = but(&slow, |event| event.class = Some(Class::Uploads));
    assert_eq!(see(&mut rate, &upload).because, Because::Sample, "nothing is known of its class");
}

#[test]
fn a_frequent_key_is_thinned_to_the_goal_and_a_rare_one_is_stored_whole() {
    let (mut rate, clock) = rate(Goal::Number(100));
    let (frequent, rare) = (hit("a"), but(&hit("group"), |event| event.status = 404));
    let mut stored = Vec::new();
    for second in 0..60 {
        let (hits, _) = see_all(&mut rate, &frequent, 20_000);
        assert!(hits < 1_200, "a burst is thinned within its second: {hits}");
        assert_eq!(see_all(&mut rate, &rare, 3), (3, 3), "{second}");
        stored.push(hits);
        next_second(&mut rate, &clock);
    }
    let mean = stored[30..].iter().sum::<u32>() / 30;
    assert!((80..110).contains(&mean), "{stored:?}");
}

#[test]
fn the_event_after_a_crowd_does_not_wait_for_another_crowd() {
    let (mut rate, clock) = rate(Goal::Number(5));
    for _ in 0..20 {
        see_all(&mut rate, &hit("a"), 50_000);
        next_second(&mut rate, &clock);
    }
    clock.set(Some(clock.now().plus(SECOND * 300)));
    rate.pause();
    assert!(see(&mut rate, &hit("a")).weight > 0, "it stands for the rest of the crowd as well");
    assert_eq!(see(&mut rate, &hit("a")).weight, 1);
}

#[test]
fn the_first_event_of_a_second_is_not_stored_more_often_than_others() {
    const EACH: usize = 1000;
    let (mut rate, clock) = rate(Goal::Number(20));
    let (mut first, mut all) = (0, 0);
    for second in 0..2_000 {
        for place in 0..EACH {
            let weight = see(&mut rate, &hit("a")).weight;
            if second >= 60 {
                first += if place == 0 { weight } else { 0 };
                all += weight;
            }
        }
        next_second(&mut rate, &clock);
    }
    // It stands for one of a thousand, as any other.
    assert!(first < all / EACH as u32 * 3, "{first} of {all}");
}

#[test]
fn what_comes_with_a_clock_that_was_set_back_begins_a_new_second() {
    let (mut rate, clock) = rate(Goal::Number(1_000));
    assert!(see_all(&mut rate, &with(Outcome::Failed, 500), 2_000).0 < 1_500);
    clock.set(Some(Millis(5)));
    rate.pause();
    assert_eq!(see_all(&mut rate, &with(Outcome::Failed, 500), 200), (200, 200));
}

#[test]
fn a_repository_that_is_made_again_as_another_kind_is_known_as_that_within_a_minute_or_so() {
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = calls.clone();
    let clock = Clock::at(Millis(1));
    let facts = move |_: &str| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        RepositoryFacts::default()
    };
    let mut rate = Sampler::new(clock.clone(), Goal::Number(10), facts);
    for expected in [1, 2] {
        see_all(&mut rate, &hit("a"), 100);
        assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), expected);
        rate.pause();
        clock.set(Some(clock.now().plus(SECOND * 61)));
    }
}

/// A thousand paths, of which each is less frequent than the one before, with times that depend on the path.
fn page(random: u64) -> (u64, u64) {
    let share = (random % 1_000_000) as f64 / 1e6;
    let path = (1000f64.powf(share) - 1.0) as u64;
    (path, 100_000 + (random >> 32) % 1_000_000 + path * 1_000)
}

#[test]
fn a_sample_of_one_in_fifty_tells_quantiles_within_five_percent_and_eighteen_of_the_top_twenty() {
    const EACH: u64 = 10_000;
    let (mut rate, clock) = rate(Goal::Number(200));
    let (mut all, mut sampled) = (telemetry::Histogram::default(), telemetry::Histogram::default());
    let (mut paths, mut sampled_paths) = (HashMap::<u64, u64>::new(), HashMap::<u64, u64>::new());
    let (mut random, mut stored, mut event) = (1u64, 0u64, hit("a"));
    for _ in 0..600 {
        for _ in 0..EACH {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let (path, nanos) = page(random);
            event.duration = nanos;
            let weight = u64::from(see(&mut rate, &event).weight);
            stored += u64::from(weight > 0);
            all.record(nanos);
            sampled.record_sum(nanos * weight, weight);
            *paths.entry(path).or_default() += 1;
            *sampled_paths.entry(path).or_default() += weight;
        }
        next_second(&mut rate, &clock);
    }
    let seen = 600 * EACH;
    assert!((45..55).contains(&(seen / stored)), "{stored} of {seen}");
    for quantile in [0.5, 0.95, 0.99] {
        let (exact, told) = (all.quantile(quantile) as f64, sampled.quantile(quantile) as f64);
        assert!((told / exact - 1.0).abs() < 0.05, "{quantile}: {told} for {exact}");
    }
    let top = |counts: &HashMap<u64, u64>| {
        let mut paths: Vec<(u64, u64)> = counts.iter().map(|(path, count)| (*count, *path)).collect();
        paths.sort_unstable_by(|one, other| other.cmp(one));
        paths.into_iter().take(20).map(|(_, path)| path).collect::<Vec<_>>()
    };
    let (exact, told) = (top(&paths), top(&sampled_paths));
    assert!(told.iter().filter(|path| exact.contains(path)).count() >= 18, "{told:?} for {exact:?}");
}

/// An event of one of many keys.
fn of_key(key: u8) -> Event {
    let repository = if key.is_multiple_of(2) { "a" } else { "group" };
    let mut event = hit(repository);
    event.layer = Layer::ALL[usize::from(key / 2) % Layer::COUNT];
    event.status = [200, 304, 404][usize::from(key) % 3];
    event
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_is_thrown_away_below_the_goal(seconds in prop::collection::vec(prop::collection::vec((0u8..40, 1u32..60), 0..10), 1..40)) {
        let (mut rate, clock) = rate(Goal::Number(600));
        for counts in seconds {
            for (key, count) in counts {
                prop_assert_eq!(see_all(&mut rate, &of_key(key), count), (count, count));
            }
            next_second(&mut rate, &clock);
        }
    }

    #[test]
    fn weights_sum_to_the_events_of_each_key_up_to_the_last_ones(
        goal in 0u32..100,
        seconds in prop::collection::vec(prop::collection::vec((0u8..40, 1u32..900), 0..8), 1..20),
    ) {
        let (mut rate, clock) = rate(Goal::Number(goal));
        let (mut seen, mut told) = ([0u64; 40], [0u64; 40]);
        for counts in seconds {
            for (key, count) in counts {
                seen[usize::from(key)] += u64::from(count);
                told[usize::from(key)] += u64::from(see_all(&mut rate, &of_key(key), count).1);
            }
            next_second(&mut rate, &clock);
        }
        // Keys may be the same for different numbers.
        let (seen, told) = (seen.iter().sum::<u64>(), told.iter().sum::<u64>());
        prop_assert_eq!(told + rate.keys.waiting(), seen);
    }
}
