//! Curves against caches that are simulated exactly.

use super::curve::Curve;
use super::miniature::Use;
use super::miniatures::{Miniatures, Real};
use super::policy::Policy;
use super::shards::Shards;
use crate::hash::Seed;
use crate::random::Random;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use telemetry::{EventId, Tick};

/// The share of uses that find their key in a cache of this size, which removes the least recently used keys.
fn simulated(uses: &[(u64, u64)], size: u64) -> f64 {
    let (mut last, mut by_time, mut used, mut hits) = (HashMap::new(), BTreeMap::new(), 0, 0);
    for (time, (key, weight)) in uses.iter().enumerate() {
        if let Some(before) = last.insert(*key, time) {
            hits += u64::from(by_time.remove(&before).is_some());
        } else {
            used += weight;
        }
        by_time.insert(time, (*key, *weight));
        while used > size {
            let Some((_, (key, weight))) = by_time.pop_first() else { break };
            last.remove(&key);
            used -= weight;
        }
    }
    hits as f64 / uses.len() as f64
}

fn curve(uses: &[(u64, u64)], most: usize) -> Curve {
    let (mut shards, mut curve, seed) = (Shards::new(most), Curve::default(), Seed::default());
    for (number, (key, weight)) in (1..).zip(uses) {
        // A thousand in a second.
        let reuse = shards.refer(seed.hash_one(key), Some(*weight), Tick(number * 1_000_000));
        curve.see(reuse, false, 0, EventId(1));
    }
    curve
}

/// The mean difference between the curve and simulations, over sizes from a small part of all keys to more than all of them. The curve of
/// a scan has a step at the weight of all keys. No size is right there, since a curve has buckets.
fn error(uses: &[(u64, u64)], most: usize) -> f64 {
    let all: u64 = uses.iter().copied().collect::<HashMap<u64, u64>>().values().sum();
    let curve = curve(uses, most);
    let sizes = [256, 64, 16, 8, 4, 2, 1].map(|part| all * 3 / 2 / part);
    let errors = sizes.map(|size| (curve.share(size) - simulated(uses, size)).abs());
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// Keys of which the n-th is used 1/n^`skew` times as often as the first, each with a weight of its own.
fn zipf(keys: u64, uses: usize, skew: f64) -> Vec<(u64, u64)> {
    let mut random = Random::default();
    let mut sums: Vec<f64> = Vec::new();
    for key in 1..=keys {
        sums.push(sums.last().unwrap_or(&0.0) + (key as f64).powf(-skew));
    }
    let all = *sums.last().unwrap();
    let mut draw = || {
        let at = (random.next() >> 11) as f64 / (1_u64 << 53) as f64 * all;
        let key = sums.partition_point(|sum| *sum < at) as u64;
        (key, 500 + key.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 8000)
    };
    (0..uses).map(|_| draw()).collect()
}

#[test]
fn curves_of_popular_and_rare_keys_are_those_of_real_caches() {
    for (keys, skew) in [(20_000, 0.9), (20_000, 0.6), (3000, 1.1)] {
        let error = error(&zipf(keys, 60_000, skew), 8192);
        assert!(error < 0.02, "{keys} keys, skew {skew}: {error}");
    }
}

#[test]
fn curves_of_scans_are_those_of_real_caches() {
    let scan: Vec<(u64, u64)> = (0..60_000).map(|n| (n % 15_000, 1000)).collect();
    let mut mixed = zipf(5000, 40_000, 0.9);
    mixed.extend((0..20_000).map(|n| (1_000_000 + n, 2000)));
    mixed.extend(zipf(5000, 20_000, 0.9));
    for (uses, what) in [(scan, "again and again"), (mixed, "once among others")] {
        let error = error(&uses, 8192);
        assert!(error < 0.02, "{what}: {error}");
    }
}

#[test]
fn no_more_keys_are_followed_than_allowed() {
    let (mut shards, seed) = (Shards::new(100), Seed::default());
    for key in 0..100_000_u64 {
        shards.refer(seed.hash_one(key % 7000), Some(1), Tick(key * 1_000_000));
    }
    let sampled = (0..7000_u64).filter(|key| shards.samples(seed.hash_one(key))).count();
    assert!((25..=100).contains(&sampled), "{sampled}");
}

#[test]
fn of_many_uses_in_a_second_fewer_keys_are_followed() {
    let (mut shards, seed) = (Shards::new(8192), Seed::default());
    let followed = |shards: &Shards| (0..4000_u64).filter(|key| shards.samples(seed.hash_one(key))).count();
    for use_ in 0..20_000 {
        shards.refer(seed.hash_one(use_ % 4000), Some(1), Tick(1 + use_ * 1_000_000));
    }
    assert_eq!(followed(&shards), 4000);
    for use_ in 0..100_000 {
        shards.refer(seed.hash_one(use_ % 4000), Some(1), Tick(30_000_000_000 + use_ * 20_000));
    }
    assert!((128..=1024).contains(&followed(&shards)), "{}", followed(&shards));
}

/// The curve of miniatures of a cache of this policy and size.
fn miniatures(policy: Policy, capacity: u64, most: usize, uses: &[(u64, u64)]) -> Curve {
    let (mut all, mut curve, seed) = (Miniatures::new(policy, most, 1.0), Curve::default(), Seed::default());
    all.set(&Real { capacity, used: 0, entries: 0 });
    for (number, (key, weight)) in (1..).zip(uses) {
        let one =
            Use { key: seed.hash_one(key), weight: Some(*weight as u32), missed: false, stale: false, soon: false };
        all.see(&one, Tick(number * 1_000_000), 0, EventId(1), &mut curve);
    }
    curve
}

/// The mean and the largest difference between miniatures with a part of the keys and caches with all of them, over all sizes.
fn error_of(policy: Policy, capacity: u64, uses: &[(u64, u64)]) -> (f64, f64) {
    let [sampled, exact] = [1024, usize::MAX].map(|most| miniatures(policy, capacity, most, uses));
    let differences = exact.simulated_sizes().map(|size| (sampled.share(size) - exact.share(size)).abs());
    let differences: Vec<f64> = differences.collect();
    (differences.iter().sum::<f64>() / differences.len() as f64, differences.iter().copied().fold(0.0, f64::max))
}

#[test]
#[expect(clippy::print_stdout, reason = "it is a measurement")]
fn miniatures_with_a_part_of_the_keys_answer_what_whole_caches_do() {
    let weightless: Vec<(u64, u64)> = zipf(20_000, 60_000, 0.9).into_iter().map(|(key, _)| (key, 1)).collect();
    let mut mixed = zipf(5000, 30_000, 0.9);
    mixed.extend((0..20_000).map(|n| (1_000_000 + n, 2000)));
    mixed.extend(zipf(5000, 20_000, 0.9));
    for (policy, capacity, uses, what) in [
        (Policy::Pages, 8 << 20, zipf(20_000, 60_000, 0.9), "pages"),
        (Policy::Pages, 8 << 20, mixed, "pages and a crawler"),
        (Policy::MissingPages, 2 << 20, zipf(20_000, 60_000, 0.7), "missing pages"),
        (Policy::Entries, 1000, weightless, "entries"),
    ] {
        let (mean, largest) = error_of(policy, capacity, &uses);
        println!("{what}: {mean:.4} {largest:.4}");
        assert!(mean < 0.02 && largest < 0.06, "{what}: {mean} {largest}");
    }
}

#[test]
fn a_miniature_learns_what_entries_take_in_the_real_cache() {
    let uses = zipf(500, 20_000, 0.8);
    let share = |used_each: u64| {
        let (mut all, mut curve, seed) = (Miniatures::new(Policy::Pages, 1024, 1.0), Curve::default(), Seed::default());
        for (number, (key, weight)) in (1..).zip(&uses) {
            if number % 100 == 1 {
                all.set(&Real {
                    capacity: 512 << 10,
                    used: 100 * used_each,
                    entries: if number > 1 { 100 } else { 0 },
                });
            }
            let one =
                Use { key: seed.hash_one(key), weight: Some(*weight as u32), missed: false, stale: false, soon: false };
            all.see(&one, Tick(number * 1_000_000), 0, EventId(1), &mut curve);
        }
        curve.share(512 << 10)
    };
    let (plain, twice) = (share(4500), share(9000));
    assert!(twice < plain - 0.03, "{plain} {twice}");
}

#[test]
fn a_cache_that_is_off_has_no_sizes_and_after_a_change_it_begins_empty() {
    let mut all = Miniatures::new(Policy::Pages, 1024, 1.0);
    let mut curve = Curve::default();
    let mut see = |all: &mut Miniatures| {
        let one = Use { key: 7, weight: Some(1000), missed: true, stale: false, soon: false };
        all.see(&one, Tick(1), 0, EventId(1), &mut curve);
        curve.lookups()
    };
    assert_eq!(see(&mut all), 0.0, "nothing is known of the cache");
    all.set(&Real::default());
    assert_eq!(see(&mut all), 0.0);
    all.set(&Real { capacity: 1 << 20, ..Real::default() });
    assert_eq!(see(&mut all), 1.0);
}

/// Prints what a lookup costs on the thread of the collector.
#[test]
#[expect(clippy::print_stdout, reason = "it is a measurement")]
fn a_lookup_costs_little_on_the_thread_that_counts() {
    let uses = zipf(20_000, 60_000, 0.9);
    let began = telemetry::thread_nanos();
    let curve = miniatures(Policy::Pages, 8 << 20, 1024, &uses);
    let nanos = (telemetry::thread_nanos() - began) / uses.len() as u64;
    println!("a lookup of a page in miniatures: {nanos} ns of processor time");
    assert_eq!(curve.lookups(), 60_000.0);
}

#[test]
fn pages_that_are_asked_for_exactly_twice_are_no_reason_for_a_larger_cache_and_those_that_were_evicted_are() {
    let gain = |uses: &[u64]| {
        let (mut all, mut curve, seed) = (Miniatures::new(Policy::Pages, 1024, 1.0), Curve::default(), Seed::default());
        all.set(&Real { capacity: 1 << 20, used: 0, entries: 0 });
        for (number, key) in (1..).zip(uses) {
            let one = Use { key: seed.hash_one(key), weight: Some(10_000), missed: true, stale: false, soon: false };
            all.see(&one, Tick(number * 1_000_000), 1000, EventId(1), &mut curve);
        }
        curve.missed(1 << 20, u64::MAX).lookups / uses.len() as f64
    };
    let twice: Vec<u64> = (0..800).flat_map(|key| [key, key]).collect();
    let again: Vec<u64> = (0..1600).map(|number| number % 400).collect();
    assert!(gain(&twice) < 0.01 && gain(&again) > 0.5, "{} {}", gain(&twice), gain(&again));
}
