//! The representations of a page: identity for every client, and gzip for clients that accept it, once it is made.

use super::*;
use flate2::read::GzDecoder;
use std::io::Read;

const ENCODED: HeaderValue = HeaderValue::from_static("gzip");

/// A reply that may be sent in several codings.
pub(super) fn index(body: impl AsRef<[u8]>) -> Reply {
    Reply::text(StatusCode::OK, Bytes::copy_from_slice(body.as_ref()))
        .header(header::ETAG, HeaderValue::from_static("\"md5\""))
        .header(header::VARY, HeaderValue::from_static("Accept-Encoding"))
        .ranges(Ranges::Prefix(Checkpoints::default()))
}

/// A request by a client that accepts gzip, or one without `Accept-Encoding`.
pub(super) fn taking(path: &str, gzip: bool) -> Request {
    let mut request = get(path);
    if gzip {
        request.headers.insert(header::ACCEPT_ENCODING, ENCODED);
    }
    request
}

fn saying(coding: &'static str) -> Request {
    let mut request = get("/x");
    request.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(coding));
    request
}

/// The decoded body.
pub(super) fn text(reply: &Reply) -> String {
    let Body::Bytes(bytes) = &reply.body else { panic!("pages are in memory") };
    let mut text = String::new();
    match reply.headers.get(header::CONTENT_ENCODING) {
        Some(_) => GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
        None => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    text
}

fn tag(reply: &Reply) -> &str {
    reply.headers[header::ETAG].to_str().unwrap()
}

/// Bytes without a pattern.
fn noise() -> impl Iterator<Item = u8> {
    let mut state = 1_u64;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Some((state >> 56) as u8)
    })
}

impl World {
    fn reply(&self, request: &Request) -> Reply {
        self.pages.hit(request, PageSearch::All, Tick::now(), Tick::now(), &mut event()).unwrap().0
    }

    /// Whether clients that accept gzip get it after one of them has asked.
    fn compresses(&self) -> bool {
        assert!(!self.reply(&saying("gzip")).headers.contains_key(header::CONTENT_ENCODING));
        self.pages.compressor.settle();
        self.reply(&saying("gzip")).headers.contains_key(header::CONTENT_ENCODING)
    }
}

#[test]
fn a_page_that_finds_no_place_for_its_compression_is_compressed_after_a_later_request() {
    let world = World::new(1 << 20);
    world.keep(&get("/x"), &index("1.0.0 |checksum:\n".repeat(100)));
    let bound = world.pages.compressor.bound();
    let held = bound.hold(bound.capacity()).unwrap();
    assert!(!world.reply(&saying("gzip")).headers.contains_key(header::CONTENT_ENCODING));
    assert_eq!((bound.used(), bound.rejected()), (bound.capacity(), 1));
    drop(held);
    world.reply(&saying("gzip"));
    world.pages.compressor.settle();
    assert!(world.reply(&saying("gzip")).headers.contains_key(header::CONTENT_ENCODING));
}

#[test]
fn the_first_who_takes_gzip_gets_identity_and_the_next_gets_gzip() {
    let world = World::new(1 << 20);
    let body = "1.0.0 |checksum:\n".repeat(100);
    world.keep(&get("/x"), &index(&body));
    let before = world.used();
    assert_eq!(world.hit(&get("/x")).as_deref(), Some(&*body));
    world.pages.compressor.settle();
    assert_eq!(world.used(), before, "no client has requested it");
    assert!(world.compresses());
    assert!(world.used() > before, "it has a weight");

    let reply = world.reply(&saying("gzip;q=1.0,deflate;q=0.6,identity;q=0.3"));
    assert_eq!(text(&reply), body);
    assert_eq!((&reply.headers[header::CONTENT_ENCODING], tag(&reply)), (&ENCODED, "W/\"md5\""));
    for request in [get("/x"), saying("gzip;q=0"), saying("br")] {
        let reply = world.reply(&request);
        assert_eq!((&*text(&reply), tag(&reply)), (&*body, "\"md5\""));
    }
}

#[test]
fn a_range_is_one_of_identity() {
    let world = World::new(1 << 20);
    let body = "line\n".repeat(1000);
    world.keep(&get("/x"), &index(&body));
    assert!(world.compresses());
    let mut request = saying("gzip");
    request.headers.insert(header::RANGE, HeaderValue::from_static("bytes=4-"));
    let reply = world.reply(&request);
    assert_eq!((&*text(&reply), tag(&reply)), (&*body, "\"md5\""));
}

#[test]
fn only_text_that_may_vary_and_gets_smaller_is_compressed() {
    let text = "line\n".repeat(1000);
    let noise: Vec<u8> = noise().take(4000).collect();
    let octets = HeaderValue::from_static("application/octet-stream");
    let mut invariable = index(&text);
    invariable.headers.remove(header::VARY);
    for (why, reply, compressed) in [
        ("text", index(&text), true),
        ("short", index(&text[..1000]), false),
        ("not text", index(&text).header(header::CONTENT_TYPE, octets), false),
        ("does not vary", invariable, false),
        ("noise", index(&noise), false),
    ] {
        let world = World::new(1 << 20);
        world.keep(&get("/x"), &reply);
        assert_eq!(world.compresses(), compressed, "{why}");
    }
}

#[test]
fn a_page_that_changed_while_it_was_compressed_is_not_put_back() {
    let world = World::new(1 << 20);
    world.keep(&get("/x"), &index("old\n".repeat(1000)));
    world.reply(&saying("gzip"));
    world.revisions.lock().unwrap()[0] = 1;
    assert_eq!(world.hit(&get("/x")), None);
    world.keep(&get("/x"), &index("new\n".repeat(1000)));
    world.pages.compressor.settle();
    assert!(world.hit(&get("/x")).unwrap().starts_with("new"));
    world.reply(&saying("gzip"));
    world.pages.compressor.settle();
    assert!(text(&world.reply(&saying("gzip"))).starts_with("new"));
}
