//! Absurd ranges: the answer is a part, the whole or a refusal, and never longer than the file.

use super::healthy;
use crate::world::{FIRST, Gem, World};

#[test]
fn no_range_makes_an_answer_longer_than_the_file() {
    let world = World::start();
    let gem = Gem::new("lamp", "1.0.0").payload(&[7; 50_000]);
    world.admin().push(FIRST, &gem).expect(200);
    let whole = gem.bytes();
    let ranges = [
        format!("bytes={}", "0-,".repeat(3_000)),
        format!("bytes={}", "-1,".repeat(3_000)),
        format!("bytes={}", (0..2_000).map(|at| format!("{at}-{},", at + 10)).collect::<String>()),
        "bytes=0-18446744073709551615".to_owned(),
        "bytes=18446744073709551615-".to_owned(),
        "bytes=18446744073709551616-18446744073709551617".to_owned(),
        format!("bytes=0-{}", "9".repeat(1_000)),
        format!("bytes=-{}", "9".repeat(1_000)),
        "bytes=-0".to_owned(),
        "bytes=--1".to_owned(),
        "bytes=-1--1".to_owned(),
        "bytes=5-2".to_owned(),
        "bytes=".to_owned(),
        "bytes".to_owned(),
        "=0-1".to_owned(),
        "bytes=0x0-0x9".to_owned(),
        "bytes=+0-9".to_owned(),
        "bytes=0-9\u{e9}".to_owned(),
    ];
    for path in ["info/lamp", "versions", "names", "gems/lamp-1.0.0.gem"] {
        let path = format!("/repository/{FIRST}/{path}");
        let size = world.anon().get(&path).expect(200).body.len();
        for range in &ranges {
            for method in ["GET", "HEAD"] {
                let answer = world.anon().ask(method, &path, &[("Range", range)], b"");
                assert!(matches!(answer.status, 200 | 206 | 400 | 416 | 431), "{path} {range}: {}", answer.status);
                assert!(answer.status >= 400 || answer.body.len() <= size, "{path} {range}: {}", answer.body.len());
            }
        }
    }
    let path = format!("/repository/{FIRST}/gems/lamp-1.0.0.gem");
    for (range, expected) in [("bytes=0-18446744073709551615", &whole[..]), ("bytes=-18446744073709551615", &whole)] {
        let answer = world.anon().ask("GET", &path, &[("Range", range)], b"");
        assert!(answer.status == 416 || answer.body == expected, "{range}: {}", answer.status);
    }
    healthy(&world);
}

#[test]
fn a_range_header_of_its_own_kilobytes_is_refused_by_the_size_of_the_head() {
    let world = World::start();
    let range = format!("bytes={}", "0-0,".repeat(100_000));
    let request = format!("GET /repository/{FIRST}/names HTTP/1.1\r\nHost: localhost\r\nRange: {range}\r\n\r\n");
    assert_eq!(super::statuses(&world, request.as_bytes()), [431]);
    healthy(&world);
}
