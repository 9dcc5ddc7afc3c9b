//! Responses for `/versions`, correct and incorrect.

use super::super::{Begun, Kept, Look, Outcome, Refusal, Response, Seen, Tail, VERSIONS_BYTES, Verified};
use super::body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

fn kept(bytes: &[u8]) -> Kept {
    let mut kept = Kept::default();
    kept.add(bytes);
    kept
}

/// The headers that an upstream sends with a body.
struct Headers {
    etag: String,
    repr_digest: String,
    digest: String,
}

fn headers(bytes: &[u8]) -> Headers {
    let sha256 = STANDARD.encode(kept(bytes).sha256());
    Headers {
        etag: format!("\"{}\"", kept(bytes).md5_hex()),
        repr_digest: format!("sha-256=:{sha256}:"),
        digest: format!("md5=AAAA, SHA-256={sha256}"),
    }
}

/// Reads a body that arrives in pieces.
fn read(before: Option<&[u8]>, response: &Response<'_>, body: &[u8]) -> Result<Seen, Refusal> {
    read_from(before, response, body, false)
}

fn read_from(before: Option<&[u8]>, response: &Response<'_>, body: &[u8], opaque: bool) -> Result<Seen, Refusal> {
    let before = before.map(kept);
    let Begun::Body(mut look) = Look::begin(before.as_ref(), response, opaque)? else { panic!("unchanged") };
    for piece in body.chunks(7) {
        look.add(piece)?;
    }
    look.end()
}

/// The response to a look at `before` when the file is `after`.
fn part<'a>(headers: &'a Headers, range: &'a str) -> Response<'a> {
    Response { status: 206, content_range: Some(range), etag: Some(&headers.etag), ..Response::default() }
}

fn whole(headers: &Headers) -> Response<'_> {
    Response { status: 200, etag: Some(&headers.etag), repr_digest: Some(&headers.repr_digest), ..Response::default() }
}

#[test]
fn an_unchanged_file_is_304_or_the_last_byte_alone() {
    let before = body(&["a 1 x"]);
    let response = Response { status: 304, ..Response::default() };
    assert!(matches!(Look::begin(Some(&kept(&before)), &response, false), Ok(Begun::Unchanged)));
    assert_eq!(Look::begin(None, &response, false).unwrap_err(), Tail::NothingKept.into());
    let (headers, last) = (headers(&before), before.len() - 1);
    let seen = read(Some(&before), &part(&headers, &format!("bytes {last}-{last}/{}", last + 1)), b"\n").unwrap();
    assert_eq!((seen.outcome, seen.verified), (Outcome::Unchanged, Verified::Md5));
}

#[test]
fn a_continuation_is_joined_if_the_whole_has_the_announced_digest_of_any_kind() {
    let (before, after) = (body(&["a 1 x"]), body(&["a 1 x", "b 1 y"]));
    let (headers, from) = (headers(&after), before.len() - 1);
    let range = format!("bytes {from}-{}/{}", after.len() - 1, after.len());
    let weak = format!("W/{}", headers.etag);
    let quoted = headers.repr_digest.replacen(':', "\"", 2);
    let bare = Response { status: 206, content_range: Some(&range), ..Response::default() };
    for (response, by) in [
        (Response { etag: Some(&headers.etag), ..bare }, Verified::Md5),
        (Response { etag: Some(&weak), ..bare }, Verified::Md5),
        (Response { repr_digest: Some(&headers.repr_digest), etag: Some("\"opaque\""), ..bare }, Verified::Sha256),
        (Response { repr_digest: Some(&quoted), ..bare }, Verified::Sha256),
        (Response { digest: Some(&headers.digest), ..bare }, Verified::Sha256),
    ] {
        let seen = read(Some(&before), &response, &after[from..]).unwrap();
        assert_eq!((seen.outcome, seen.verified), (Outcome::Appended { from: before.len() as u64 }, by));
        assert_eq!(seen.kept.sha256(), kept(&after).sha256());
    }
    let begun = Look::begin(Some(&kept(&before)), &part(&headers, &range), false).unwrap();
    let Begun::Body(mut look) = begun else { panic!() };
    assert!(!look.is_whole());
    assert_eq!(look.add(&after[from..]).unwrap(), b"b 1 y\n", "without the known byte");
}

#[test]
fn a_part_that_does_not_fit_is_refused_and_the_whole_file_is_wanted() {
    let (before, after) = (body(&["a 1 x"]), body(&["a 1 x", "b 1 y"]));
    let (headers, from, len) = (headers(&after), before.len() - 1, after.len());
    let range = format!("bytes {from}-{}/{len}", len - 1);
    let right = part(&headers, &range);
    let tail = &after[from..];
    let refused = |response: &Response<'_>, body: &[u8]| match read(Some(&before), response, body) {
        Err(Refusal::Tail(tail)) => tail,
        other => panic!("{other:?}"),
    };
    for range in ["", "bytes", "bytes 0-9/10", "bytes */99", &format!("bytes {}-{}/{len}", from + 1, len - 1)] {
        assert_eq!(refused(&Response { content_range: Some(range), ..right }, tail), Tail::Range, "{range}");
    }
    assert_eq!(
        refused(&Response { content_range: Some(&format!("bytes {from}-{}/99", len - 1)), ..right }, tail),
        Tail::Range
    );
    assert_eq!(refused(&Response { content_range: None, ..right }, tail), Tail::Range);
    assert_eq!(refused(&Response { status: 416, ..right }, b""), Tail::NotSatisfiable);
    assert_eq!(refused(&Response { encoded: true, ..right }, tail), Tail::Encoded);
    for etag in [None, Some("\"opaque\""), Some("\"da39a3ee5e6b4b0d3255bfef95601890afd80709\""), Some("W/\"5-62d\"")] {
        assert_eq!(refused(&Response { etag, ..right }, tail), Tail::NoDigest, "{etag:?}");
    }
    assert_eq!(refused(&right, b"xb 1 y\n"), Tail::Overlap);
    assert_eq!(refused(&right, &tail[..tail.len() - 2]), Tail::Length);
    assert_eq!(refused(&right, &[tail, b"c"].concat()), Tail::Length);
    assert_eq!(refused(&right, b"\nb 1 z\n"), Tail::Digest);
    // Cut off within a line, with the headers of the part: a file that is being written.
    let cut = &after[..len - 2];
    let (headers, range) = (super::look::headers(cut), format!("bytes {from}-{}/{}", cut.len() - 1, cut.len()));
    assert_eq!(refused(&part(&headers, &range), &cut[from..]), Tail::CutInLine);
    let nothing = read(None, &right, tail).unwrap_err();
    assert_eq!(nothing, Tail::NothingKept.into());
}

#[test]
fn a_whole_file_is_compared_with_the_kept_one_and_verified_if_it_can_be() {
    let (before, after, other) = (body(&["a 1 x"]), body(&["a 1 x", "b 1 y"]), body(&["a 1,2 z"]));
    for (now, outcome) in [
        (&before, Outcome::Unchanged),
        (&after, Outcome::Appended { from: before.len() as u64 }),
        (&other, Outcome::Replaced),
    ] {
        let seen = read(Some(&before), &whole(&headers(now)), now).unwrap();
        assert_eq!((seen.outcome, seen.verified), (outcome, Verified::Sha256));
        assert_eq!(seen.kept.md5(), kept(now).md5());
    }
    assert_eq!(read(Some(&after), &whole(&headers(&before)), &before).unwrap().outcome, Outcome::Replaced, "shorter");
    assert_eq!(read(None, &whole(&headers(&before)), &before).unwrap().outcome, Outcome::Replaced);
    let bare = Response { status: 200, ..Response::default() };
    for etag in [None, Some("\"opaque\""), Some("\"da39a3ee5e6b4b0d3255bfef95601890afd80709\""), Some("W/\"5-62d\"")] {
        let seen = read(None, &Response { etag, ..bare }, &after).unwrap();
        assert_eq!(seen.verified, Verified::Unverified, "{etag:?}");
    }
    assert_eq!(read(None, &bare, b"---\n").unwrap().verified, Verified::Unverified, "no gem at all");
}

#[test]
fn a_whole_file_that_cannot_be_one_is_refused() {
    let after = body(&["a 1 x", "b 1 y"]);
    let (headers, cut_at_line) = (headers(&after), body(&["a 1 x"]));
    let bare = Response { status: 200, ..Response::default() };
    assert_eq!(read(None, &bare, &after[..after.len() - 2]).unwrap_err(), Refusal::CutInLine);
    assert_eq!(read(None, &whole(&headers), &cut_at_line).unwrap_err(), Refusal::Digest("Repr-Digest"));
    let digest = Response { digest: Some(&headers.digest), ..bare };
    assert_eq!(read(None, &digest, &cut_at_line).unwrap_err(), Refusal::Digest("Digest"));
    // The server's ETags may not be MD5s. The caller finds out.
    let etag = Response { etag: Some(&headers.etag), ..bare };
    let sha256 = kept(&cut_at_line).sha256();
    assert_eq!(read(None, &etag, &cut_at_line).unwrap_err(), Refusal::Etag { sha256 });
    assert_eq!(read_from(None, &etag, &cut_at_line, true).unwrap().verified, Verified::Unverified);
    assert_eq!(read(None, &bare, b"  <!DOCTYPE html>\n---\n").unwrap_err(), Refusal::Html);
    assert_eq!(read(None, &bare, b"a 1 x\n").unwrap_err(), Refusal::NoHeader);
    assert_eq!(read(None, &bare, b"").unwrap_err(), Refusal::NoHeader);
    assert_eq!(read(None, &bare, b"created_at: a\n---").unwrap_err(), Refusal::NoHeader);
    assert_eq!(read(None, &bare, &[b'a'; 70 << 10]).unwrap_err(), Refusal::NoHeader);
    for status in [204, 301, 401, 404, 429, 503] {
        assert_eq!(read(None, &Response { status, ..bare }, b"").unwrap_err(), Refusal::Status(status));
    }
    let Begun::Body(mut look) = Look::begin(None, &bare, false).unwrap() else { panic!() };
    let huge = vec![0; VERSIONS_BYTES as usize + 1];
    assert_eq!(look.add(&huge).unwrap_err(), Refusal::TooLarge(VERSIONS_BYTES));
}
