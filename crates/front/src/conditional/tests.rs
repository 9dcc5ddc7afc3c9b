//! The conditions and ranges of requests, case by case. The module describes what an error would cost.

use super::*;
use crate::body::rope::Rope;
use bytes::Bytes;
use http::HeaderName;
use proptest::prelude::*;

const TAG: &str = "\"v1\"";
const EVERY: usize = Checkpoints::EVERY as usize;
const LONG: usize = 2 * EVERY + 100;
const MODIFIED: &str = "Sun, 01 Nov 2026 00:00:00 GMT";
const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);

fn prefix() -> Ranges {
    Ranges::Prefix(Checkpoints::default())
}

fn reply(body: &[u8], ranges: Ranges) -> Reply {
    Reply::new(StatusCode::OK)
        .header(header::ETAG, HeaderValue::from_static(TAG))
        .header(header::LAST_MODIFIED, HeaderValue::from_static(MODIFIED))
        .header(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"))
        .header(header::CACHE_CONTROL, HeaderValue::from_static("max-age=60, public"))
        .header(HeaderName::from_static("repr-digest"), HeaderValue::from_static("sha-256=:eA==:"))
        .body(Body::Bytes(Bytes::copy_from_slice(body)))
        .ranges(ranges)
}

fn ask(reply: Reply, method: &Method, headers: &[(HeaderName, &str)]) -> (u16, Vec<u8>, HeaderMap) {
    let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
    let reply = apply(reply, method, &Conditions::new(&headers));
    let body = match reply.body {
        Body::Bytes(bytes) => bytes.to_vec(),
        Body::Empty => Vec::new(),
        Body::Rope(rope) => rope.collect::<Vec<_>>().concat(),
        Body::File { .. } | Body::Growing(_) | Body::Live(_) | Body::Stream(_) | Body::Tunnel(_) => {
            panic!("no file here")
        }
    };
    (reply.status.as_u16(), body, reply.headers)
}

fn get(body: &[u8], ranges: Ranges, headers: &[(HeaderName, &str)]) -> (u16, Vec<u8>) {
    let (status, body, _) = ask(reply(body, ranges), &Method::GET, headers);
    (status, body)
}

fn md5(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

#[test]
fn a_held_tag_in_any_form_is_304_and_goes_before_date_and_range() {
    use header::{IF_MODIFIED_SINCE, IF_NONE_MATCH, RANGE};
    for held in ["\"v1\"", "W/\"v1\"", "\"a,b\", W/\"v1\"", "v1", "*", ",, \"v1\""] {
        let conditions = [(IF_NONE_MATCH, held), (RANGE, "bytes=0-0")];
        assert_eq!(get(b"abc", Ranges::Bytes, &conditions), (304, vec![]), "{held}");
    }
    for held in ["\"v2\"", "\"v1-gzip\"", "W/", "\"v", ""] {
        let conditions = [(IF_NONE_MATCH, held), (IF_MODIFIED_SINCE, MODIFIED)];
        assert_eq!(get(b"abc", Ranges::Bytes, &conditions), (200, b"abc".to_vec()), "{held}");
    }
    assert_eq!(get(b"abc", Ranges::None, &[(IF_MODIFIED_SINCE, MODIFIED)]).0, 304);
    assert_eq!(get(b"abc", Ranges::None, &[(IF_MODIFIED_SINCE, "Sat, 31 Oct 2026 23:59:59 GMT")]).0, 200);
    let (same_or_later, later) = (UnchangedDates::SameOrLaterBy(MINUTE), UnchangedDates::LaterBy(MINUTE));
    for (since, same_or_later_is, later_is) in [
        ("Sun, 01 Nov 2026 00:01:00 GMT", 304, 304),
        ("Sun, 01 Nov 2026 00:00:59 GMT", 200, 200),
        ("Sun, 01 Nov 2026 00:00:01 GMT", 200, 200),
        (MODIFIED, 304, 200),
        ("Sat, 31 Oct 2026 23:59:59 GMT", 200, 200),
    ] {
        for (unchanged, status) in [(same_or_later, same_or_later_is), (later, later_is)] {
            let reply = Reply { unchanged, ..reply(b"abc", Ranges::None) };
            assert_eq!(ask(reply, &Method::GET, &[(IF_MODIFIED_SINCE, since)]).0, status, "{since}");
        }
    }
}

#[test]
fn what_a_client_says_it_has_a_part_of_must_be_what_we_have() {
    use header::{IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE};
    let (later, earlier) = ("Sun, 01 Nov 2026 00:01:00 GMT", "Sat, 31 Oct 2026 23:59:59 GMT");
    for held in ["\"v1\"", "*", "\"v2\", \"v1\""] {
        let conditions = [(IF_MATCH, held), (IF_UNMODIFIED_SINCE, earlier), (RANGE, "bytes=1-")];
        assert_eq!(get(b"abc", Ranges::Bytes, &conditions), (206, b"bc".to_vec()), "{held}");
    }
    for held in ["\"v2\"", "W/\"v1\"", ""] {
        let conditions = [(IF_MATCH, held), (IF_UNMODIFIED_SINCE, later), (IF_NONE_MATCH, "*"), (RANGE, "bytes=1-")];
        assert_eq!(get(b"abc", Ranges::Bytes, &conditions), (412, vec![]), "{held}");
    }
    for (until, status) in [(MODIFIED, 206), (later, 206), (earlier, 412), ("yesterday", 206)] {
        assert_eq!(
            get(b"abc", Ranges::Bytes, &[(IF_UNMODIFIED_SINCE, until), (RANGE, "bytes=1-")]).0,
            status,
            "{until}"
        );
    }
    let mut undated = reply(b"abc", Ranges::Bytes);
    undated.headers.remove(header::LAST_MODIFIED);
    assert_eq!(ask(undated, &Method::GET, &[(IF_UNMODIFIED_SINCE, earlier)]).0, 200);
}

#[test]
fn if_range_alone_lets_an_index_be_continued_and_never_refuses() {
    use header::{IF_RANGE, RANGE};
    let continued = ask;
    let ask = |tag, range| get(b"abc", prefix(), &[(IF_RANGE, tag), (RANGE, range)]);
    assert_eq!(ask(TAG, "bytes=1-"), (206, b"bc".to_vec()));
    assert_eq!(ask(TAG, "bytes=1-1"), (206, b"b".to_vec()));
    assert_eq!(ask(TAG, "bytes=3-"), (200, b"abc".to_vec()));
    assert_eq!(ask("\"v2\"", "bytes=1-"), (200, b"abc".to_vec()));
    assert_eq!(ask("W/\"v1\"", "bytes=1-"), (200, b"abc".to_vec()));
    let coded = reply(b"abc", prefix()).header(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    assert_eq!(continued(coded, &Method::GET, &[(IF_RANGE, TAG), (RANGE, "bytes=1-")]).0, 200);
}

#[test]
fn a_304_keeps_what_identifies_and_drops_what_describes() {
    let (status, body, headers) = ask(reply(b"abc", Ranges::Bytes), &Method::GET, &[(header::IF_NONE_MATCH, "*")]);
    assert_eq!((status, body.len()), (304, 0));
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["cache-control", "etag", "repr-digest"]);
}

#[test]
fn only_reads_that_succeeded_are_conditional() {
    let conditions = [(header::IF_NONE_MATCH, "*"), (header::RANGE, "bytes=1-1")];
    assert_eq!(ask(reply(b"abc", Ranges::Bytes), &Method::POST, &conditions).1, b"abc");
    let mut missing = reply(b"abc", Ranges::Bytes);
    missing.status = StatusCode::NOT_FOUND;
    assert_eq!(ask(missing, &Method::GET, &conditions).0, 404);
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let (status, body, headers) = ask(reply(b"abc", Ranges::Bytes), &Method::HEAD, &[(header::RANGE, "bytes=0-0")]);
    assert_eq!((status, body.len(), headers[header::CONTENT_LENGTH].to_str().unwrap()), (200, 0, "3"));
    assert_eq!(headers[header::ACCEPT_RANGES], "bytes");
}

#[test]
fn a_range_counts_only_for_what_the_client_has_a_part_of() {
    use header::{IF_RANGE, RANGE};
    for (held, status) in
        [(TAG, 206), ("W/\"v1\"", 200), ("\"v2\"", 200), (MODIFIED, 206), ("Sun, 01 Nov 2026 00:00:01 GMT", 200)]
    {
        assert_eq!(get(b"abc", Ranges::Bytes, &[(RANGE, "bytes=1-"), (IF_RANGE, held)]).0, status, "{held}");
    }
}

#[test]
fn a_range_that_holds_nothing_is_416_with_the_length() {
    let (status, _, headers) = ask(reply(b"abc", Ranges::Bytes), &Method::GET, &[(header::RANGE, "bytes=3-")]);
    assert_eq!((status, headers[header::CONTENT_RANGE].to_str().unwrap()), (416, "bytes */3"));
}

#[test]
fn the_tail_of_an_index_is_sent_only_to_a_client_that_holds_the_rest() {
    let (old, new) = (b"---\na 1\n".as_slice(), b"---\na 1\nb 1\n".as_slice());
    let (whole, held) = ((200, new.to_vec()), format!("\"{}\"", md5(old)));
    let ask = |range: &str, held: &str| get(new, prefix(), &[(header::RANGE, range), (header::IF_NONE_MATCH, held)]);
    assert_eq!(ask("bytes=7-", &held), (206, b"\nb 1\n".to_vec()));
    assert_eq!(ask("bytes=7-", &format!("W/{held}")), (206, b"\nb 1\n".to_vec()));
    // Bundler 1.12 to 1.14 requests the range without the byte of overlap.
    assert_eq!(ask("bytes=8-", &held), (206, b"b 1\n".to_vec()));
    // Another file of that length, a longer one, an opaque tag, other forms of range.
    assert_eq!(ask("bytes=7-", &format!("\"{}\"", md5(b"---\nz 9\n"))), whole);
    assert_eq!(ask("bytes=12-", &held), whole);
    assert_eq!(ask("bytes=99-", &held), whole);
    assert_eq!(ask("bytes=7-", "\"opaque\""), whole);
    assert_eq!(ask("bytes=7-9", &held), whole);
    assert_eq!(ask("bytes=-4", &held), whole);
    assert_eq!(get(new, prefix(), &[(header::RANGE, "bytes=7-")]), whole);
}

#[test]
fn the_tail_keeps_the_identity_of_the_whole() {
    let held = format!("\"{}\"", md5(b"ab"));
    let conditions = [(header::RANGE, "bytes=1-"), (header::IF_NONE_MATCH, held.as_str())];
    let (status, body, headers) = ask(reply(b"abc", prefix()), &Method::GET, &conditions);
    assert_eq!((status, body.as_slice()), (206, b"bc".as_slice()));
    assert_eq!(headers[header::ETAG], TAG);
    assert_eq!(headers["repr-digest"], "sha-256=:eA==:");
    assert_eq!(headers[header::CONTENT_RANGE], "bytes 1-2/3");
}

#[test]
fn a_part_of_a_file_is_a_window_on_it() {
    let whole = reply(b"", Ranges::Bytes).body(Body::file(tempfile::tempfile().unwrap(), 10));
    let range = [(header::RANGE, "bytes=2-4".parse().unwrap())].into_iter().collect();
    let part = apply(whole, &Method::GET, &Conditions::new(&range));
    assert!(matches!(part.body, Body::File { from: 2, len: 3, .. }));
}

proptest! {
    /// The model selects single bytes, following the wording of the standard.
    #[test]
    fn a_single_range_is_what_the_standard_says(
        body in proptest::collection::vec(any::<u8>(), 0..20),
        first in proptest::option::of(0_u64..25),
        last in proptest::option::of(0_u64..25),
    ) {
        let show = |end: Option<u64>| end.map(|end| end.to_string()).unwrap_or_default();
        let got = get(&body, Ranges::Bytes, &[(header::RANGE, &format!("bytes={}-{}", show(first), show(last)))]);
        let len = body.len() as u64;
        let wanted = |at: u64| match (first, last) {
            (Some(first), Some(last)) => first <= at && at <= last,
            (Some(first), None) => first <= at,
            (None, Some(suffix)) => at + suffix >= len,
            (None, None) => true,
        };
        let picked: Vec<u8> = (0_u64..).zip(&body).filter(|(at, _)| wanted(*at)).map(|(_, byte)| *byte).collect();
        let valid = first.is_some() || last.is_some();
        let valid = valid && !matches!((first, last), (Some(first), Some(last)) if first > last);
        let expected = match (valid, picked.is_empty()) {
            (false, _) => (200, body),
            (true, true) => (416, vec![]),
            (true, false) => (206, picked),
        };
        prop_assert_eq!(got, expected);
    }

    /// Whatever a client claims to hold, it gets the new file, or assembles one that no digest matches.
    #[test]
    fn a_client_of_an_index_ends_up_with_the_index(
        new in proptest::collection::vec(0_u8..3, 1..12),
        old in proptest::collection::vec(0_u8..3, 1..12),
        overlap in 0_u64..2,
    ) {
        let (range, held) = (format!("bytes={}-", old.len() as u64 - overlap), format!("\"{}\"", md5(&old)));
        let conditions = [(header::RANGE, range.as_str()), (header::IF_NONE_MATCH, held.as_str())];
        let (status, body) = get(&new, prefix(), &conditions);
        let now = match status {
            206 => [&old[..old.len() - usize::try_from(overlap).unwrap()], &body].concat(),
            _ => body,
        };
        prop_assert_eq!(now, new.clone());
        prop_assert_eq!(status == 206, new.starts_with(&old) && (overlap == 1 || new.len() > old.len()));
    }

    /// For every split into segments and every distance between checkpoint and proof.
    #[test]
    fn a_rope_is_continued_where_the_same_bytes_in_one_would_be(
        cuts in proptest::collection::vec(0..LONG, 0..5),
        at in proptest::sample::select(vec![0, 1, EVERY - 1, EVERY, EVERY + 1, 2 * EVERY, LONG - 1, LONG, LONG + 1]),
        overlap in 0_usize..2,
        right in any::<bool>(),
    ) {
        let whole: Vec<u8> = (0..LONG).map(|at| (at * 31 % 251) as u8).collect();
        let states = whole.chunks_exact(EVERY).scan(Md5::new(), |state, chunk| {
            state.update(chunk);
            Some(state.clone())
        });
        let ranges = Ranges::Prefix(Checkpoints::new(states.collect()));
        let held = md5(&whole[..at.min(LONG) - usize::from(!right && at > 0)]);
        let (range, held) = (format!("bytes={}-", at.saturating_sub(overlap)), format!("\"{held}\""));
        let conditions = [(header::RANGE, range.as_str()), (header::IF_NONE_MATCH, held.as_str())];
        let mut ends: Vec<usize> = [cuts, vec![0, LONG]].concat();
        ends.sort_unstable();
        let pieces = ends.windows(2).map(|ends| Bytes::copy_from_slice(&whole[ends[0]..ends[1]]));
        let rope = reply(b"", ranges).body(Body::Rope(Rope::new(pieces.collect())));
        let got = ask(rope, &Method::GET, &conditions);
        prop_assert_eq!((got.0, got.1), get(&whole, prefix(), &conditions));
    }

    #[test]
    fn nothing_a_client_sends_breaks_it(range in "[ -~]{0,20}", tags in "[ -~]{0,20}", body in "[a-c]{0,5}") {
        for ranges in [Ranges::None, Ranges::Bytes, prefix()] {
            let conditions = [(header::RANGE, range.as_str()), (header::IF_NONE_MATCH, tags.as_str())];
            prop_assert!(matches!(get(body.as_bytes(), ranges, &conditions).0, 200 | 206 | 304 | 416));
        }
    }

    #[test]
    fn every_tag_of_a_list_is_read(tags in proptest::collection::vec("[!-~&&[^\"]]{0,5}", 0..4), weak in any::<bool>()) {
        let line = tags.iter().map(|tag| format!("{}\"{tag}\"", if weak { "W/" } else { "" })).collect::<Vec<_>>().join(" , ");
        prop_assert_eq!(Tags(&line).map(|tag| tag.opaque).collect::<Vec<_>>(), tags);
    }
}
