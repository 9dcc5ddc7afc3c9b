//! Clients that ask for many paths at once, on persistent connections.

use crate::world::Person;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Clients that ask at the same time.
pub(crate) struct Load {
    person: Person,
    clients: usize,
}

impl Load {
    /// This number of clients.
    pub(crate) fn new(person: &Person, clients: usize) -> Self {
        Self { person: person.clone(), clients }
    }

    /// Asks for each of these paths once.
    pub(crate) fn each(&self, paths: &[String]) {
        let next = AtomicUsize::new(0);
        self.run(&|| paths.get(next.fetch_add(1, Relaxed)).map(String::as_str));
    }

    /// Asks this number of times.
    pub(crate) fn ask(&self, zipf: &Zipf<'_>, times: u64) {
        let next = AtomicU64::new(0);
        self.run(&|| {
            let number = next.fetch_add(1, Relaxed);
            (number < times).then(|| zipf.path(number))
        });
    }

    fn run<'a>(&self, next: &(dyn Fn() -> Option<&'a str> + Sync)) {
        std::thread::scope(|scope| {
            for _ in 0..self.clients {
                scope.spawn(|| {
                    let mut connection = self.person.connect().unwrap();
                    while let Some(path) = next() {
                        self.person.on(&mut connection, "GET", path, &[], b"").unwrap().expect(200);
                    }
                });
            }
        });
    }
}

/// Paths of which the n-th is asked for 1/n^0.8 times as often as the first.
pub(crate) struct Zipf<'a> {
    paths: &'a [String],
    sums: Vec<f64>,
}

impl<'a> Zipf<'a> {
    pub(crate) fn new(paths: &'a [String]) -> Self {
        let mut sum = 0.0;
        let sums = (1..=paths.len()).map(|number| {
            sum += (number as f64).powf(-0.8);
            sum
        });
        Self { sums: sums.collect(), paths }
    }

    /// The path of the `number`-th request.
    pub(super) fn path(&self, number: u64) -> &'a str {
        // Numbers that look random (splitmix64).
        let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let at = ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64 * self.sums[self.sums.len() - 1];
        &self.paths[self.sums.partition_point(|sum| *sum <= at)]
    }
}
