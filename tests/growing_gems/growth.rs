//! Pushes of six patterns of names and versions. After each hundredth, every index of the repository and of a group is
//! decoded. `DAYLIGHT_GROWTH` is the number of pushes of each pattern (`make torture`: 30,000).

use super::{FILES, GROUP, decoded};
use crate::world::{Gem, Index, World};
use std::time::Instant;

/// Pushes between two looks.
const STEP: usize = 100;
/// Pushes at the same time.
const AT_ONCE: usize = 4;
const PLATFORMS: [&str; 8] = [
    "ruby",
    "java",
    "x86_64-linux",
    "aarch64-linux",
    "x86_64-darwin",
    "arm64-darwin",
    "x64-mingw-ucrt",
    "x86_64-linux-musl",
];

/// A pattern: its name, the pushes without `DAYLIGHT_GROWTH`, and its gems.
type Pattern = (&'static str, usize, fn(usize) -> Gem);

const PATTERNS: [Pattern; 6] = [
    ("few-names", 100, |at| Gem::new(&format!("lamp-{}", at % 40), &format!("0.0.{}", at / 40))),
    ("random-versions", 100, |at| {
        // Different for each version of a name, because the modulus is a prime.
        let number = (at / 150 * 7919 + at % 150 * 104_729 + 1) % 1_000_003;
        let version = format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100);
        Gem::new(&format!("oil_{}", at % 150), &version)
    }),
    ("sequential", 100, |at| {
        let number = at / 150;
        Gem::new(&format!("wick-{}", at % 150), &format!("{}.{}.{}", number / 100, number / 10 % 10, number % 10))
    }),
    ("timestamps", 100, |at| Gem::new(&format!("night-{}", at % 10), &format!("0.1.{}", 20_260_101_000_000 + at * 37))),
    // Their names alone exceed the buffer of an encoder.
    ("long-names", 1200, |at| {
        Gem::new(&random_name(at % 1000), &format!("1.0.{}{}", at / 1000, if at % 3 == 0 { ".pre" } else { "" }))
    }),
    ("platforms", 100, |at| {
        let (number, platform) = (at / PLATFORMS.len(), PLATFORMS[at % PLATFORMS.len()]);
        Gem::new(&format!("glass-{}", number % 50), &format!("2.{}", number / 50)).platform(platform)
    }),
];

/// A name of 60 random characters.
fn random_name(at: usize) -> String {
    let mut state = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b"abcdefghijklmnopqrstuvwxyz0123456789_-"[(state >> 33) as usize % 38])
    };
    format!("r{}z", (2..60).map(next).collect::<String>())
}

/// The number of entries in a decoded file of the older index: the length of a list in Marshal.
fn entries(file: &[u8]) -> usize {
    let [4, 8, b'[', first, rest @ ..] = file else { panic!("no list") };
    match *first {
        0 => 0,
        bytes @ 1..=4 => (0..usize::from(bytes)).map(|at| usize::from(rest[at]) << (8 * at)).sum(),
        small => usize::from(small) - 5,
    }
}

#[test]
fn every_index_of_a_growing_repository_and_of_its_group_is_whole_after_each_step() {
    let many = std::env::var("DAYLIGHT_GROWTH").ok().map(|many| many.parse::<usize>().unwrap());
    let world = World::start();
    let admin = world.admin();
    for (pattern, few, gem) in PATTERNS {
        let (pushes, began, mut decodings) = (many.unwrap_or(few), Instant::now(), 0);
        world.repository(pattern, false);
        let group = format!("{GROUP}-{pattern}");
        world.gem_group(&group, &[pattern]);
        let both = [pattern, &*group];
        for from in (0..pushes).step_by(STEP) {
            let until = (from + STEP).min(pushes);
            std::thread::scope(|scope| {
                for part in 0..AT_ONCE {
                    let (admin, both) = (&admin, &both);
                    scope.spawn(move || {
                        let connection = &mut admin.connect().unwrap();
                        for at in (from + part..until).step_by(AT_ONCE) {
                            admin.push_on(connection, pattern, &gem(at).bytes()).unwrap().expect(200);
                            // An index is encoded again when it is read: here after each push, later less often.
                            if at % (1 + at / 1000) == 0 {
                                let path = format!("/repository/{}/{}", both[at % 2], FILES[at / 2 % FILES.len()]);
                                admin.on(connection, "GET", &path, &[], b"").unwrap().expect(200);
                            }
                        }
                    });
                }
            });
            for repository in both {
                let [versions, _, released, _, prerelease] = FILES.map(|file| decoded(&admin, repository, file));
                decodings += FILES.len() + 2;
                assert!(versions.ends_with(b"\n"));
                assert_eq!(entries(&released) + entries(&prerelease), until, "{repository} after {until} pushes");
            }
        }
        for repository in both {
            assert_eq!(Index::read(&admin, repository).offered.len(), pushes);
        }
        println!("{pattern}: {pushes} pushes, {decodings} files decoded, {:.0?}", began.elapsed());
    }
}
