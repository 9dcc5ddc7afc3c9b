//! Replies in pieces, and hostile ones.

use super::*;

const MEMCACHED: PageProtocol = PageProtocol::Memcached;
const REDIS: PageProtocol = PageProtocol::Redis { database: 0 };

/// Reads replies that arrive in pieces of this length.
fn read(
    mut replies: PageReplies,
    bytes: &[u8],
    piece: usize,
    want: PageWant,
) -> (Vec<PageReply>, Option<&'static str>) {
    let mut read = Vec::new();
    for mut piece in bytes.chunks(piece) {
        while !piece.is_empty() {
            let mut room = replies.room();
            let taken = room.remaining_mut().min(piece.len());
            assert!(taken > 0);
            room.put_slice(&piece[..taken]);
            piece = &piece[taken..];
            loop {
                match replies.next(want) {
                    Ok(Some(reply)) => read.push(reply),
                    Ok(None) => break,
                    Err(why) => return (read, Some(why)),
                }
            }
        }
    }
    (read, None)
}

/// Reads replies however they are cut.
fn cut(protocol: PageProtocol, meta: bool, bytes: &[u8], limit_bytes: usize) -> (Vec<PageReply>, Option<&'static str>) {
    let want = PageWant { limit_bytes, known: Some(77) };
    let whole = read(PageReplies::new(protocol, meta), bytes, bytes.len().max(1), want);
    for piece in 1..bytes.len().min(70) {
        assert_eq!(read(PageReplies::new(protocol, meta), bytes, piece, want), whole, "{piece}");
    }
    whole
}

fn item(value: &str, flags: u32, version: Option<u64>) -> PageReply {
    let value = Bytes::copy_from_slice(value.as_bytes());
    PageReply::Item { value, flags, version, won: false, stale: false }
}

fn present(version: u64) -> PageReply {
    PageReply::Present { version: Some(version), won: false, stale: false }
}

#[test]
fn replies_are_the_same_wherever_they_are_cut() {
    let bytes = b"EN\r\nVA 5 f4 c12 OB\r\nhe\r\no\r\nHD c12 OC\r\nVA 0 f0 c1 OD\r\n\r\nVA 9 f0 c1 OE\r\n123456789\r\nVA 5 f0 c77 OF\r\nhello\r\nMN\r\n";
    let expected = vec![
        PageReply::Missing,
        item("he\r\no", 4, Some(12)),
        present(12),
        item("", 0, Some(1)),
        PageReply::TooLarge { version: Some(1) },
        present(77),
        PageReply::Done,
    ];
    assert_eq!(cut(MEMCACHED, true, bytes, 8), (expected, None));
    let bytes = b"END\r\nVALUE k 4 5 12\r\nEND\r\n\r\nEND\r\nVALUE k 0 9 1\r\n123456789\r\nEND\r\nVALUE k 0 2 77\r\nhi\r\nEND\r\n";
    let expected =
        vec![PageReply::Missing, item("END\r\n", 4, Some(12)), PageReply::TooLarge { version: Some(1) }, present(77)];
    assert_eq!(cut(MEMCACHED, false, bytes, 8), (expected, None));
    let bytes = b"$-1\r\n$5\r\n$-1\r\n\r\n+OK\r\n:1\r\n$9\r\n123456789\r\n$0\r\n\r\n-ERR no\r\n";
    let refused = PageReply::Refused { why: "ERR no".to_owned(), ends: false };
    let (done, large) = (PageReply::Done, PageReply::TooLarge { version: None });
    let expected =
        vec![PageReply::Missing, item("$-1\r\n", 0, None), done.clone(), done, large, item("", 0, None), refused];
    assert_eq!(cut(REDIS, true, bytes, 8), (expected, None));
}

#[test]
fn long_values_are_read_whole_with_what_follows_them() {
    for len in [PIECE_BYTES - 20, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES] {
        let value = "0123456789".repeat(len / 10 + 1);
        let bytes = format!("VA {} f0 c1 OA\r\n{value}\r\nHD c2 OB\r\n", value.len());
        for piece in [1000, 40_000, bytes.len()] {
            let want = PageWant { limit_bytes: value.len(), known: None };
            let whole = vec![item(&value, 0, Some(1)), present(2)];
            assert_eq!(read(PageReplies::new(MEMCACHED, true), bytes.as_bytes(), piece, want), (whole, None));
            let want = PageWant { limit_bytes: value.len() - 1, ..want };
            let skipped = vec![PageReply::TooLarge { version: Some(1) }, present(2)];
            assert_eq!(read(PageReplies::new(MEMCACHED, true), bytes.as_bytes(), piece, want), (skipped, None));
        }
    }
}

#[test]
fn a_value_that_is_not_as_long_as_announced_ends_the_connection() {
    for (meta, bytes) in [
        (true, &b"VA 3 f0 c1 OA\r\nhello\r\n"[..]),
        (true, b"VA 9 f0 c1 OA\r\n123456789x\r\n"),
        (true, b"VA 1 f0 c77 OA\r\n12\r\n"),
        (false, b"VALUE k 0 2 1\r\nhi\r\nHD\r\n"),
        (false, b"VALUE k 0 2 1\r\nhi\r\nVALUE k 0 2 1\r\n"),
    ] {
        let (read, why) = cut(MEMCACHED, meta, bytes, 8);
        assert!(read.is_empty() && why.is_some(), "{read:?}");
    }
    assert!(cut(REDIS, true, b"$3\r\nhello\r\n", 8).1.is_some());
}

#[test]
fn a_reply_may_announce_gigabytes_and_reserves_nothing() {
    for (protocol, line) in [(MEMCACHED, "VA 2147483648 f0 c1 OA\r\nabc"), (REDIS, "$2147483648\r\nabc")] {
        let mut replies = PageReplies::new(protocol, true);
        replies.room().put_slice(line.as_bytes());
        assert_eq!(replies.next(PageWant { limit_bytes: 1 << 20, known: None }), Ok(None));
        assert!(matches!(replies.state, State::Skipped { .. }));
        for _ in 0..100 {
            let mut room = replies.room();
            let piece = room.remaining_mut();
            room.put_bytes(b'x', piece);
            assert_eq!(replies.next(PageWant { limit_bytes: 1 << 20, known: None }), Ok(None));
            assert!(replies.buffer.capacity() <= 2 * PIECE_BYTES);
        }
    }
}

#[test]
fn a_line_without_an_end_and_one_without_a_carriage_return_are_refused() {
    let long = [b'x'; LINE_MAX_BYTES + 1];
    assert!(cut(MEMCACHED, true, &long, 8).1.is_some_and(|why| why.contains("2048")));
    assert!(cut(REDIS, true, &long, 8).1.is_some_and(|why| why.contains("2048")));
    for bytes in [&b"EN\n"[..], b"\n", b"\r\n", b"EN\r\nHD c1 OA\r\n"] {
        assert!(cut(MEMCACHED, true, bytes, 8).1.is_some(), "{bytes:?}");
    }
}

#[test]
fn the_replies_are_counted_over_the_whole_alphabet() {
    let bytes: String = (0..60).map(|at: u8| format!("HD c{at} O{}\r\n", char::from(b'A' + at % 26))).collect();
    let (read, why) = cut(MEMCACHED, true, bytes.as_bytes(), 8);
    assert_eq!((read.len(), why), (60, None));
}
