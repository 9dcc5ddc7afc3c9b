//! Reads of a real Redis.

use super::real::{free_port, redis};
use super::*;
use client::Secret;

#[test]
fn a_value_is_read_each_time_and_its_lock_is_taken_once() {
    let real = redis(free_port(), &[]);
    let large = "0123456789".repeat(6_000);
    assert_eq!(real.tell(format!("SET {{ns}}:a page\r\nSET large {large}\r\nLPUSH list x\r\n").as_bytes(), 3).len(), 3);
    on_core(async {
        let servers = servers(&PagesOptions { value_bytes: 200_000, ..options(&[real.redis_url("")]) });
        for known in [None, Some(Version { instance: 0, cas: 0 })] {
            let read = item(read(&servers, Ask { known, early_s: Some(9), ..ask("{ns}:a") }).await);
            assert_eq!((&read.value[..], read.flags, read.version, read.won), (&b"page"[..], 0, None, false));
        }
        let answers = servers.read(&["none", "large", "list", "a key with spaces"].map(ask)).await;
        assert_eq!(answers[0], Answer::Missing);
        assert_eq!(item(answers[1].clone()).value, large);
        assert_eq!(answers[2], Answer::Failed(Trouble::Refused));
        assert_eq!(answers[3], Answer::Missing);
        assert!(servers.view()[0].trouble.as_ref().unwrap().contains("WRONGTYPE"));
        let right = async |key: &'static [u8]| servers.right(&Bytes::from_static(key), None, 9).await;
        let rights = (right(b"{ns}:a").await, right(b"{ns}:a").await, right(b"b").await);
        assert_eq!(rights, (Right::Ours, Right::Others, Right::Ours));
        assert_eq!(real.tell(b"GET {ns}:a:l\r\n", 2), ["$1", "1"]);
        let left: u32 = real.tell(b"PTTL b:l\r\n", 1)[0][1..].parse().unwrap();
        assert!((1..=10_000).contains(&left));
        assert_eq!(real.tell(b"SET large 1234567890123456789012345678901\r\n", 1), ["+OK"]);
    });
    on_core(async {
        let small = servers(&PagesOptions { value_bytes: 30, ..options(&[real.redis_url("")]) });
        assert_eq!(
            small.read(&[ask("large"), ask("none")]).await,
            [Answer::TooLarge { version: None }, Answer::Missing]
        );
    });
}

#[test]
fn credentials_and_a_database_are_used() {
    let real = redis(free_port(), &["--requirepass", "hush"]);
    let commands = "AUTH hush\r\nACL SETUSER me on >pass ~* +@all\r\nSELECT 3\r\nSET a three\r\n";
    assert_eq!(real.tell(commands.as_bytes(), 4), ["+OK"; 4]);
    on_core(async {
        for (credentials, path, expected) in [
            (Some("hush"), "/3", Ok("three")),
            (Some("me:pass"), "/3", Ok("three")),
            (Some("hush"), "", Err(Answer::Missing)),
            (Some("hush"), "/99", Err(Answer::Failed(Trouble::Refused))),
            (Some("wrong"), "", Err(Answer::Failed(Trouble::Refused))),
            (None, "", Err(Answer::Failed(Trouble::Refused))),
        ] {
            let credentials = credentials.map(|text| Secret::new(text.to_owned()));
            let servers = servers(&PagesOptions { credentials, ..options(&[real.redis_url(path)]) });
            let answer = read(&servers, ask("a")).await;
            match expected {
                Ok(value) => assert_eq!(item(answer).value, value),
                Err(expected) => assert_eq!(answer, expected, "{path} {:?}", servers.view()),
            }
        }
    });
}
