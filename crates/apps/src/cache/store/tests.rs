//! The store: variants, limits, and purges, also of responses that are on their way.

use super::*;
use crate::cache::stored::tests::{headers, stored};
use http::HeaderMap;
use telemetry::Clock;

struct World {
    store: Store,
    purges: Purges,
}

impl World {
    fn new(bytes: u64) -> Self {
        Self { store: Store::new("shop", bytes, &Recorder::silent(Clock::default())), purges: Purges::default() }
    }

    fn put(
        &self,
        target: &str,
        request: &[(&'static str, &str)],
        response: &[(&'static str, &str)],
        body: &str,
    ) -> bool {
        let (key, request) = (KeyRef::new(false, "shop", target).unwrap(), headers(request));
        let response = headers(&[&[("cache-control", "max-age=60")], response].concat());
        let stored = stored(&self.purges, &key, &request, &response, body).unwrap();
        self.store.put(&key, &request, Arc::new(stored), &self.purges)
    }

    fn get(&self, target: &str, request: &[(&'static str, &str)]) -> Result<String, Option<Miss>> {
        match self.store.find(&KeyRef::new(false, "shop", target).unwrap(), &headers(request), &self.purges) {
            Found::Response(stored) => Ok(String::from_utf8(stored.body.to_vec()).unwrap()),
            Found::Others(_) => Err(None),
            Found::Nothing(miss) => Err(Some(miss)),
        }
    }
}

#[test]
fn each_variant_answers_its_own_requests_and_a_newer_one_replaces_it() {
    let world = World::new(1 << 20);
    assert_eq!(world.get("/", &[]), Err(Some(Miss::Absent)));
    for (language, body) in [("de", "eins"), ("en", "one"), ("de", "zwei")] {
        assert!(world.put("/", &[("accept-language", language)], &[("vary", "accept-language")], body));
    }
    assert_eq!(world.get("/", &[("accept-language", "de")]).unwrap(), "zwei");
    assert_eq!(world.get("/", &[("accept-language", "en")]).unwrap(), "one");
    assert_eq!(world.get("/", &[("accept-language", "fr")]), Err(None));
    assert_eq!(world.store.bound.cache().entries(), 1);
}

#[test]
fn variants_beyond_the_limit_make_room_in_their_order() {
    let world = World::new(64 << 20);
    for n in 0..=VARIANTS {
        assert!(world.put("/", &[("x", &n.to_string())], &[("vary", "x")], "body"));
    }
    assert_eq!(world.get("/", &[("x", "0")]), Err(None));
    assert!(world.get("/", &[("x", "1")]).is_ok() && world.get("/", &[("x", &VARIANTS.to_string())]).is_ok());
}

#[test]
fn nothing_too_heavy_is_stored_and_the_bytes_stay_within_the_bound() {
    let world = World::new(1 << 20);
    assert!(!world.put("/", &[], &[], &"x".repeat(20 << 10)));
    assert_eq!(world.get("/", &[]), Err(Some(Miss::Refused)));
    for n in 0..1000 {
        world.put(&format!("/{n}"), &[], &[], &"x".repeat(10 << 10));
    }
    let (bound, counts) = (world.store.bound(), world.store.bound().cache());
    assert!(bound.used() > 500 << 10 && bound.highest() <= 1 << 20, "{bound:?}");
    assert_eq!(counts.inserts() - counts.evictions(), counts.entries());
}

#[test]
fn a_purge_removes_what_it_names_counts_it_and_reaches_what_is_on_its_way() {
    let world = World::new(1 << 20);
    world.put("/a", &[("x", "1")], &[("vary", "x"), ("cache-tag", "t")], "1");
    world.put("/a", &[("x", "2")], &[("vary", "x"), ("cache-tag", "t u")], "2");
    world.put("/b", &[], &[("cache-tag", "u")], "3");
    world.put("/c", &[], &[], "4");
    let key = KeyRef::new(false, "shop", "/d").unwrap();
    let late = stored(
        &world.purges,
        &key,
        &HeaderMap::new(),
        &headers(&[("cache-control", "max-age=9"), ("cache-tag", "u")]),
        "5",
    )
    .unwrap();
    world.purges.purge([world.purges.tag(b"u")]);
    assert_eq!(world.store.sweep(&world.purges, |_, stored| stored.tags.has(b"u")), 2);
    assert_eq!(world.get("/a", &[("x", "1")]).unwrap(), "1");
    assert_eq!(world.get("/a", &[("x", "2")]), Err(None));
    assert_eq!(world.get("/b", &[]), Err(Some(Miss::Absent)));
    assert!(world.get("/c", &[]).is_ok());
    assert!(!world.store.put(&key, &HeaderMap::new(), Arc::new(late), &world.purges));
    world.purges.purge([world.purges.path("/a")]);
    // A lookup does not need the sweep.
    assert_eq!(world.get("/a", &[("x", "1")]), Err(Some(Miss::Stale)));
    assert_eq!(world.store.sweep(&world.purges, |key, _| key.target() == "/a"), 1);
}
