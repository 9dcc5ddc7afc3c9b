//! Lone LFs are replaced in heads, wherever the bytes are split, and bodies stay unchanged.

use super::*;
use proptest::prelude::*;

/// The bytes that hyper gets for these reads.
fn given(reads: &[&str]) -> String {
    let mut ends = LineEnds::default();
    let mut all = Vec::new();
    for read in reads {
        let mut bytes = read.as_bytes().to_vec();
        ends.check(&mut bytes);
        all.extend(bytes);
    }
    String::from_utf8(all).unwrap()
}

/// Sends a text as a whole, byte by byte, and in two parts split anywhere.
#[track_caller]
fn is_given(sent: &str, expected: &str) {
    assert_eq!(given(&[sent]), expected);
    let whole: Vec<String> = sent.chars().map(String::from).collect();
    let bytes: Vec<&str> = whole.iter().map(String::as_str).collect();
    assert_eq!(given(&bytes), expected, "byte by byte");
    for cut in 1..sent.len() {
        assert_eq!(given(&[&sent[..cut], &sent[cut..]]), expected, "cut at {cut}");
    }
}

#[test]
fn a_lone_lf_in_a_head_is_spoiled_wherever_it_stands() {
    for (sent, spoiled) in [
        ("GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\0Host: a\r\n\r\n"),
        ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "\0GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\0\0"),
        ("A\r\n\r\nB\nC\r\n\r\n", "A\r\n\r\nB\0C\r\n\r\n"),
        ("A\r\nContent-Length: 2\r\n\r\n\n\nB\nC", "A\r\nContent-Length: 2\r\n\r\n\n\nB\0C"),
        (
            "\r\nA\r\ncontent-length:2\r\ncontent-length: 2 \r\n\r\n\n\n\nC",
            "\r\nA\r\ncontent-length:2\r\ncontent-length: 2 \r\n\r\n\n\n\0C",
        ),
    ] {
        assert!(has_lone_lf(sent.as_bytes()));
        is_given(sent, spoiled);
    }
}

#[test]
fn a_lone_lf_behind_a_body_in_chunks_is_spoiled_and_so_is_one_in_its_trailers() {
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (sent, spoiled) in [
        ("2\r\n\n\n\r\n0\r\n\r\nA\nB", "2\r\n\n\n\r\n0\r\n\r\nA\0B"),
        (
            "009 ;x=\"y\"\r\n0\r\n\r\n\nA\nB\r\n0\r\nX: y\r\n\r\n\nA",
            "009 ;x=\"y\"\r\n0\r\n\r\n\nA\nB\r\n0\r\nX: y\r\n\r\n\0A",
        ),
        ("0\r\nX: y\nZ: a\r\n\r\n\n", "0\r\nX: y\0Z: a\r\n\r\n\0"),
    ] {
        is_given(&format!("{head}{sent}"), &format!("{head}{spoiled}"));
    }
}

#[test]
fn what_a_body_holds_stays_as_it_is() {
    for sent in [
        "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\nb\nc",
        "POST / HTTP/1.1\r\ncontent-length:5\r\n\r\na\nb",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n",
        // Refused elsewhere, for other reasons.
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello",
    ] {
        is_given(sent, sent);
    }
    assert!(!has_lone_lf(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n") && !has_lone_lf(b""));
}

#[test]
fn a_line_that_tells_of_a_body_at_length_is_spoiled() {
    let fill = "0".repeat(LINE);
    for (head, tail) in [
        (format!("A\r\nContent-Length: {fill}5\r"), "\r\n12345A\nB"),
        (format!("A\r\nTransfer-Encoding: chunked\r\n\r\n{fill}5\r"), "12345"),
    ] {
        let given = given(&[&head[..100], &head[100..], "\n", tail]);
        assert!(given.starts_with(&format!("{head}\0")), "{given:?}");
    }
    let sent = format!("A\r\nX-Length: {fill}{fill}\r\nContent-Length: 1\r\n\r\n\nA");
    is_given(&sent, &sent);
}

/// A request: its head, in which a line end may be wrong, and its body.
fn request() -> impl Strategy<Value = (String, String)> {
    let line = ("[A-Za-z-]{1,9}", "[a-z :\r]{0,9}").prop_map(|(name, value)| format!("X-{name}: {value}"));
    let lines = prop::collection::vec((line, prop::bool::weighted(0.05)), 0..4);
    let body = prop_oneof![
        Just(None),
        "[a\r\n]{0,20}".prop_map(|body| Some((format!("Content-Length: {}", body.len()), body))),
        prop::collection::vec("[a\r\n]{1,12}", 0..3).prop_map(|chunks| {
            let chunks: String = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
            Some(("Transfer-Encoding: chunked".to_owned(), format!("{chunks}0\r\n\r\n")))
        }),
    ];
    (lines, body).prop_map(|(lines, body)| {
        let mut head = "POST / HTTP/1.1\r\n".to_owned();
        for (line, has_lone_lf) in lines {
            head += &format!("{}{}", line.trim_end_matches('\r'), if has_lone_lf { "\n" } else { "\r\n" });
        }
        let (framing, body) = body.unwrap_or_default();
        let framing = if framing.is_empty() { framing } else { format!("{framing}\r\n") };
        (format!("{head}{framing}\r\n"), body)
    })
}

proptest! {
    #[test]
    fn only_lone_lfs_of_heads_change_however_the_requests_are_cut(
        requests in prop::collection::vec(request(), 1..5),
        cuts in prop::collection::vec(0_usize..400, 0..6),
    ) {
        let (mut sent, mut expected, mut hidden) = (String::new(), String::new(), false);
        for (head, body) in requests {
            // A line behind a lone LF is part of the line before it, so it does not describe a body. Nothing after it
            // is read.
            hidden |= has_lone_lf(head.as_bytes());
            sent += &head;
            expected.extend(head.char_indices().map(|(at, char)| {
                if char == '\n' && !head[..at].ends_with('\r') { '\0' } else { char }
            }));
            if hidden {
                break;
            }
            sent += &body;
            expected += &body;
        }
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(sent.len())).chain([0, sent.len()]).collect();
        cuts.sort_unstable();
        let reads: Vec<&str> = cuts.windows(2).map(|cut| &sent[cut[0]..cut[1]]).collect();
        prop_assert_eq!(given(&reads), expected);
    }
}

#[test]
fn only_what_ends_within_a_body_is_not_whole() {
    let mut ends = LineEnds::default();
    let mut whole = |bytes: &str| {
        ends.check(&mut bytes.as_bytes().to_vec());
        ends.whole()
    };
    for (bytes, expected) in [
        ("GET / HT", true),
        ("TP/1.1\r\ncontent-length: 5\r\n\r\n", false),
        ("hell", false),
        ("oGET", true),
        (" / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", false),
        ("1\r\na\r\n0\r\n", false),
        ("\r\n", true),
    ] {
        assert_eq!(whole(bytes), expected, "{bytes}");
    }
}
