//! Curves against caches that are simulated exactly.

use super::curve::Curve;
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
        curve.look();
        // A thousand in a second.
        if let Some(reuse) = shards.refer(seed.hash_one(key), Some(*weight), Tick(number * 1_000_000)) {
            curve.see(reuse, false, 0, EventId(1));
        }
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
